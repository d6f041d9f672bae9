"""The file to keep: frontmatter, hero image, title, body."""

from __future__ import annotations

import pytest

from pagekeep.markdown import join_document
from pagekeep.model import Metadata

HERO = "https://x.y/images/hero.jpg"
SHOWN = f"[![]({HERO})]({HERO})"


def test_parts_are_in_order_a_blank_line_apart() -> None:
    made = join_document("---\ntitle: T\n---\n", Metadata(title="T", hero_image=HERO), "Text.\n")
    assert made == f"---\ntitle: T\n---\n\n{SHOWN}\n\n# T\n\nText.\n"


def test_a_body_without_frontmatter_or_metadata_is_itself() -> None:
    assert join_document("", Metadata(), "Text.\n") == "Text.\n"
    assert join_document("", Metadata(), "") == ""


@pytest.mark.parametrize(
    "src",
    [HERO, HERO + "?w=300&h=200", "https://x.y/images/hero-1024x768.jpg", "http://X.Y/images/hero_scaled.jpg"],
)
def test_an_image_the_body_shows_is_not_repeated(src: str) -> None:
    made = join_document("", Metadata(hero_image=HERO), f"Text.\n\n[![alt]({src})]({src})\n")
    assert made.count("![") == 1


def test_another_image_does_not_hide_the_hero() -> None:
    assert join_document("", Metadata(hero_image=HERO), "[![a](https://x.y/b.jpg)](https://x.y/b.jpg)\n").startswith(
        SHOWN
    )


@pytest.mark.parametrize("heading", ["# The *Title*: here", "## the title, here!", "# [The title here](https://x.y)"])
def test_a_title_the_body_begins_with_is_not_repeated(heading: str) -> None:
    body = f"{heading}\n\nText.\n"
    assert join_document("", Metadata(title="The Title: Here"), body) == body


def test_a_title_further_down_does_not_count() -> None:
    body = "One.\n\nTwo.\n\nThree.\n\n# Title\n"
    assert join_document("", Metadata(title="Title"), body).startswith("# Title\n\nOne.")


def test_a_title_that_looks_like_markdown_stays_text() -> None:
    assert (
        join_document("", Metadata(title="What *is*\n`#`? <b> C #"), "x\n")
        == "# What \\*is\\* \\`#\\`? \\<b> C \\#\n\nx\n"
    )
