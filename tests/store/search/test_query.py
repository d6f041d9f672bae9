from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekeep.errors import InvalidQuery, StoreError
from pagekeep.model import Filter, ItemQuery, Term
from pagekeep.store.query import MAX_PHRASE_WORDS, MAX_TERMS, parse_query


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


@pytest.mark.parametrize("text", ["autor:ada", "-foo:bar", 'tide foo:"a b"', "before2:x noted:y"])
def test_an_unknown_operator_is_an_error_that_names_the_others(text: str) -> None:
    with pytest.raises(InvalidQuery, match="There is no search operator") as caught:
        parse_query(text)
    assert "is:, domain:, tag:, author:, lang:" in caught.value.suggestions[0]


@pytest.mark.parametrize(
    "text",
    [
        "https://example.com/a:b",
        "12:30",
        '"foo:bar"',
        "std::vector",
        "c:drive",
        "mailto:ada@example.com",
        "Re:x",
        "foo:",
    ],
)
def test_addresses_times_quotes_and_code_are_words(text: str) -> None:
    assert parse_query(text).terms
    assert parse_query(text).filters == ()


def test_a_language_is_its_code() -> None:
    assert parse_query("lang:EN-gb lang:yue").filters == (Filter("lang", "en"), Filter("lang", "yue"))
    with pytest.raises(InvalidQuery, match="is not a language"):
        parse_query("lang:english")


def test_signs_alone_are_nothing() -> None:
    query = parse_query('- * "" -"" : tag:')
    assert (query.terms, query.excluded, query.filters) == ((Term(("tag",)),), (), ())


def test_a_long_query_is_cut() -> None:
    assert len(parse_query(" ".join(f"word{number}" for number in range(10_000))).terms) == MAX_TERMS


@given(st.text(alphabet=st.sampled_from("ab -\"*:\\'istagbefore2025東\x00\ud800"), max_size=60))
def test_any_text_is_a_query_or_refused(text: str) -> None:
    advice: tuple[str, ...] = ("none needed",)
    try:
        parse_query(text)
    except StoreError as error:
        advice = error.suggestions
    assert advice


def test_a_long_phrase_is_cut_and_a_repeated_word_counts_once() -> None:
    query = parse_query('"' + "a b " * 100 + '" same same -not -not')
    assert [len(term.words) for term in query.terms] == [MAX_PHRASE_WORDS, 1]
    assert len(query.excluded) == 1


def test_many_short_beginnings_are_refused() -> None:
    assert len(parse_query("a* b* c* d* long*").terms) == 5
    with pytest.raises(InvalidQuery, match="more than 4"):
        parse_query("a* b* -c* d* ef*")
