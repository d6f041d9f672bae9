"""Feeds as other programs read them: Atom (RFC 4287) and JSON Feed 1.1, with whole texts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Final

ATOM_TYPE: Final = "application/atom+xml"
JSON_TYPE: Final = "application/feed+json"
_FIRST_TIME: Final = "1970-01-01T00:00:00Z"
"""When an empty feed was updated."""


@dataclass(frozen=True, slots=True)
class OutEntry:
    """An entry of a feed."""

    id: str
    """Never changes."""
    title: str
    url: str
    html: str
    """Safe, with absolute addresses."""
    updated: str
    published: str | None = None
    author: str | None = None
    categories: tuple[str, ...] = ()
    summary: str | None = None
    image: str | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class OutFeed:
    """A feed, or one page of it."""

    id: str
    title: str
    address: str
    """Its own address."""
    entries: tuple[OutEntry, ...]
    next_url: str | None = None
    updated: str = _FIRST_TIME


def write_atom(feed: OutFeed) -> bytes:
    """Return the feed as Atom."""
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<feed xmlns="http://www.w3.org/2005/Atom">',
        f"<id>{_xml(feed.id)}</id>",
        f"<title>{_xml(feed.title)}</title>",
        f"<updated>{_xml(feed.updated)}</updated>",
        f'<link rel="self" type="{ATOM_TYPE}" href="{_xml(feed.address)}"/>',
        *([f'<link rel="next" type="{ATOM_TYPE}" href="{_xml(feed.next_url)}"/>'] if feed.next_url else []),
        "<author><name>Pagekeep</name></author>",
        '<generator uri="https://pypi.org/project/pagekeep/">Pagekeep</generator>',
        *("\n".join(_atom_lines(entry)) for entry in feed.entries),
        "</feed>",
    ]
    return "\n".join(lines).encode("utf-8", "replace")


def _atom_lines(entry: OutEntry) -> Iterator[str]:
    language = f' xml:lang="{_xml(entry.language)}"' if entry.language else ""
    yield f"<entry{language}>"
    yield f"<id>{_xml(entry.id)}</id>"
    yield f"<title>{_xml(entry.title)}</title>"
    yield f'<link rel="alternate" href="{_xml(entry.url)}"/>'
    yield f"<updated>{_xml(entry.updated)}</updated>"
    if entry.published:
        yield f"<published>{_xml(entry.published)}</published>"
    if entry.author:
        yield f"<author><name>{_xml(entry.author)}</name></author>"
    yield from (f'<category term="{_xml(name)}"/>' for name in entry.categories)
    if entry.summary:
        yield f"<summary>{_xml(entry.summary)}</summary>"
    yield f'<content type="html">{_xml(entry.html)}</content>'
    yield "</entry>"


def write_json_feed(feed: OutFeed) -> bytes:
    """Return the feed as JSON Feed."""
    document: dict[str, Any] = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": feed.title,
        "feed_url": feed.address,
        **({"next_url": feed.next_url} if feed.next_url else {}),
        "items": [_json_item(entry) for entry in feed.entries],
    }
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _json_item(entry: OutEntry) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "id": entry.id,
        "url": entry.url,
        "title": entry.title,
        "content_html": entry.html,
        "summary": entry.summary,
        "image": entry.image,
        "date_published": entry.published,
        "date_modified": entry.updated,
        "authors": [{"name": entry.author}] if entry.author else None,
        "tags": list(entry.categories) or None,
        "language": entry.language,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _xml(text: str) -> str:
    """Return text that XML can hold: escaped, and without characters that it forbids."""
    allowed = "".join(
        char
        for char in text
        if char in "\t\n\r" or " " <= char <= "\ud7ff" or "\ue000" <= char <= "\ufffd" or char > "\uffff"
    )
    return escape(allowed)


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a feed; all of it is text, not markup."""

    id: str
    title: str
    link: str
    updated: str
    text: str
    source: str
    """The address of the page that the entry is about."""


def write_feed(feed_id: str, title: str, link: str, entries: Sequence[Entry]) -> bytes:
    """Return a feed, its entries in the order given."""
    updated = max((entry.updated for entry in entries), default=_FIRST_TIME)
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<feed xmlns="http://www.w3.org/2005/Atom">',
        f"<id>{_xml(feed_id)}</id>",
        f"<title>{_xml(title)}</title>",
        f'<link rel="alternate" href="{_xml(link)}"/>',
        f"<updated>{_xml(updated)}</updated>",
        "<author><name>Pagekeep</name></author>",
        *map(_entry, entries),
        "</feed>",
    ]
    return "\n".join(lines).encode("utf-8", "replace")


def _entry(entry: Entry) -> str:
    return (
        f"<entry><id>{_xml(entry.id)}</id><title>{_xml(entry.title)}</title>"
        f'<link rel="alternate" href="{_xml(entry.link)}"/><link rel="related" href="{_xml(entry.source)}"/>'
        f"<updated>{_xml(entry.updated)}</updated><summary>{_xml(entry.text)}</summary></entry>"
    )
