"""Atom feeds (RFC 4287)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

_FIRST_TIME: Final = "1970-01-01T00:00:00Z"
"""When an empty feed was updated."""


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


def _xml(text: str) -> str:
    """Return text that XML can hold: escaped, and without characters that it forbids."""
    allowed = "".join(
        char
        for char in text
        if char in "\t\n\r" or " " <= char <= "\ud7ff" or "\ue000" <= char <= "\ufffd" or char > "\uffff"
    )
    return escape(allowed)
