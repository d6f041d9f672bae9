"""The tasks that read feeds in workers: they import there, so that a server loads no parser."""

from __future__ import annotations

from dataclasses import dataclass

from pagekeep.model import FeedContent
from pagekeep.model.feeds import CleanEntry, FoundFeed, Outline, ParsedEntry, ParsedFeed


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
