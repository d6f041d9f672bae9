"""The number of a page in its address."""

from __future__ import annotations

from random import Random

import pytest

from pagekeep.extraction.pages.addresses import MAX_CHARS, Place, read_numbers

NEXT = [
    ("/s/story", "/s/story?page=2"),
    ("/s/story", "/s/story?utm_source=x&page=2"),
    ("/s/story?id=7", "/s/story?id=7&page=2"),
    ("/s/story?page=1", "/s/story?page=2"),
    ("/s/story?p=4", "/s/story?p=5"),
    ("/s/story.html", "/s/story-2.html"),
    ("/s/story.html", "/s/story_2.html"),
    ("/s/story.html", "/s/story,2.html"),
    ("/s/story.html", "/s/story.2.html"),
    ("/s/story.html", "/s/story~2.html"),
    ("/s/story-1.html", "/s/story-2.html"),
    ("/s/story.html", "/s/story/2"),
    ("/s/story.html", "/s/story.html/2"),
    ("/s/story.html", "/s/story.html?page=2"),
    ("/s/story/", "/s/story/2/"),
    ("/s/story/1", "/s/story/2"),
    ("/s/story/", "/s/story/page/2/"),
    ("/s/story/", "/s/story/page-2/"),
    ("/s/story", "/s/story/page2.html"),
    ("/s/story", "/s/story/p2"),
    ("/s/story", "/s/story/seite-2"),
    ("/s/story", "/s/story-page-2"),
    ("/s/story", "/s/story_p2"),
    ("/s/story", "/s/story-seite2.html"),
    ("/s/story", "/s/story;page=2"),
    ("/s/story.html", "/s/story.html;page=2"),
    ("/s/story", "/s/story,2"),
    ("/s/story/", "/s/story/index2.html"),
    ("/s/story/index.html", "/s/story/index_2.html"),
    ("/article/title", "/article/2/title"),
    ("/article/1/title", "/article/2/title"),
    ("/article/title", "/article/page/2/title"),
    ("/s/story/page/3", "/s/story/page/4"),
    ("/2024/05/story", "/2024/05/story/2"),
    ("/s/story", "http://www.paper.example/s/story/2"),
]

NOT_NEXT = [
    ("/s/story", "/s/other?page=2"),
    ("/s/story", "/s/story?page=3"),
    ("/s/story?page=2", "/s/story?page=2"),
    ("/s/story?page=3", "/s/story?page=2"),
    ("/s/story?id=7", "/s/story?page=2"),
    ("/s/story?id=7", "/s/story?id=8&page=2"),
    ("/s/story", "/s/story"),
    ("/s/story", "/s/story?comment=2"),
    ("/s/story", "/s/story/comment-page-2"),
    ("/s/top-10", "/s/top-11"),
    ("/s/41", "/s/42"),
    ("/2024/05/06/story", "/2024/05/07/story"),
    ("/s/lesson-1", "/s/lesson-2"),
    ("/s/chapter/1", "/s/chapter/2"),
    ("/s/part-1", "/s/part-2"),
    ("/s/covid18", "/s/covid19"),
    ("/s/story", "https://elsewhere.example/s/story?page=2"),
    ("/s/story", "https://paper.example:8443/s/story?page=2"),
    ("/s/story-1.html", "/s/story/2"),
    ("/s/story", "/s/story?page=two"),
    ("/s/story", "/s/story?page=1002"),
    ("/s/story?start=1", "/s/story?start=3"),
]


def _absolute(path: str) -> str:
    return path if "://" in path else f"https://paper.example{path}"


@pytest.mark.parametrize(("current", "following"), NEXT)
def test_address_of_the_next_page_is_read(current: str, following: str) -> None:
    place = Place.of(_absolute(current), 1)
    assert place
    reading = place.read_next(_absolute(following))
    assert reading
    assert str(reading.number) in following


@pytest.mark.parametrize(("current", "other"), NOT_NEXT)
def test_other_addresses_are_not_those_of_the_next_page(current: str, other: str) -> None:
    place = Place.of(_absolute(current), 1)
    assert place
    assert place.read_next(_absolute(other)) is None


@pytest.mark.parametrize("style", ["?page={}", "?start={}", "?p={}"])
def test_pages_that_are_counted_from_0_are_followed(style: str) -> None:
    url = "https://paper.example/s/story"
    first = Place.of(url, 1)
    assert first
    second = first.read_next(url + style.format(1))
    assert second
    assert second.page == 2
    place = Place.of(url + style.format(1), 2)
    assert place
    third = place.read_next(url + style.format(2))
    assert third
    assert third.page == 3


def test_a_followed_page_needs_no_word_for_its_number() -> None:
    place = Place.of("https://paper.example/s/story/4", 4)
    assert place
    assert place.read_next("https://paper.example/s/story/5")
    assert place.read_next("https://paper.example/s/story/2") is None


@pytest.mark.parametrize("url", ["", "mailto:a@b.example", "https://", "http://[::1", "ftp://x.example/2", "//x/2"])
def test_what_is_not_a_web_address_has_no_number(url: str) -> None:
    assert read_numbers(url) == ()
    assert Place.of(url, 1) is None


def test_any_address_is_read_without_an_error() -> None:
    """Each takes microseconds; a reading that goes back and forth in an address would take minutes."""
    random = Random(1)
    signs = "0123456789-_,;.~:!=&?/#%pagePAGE[]@\\ \x00\u00e9\u0664"
    for _ in range(3_000):
        url = "https://paper.example/" + "".join(random.choices(signs, k=random.randint(0, 200)))
        read_numbers(url)
        place = Place.of(url, random.randint(1, 5))
        if place:
            place.read_next(url + "/2")
    for sign in signs:
        read_numbers("https://paper.example/" + sign * (MAX_CHARS - 30))
        read_numbers("https://paper.example/" + f"2{sign}" * 900)
