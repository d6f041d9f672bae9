"""What is well-formed but of no use is told by the check."""

from __future__ import annotations

import pytest

from pagekeep.rules.checking import check
from pagekeep.rules.loading import read
from tests.rules.test_loading import rule


@pytest.mark.parametrize(
    ("domain", "advice"),
    [("co.uk", "Write a domain below it, or use `ends_with`."), ("news.bbc.co.uk", "Did you mean `bbc.co.uk`?")],
)
def test_domain_that_nobody_can_register_is_a_fault(domain: str, advice: str) -> None:
    checked = check(read(rule(trigger=f"{{host: {{etld_plus_one: {domain}}}}}"), "my.yaml"))
    assert [(fault.rule, fault.suggestion) for fault in checked.faults] == [("a", advice)]
    assert checked.rules == ()


def test_good_rules_pass_and_faults_of_others_stay() -> None:
    good = rule(trigger="{host: {etld_plus_one: bbc.co.uk}}")
    checked = check(read(good + "\n" + rule(id="b", phase="x"), "my.yaml"))
    assert [found.id for found in checked.rules] == ["a"]
    assert [fault.rule for fault in checked.faults] == ["b"]
