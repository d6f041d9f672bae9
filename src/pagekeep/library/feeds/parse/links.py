"""The feeds that a page names in its head."""

from __future__ import annotations

from typing import Final

from pagekeep import dom
from pagekeep.extraction.input import urls
from pagekeep.library.feeds.parse.decode import decode
from pagekeep.library.feeds.parse.fields import to_text
from pagekeep.library.feeds.parse.values import FoundFeed

MAX_FOUND: Final = 20
_TYPES: Final = frozenset(
    (
        *("application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/feed+json"),
        *("application/x-rss+xml", "application/x-atom+xml", "application/json+feed", "text/rss+xml", "text/rss"),
    )
)
_VAGUE_TYPES: Final = frozenset({"application/json", "application/xml", "text/xml"})
_SKIPPED: Final = ("oembed", "/wp-json/")


def find_links(body: bytes, charset: str | None, url: str) -> list[FoundFeed]:
    """Return the feeds of the page's `<link rel="alternate">`, each once, in their order."""
    document = dom.parse(decode(body, charset))
    base = urls.base(document, url)
    found: dict[str, FoundFeed] = {}
    for link in map(dom.attributes, dom.tagged(document, ("link",), 1_000)):
        address = urls.absolute(link.get("href"), base) if _names_feed(link) else None
        if address and len(found) < MAX_FOUND:
            found.setdefault(address, FoundFeed(address, to_text(link.get("title")), url))
    return list(found.values())


def _names_feed(link: dict[str, str]) -> bool:
    rels = link.get("rel", "").lower().split()
    kind = link.get("type", "").partition(";")[0].strip().lower()
    href = link.get("href", "").lower()
    if "feed" in rels and (not kind or kind in _TYPES | _VAGUE_TYPES):
        return True
    if "alternate" not in rels or any(word in href for word in _SKIPPED):
        return False
    return kind in _TYPES or (kind in _VAGUE_TYPES and any(word in href for word in ("feed", "rss", "atom")))
