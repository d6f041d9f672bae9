"""What an export tells about one page, whichever program wrote it."""

from __future__ import annotations

from dataclasses import dataclass

from pagekeep.model import Annotation, Item, RawPage


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands in an export."""

    line: int
    """From 1."""
    entry: int
    """Counted from 1 in its file: some files have one line only."""
    file: str = ""
    """Within a folder or archive."""

    def __str__(self) -> str:
        where = f"line {self.line}, entry {self.entry}" if self.line else f"entry {self.entry}"
        return f"{self.file}, {where}" if self.file else where


@dataclass(frozen=True, slots=True)
class Highlight:
    """A passage that was marked in the other program."""

    quote: str
    note: str = ""
    created_at: str | None = None
    colour: str | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """A page as the export tells it. Nothing is checked yet."""

    place: Place
    url: str
    title: str = ""
    saved_at: str | None = None
    """Moments are ISO 8601 in UTC."""
    published_at: str | None = None
    opened_at: str | None = None
    """When it was last read, as far as is known."""
    author: str = ""
    description: str = ""
    language: str = ""
    image: str = ""
    tags: tuple[str, ...] = ()
    archived: bool = False
    pinned: bool = False
    note: str = ""
    """The reader's own words on the whole page."""
    highlights: tuple[Highlight, ...] = ()
    content: str = ""
    """The page as the export carries it: HTML, whole or in part."""
    source: str = ""
    """The program that wrote it, where that is not the file's format."""
    remarks: tuple[str, ...] = ()
    """What of it could not be carried over."""


@dataclass(frozen=True, slots=True)
class Whole:
    """An item of another Pagekeep library, complete."""

    place: Place
    item: Item
    raw: RawPage | None = None
    annotations: tuple[Annotation, ...] = ()


@dataclass(frozen=True, slots=True)
class Fault:
    """Something in the export that is no page, and why."""

    place: Place
    reason: str
    excerpt: str = ""
    """What stands there."""
    row: Row | None = None
    """What was understood of it."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A row that is left out by design, such as an article of a feed that nobody saved."""

    place: Place
    reason: str


Found = Row | Whole | Fault | Skipped
