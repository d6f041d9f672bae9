"""Finding feeds at an address: the feed itself, those that a page names, and the usual paths only when asked."""

from __future__ import annotations

import pytest

from pagekeep.errors import NotFound, PagekeepError
from pagekeep.library.feeds.parse.opml import find_links
from pagekeep.library.feeds.subscriptions import find_feeds
from tests.library.feeds.conftest import Run
from tests.site.server import Reply, Request, Site

FEED = b"<rss version='2.0'><channel><title>Press</title><link>/</link></channel></rss>"
URL = "https://example.com/blog/"


@pytest.mark.parametrize(
    ("link", "found"),
    [
        ('<link rel="alternate" type="application/rss+xml" href="/rss">', "https://example.com/rss"),
        ('<link rel="alternate" type="application/atom+xml" href="atom.xml">', "https://example.com/blog/atom.xml"),
        ('<link rel="alternate" type="application/feed+json" href="https://e.com/f.json">', "https://e.com/f.json"),
        (
            '<link rel="ALTERNATE nofollow" type="Application/RSS+XML; charset=utf-8" href="/r">',
            "https://example.com/r",
        ),
        ('<link rel="feed" href="/f">', "https://example.com/f"),
        ('<link rel="alternate" type="text/xml" href="/rss.xml">', "https://example.com/rss.xml"),
        ('<link rel="alternate" type="application/json" href="/feed.json">', "https://example.com/feed.json"),
        (
            '<base href="https://other.example/"><link rel="alternate" type="application/rss+xml" href="r">',
            "https://other.example/r",
        ),
        ('<link rel="alternate" type="application/json" href="/wp-json/wp/v2/posts/1">', None),
        ('<link rel="alternate" type="application/json+oembed" href="/oembed?feed">', None),
        ('<link rel="alternate" hreflang="de" href="/de">', None),
        ('<link rel="stylesheet" type="application/rss+xml" href="/r">', None),
        ('<link rel="alternate" type="application/rss+xml" href="javascript:x">', None),
        ('<link rel="alternate" type="application/rss+xml">', None),
        ('<body><link rel="alternate" type="application/rss+xml" href="/late">', "https://example.com/late"),
    ],
)
def test_links_of_a_page(link: str, found: str | None) -> None:
    assert [one.address for one in find_links(link.encode(), None, URL)] == ([found] if found else [])


def test_each_feed_once_and_not_too_many() -> None:
    page = "".join(
        f'<link rel="alternate" type="application/rss+xml" title="T&amp;{n}" href="/{n % 30}">' for n in range(90)
    )
    found = find_links(page.encode(), None, URL)
    assert len(found) == 20
    assert found[3].title == "T&3"


async def _page(_request: Request, reply: Reply) -> None:
    await reply.send('<link rel="alternate" type="application/rss+xml" title="Ours" href="/feed">')


async def _feed(_request: Request, reply: Reply) -> None:
    await reply.send(FEED, content_type="application/rss+xml")


async def _bare(_request: Request, reply: Reply) -> None:
    await reply.send("<p>Nothing here")


async def _moved(_request: Request, reply: Reply) -> None:
    await reply.send("", status=301, location="/feed")


def test_a_page_its_feed_and_a_guess(run: Run) -> None:
    with Site({"page": _page, "feed": _feed, "bare": _bare, "moved": _moved}) as site:
        (named,) = run(find_feeds, site.url("/page"))
        assert (named.address, named.title) == (site.url("/feed"), "Ours")
        for path in ("/feed", "/moved"):
            (own,) = run(find_feeds, site.url(path))
            assert (own.address, own.title, own.site) == (site.url("/feed"), "Press", site.url("/"))
        with pytest.raises(NotFound):
            run(find_feeds, site.url("/bare"))
        assert run(find_feeds, site.url("/bare"), guess=True)[0].address == site.url("/feed")


@pytest.mark.parametrize("address", ["http://10.0.0.1/", "file:///etc/passwd", "nonsense", "http://[::1]/"])
def test_private_and_other_addresses_are_refused(run: Run, address: str) -> None:
    with pytest.raises(PagekeepError):
        run(find_feeds, address)
