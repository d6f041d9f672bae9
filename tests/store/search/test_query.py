from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pagekeep.errors import StoreError
from pagekeep.model import Filter, ItemQuery, Term
from pagekeep.store.search.query import MAX_TERMS, parse_query


def test_a_query_is_read_part_by_part() -> None:
    text = 'solar "Wind Power" -coal -"old gas" pan* tag:"A b" -is:pinned before:2025 x:y'
    assert parse_query(text, limit=7, after="key") == ItemQuery(
        terms=(Term(("solar",)), Term(("wind", "power")), Term(("pan",), prefix=True), Term(("x", "y"))),
        excluded=(Term(("coal",)), Term(("old", "gas"))),
        filters=(Filter("tag", "a b"), Filter("is", "pinned", negated=True), Filter("before", "2025")),
        order="relevance",
        limit=7,
        after="key",
        text=text,
    )


def test_signs_alone_are_nothing() -> None:
    query = parse_query('- * "" -"" : tag:')
    assert (query.terms, query.excluded, query.filters) == ((Term(("tag",)),), (), ())


def test_a_long_query_is_cut() -> None:
    assert len(parse_query("a b c " * 10_000).terms) == MAX_TERMS


@given(st.text(alphabet=st.sampled_from("ab -\"*:\\'istagbefore2025東\x00\ud800"), max_size=60))
def test_any_text_is_a_query_or_refused(text: str) -> None:
    advice: tuple[str, ...] = ("none needed",)
    try:
        parse_query(text)
    except StoreError as error:
        advice = error.suggestions
    assert advice
