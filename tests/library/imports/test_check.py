"""Imports pass the validators that every other way into the library has (D2)."""

from __future__ import annotations

from typing import Any

import pytest

from pagekeep.library.imports.input.row import Fault, Place, Row, RowAnnotation
from pagekeep.library.imports.rows import CheckedRow, check_row

NOW = "2025-03-19T10:30:00.000000Z"


def good(**said: Any) -> Row:
    found = check_row(Row(Place(1, 1), **{"url": "https://example.com/a", **said}), NOW)
    assert isinstance(found, CheckedRow)
    return found.row


@pytest.mark.parametrize(
    "url",
    [
        "",
        "javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "place:sort=8",
        "chrome://settings",
        "https://",
        "https://user:secret@example.com/",
        "https://example.com/" + "a" * 9_000,
        "just words",
        "https://exa mple.com",
    ],
)
def test_what_is_not_an_address_of_a_page_is_a_fault_with_its_row(url: str) -> None:
    found = check_row(Row(Place(7, 2), url, title="Kept"), NOW)
    assert isinstance(found, Fault)
    assert found.reason
    assert str(found.place) == "line 7, entry 2"
    assert found.row is not None
    assert found.row.title == "Kept"


def test_the_address_is_normalised_and_the_given_one_kept() -> None:
    found = check_row(Row(Place(1, 1), " HTTPS://Example.com:443/a?utm_source=x&b=1#top "), NOW)
    assert isinstance(found, CheckedRow)
    assert (found.url, found.domain) == ("https://example.com/a?b=1", "example.com")
    assert found.row.url == "HTTPS://Example.com:443/a?utm_source=x&b=1#top"


def test_tags_are_clean_few_and_once() -> None:
    row = good(tags=("#Sea", "sea", " fog\nbank ", "", "x" * 500, *(f"t{number}" for number in range(300))))
    assert row.tags[:2] == ("Sea", "fog bank")
    assert len(row.tags) == 100
    assert max(map(len, row.tags)) == 200


def test_texts_are_in_one_line_and_of_bounded_length() -> None:
    row = good(
        title="a\x1b[31m\nb" + "c" * 2_000,
        author="d\te",
        image="javascript:x",
        language="x" * 99,
        note="n" * 200_000,
        annotations=(RowAnnotation("q" * 50_000, colour="c" * 99),) * 5_000,
    )
    assert row.title.startswith("a [31m bccc")
    assert (len(row.title), row.author, row.image, row.language) == (1_000, "d e", "", "")
    assert (len(row.note), len(row.annotations), len(row.annotations[0].quote)) == (100_000, 2_000, 20_000)
    assert row.annotations[0].colour is None


def test_a_moment_that_is_still_to_come_is_now() -> None:
    row = good(saved_at="2999-01-01T00:00:00.000000Z", opened_at="2001-01-01T00:00:00.000000Z")
    assert (row.saved_at, row.opened_at) == (NOW, "2001-01-01T00:00:00.000000Z")
