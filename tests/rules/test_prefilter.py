"""What a page must hold for a selector to find anything."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekeep import dom
from pagekeep.rules import Rulebook, shipped
from pagekeep.rules.rule import DomTrigger, Rule, Trigger
from pagekeep.rules.rulebook import ANY, Names, Need, needs
from pagekeep.rules.selectors import SelectorFault, check
from tests.hostile.rules_selectors import grown


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        (".Wide", [Need("class", "wide")]),
        ("div.a > p#b", [Need("class", "a")]),
        ("#b p", [Need("id", "b")]),
        ('[class*="sqs-"]', [Need("class_part", "sqs-")]),
        ("[class^=sqs]", [Need("class_part", "sqs")]),
        ("[class='a longer']", [Need("class_part", "longer")]),
        ("[class*=' ']", [ANY]),
        ("meta[name='generator'][content^='x]y']", [Need("tag", "meta")]),
        ("p, .a", [Need("tag", "p"), Need("class", "a")]),
        ("demo-card", [ANY]),
        ("[data-x]", [ANY]),
        ("*", [ANY]),
        (":is(.a, .b)", [ANY]),
        ("p:not(.a, [title='),'])", [Need("tag", "p")]),
        (".a:has(> .b)", [Need("class", "a")]),
        ("li:nth-child(2n+1 of .x)", [Need("tag", "li")]),
        (r".a\:b", [ANY]),
        ("svg|a", [ANY]),
        (".ünal", [ANY]),
        (":not(", [ANY]),
    ],
)
def test_the_rarest_token_that_must_be_there_is_the_need(selector: str, expected: list[Need]) -> None:
    assert list(needs(selector)) == expected


PAGES = [
    dom.parse(html)
    for html in (
        "<!doctype html><div class='a c1'><p id=x3 class=c1>one <a href=x>two</a></p><p>three</p></div>",
        "<DIV CLASS='A'><ul><li class=C1>one<li id=X3>two</ul><b></b>",
        "<!doctype html><p>nothing but text",
    )
]


@given(st.integers(), st.sampled_from(PAGES))
def test_the_sieve_never_loses_a_match(seed: int, page: dom.Document) -> None:
    """Rules found by the index are those found by asking each selector."""
    chance = random.Random(seed)
    selectors = [selector for _ in range(12) if (selector := good(grown(chance, 2)))]
    rules = tuple(
        Rule(f"r{number}", "pre", Trigger(dom=DomTrigger(any=(selector,)))) for number, selector in enumerate(selectors)
    )
    found = [matched.rule.id for matched in Rulebook(rules).match("pre", None, page)]
    assert found == [f"r{number}" for number, selector in enumerate(selectors) if dom.first(page, selector)]


def good(selector: str) -> str | None:
    try:
        check(selector)
    except SelectorFault:
        return None
    return selector


PAGE = dom.parse(
    "<!doctype html><html class=Dark><body id=Top><div class='Wide\tsqs-col-4'><p id='a\nb'>one</p></div></body></html>"
)


def test_names_are_in_lower_case_and_apart() -> None:
    names = Names(PAGE)
    assert names.classes == {"dark", "wide", "sqs-col-4"}
    assert names.ids >= {"top", "a", "b"}
    assert sorted(names.lines.split("\n")) == ["dark", "wide\tsqs-col-4"]


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        (".wide", True),
        (".narrow", False),
        (".wide .narrow", False),
        (".wide .dark", True),  # all names are there; whether one is in the other, the selector itself decides
        (".narrow, #top", True),
        (".narrow, #bottom", False),
        ("[class*=sqs-]", True),
        ("[class*=elementor]", False),
        ("table", True),  # of tags nothing is known
        ("[data-x]", True),
        ("[data-testid=post] p", False),  # one of the few attributes and custom elements that are looked up
        ("relative-time", False),
        (":not(", True),
    ],
)
def test_a_selector_may_match_something_where_its_name_is_there(selector: str, expected: bool) -> None:
    assert Names(PAGE).may_match(selector) is expected


def test_names_around_the_root_count() -> None:
    paragraph = dom.first(PAGE, "p")
    assert paragraph is not None
    assert Names(paragraph).classes == {"dark", "wide", "sqs-col-4"}


@pytest.mark.parametrize("phase", ["pre", "post"])
def test_no_shipped_rule_makes_every_page_be_searched(phase: str) -> None:
    """A rule that needs another attribute or custom element wants it in `RARE`."""
    others = shipped().tables()[phase]["_by_other"]
    assert not Names(PAGE).rare
    assert [selector for selector in others if Names(PAGE).may_match(selector)] == []
