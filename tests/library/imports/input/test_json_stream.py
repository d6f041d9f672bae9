from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekeep.errors import ParseError
from pagekeep.library.imports.input import records
from pagekeep.library.imports.input.records import read_elements

values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text()),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=5), inner, max_size=4)),
    max_leaves=12,
)


def read(text: str, key: str | None = None) -> list[Any]:
    return [element.value for element in read_elements(io.StringIO(text), key)]


@given(st.lists(values), st.sampled_from([None, 1]), st.integers(1, 30))
def test_entries_are_those_that_the_whole_file_has_however_it_is_cut(
    given_: list[Any], indent: int | None, size: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(records, "_CHUNK_CHARS", size)
        assert read(json.dumps(given_, indent=indent)) == given_


@given(st.dictionaries(st.text(max_size=4), values, max_size=5), st.lists(values, max_size=4), st.integers(1, 30))
def test_the_list_under_a_key_is_found_wherever_it_stands(around: dict[str, Any], wanted: list[Any], size: int) -> None:
    around.pop("bookmarks", None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(records, "_CHUNK_CHARS", size)
        assert read(json.dumps({**around, "bookmarks": wanted}), "bookmarks") == wanted
        assert read(json.dumps({"bookmarks": wanted, **around}), "bookmarks") == wanted


def test_entries_know_their_lines() -> None:
    found = list(read_elements(io.StringIO('[\n  {"a": 1},\n\n  {"a":\n 2}, 3\n]')))
    assert [(element.line, element.number) for element in found] == [(2, 1), (4, 2), (5, 3)]


@pytest.mark.parametrize(
    "text",
    ['[1, 2, {"a": ', "[1, 2, oops, 4]", "[1, 2 3]", "[1, 2", '[1, 2, "' + "x" * 1_000_000, "[1, 2, " + "[" * 100_000],
)
def test_a_broken_file_gives_what_comes_before_the_break(text: str) -> None:
    stream = read_elements(io.StringIO(text))
    assert next(stream).value == 1
    with pytest.raises(ParseError, match="damaged"):
        list(stream)


def test_a_number_of_too_many_digits_does_not_end_the_file() -> None:
    assert read("[" + "9" * 100_000 + ", 7]")[1:] == [7]


@pytest.mark.parametrize(
    "value",
    ["[" * 100_000 + "]" * 100_000, '{"a":' * 50_000 + "1" + "}" * 50_000, '[["' + '\\"]}{[' * 300_000 + '"]]'],
    ids=["lists", "objects", "a long text"],
)
def test_an_entry_that_is_too_deep_or_too_long_costs_that_entry(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "MAX_JSON_CHARS", 1_000_000)
    first, skipped, last = read(f'[1, {value}, "]"]')
    assert (first, type(skipped), last) == (1, records.Skipped, "]")


def test_an_entry_that_never_ends_is_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "MAX_JSON_CHARS", 1_000_000)
    with pytest.raises(ParseError, match="does not end"):
        read('["' + "x" * 3_000_000)


@pytest.mark.parametrize("text", ["", "7", '"a"', "{}"])
def test_what_holds_no_list_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        read(text)
