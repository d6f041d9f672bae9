"""Read the rows of an export, and check them. Files of others are read by a worker process (`reader.py`), never by a server."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, BinaryIO, cast

from pagekeep import clock
from pagekeep.errors import NotFound, PagekeepError, UnsupportedContent
from pagekeep.library import normal_url
from pagekeep.library.imports.check import CheckedRow, check_row, limit_item, skip_reason
from pagekeep.library.imports.detect import detect_format, detect_tree_format
from pagekeep.library.imports.input.archive import Archive, is_archive
from pagekeep.library.imports.input.files import find_type
from pagekeep.library.imports.input.row import CompleteItem, Fault, ParsedRow, Place, Row, SkippedRow
from pagekeep.library.imports.input.source import Folder, Source, Tree, source_from_stream

ReadyRow = CheckedRow | CompleteItem | Fault | SkippedRow
"""A row within the limits, or why there is none."""
NamedRow = tuple[str, ReadyRow]
"""The name of the format, and what it read."""


def read_stream(file: IO[bytes], filename: str, format: str | None) -> Iterator[NamedRow]:
    """Yield the rows of an open, seekable file; raise `UnsupportedContent` when its format is not known."""
    stream = cast("BinaryIO", file)
    source = source_from_stream(stream, filename)
    if is_archive(stream) and find_type(source) is None:  # DOCX and EPUB files are archives too
        rows = _read_tree(Archive(stream, filename), format)
    else:
        rows = _read_file(source, format)
    return ((name, _check(row)) for name, row in rows)


def read_folder(path: Path, format: str | None) -> Iterator[NamedRow]:
    """Yield the rows of all exports in a folder."""
    return ((name, _check(row)) for name, row in _read_tree(Folder(path), format))


def _read_file(source: Source, name: str | None) -> Iterator[tuple[str, ParsedRow]]:
    detected = detect_format(source, name)
    try:
        for row in detected.read(source):
            yield detected.name, row
    except PagekeepError as error:
        yield detected.name, Fault(Place(0, 0, source.part or source.name), error.message)


def _read_tree(tree: Tree, name: str | None) -> Iterator[tuple[str, ParsedRow]]:
    detected = detect_tree_format(tree, name)
    if detected is not None:
        for row in detected.read(tree):
            yield detected.name, row
        return
    rows = 0
    for part in tree.names():
        try:
            for named_row in _read_file(tree.source(part), name):
                rows += 1
                yield named_row
        except (UnsupportedContent, NotFound) as error:
            yield "", SkippedRow(Place(0, 0, part), error.message)
        except PagekeepError as error:
            yield "", Fault(Place(0, 0, part), error.message)
    if not rows:
        raise UnsupportedContent(f"{tree.name} does not contain an export in a known format.")


def _check(row: ParsedRow) -> ReadyRow:
    if isinstance(row, CompleteItem):
        return _check_item(row)
    if not isinstance(row, Row):
        return row
    if reason := skip_reason(row):
        return SkippedRow(row.place, reason)
    return check_row(row, clock.now())


def _check_item(row: CompleteItem) -> CompleteItem | Fault:
    try:
        url = normal_url.normalise(row.item.url)
    except PagekeepError as error:
        return Fault(row.place, error.message, row.item.url[:500])
    return replace(row, item=limit_item(replace(row.item, url=url, domain=normal_url.domain(url))))
