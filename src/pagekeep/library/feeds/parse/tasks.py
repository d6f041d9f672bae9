"""What feeds contain, and the tasks that read them in workers: they import there, so that a server loads no parser."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any, Final

from pagekeep.model import FeedContent


@dataclass(frozen=True, slots=True)
class ParseFeed:
    """Read a feed's document."""

    body: bytes
    charset: str | None
    url: str

    def run(self) -> ParsedFeed:
        """Return the feed; raise `UnsupportedContent` when the document is not one."""
        from pagekeep.library.feeds.parse.document import parse_feed

        return parse_feed(self.body, self.url, self.charset)


@dataclass(frozen=True, slots=True)
class ParsedEntry:
    """An entry as its feed gives it: addresses are absolute, the title is text, the body is HTML."""

    guid: str
    title: str = ""
    url: str | None = None
    author: str | None = None
    published_at: str | None = None
    html: str = ""
    base: str | None = None
    """What addresses in the HTML are relative to."""
    summary: str = ""
    """HTML, where the feed has a summary besides the whole text."""
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def fingerprint(self) -> str:
        """Changes when what a reader sees of the entry changes."""
        marks = [self.title, self.url, self.author, self.html, self.summary, self.extra]
        text = json.dumps(marks, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class CleanEntries:
    """Make clean Markdown of entries, and leave out those that the user's words exclude."""

    entries: tuple[ParsedEntry, ...]
    content: FeedContent
    include: tuple[str, ...]
    exclude: tuple[str, ...]

    def run(self) -> list[CleanEntry | None]:
        """Return the texts of every entry; `None` for one that is left out."""
        from pagekeep.library.feeds.parse.document import clean_entries

        return clean_entries(self.entries, self.content, self.include, self.exclude)


@dataclass(frozen=True, slots=True)
class FindFeedLinks:
    """Find the feeds that a page names."""

    body: bytes
    charset: str | None
    url: str

    def run(self) -> list[FoundFeed]:
        """Return the feeds of the page's `<link rel="alternate">`, each once, in their order."""
        from pagekeep.library.feeds.parse.opml import find_links

        return find_links(self.body, self.charset, self.url)


@dataclass(frozen=True, slots=True)
class ReadOpml:
    """Read a list of feeds."""

    body: bytes

    def run(self) -> list[Outline]:
        """Return the feeds of the list; raise `UnsupportedContent` when it is not OPML."""
        from pagekeep.library.feeds.parse.opml import read_opml

        return read_opml(self.body)


MAX_ENTRIES: Final = 1_000
"""Entries of one document that are read, the first ones: feeds are written newest first. Real ones have 10 to 100."""


@dataclass(frozen=True, slots=True)
class ParsedFeed:
    """A feed's document."""

    format: str
    """`rss20`, `atom10`, `json11`...: feedparser's names, and ours for JSON."""
    title: str = ""
    site: str | None = None
    language: str | None = None
    ttl_seconds: int | None = None
    """How long the feed says that it does not change."""
    hub: str | None = None
    next_url: str | None = None
    """Where older entries are (JSON Feed, RFC 5005)."""
    entries: tuple[ParsedEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class CleanEntry:
    """The texts of an entry."""

    markdown: str
    page: str | None
    """The HTML that the Markdown is made of, as a document; `None` where the feed has no text."""


@dataclass(frozen=True, slots=True)
class FoundFeed:
    """A feed that can be subscribed to."""

    address: str
    title: str
    site: str | None = None


@dataclass(frozen=True, slots=True)
class Outline:
    """A feed in a list of feeds."""

    address: str
    title: str
    site: str | None
    folder: str
