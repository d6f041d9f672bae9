"""CSV files of programs whose export is one table: Instapaper, Matter, Raindrop.io and Readwise Reader."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pagekeep.library.imports.input.records import Record
from pagekeep.library.imports.input.row import (
    ParsedRow,
    Row,
    RowAnnotation,
    SkippedRow,
    parse_bool,
    parse_names,
    parse_time,
)

_INSTAPAPER_STATES: Final = frozenset({"", "unread", "archive", "starred"})


def instapaper_row(record: Record) -> Row:
    """Return a bookmark of Instapaper; folders of the user's become tags."""
    folder = record["folder"]
    return Row(
        record.place,
        url=record["url"],
        title=record["title"],
        saved_at=parse_time(record["timestamp"]),
        tags=(*parse_names(record["tags"]), *([folder] if folder.lower() not in _INSTAPAPER_STATES else [])),
        archived=folder.lower() == "archive",
        pinned=folder.lower() == "starred",
        annotations=(RowAnnotation(record["selection"]),) if record["selection"] else (),
    )


def matter_row(record: Record) -> Row:
    """Return an article of Matter; one that is no longer in the queue is archived."""
    last_used = parse_time(record["last interaction date"])
    return Row(
        record.place,
        url=record["url"],
        title=record["title"],
        saved_at=last_used,
        opened_at=last_used if parse_bool(record["read"]) else None,
        author=record["author"],
        tags=parse_names(record["tags"], ";"),
        archived=not parse_bool(record["in queue"]),
        pinned=parse_bool(record["favorited"]),
    )


_RAINDROP_HIGHLIGHT: Final = re.compile(r"^Highlight:", re.MULTILINE)
_RAINDROP_NOTE: Final = re.compile(r"^Note:", re.MULTILINE)
_RAINDROP_ROOTS: Final = frozenset({"", "unsorted"})


def raindrop_row(record: Record) -> Row:
    """Return a bookmark of Raindrop.io; its folders become tags."""
    folders = (part.strip() for part in record["folder"].split("/"))
    return Row(
        record.place,
        url=record["url"],
        title=record["title"],
        saved_at=parse_time(record["created"]),
        description=record["excerpt"],
        image=record["cover"],
        tags=(*parse_names(record["tags"]), *(name for name in folders if name.lower() not in _RAINDROP_ROOTS)),
        pinned=parse_bool(record["favorite"]),
        note=record["note"],
        annotations=tuple(_raindrop_highlights(record["highlights"])),
    )


def _raindrop_highlights(text: str) -> Iterator[RowAnnotation]:
    """Yield the quotes after `Highlight:` with the notes after `Note:`; without these labels, each paragraph is a quote."""
    labelled = _RAINDROP_HIGHLIGHT.split(text)
    parts = labelled[1:] if len(labelled) > 1 else text.split("\n\n")
    for part in parts:
        quote, *note = _RAINDROP_NOTE.split(part, maxsplit=1)
        if quote.strip():
            yield RowAnnotation(quote.strip(), note[0].strip() if note else "")


def readwise_row(record: Record) -> ParsedRow:
    """Return a document of Readwise Reader; feed articles, which come by the thousand, are skipped."""
    saved, location = parse_time(record["saved date"]), record["location"].lower()
    if location == "feed":
        return SkippedRow(record.place, "A feed article that was not saved is left out.")
    was_opened = parse_bool(record["seen"]) or any(char in "123456789" for char in record["reading progress"])
    return Row(
        record.place,
        url=record["url"],
        title=record["title"],
        saved_at=saved,
        opened_at=saved if was_opened else None,
        tags=parse_names(record["document tags"]),
        archived=location == "archive",
        pinned=location == "shortlist",
    )
