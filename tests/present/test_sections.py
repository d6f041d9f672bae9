"""The outline of a document."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekeep.present import sections


class CountedHeadings(list[tuple[int, int, str]]):
    """Headings that count how many of them are looked at."""

    looked_at = 0

    def __getitem__(self, place):  # type: ignore[no-untyped-def]
        taken = super().__getitem__(place)
        self.looked_at += len(taken) if isinstance(place, slice) else 1
        return taken


@given(st.lists(st.integers(1, 6), max_size=30))
def test_a_section_ends_at_the_next_heading_of_its_level_or_above(levels: list[int]) -> None:
    markdown = "".join(f"{'#' * level} Title {number}\n\nSome words.\n\n" for number, level in enumerate(levels))
    outline = sections.outline(markdown)
    assert [section.level for section in outline] == levels
    for place, section in enumerate(outline):
        following = [later.start for later in outline[place + 1 :] if later.level <= section.level]
        assert section.end == (following[0] if following else len(markdown))


@pytest.mark.parametrize(
    "levels", [[1] * 20_000, [*range(1, 7)] * 3_000, [1] + [2] * 20_000, [6, 5, 4, 3, 2, 1] * 3_000]
)
def test_finding_the_ends_of_sections_is_linear(levels: list[int]) -> None:
    headings = CountedHeadings((number, level, "") for number, level in enumerate(levels))
    sections._section_ends(headings, len(levels))
    assert headings.looked_at <= 3 * len(levels)


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("# Plain", "Plain"),
        ("## Closed ##  ", "Closed"),
        ("# C#", "C#"),
        ("# ##", "##"),
        ("#  # a", "# a"),
        ("# A [link](https://a.example/b) and ![picture](c.png)", "A link and picture"),
        ("#\tTab\t#", "Tab"),
    ],
)
def test_titles_are_without_markup(line: str, title: str) -> None:
    assert [section.title for section in sections.outline(line + "\n")] == [title]


@pytest.mark.parametrize("filling", [" ", "[", "[x](", "#", " #", "\t "])
def test_a_hostile_heading_has_a_short_title(filling: str) -> None:
    (section,) = sections.outline("# a" + filling * 200_000 + "x\n")
    assert len(section.title) <= 1_000
