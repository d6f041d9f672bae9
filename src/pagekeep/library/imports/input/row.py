"""What an export says about one page, and values as other programs write them: times, tags, annotations."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

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

_NUMBER: Final = re.compile(r"[0-9]{1,17}(?:\.[0-9]{0,9})?")
_MILLISECONDS: Final = 100_000_000_000
_MICROSECONDS: Final = 100_000_000_000_000
"""Timestamps from here on count milliseconds or microseconds: as seconds they would be thousands of years away."""
_MIN_YEAR: Final = 1990
"""There was no web before 1990, so an earlier time is an error in the export, such as 0 for "unknown"."""
_MAX_TIME_CHARS: Final = 60
_OTHER_DATES: Final = ("%m/%d/%Y", "%B %d, %Y", "%b %d, %Y", "%Y/%m/%d", "%a %b %d %Y %H:%M:%S")
_TRUE: Final = frozenset({"1", "true", "yes", "y", "x"})
_QUOTED: Final = re.compile(r"'((?:[^'\\]|\\.)*+)'|\"((?:[^\"\\]|\\.)*+)\"")
_ESCAPED: Final = re.compile(r"\\(.)")
_MAX_NAMES: Final = 1_000
_MAX_LIST_CHARS: Final = 50_000
_MAX_ANNOTATIONS: Final = 10_000
"""These limits keep a hostile file cheap to read; `check.py` then applies the library's own, lower ones."""


def parse_time(value: object) -> str | None:
    """Return a time in the library's notation, or `None` when the value is not a time.

    Reads seconds, milliseconds and microseconds since 1970, and dates; without a time zone they are in UTC.
    """
    time = _parse_datetime(value)
    if time is None or time.year < _MIN_YEAR:
        return None
    return time.isoformat(timespec="microseconds").replace("+00:00", "Z")


def parse_publication_date(value: object) -> str | None:
    """Return when the page was published: a day when the time is midnight, else to the second."""
    time = parse_time(value)
    if time is None:
        return None
    return time[:10] if time.endswith("T00:00:00.000000Z") else f"{time[:19]}Z"


def _parse_datetime(value: object) -> datetime | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    text = value.strip()[:_MAX_TIME_CHARS] if isinstance(value, str) else ""
    try:
        if not isinstance(value, str) or _NUMBER.fullmatch(text):
            return _from_timestamp(float(text or value))
        return _parse_date(text).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _from_timestamp(number: float) -> datetime | None:
    if number <= 0:
        return None
    if number >= _MICROSECONDS:
        number /= 1_000_000
    elif number >= _MILLISECONDS:
        number /= 1_000
    return datetime.fromtimestamp(number, UTC)


def _parse_date(text: str) -> datetime:
    try:
        time = datetime.fromisoformat(text.removesuffix(" UTC"))
    except ValueError:
        time = _parse_other_date(text)
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _parse_other_date(text: str) -> datetime:
    for form in _OTHER_DATES:
        try:
            return datetime.strptime(text, form)
        except ValueError:
            continue
    raise ValueError(text)


def parse_bool(value: object) -> bool:
    """Return yes or no, in any of the ways programs write it."""
    return value.strip().lower() in _TRUE if isinstance(value, str) else bool(value)


def parse_text(value: object) -> str:
    """Return a text or number as text, and anything else as an empty text."""
    if isinstance(value, str):
        return value.strip()
    return str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else ""


def parse_names(value: object, separator: str = ",") -> tuple[str, ...]:
    """Return tags or other names from a list of texts, a list of objects with a name, such a list written as text, or
    a text with separators."""
    if isinstance(value, (list, tuple)):
        return tuple(filter(None, map(_parse_name, value[:_MAX_NAMES])))
    if not isinstance(value, str):
        return ()
    text = value.strip()[:_MAX_LIST_CHARS]
    if text.startswith("[") and text.endswith("]"):
        return _parse_list_text(text)
    return tuple(filter(None, (part.strip() for part in text.split(separator))))


def _parse_name(value: object) -> str:
    if isinstance(value, Mapping):
        value = value.get("name") or value.get("label") or value.get("title")
    return parse_text(value)


def _parse_list_text(text: str) -> tuple[str, ...]:
    """Return the entries of a list in JSON or Python notation."""
    try:
        return parse_names(json.loads(text))
    except (ValueError, RecursionError):
        entries = (_ESCAPED.sub(r"\1", match[1] or match[2] or "") for match in _QUOTED.finditer(text))
        return tuple(filter(None, (name.strip() for name in entries)))


def parse_annotations(value: object) -> tuple[RowAnnotation, ...]:
    """Return the annotations in a list of objects, whose keys differ from program to program."""
    if not isinstance(value, list):
        return ()
    annotations = (_parse_annotation(entry) for entry in value[:_MAX_ANNOTATIONS] if isinstance(entry, Mapping))
    return tuple(annotation for annotation in annotations if annotation.quote or annotation.note)


def _parse_annotation(entry: Mapping[str, Any]) -> RowAnnotation:
    quote = parse_text(entry.get("quote")) or parse_text(entry.get("content")) or parse_text(entry.get("text"))
    note = parse_text(entry.get("note")) or parse_text(entry.get("annotation")) or parse_text(entry.get("comment"))
    if not note and entry.get("quote"):  # then `text` is the user's note
        note = parse_text(entry.get("text"))
    created = next((entry[name] for name in ("created_at", "createdAt", "created", "time") if entry.get(name)), None)
    colour = parse_text(entry.get("color")) or parse_text(entry.get("colour")) or None
    return RowAnnotation(quote, note, parse_time(created), colour)
