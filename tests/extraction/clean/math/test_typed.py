"""TeX typed between delimiters."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from pagekeep.extraction.clean.formulas import find_delimited

REFERENCE = re.compile(
    r"\\\((?P<inline>.{1,2000}?)\\\)|\\\[(?P<block>.{1,4000}?)\\\]|\$\$(?P<dollars>[^$]{1,4000}?)\$\$", re.DOTALL
)


class CountedText(str):
    """A text that counts the characters searched by `find`."""

    searched = 0

    def find(self, *arguments: object) -> int:  # type: ignore[override]
        place = super().find(*arguments)  # type: ignore[arg-type]
        self.searched += (place if place >= 0 else len(self)) - int(str(arguments[1]))
        return place


@given(st.text(st.sampled_from("\\()[]$a \n"), max_size=60))
def test_delimiters_are_found_as_by_the_plain_expression(text: str) -> None:
    expected = [(match.lastgroup, *match.span()) for match in REFERENCE.finditer(text)]
    assert list(find_delimited(text)) == expected


def test_a_formula_that_is_too_long_is_text() -> None:
    assert not list(find_delimited("\\(" + "a" * 2_001 + "\\)"))
    assert list(find_delimited("\\(" + "a" * 2_000 + "\\)"))


def test_the_search_is_linear_in_the_text() -> None:
    for unit in ("\\(a ", "\\[a ", "$$a ", "\\(\\[$$a ", "$$$", "\\(" + "a" * 1_999):
        text = CountedText(unit * (100_000 // len(unit)))
        list(find_delimited(text))
        assert text.searched <= 3 * len(text), unit
