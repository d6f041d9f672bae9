"""The class and id names of a tree, and which selectors can find nothing among them."""

from __future__ import annotations

import pytest

from pagekeep import dom
from pagekeep.rules.names import Names

PAGE = dom.parse(
    "<!doctype html><html class=Dark><body id=Top><div class='Wide\tsqs-col-4'><p id='a\nb'>one</p></div></body></html>"
)


def test_names_are_in_lower_case_and_apart() -> None:
    names = Names(PAGE)
    assert names.classes == {"dark", "wide", "sqs-col-4"}
    assert names.ids >= {"top", "a", "b"}
    assert sorted(names.lines.split("\n")) == ["dark", "sqs-col-4", "wide"]


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        (".wide", True),
        (".narrow", False),
        (".wide .narrow", True),  # one need is looked up; the selector itself decides
        (".narrow, #top", True),
        (".narrow, #bottom", False),
        ("[class*=sqs-]", True),
        ("[class*=elementor]", False),
        ("table", True),  # of tags nothing is known
        ("[data-x]", True),
        (":not(", True),
    ],
)
def test_a_selector_may_find_something_where_its_name_is_there(selector: str, expected: bool) -> None:
    assert Names(PAGE).may_find(selector) is expected


def test_names_around_the_root_count() -> None:
    paragraph = dom.first(PAGE, "p")
    assert paragraph is not None
    assert Names(paragraph).classes == {"dark", "wide", "sqs-col-4"}
