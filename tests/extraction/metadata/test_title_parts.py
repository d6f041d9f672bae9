from __future__ import annotations

import pytest

from pagekeep.extraction.metadata.title import Cut, is_part, names_site, remove_site_name, remove_site_name_at_home

NAMES = frozenset(("ryepost", "millmedia"))


@pytest.mark.parametrize(
    ("text", "cut", "expected"),
    [
        ("Bread rises | Rye Post", Cut.STRONG, "Bread rises"),
        ("Rye Post | Bread rises in the north", Cut.LOOSE, "Bread rises in the north"),
        ("Bread rises | Mill | Media", Cut.STRONG, "Bread rises"),
        ("Mill | Media - Bread rises", Cut.STRONG, "Bread rises"),
        ("How bread rises \u2022 Corner", Cut.STRONG, "How bread rises"),
        ("Bread \u2022 A Corner of Rye", Cut.STRONG, "Bread \u2022 A Corner of Rye"),
        ("Bread \u2022 A Corner of Rye", Cut.LOOSE, "Bread"),
        ("How the bread rises - Corner", Cut.STRONG, "How the bread rises - Corner"),
        ("How the bread rises - Corner", Cut.LOOSE, "How the bread rises"),
        ("Bread rises -", Cut.STRONG, "Bread rises"),
        ("| Bread rises", Cut.STRONG, "Bread rises"),
        ("Bread rises : Rye Post", Cut.STRONG, "Bread rises"),
        ("Bread : a long story", Cut.LOOSE, "Bread : a long story"),
        ("", Cut.LOOSE, ""),
    ],
)
def test_parts_that_name_the_site_are_removed(text: str, cut: Cut, expected: str) -> None:
    assert remove_site_name(text, NAMES, cut) == expected


def test_home_page_keeps_a_short_title_whole() -> None:
    assert remove_site_name_at_home("Bread | Rye Post", NAMES) == "Bread | Rye Post"
    assert remove_site_name_at_home("All about bread | Rye Post", NAMES) == "All about bread"


def test_part_is_next_to_a_separator() -> None:
    assert is_part("Bread rises", "Bread rises: Rye Post")
    assert is_part("Bread rises", "Rye Post \u00bb Bread rises")
    assert not is_part("Bread", "Bread rises")


def test_site_is_named_with_its_article_or_more_words() -> None:
    assert names_site("The Rye Post", NAMES)
    assert names_site("Rye Post Forums", NAMES)
    assert not names_site("Post", NAMES)
