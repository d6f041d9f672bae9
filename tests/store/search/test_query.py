from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pagekeep.errors import StoreError
from pagekeep.store.search.query import MOST_TERMS, Filter, Query, Term, parse


def test_a_query_is_read_part_by_part() -> None:
    assert parse('solar "Wind Power" -coal -"old gas" pan* tag:"A b" -is:pinned before:2025 x:y') == Query(
        terms=(Term(("solar",)), Term(("wind", "power")), Term(("pan",), prefix=True), Term(("x", "y"))),
        excluded=(Term(("coal",)), Term(("old", "gas"))),
        filters=(Filter("tag", "a b"), Filter("is", "pinned", negated=True), Filter("before", "2025")),
    )


def test_signs_alone_are_nothing() -> None:
    assert parse('- * "" -"" : tag:') == Query(terms=(Term(("tag",)),))


def test_a_long_query_is_cut() -> None:
    assert len(parse("a b c " * 10_000).terms) == MOST_TERMS


@given(st.text(alphabet=st.sampled_from("ab -\"*:\\'istagbefore2025東\x00\ud800"), max_size=60))
def test_any_text_is_a_query_or_refused(text: str) -> None:
    advice: tuple[str, ...] = ("none needed",)
    try:
        parse(text)
    except StoreError as error:
        advice = error.suggestions
    assert advice
