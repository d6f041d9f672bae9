"""How pages say things."""

from __future__ import annotations

import pytest

from pagekeep.doors.http.web.formatting import day, direction, excerpt, marked, number, quality, shade, since
from tests.store.making import make_item


def test_days_are_written_as_people_do() -> None:
    assert day("2025-03-09T10:00:00Z") == "9 March 2025"
    assert day("2025-03-09") == "9 March 2025"
    assert day("some time in 2025") == "some time in 2025"
    assert day(None) == ""


def test_moments_long_ago_are_days() -> None:
    assert since("2001-03-09T10:00:00Z") == "9 Mar 2001"
    assert since("2001-03-09") == "9 Mar 2001"
    assert since("nonsense") == "nonsense"
    assert since(None) == ""


@pytest.mark.parametrize(
    ("language", "expected"),
    [("he", "rtl"), ("ar-EG", "rtl"), ("fa", "rtl"), ("en", "ltr"), ("", "auto"), (None, "auto")],
)
def test_directions_follow_the_language(language: str | None, expected: str) -> None:
    assert direction(make_item(language=language)) == expected


def test_found_words_are_marked_and_nothing_else_is_markup() -> None:
    assert marked("a [[b]] <i>") == "a <mark>b</mark> &lt;i&gt;"
    assert marked("[[ <i>") == "[[ &lt;i&gt;"


def test_every_quality_has_its_colour() -> None:
    levels = ("article", "simplified", "bookmark", "discarded", "nonsense")
    assert [quality(make_item(quality=level)).colour for level in levels] == [
        "green",
        "yellow",
        "orange",
        "grey",
        "grey",
    ]
    assert quality(make_item()).name == "Pending"


def test_numbers_are_grouped() -> None:
    assert number(12345) == "12,345"
    assert number(None) == "0"


def test_colours_of_other_programs_are_the_nearest_of_ours() -> None:
    assert [shade(colour) for colour in ("blue", "Red", "purple", "#ffee00", None)] == [
        *("blue", "pink", "blue", "yellow", "yellow")
    ]


def test_an_excerpt_is_where_the_running_text_begins() -> None:
    content = """---
title: x
---
# Boats

![The quay](https://e.example/q.png)

> [!note] Mind the tide

The *boats* lie at [the quay](https://e.example/a) until noon.[^1]

More."""
    assert excerpt(make_item(title="Boats", content=content)) == "The boats lie at the quay until noon."


def test_an_excerpt_of_much_is_short_and_of_nothing_is_none() -> None:
    assert len(excerpt(make_item(content="船" * 5_000))) == 301
    assert excerpt(make_item(title="A page of boats", content="[A page of boats](https://e.example/)")) == ""
    assert excerpt(make_item(content="")) == ""
