"""What is well-formed but of no use is told by the check."""

from __future__ import annotations

from pathlib import Path

import pytest

from pagekeep.rules.checking import check_files
from tests.rules.test_loading import rule


@pytest.mark.parametrize(
    ("domain", "advice"),
    [("co.uk", "Write a domain below it, or use `ends_with`."), ("news.bbc.co.uk", "Did you mean `bbc.co.uk`?")],
)
def test_domain_that_nobody_can_register_is_a_fault(tmp_path: Path, domain: str, advice: str) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(rule(trigger=f"{{host: {{etld_plus_one: {domain}}}}}"))
    checked = check_files([file])
    assert [(fault.rule, fault.suggestion) for fault in checked.faults] == [("a", advice)]
    assert checked.rules == ()


def test_good_rules_pass(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(rule(trigger="{host: {etld_plus_one: bbc.co.uk}}"))
    assert [good.id for good in check_files([file]).rules] == ["a"]
    assert check_files([file]).faults == ()
