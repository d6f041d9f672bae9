"""Words, links and pictures of Markdown that anyone may have written."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pagekeep.capture.modes import split_markdown
from pagekeep.text import split_words


def test_links_and_pictures_are_distinguished() -> None:
    found = split_markdown(
        "[![A](https://a.example/p.png)](https://a.example/p.png) [log](https://b.example/x_(y)) <https://c.example>"
    )
    assert found.images == ("https://a.example/p.png",)
    assert found.links == ("https://b.example/x_(y)", "https://c.example")


def test_words_come_without_signs_targets_and_pictures() -> None:
    found = split_markdown(
        '# The *keeper*\n\n- [log](https://b.example/hidden "Hidden")\n\n![not said](p.png) `code` | cell |'
    )
    assert split_words(found.words) == ["the", "keeper", "log", "code", "cell"]


@given(st.text("[]()!<>\\\n a\"'^:http/", max_size=300))
def test_nothing_in_a_text_makes_it_fail(text: str) -> None:
    split_markdown(text)


def test_a_hostile_text_takes_no_longer_than_its_length() -> None:
    for piece in ("![", "](", "[[(", "![\\", "](<", "](("):
        assert split_markdown(piece * 200_000).links is not None
