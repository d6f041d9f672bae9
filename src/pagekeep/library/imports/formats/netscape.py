"""Bookmarks of browsers, and of all programs that write the format they share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pagekeep.library.imports.input.anchors import Anchor, Folder, anchors
from pagekeep.library.imports.input.row import Found, Place, Row
from pagekeep.library.imports.input.sample import Sample
from pagekeep.library.imports.input.source import Source
from pagekeep.library.imports.input.values import moment, names, truth

_ROOT_MARKS: Final = frozenset({"personal_toolbar_folder", "unfiled_bookmarks_folder"})
_ROOTS: Final = frozenset(
    "bookmarks|bookmarks bar|bookmarks menu|bookmarks toolbar|favorites|favorites bar|favourites|imported|mobile bookmarks|"
    "other bookmarks|other favorites|reading list|unsorted|unsorted bookmarks".split("|")
)
"""Folders that every browser has: they say nothing about the page."""


def knows(sample: Sample) -> bool:
    """By its doctype, or by links in lists of definitions."""
    head = sample.lower
    return "<!doctype netscape-bookmark-file" in head[:2_000] or ("<dl>" in head and "<dt><a " in head)


def rows(source: Source) -> Iterator[Found]:
    """Every link; folders become tags."""
    with source.text() as stream:
        for number, anchor in enumerate(anchors(stream), 1):
            yield _row(anchor, Place(anchor.line, number, source.part))


def _row(anchor: Anchor, place: Place) -> Row:
    known = anchor.attributes
    return Row(
        place,
        url=known.get("href", ""),
        title=anchor.title,
        saved_at=moment(known.get("add_date")) or moment(known.get("last_modified")),
        opened_at=moment(known.get("last_visit")),
        description=anchor.note,
        tags=(*names(known.get("tags")), *filter(None, map(_tag, anchor.folders))),
        archived=truth(known.get("archived", "")),
        pinned=truth(known.get("pinned", "")),
        note=anchor.note,
    )


def _tag(folder: Folder) -> str:
    if folder.name.lower() in _ROOTS or not _ROOT_MARKS.isdisjoint(folder.attributes):
        return ""
    return folder.name
