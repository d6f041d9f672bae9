"""What an export says about one page, whichever program wrote it."""

from __future__ import annotations

from dataclasses import dataclass

from pagekeep.model import Annotation, Item, RawPage
from pagekeep.model.archive import ItemBlob
from pagekeep.model.reading import ReadingState


@dataclass(frozen=True, slots=True)
class Place:
    """A position in an export, for error messages."""

    line: int
    """From 1; 0 when the whole file is meant."""
    entry: int
    """From 1 within its file: some files have only one line."""
    file: str = ""
    """The file's name within a folder or archive."""

    def __str__(self) -> str:
        where = f"line {self.line}, entry {self.entry}" if self.line else f"entry {self.entry}"
        return f"{self.file}, {where}" if self.file else where


@dataclass(frozen=True, slots=True)
class RowAnnotation:
    """A highlight or note from the other program; without a quote it is about the whole page."""

    quote: str
    note: str = ""
    created_at: str | None = None
    colour: str | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """A page as the export describes it, not checked yet."""

    place: Place
    url: str
    title: str = ""
    saved_at: str | None = None
    """Times are ISO 8601 in UTC."""
    published_at: str | None = None
    opened_at: str | None = None
    """When the user last read it, if known."""
    author: str = ""
    description: str = ""
    language: str = ""
    image: str = ""
    tags: tuple[str, ...] = ()
    archived: bool = False
    pinned: bool = False
    note: str = ""
    """The user's note about the whole page."""
    annotations: tuple[RowAnnotation, ...] = ()
    content: str = ""
    """The page's HTML if the export contains it: a whole document or a part."""
    page: RawPage | None = None
    """The page as it was fetched, if the export contains that."""
    source: str = ""
    """The program that wrote the row, where that is not the file's format."""
    remarks: tuple[str, ...] = ()
    """What could not be imported, one sentence each."""


@dataclass(frozen=True, slots=True)
class KeptFile:
    """A file that another library kept with an item."""

    link: ItemBlob
    body: bytes | None = None
    """`None` for one that was left out there, or that came with an earlier item of the file."""
    is_damaged: bool = False
    """Whether the file has it, but not with its hash, or should have it and has not."""


@dataclass(frozen=True, slots=True)
class CompleteItem:
    """An item of another Pagekeep library with everything that belongs to it."""

    place: Place
    item: Item
    raw: RawPage | None = None
    annotations: tuple[Annotation, ...] = ()
    files: tuple[KeptFile, ...] = ()
    reading: ReadingState | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """An entry of the export that cannot be imported, and why."""

    place: Place
    reason: str
    excerpt: str = ""
    """The beginning of the entry's text."""
    row: Row | None = None
    """What could be read of the entry."""


@dataclass(frozen=True, slots=True)
class SkippedRow:
    """A row that is left out on purpose, such as a feed article that the user never saved."""

    place: Place
    reason: str


ParsedRow = Row | CompleteItem | Fault | SkippedRow
"""What a format yields for each entry of a file."""
