"""The links of a page to the rest of its article."""

from __future__ import annotations

import pytest

from pagekeep import dom
from pagekeep.extraction.pages import find, may_continue
from pagekeep.model import Options
from pagekeep.model.page import Continuation
from pagekeep.pipeline import extract
from tests.site.fixtures import ARTICLE

URL = "https://paper.example/s/story"


def _find(html: str, url: str = URL, number: int | None = 1) -> Continuation | None:
    return find(dom.parse(html), url, url, number)


def test_link_with_the_next_number_and_a_label_is_found() -> None:
    found = _find('<a href="/s/story?page=2">2</a>')
    assert found
    assert found.next
    assert (found.next.url, found.next.number) == (f"{URL}?page=2", 2)
    assert "`?page`" in found.next.reason


def test_nothing_is_looked_for_unless_requested() -> None:
    assert _find('<a href="/s/story?page=2">2</a>', number=None) is None
    assert extract(f"{ARTICLE}<a href='?page=2'>2</a>", URL).continuation is None
    assert extract(f"{ARTICLE}<a href='?page=2'>2</a>", URL, options=Options(find_pages=1)).continuation is not None


@pytest.mark.parametrize(
    "html",
    [
        '<a href="/s/story/2">The mill by the tide</a>',
        '<a rel="next" href="/s/other">Next</a>',
        '<link rel="next" href="/s/other">',
        '<link rel="next" href="/s/story-2">',
        '<a rel="next" href="/s/story-2">Story &rarr;</a>',
        '<a href="/s/story?page=2#comments">2</a>',
        '<div class="comments"><div><a href="/s/story?page=2">2</a></div></div>',
        '<div id="photo-gallery"><a href="/s/story?page=2">Next</a></div>',
        '<link rel="next" href="/s/story?page=2"><div class="posts"><a href="/s/story?page=2">2</a></div>',
        '<a href="/s/story?page=1">1</a>',
        '<a href="javascript:go(2)">2</a>',
        '<a href="https://elsewhere.example/s/story?page=2">2</a>',
    ],
)
def test_links_that_lead_elsewhere_are_not_found(html: str) -> None:
    assert _find(html) is None


@pytest.mark.parametrize(
    "url",
    [
        "https://paper.example/",
        "https://paper.example/news/",
        "https://paper.example/tag/tide",
        "https://paper.example/gallery/boats",
        "https://paper.example/s/boats-in-pictures",
        "https://paper.example/threads/boats.12",
        "https://paper.example/viewtopic.php?t=12",
        "https://paper.example/s/story?q=tide",
    ],
)
def test_lists_threads_galleries_and_searches_have_no_next_page(url: str) -> None:
    html = "".join(f'<a href="{url}{sign}page=2">2</a><a href="{url}/2">2</a>' for sign in "?&")
    assert _find(html, url) is None


@pytest.mark.parametrize(
    ("url", "href"),
    [(URL, "?page=2"), (f"{URL}/", "2"), (f"{URL}/", "page/2/"), (f"{URL}/", "./2"), (f"{URL}.html", "story-2.html"),
     (f"{URL}/index.html", "index2.html"), (f"{URL}/1.html", "2.html"), (f"{URL}/page-1.html", "page-2.html")],
)  # fmt: skip
def test_relative_addresses_are_found(url: str, href: str) -> None:
    assert _find(f'<a href="{href}">Next</a>', url)


def test_print_view_is_found_only_beside_a_next_page() -> None:
    single = '<a href="/print/story">Print</a><a href="/print/other">Print</a><a href="/about">Show all</a>'
    assert _find(single) is None
    found = _find(f'{single}<a href="?page=2">2</a>')
    assert found
    assert [link.url for link in found.single] == ["https://paper.example/print/story"]


def test_page_that_is_not_an_article_has_no_other_pages() -> None:
    assert may_continue(extract(ARTICLE, URL))
    assert not may_continue(extract("<title>Soon</title><p>Soon.</p>", URL))


def test_many_links_are_looked_at_in_bounded_time() -> None:
    html = "".join(f'<a href="/s/story/{number}/2">2</a>' for number in range(20_000))
    assert _find(html) is None
