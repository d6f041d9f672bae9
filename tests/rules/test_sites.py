"""The shipped rules: each has a page that shows what it does, and does it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pagekeep.lab.rules import cases
from pagekeep.rules import loading, shipped
from pagekeep.rules.loading import Loaded
from pagekeep.rules.rule import Rule

CASES = cases.find_cases(Path(__file__).parent / "sites")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_page_comes_out_as_expected(case: cases.RuleCase) -> None:
    assert cases.run_case(case, shipped()).wrong == ()


@pytest.mark.parametrize("rule", [rule.id for rule in shipped().rules])
def test_every_shipped_rule_has_a_page(rule: str) -> None:
    assert rule in {case.rule for case in CASES}


@pytest.mark.parametrize("rule", shipped().rules, ids=lambda rule: rule.id)
def test_every_shipped_rule_says_why_it_is_there(rule: Rule) -> None:
    assert rule.basis in ("measured", "platform knowledge")


def test_every_page_is_for_a_shipped_rule() -> None:
    assert {case.rule for case in CASES} <= {rule.id for rule in shipped().rules}


def test_no_shipped_rule_is_of_no_use() -> None:
    assert loading.check(Loaded(shipped().rules, ())).faults == ()
