"""Feeds: any document is a feed of bounded size with texts that can be stored, or is refused; so is any list of feeds.

An input is the charset of the response, a line feed, and the document.
"""

from __future__ import annotations

from collections.abc import Iterator

from pagekeep.errors import PagekeepError
from pagekeep.library.feeds.parse.document import MAX_GUID_CHARS, clean_entries, parse_feed
from pagekeep.library.feeds.parse.opml import find_links, read_opml
from pagekeep.model.feeds import MAX_ENTRIES, Outline
from tests.fuzz.target import Target, expect, unescape
from tests.library.feeds.parse.test_document import GROUPS

URL = "https://example.com/blog/feed.xml"


def check(data: bytes) -> None:
    """Read as a feed and its entries, as a list of feeds, and as a page that names feeds."""
    label, _, body = data.partition(b"\n")
    charset = unescape(label)[:100] or None
    for found in _outlines(body):
        expect(found.address.startswith(("http://", "https://")), "an address of a list", found.address)
    for link in find_links(body, charset, URL):
        expect(repr(link), "no link")
    try:
        feed = parse_feed(body, URL, charset)
    except PagekeepError:
        return
    expect(len(feed.entries) <= MAX_ENTRIES, "too many entries")
    for entry in feed.entries:
        expect(entry.guid and entry.title, "no guid or title", entry)
        expect(len(entry.guid) <= max(MAX_GUID_CHARS, 64), "a long guid")
        expect(entry.url is None or entry.url.startswith(("http://", "https://")), "an address", entry.url)
    for clean in clean_entries(feed.entries[:5], "article", (), ("quincewort",)):
        if clean is not None:
            repr(clean).encode("utf-8")


def _outlines(body: bytes) -> list[Outline]:
    try:
        return read_opml(body)
    except PagekeepError:
        return []


def seeds() -> Iterator[bytes]:
    """Yield the documents of our tests of quirks, and lists of feeds."""
    for group in GROUPS.values():
        yield from (b"\n" + case[1] for case in group if len(case[1]) < 4_000)
    yield (
        b'\n<opml version="2.0"><body><outline text="News"><outline type="rss" text="Harbour" xmlUrl="https://example.com/f"'
        b' htmlUrl="https://example.com/"/></outline></body></opml>'
    )
    yield b'\n<link rel="alternate" type="application/rss+xml" href="/feed" title="x">'


TARGET = Target(
    check,
    seeds,
    max_bytes=4_000,
    words=(
        *(
            b"<item>",
            b"<entry>",
            b"<link href=",
            b"<guid>",
            b"<pubDate>",
            b"<content type='xhtml'>",
            b"<![CDATA[",
            b"]]>",
        ),
        *(
            b"xml:base=",
            b"<!DOCTYPE x [<!ENTITY a 'b'>]>",
            b"&a;",
            b"<media:content url=",
            b"<enclosure url=",
            b"<dc:date>",
        ),
        *(
            b'"items":[{',
            b'"content_html":',
            b'"date_published":',
            b"<outline xmlUrl=",
            b"<?xml version='1.0' encoding='",
        ),
    ),
)
