"""Pictures in Markdown: found and moved, code left alone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pagekeep.library.archive.pictures import find_picture_urls, replace_picture_urls


def test_pictures_are_found_wherever_they_stand() -> None:
    text = "[![A \\] b](https://a.example/1.png)](https://a.example/) ![](<https://a.example/2 3.png>) ![x](data:image/png,)"
    assert find_picture_urls(text) == ["https://a.example/1.png", "https://a.example/2 3.png"]


def test_what_is_moved_is_the_picture_and_not_the_link_around_it() -> None:
    url = "https://a.example/1_(2).png"
    assert replace_picture_urls(f"[![A]({url})]({url})", {url: "images/x.png"}) == f"[![A](images/x.png)]({url})"


def test_code_stays_as_it_is() -> None:
    text = "~~~md\n![A](u)\n```\n~~~\n![A](u)\n````\n![A](u)\n```\n![A](u)\n````\n![A](u)"
    assert replace_picture_urls(text, {"u": "v"}).count("(v)") == 2


@given(st.text("![]()<>`~\\\n ab", max_size=200))
def test_a_text_whose_pictures_stay_is_the_same(text: str) -> None:
    assert replace_picture_urls(text, {}) == text
    assert replace_picture_urls(text, lambda url: url) == text
