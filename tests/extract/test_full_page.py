"""Level 3: the whole body without its boilerplate."""

from __future__ import annotations

from collections.abc import Callable

from pagekeep.extract import full_page
from pagekeep.extract.reading import Measure, Reading

ReadAs = Callable[..., Reading]


def test_the_whole_body_is_kept_but_what_is_no_content(read_as: ReadAs) -> None:
    words = "One sentence after the other, all of them plain. " * 8
    reading = read_as(f'<nav>Menu</nav><p>{words}</p><div class="share-bar">Share</div><p>Two</p>')
    content = full_page.decide(reading)
    assert content is not None
    assert content.root == 0
    assert sorted(content.dropped.values()) == ["navigation", "share"]


def test_fifty_words_are_good_enough(read_as: ReadAs) -> None:
    reading = read_as("<p>x</p>")
    assert full_page.judge(reading, Measure(50, 300, 0, 0)) is None
    assert "49 words" in (full_page.judge(reading, Measure(49, 300, 0, 0)) or "")


def test_names_that_would_leave_nothing_are_not_believed_but_tags_are(read_as: ReadAs) -> None:
    words = "One sentence after the other, all of them plain. " * 8
    parts = "".join(f'<div class="promo">{words}</div>' for _ in range(6))
    content = full_page.decide(read_as(f"<nav>Menu</nav>{parts}"))
    assert content is not None
    assert list(content.dropped.values()) == ["navigation"]
