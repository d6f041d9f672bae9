"""Lines of JSON: complete, and checked when they are read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekeep.errors import ParseError
from pagekeep.library.exports.jsonl import parse_object, read_line, read_reading, write_line
from pagekeep.model import Annotation, ItemMetadata
from pagekeep.model.reading import ReadingState
from tests.library.exports.making import NOW, make_item

ITEM = make_item(7, "keeper")
MARKED = Annotation("00000000-0000-4000-8000-000000000001", ITEM.id, "q", "b", "a", "n", "red", NOW, NOW)


def test_an_item_comes_back_complete() -> None:
    assert read_line(write_line(ITEM, [MARKED]), "keeper") == (ITEM, (MARKED,))
    assert "\n" not in write_line(ITEM, [MARKED])


def test_how_far_it_was_read_comes_back() -> None:
    state = ReadingState(ITEM.id, "reading", False, 0.25, 7, 0.5, "2026-01-02T03:04:05.000000Z")
    assert read_reading(parse_object(write_line(ITEM, (), state)), ITEM.id) == state
    assert "reading" not in json.loads(write_line(ITEM, (), ReadingState(ITEM.id)))
    assert read_reading(parse_object(write_line(ITEM)), ITEM.id) is None


@pytest.mark.parametrize(
    "value", [1, {"state": "half"}, {"state": "read", "progress": "x", "updated_at": "2026-01-02"}, {"state": "read"}]
)
def test_a_reading_state_that_is_wrong_is_refused(value: object) -> None:
    with pytest.raises(ParseError):
        read_reading({"reading": value}, ITEM.id)


def test_whose_it_was_is_not_reported() -> None:
    assert "keeper" not in json.loads(write_line(ITEM)).values()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"pagekeep": 2}, "not an exported item"),
        ({"metadata": []}, "metadata"),
        ({"title": 7}, "`title`"),
        ({"saved_at": "yesterday"}, "`saved_at`"),
        ({"id": "1"}, "`id`"),
        ({"url": "javascript:alert(1)"}, "`javascript:`"),
        ({"annotations": [7]}, "annotation"),
    ],
)
def test_a_line_that_is_wrong_is_refused_with_the_reason(change: dict[str, Any], reason: str) -> None:
    with pytest.raises(ParseError, match=reason):
        read_line(json.dumps({**json.loads(write_line(ITEM)), **change}), "keeper")


@given(st.text(max_size=50) | st.dictionaries(st.text(max_size=5), st.integers()).map(json.dumps))
def test_nonsense_is_refused_and_nothing_else(line: str) -> None:
    with pytest.raises(ParseError):
        read_line(line, "keeper")


def test_metadata_of_the_wrong_kind_is_left_out() -> None:
    wrong = {
        "quality": [],
        "word_count": "many",
        "pinned": "yes",
        "retry_count": True,
        "tags": ["a", 7, "#a", "b\nc"],
        "own": [1],
    }
    item, _ = read_line(json.dumps({**json.loads(write_line(ITEM)), "metadata": wrong}), "keeper")
    assert item.metadata == ItemMetadata(tags=("a", "b c"), extra={"own": [1]})


def test_metadata_that_no_library_can_hold_is_refused() -> None:
    line = write_line(ITEM)
    deep = json.loads("[" * 500 + "]" * 500)
    for broken in (
        line.replace('"word_count": 12', '"word_count": NaN'),
        json.dumps({**json.loads(line), "metadata": {"x": deep}}),
    ):
        with pytest.raises(ParseError):
            read_line(broken, "keeper")
