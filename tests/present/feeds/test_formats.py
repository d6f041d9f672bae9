"""Our feeds follow their formats, and readers get back what we wrote."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest

from pagekeep.library.feeds.parse.document import parse_feed
from pagekeep.present.feed_formats import OutEntry, OutFeed, write_atom, write_json_feed
from tests.present.feeds.validate import check_atom, check_json_feed

ENTRY = OutEntry(
    id="urn:uuid:5b0e64a2-77c5-4a52-8a43-3d0c9b6b1f20",
    title="Salt & <rope> “all”",
    url="https://example.com/a?x=1&y=2",
    html='<p>The <b>old</b> pier &amp; more.</p><img src="https://example.com/i.png" alt="x">',
    updated="2025-03-19T10:30:00Z",
    published="2025-03-18T00:00:00Z",
    author="Ada & Bob",
    categories=("sea", "a & b"),
    summary="In short <b>.",
    image="https://example.com/i.png",
    language="pt-br",
)
FEED = OutFeed(
    "urn:uuid:1b0e64a2-77c5-4a52-8a43-3d0c9b6b1f20",
    "To <read> & keep",
    "https://me.example/shared/x/atom.xml?a=1&b=2",
    (ENTRY, replace(ENTRY, id="urn:uuid:2", author=None, published=None, categories=(), summary=None, language=None)),
    "https://me.example/shared/x/atom.xml?after=y",
    "2025-03-19T10:30:00Z",
)


def test_atom_is_valid_and_read_back_equal() -> None:
    feedparser = pytest.importorskip("feedparser")
    body = write_atom(FEED)
    check_atom(body)
    read = feedparser.parse(io.BytesIO(body), sanitize_html=False, resolve_relative_uris=False)
    assert not read.bozo
    assert (read.feed.id, read.feed.title, read.feed.updated) == (FEED.id, FEED.title, FEED.updated)
    links = {link["rel"]: link["href"] for link in read.feed.links}
    assert links == {"self": FEED.address, "next": FEED.next_url}
    first = read.entries[0]
    assert (first.id, first.title, first.link, first.author) == (ENTRY.id, ENTRY.title, ENTRY.url, ENTRY.author)
    assert (first.updated, first.published, first.summary) == (ENTRY.updated, ENTRY.published, ENTRY.summary)
    assert (first.content[0].value, first.content[0].type) == (ENTRY.html, "text/html")
    assert tuple(tag.term for tag in first.tags) == ENTRY.categories


def test_json_feed_is_valid_and_holds_the_same() -> None:
    document = check_json_feed(write_json_feed(replace(FEED, address="https://me.example/shared/x/feed.json")))
    first, second = document["items"]
    assert (first["title"], first["content_html"], first["tags"]) == (ENTRY.title, ENTRY.html, list(ENTRY.categories))
    assert "authors" not in second


@pytest.mark.parametrize("write", [write_atom, write_json_feed])
def test_our_own_reader_reads_them(write) -> None:  # type: ignore[no-untyped-def]
    feed = parse_feed(write(FEED), "https://me.example/shared/x/atom.xml")
    assert (feed.title, feed.next_url, len(feed.entries)) == ("To <read> & keep", FEED.next_url, 2)
    first = feed.entries[0]
    assert (first.guid, first.url, first.html, first.author) == (ENTRY.id, ENTRY.url, ENTRY.html, ENTRY.author)


@pytest.mark.parametrize("text", ["\x00\x0b", "\ud800", "]]>", "<script>", "'\"&", "\ufffe", "👩‍🚀"])
def test_any_text_is_well_formed(text: str) -> None:
    odd = replace(ENTRY, title=text, html=text, author=text or None, summary=text, categories=(text,))
    feed = replace(FEED, title=text or "x", entries=(odd,))
    check_atom(write_atom(feed))
    check_json_feed(write_json_feed(replace(feed, title=f"x{text}")))


def test_an_empty_feed_is_valid() -> None:
    empty = OutFeed("urn:uuid:1", "Nothing", "https://me.example/f", ())
    check_atom(write_atom(empty))
    check_json_feed(write_json_feed(empty))
