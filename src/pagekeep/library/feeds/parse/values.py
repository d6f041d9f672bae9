"""What a feed contains, whatever its format."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any, Final

MAX_ENTRIES: Final = 1_000
"""Entries of one document that are read, the first ones: feeds are written newest first. Real ones have 10 to 100."""


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
