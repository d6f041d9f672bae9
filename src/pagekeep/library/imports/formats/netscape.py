"""Netscape bookmark files, which all browsers and many other programs write."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pagekeep.library.imports.input.anchors import Anchor, Folder, read_anchors
from pagekeep.library.imports.input.row import ParsedRow, Place, Row
from pagekeep.library.imports.input.sample import Sample
from pagekeep.library.imports.input.source import Source
from pagekeep.library.imports.input.values import parse_bool, parse_names, parse_time

_ROOT_ATTRIBUTES: Final = frozenset({"personal_toolbar_folder", "unfiled_bookmarks_folder"})
_ROOT_NAMES: Final = frozenset(
    "bookmarks|bookmarks bar|bookmarks menu|bookmarks toolbar|favorites|favorites bar|favourites|imported|mobile bookmarks|"
    "other bookmarks|other favorites|reading list|unsorted|unsorted bookmarks".split("|")
)
"""Folders that every browser has: as tags they would say nothing about the page."""


def matches(sample: Sample) -> bool:
    """Return whether the file has the doctype of bookmark files, or links in definition lists."""
    head = sample.lower
    return "<!doctype netscape-bookmark-file" in head[:2_000] or ("<dl>" in head and "<dt><a " in head)


def read(source: Source) -> Iterator[ParsedRow]:
    """Yield every link; folders become tags."""
    with source.text() as stream:
        for number, anchor in enumerate(read_anchors(stream), 1):
            yield _make_row(anchor, Place(anchor.line, number, source.part))


def _make_row(anchor: Anchor, place: Place) -> Row:
    attributes = anchor.attributes
    return Row(
        place,
        url=attributes.get("href", ""),
        title=anchor.title,
        saved_at=parse_time(attributes.get("add_date")) or parse_time(attributes.get("last_modified")),
        opened_at=parse_time(attributes.get("last_visit")),
        description=anchor.note,
        tags=(*parse_names(attributes.get("tags")), *filter(None, map(_tag_from_folder, anchor.folders))),
        archived=parse_bool(attributes.get("archived", "")),
        pinned=parse_bool(attributes.get("pinned", "")),
        note=anchor.note,
    )


def _tag_from_folder(folder: Folder) -> str:
    if folder.name.lower() in _ROOT_NAMES or not _ROOT_ATTRIBUTES.isdisjoint(folder.attributes):
        return ""
    return folder.name
