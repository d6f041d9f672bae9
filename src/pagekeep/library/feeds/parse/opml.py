"""Lists of feeds: OPML, as other readers write and read it, and the feeds that a page names in its head."""

from __future__ import annotations

import re
from html import unescape
from typing import Final
from xml.parsers import expat

from pagekeep import dom
from pagekeep.errors import UnsupportedContent
from pagekeep.extraction.input import urls
from pagekeep.library.feeds.parse.fields import decode, to_address, to_text, to_xml
from pagekeep.model.feeds import FoundFeed, Outline

MAX_OUTLINES: Final = 10_000
MAX_DEPTH: Final = 20
_OUTLINE: Final = re.compile(r"<outline\s([^<>]{0,8000})", re.I)
_ATTRIBUTE: Final = re.compile(r"([a-zA-Z:_-]{1,40})\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")


def read_opml(body: bytes) -> list[Outline]:
    """Return the feeds of a list, each once; raise `UnsupportedContent` when it is not OPML."""
    text = decode(body)
    if not re.search(r"<(?:opml|outline)\b", text[:20_000], re.I):
        raise UnsupportedContent(
            "The file is not a list of feeds (OPML).", suggestions=("Export OPML from your reader.",)
        )
    try:
        found = _Reader().read(to_xml(text))
    except expat.ExpatError:  # not well-formed: the feeds can be had, without folders
        found = [one for match in _OUTLINE.finditer(text) if (one := _outline(_attributes(match[1]), ""))]
    unique: dict[str, Outline] = {}
    for outline in found[:MAX_OUTLINES]:
        unique.setdefault(outline.address, outline)
    return list(unique.values())


class _Reader:
    """Reads well-formed OPML. `to_xml` has removed the document type, so no entities are declared."""

    def __init__(self) -> None:
        self.folders: list[str] = []
        self.found: list[Outline] = []
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end

    def read(self, data: bytes) -> list[Outline]:
        self.parser.Parse(data, True)
        return self.found

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name.lower() != "outline":
            return
        known = {key.lower(): value for key, value in attributes.items()}
        outline = _outline(known, "/".join(filter(None, self.folders[:MAX_DEPTH])))
        is_folder = outline is None and not known.get("xmlurl")
        self.folders.append(to_text(known.get("text") or known.get("title")).replace("/", "-") if is_folder else "")
        if outline is not None and len(self.found) < MAX_OUTLINES:
            self.found.append(outline)

    def _end(self, name: str) -> None:
        if name.lower() == "outline":
            self.folders.pop()


def _attributes(text: str) -> dict[str, str]:
    return {name.lower(): unescape(double or single) for name, double, single in _ATTRIBUTE.findall(text)}


def _outline(known: dict[str, str], folder: str) -> Outline | None:
    address = to_address(known.get("xmlurl", "").replace("feed://", "https://"), None)
    if address is None:
        return None
    return Outline(
        address, to_text(known.get("title") or known.get("text")), to_address(known.get("htmlurl"), None), folder
    )


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
