from __future__ import annotations

import pytest

from pagekeep.extraction.metadata.names import find_names


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Jane Doe", ["Jane Doe"]),
        ("By Jane Doe and John Roe | Staff", ["Jane Doe", "John Roe"]),
        ("Written by: Jane Doe, Senior Editor", ["Jane Doe"]),
        ("This post was written by Jane Doe", ["Jane Doe"]),
        ("Jane Doe, MD, PhD & John Roe, R.N.", ["Jane Doe", "John Roe"]),
        ("Jane Doe (she/her) · 5 min read", ["Jane Doe"]),
        ("Jane Doe Dec 18, 2024", ["Jane Doe"]),
        ("Jane Doe on Friday December 18, 2024", ["Jane Doe"]),
        ("Von Erika Muster und Max Muster", ["Erika Muster", "Max Muster"]),
        ("Par Anne-Lise d'Arc", ["Anne-Lise d'Arc"]),
        ("Center for Small Things", ["Center for Small Things"]),
        ("Vincent van Gogh", ["Vincent van Gogh"]),
        ("ludwig van beethoven", []),
        ("Kitchen Table Staff", ["Kitchen Table Staff"]),
        ("&#74;ane <b>Doe</b>", ["Jane Doe"]),
        ("山田太郎", ["山田太郎"]),
        ("the Mill House Team", ["the Mill House Team"]),
        ("Jane Doe Last update", ["Jane Doe"]),
        ("By Jane Doe. Edited by John Roe", ["Jane Doe"]),
        ("3d77e-grain", ["3d77e-grain"]),
    ],
)
def test_names_are_freed_of_everything_else(text: str, expected: list[str]) -> None:
    assert find_names(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "admin", "By", "https://social.example/janedoe", "jane@example.com", "@janedoe", "5 min read", "287 posts",
     "February 8", "Skip to content", "Follow us", "page.head.extra.author", "Staff Writer", "Thread starter",
     "Bread: how it rises", "Fact checked by John Roe", "12", "A" * 200],
)  # fmt: skip
def test_text_without_a_person_has_no_name(text: str) -> None:
    assert find_names(text) == []
