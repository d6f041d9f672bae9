"""Annotations of the whole library as a file: Markdown to read, CSV for spreadsheets, CSV that Readwise imports."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Final, Literal

from pagekeep.library.reading.highlights import walk_annotated
from pagekeep.model import Annotation, Item
from pagekeep.store import Store
from pagekeep.text import one_line

AnnotationFormat = Literal["markdown", "csv", "readwise"]
ANNOTATION_FORMATS: Final[tuple[AnnotationFormat, ...]] = ("markdown", "csv", "readwise")
FILES: Final[dict[AnnotationFormat, tuple[str, str]]] = {
    "markdown": ("highlights.md", "text/markdown; charset=utf-8"),
    "csv": ("highlights.csv", "text/csv; charset=utf-8"),
    "readwise": ("highlights-readwise.csv", "text/csv; charset=utf-8"),
}
"""Name and type of the file of each format."""
_CSV: Final = (
    *("title", "author", "url", "site", "tags", "quote", "note", "colour", "created_at", "updated_at"),
    *("item_id", "annotation_id"),
)
_READWISE: Final = ("Highlight", "Title", "Author", "URL", "Note", "Location", "Date")
"""The columns of Readwise's own template for imports; only the first is required."""
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""A cell that begins with one of these is a formula to some spreadsheets, and a page may have written it."""
_ESCAPED: Final = str.maketrans({character: f"\\{character}" for character in "\\`*_[]<>"})


def write_annotations(store: Store, format: AnnotationFormat, text: str = "") -> Iterator[str]:
    """Yield the parts of a file with all annotations, or with those that a search finds."""
    found = walk_annotated(store, text)
    if format == "markdown":
        return _markdown(found)
    return _table(found, format)


def _markdown(found: Iterator[tuple[Item, tuple[Annotation, ...]]]) -> Iterator[str]:
    yield "# Highlights\n"
    for item, marks in found:
        title = one_line(item.title).translate(_ESCAPED)
        by = " · ".join(filter(None, (item.author and one_line(item.author).translate(_ESCAPED), item.domain)))
        yield f"\n## [{title}](<{_address(item)}>)\n\n{by}\n"
        for annotation in marks:
            yield f"\n{_block(annotation)}\n"


def _block(annotation: Annotation) -> str:
    quote = "\n".join(f"> {line}".rstrip() for line in annotation.quote.strip().splitlines())
    return "\n\n".join(part for part in (quote, annotation.note.strip(), f"*{annotation.created_at[:10]}*") if part)


def _address(item: Item) -> str:
    return item.url_full.replace("<", "%3C").replace(">", "%3E").replace("\n", "")


def _table(found: Iterator[tuple[Item, tuple[Annotation, ...]]], format: AnnotationFormat) -> Iterator[str]:
    yield _row(_CSV if format == "csv" else _READWISE)
    for item, marks in found:
        for number, annotation in enumerate(marks, start=1):
            if format == "csv":
                yield _row([_plain_cell(cell) for cell in _csv_cells(item, annotation)])
            else:
                yield _row(_readwise_cells(item, annotation, number))


def _csv_cells(item: Item, annotation: Annotation) -> Sequence[str]:
    about = item.metadata
    return (
        *(item.title, item.author or "", item.url_full, about.site_name or item.domain, ", ".join(about.tags)),
        *(annotation.quote, annotation.note, annotation.colour or "", annotation.created_at, annotation.updated_at),
        *(item.id, annotation.id),
    )


def _readwise_cells(item: Item, annotation: Annotation, number: int) -> Sequence[str]:
    """Return the cells for Readwise; a note on the whole page becomes the highlight, as a row without one is refused."""
    highlight, note = (annotation.quote, annotation.note) if annotation.quote else (annotation.note, "")
    date = annotation.created_at[:19].replace("T", " ")
    return (highlight, item.title, item.author or "", item.url_full, note, str(number), date)


def _plain_cell(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text


def _row(cells: Sequence[str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\r\n").writerow(cells)
    return line.getvalue()
