"""Annotations: highlights and notes on items, all of the library, and files of them."""

from __future__ import annotations

import csv
import io
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final, Literal

from pagekeep import clock
from pagekeep.capture.from_url import Retrieval
from pagekeep.errors import NotFound
from pagekeep.library.items.find import MAX_NUMBER, get_item
from pagekeep.model import Annotation, Item
from pagekeep.model.reading import AnnotationPage
from pagekeep.present.tasks import FindInTextsTask, FindQuotesTask
from pagekeep.store import Store
from pagekeep.text import one_line
from pagekeep.workers import TEXT

_HALF: Final = MAX_NUMBER + 1
_REST_OF_ID: Final = "-0000-0000-0000-000000000000", "-ffff-ffff-ffff-ffffffffffff"


def annotate(
    store: Store, key: str, quote: str, *, before: str = "", after: str = "", note: str = "", colour: str | None = None
) -> Annotation:
    """Highlight a quote of the item, or with an empty quote add a note on the whole page."""
    now = clock.now()
    item_id = get_item(store, key).id
    return store.annotations.put(Annotation(str(uuid.uuid4()), item_id, quote, before, after, note, colour, now, now))


def get_annotations(store: Store, key: str) -> tuple[Annotation, ...]:
    """Return the annotations of an item, oldest first."""
    return store.annotations.of_item(get_item(store, key).id)


def edit_annotation(
    store: Store, key: str, annotation_id: str, *, note: str | None = None, colour: str | None = None
) -> Annotation:
    """Change note or colour; `None` leaves it as it is."""
    old = _get(store, key, annotation_id)
    note, colour = old.note if note is None else note, old.colour if colour is None else colour
    return store.annotations.put(replace(old, note=note, colour=colour, updated_at=clock.now()))


def remove_annotation(store: Store, key: str, annotation_id: str) -> None:
    """Delete an annotation."""
    store.annotations.delete(_get(store, key, annotation_id).id, clock.now())


def _get(store: Store, key: str, annotation_id: str) -> Annotation:
    for annotation in get_annotations(store, key):
        if annotation.id == annotation_id:
            return annotation
    raise NotFound("There is no such annotation.")


def annotations_of(store: Store, items: Iterable[Item]) -> Mapping[str, tuple[Annotation, ...]]:
    """Return the annotations of several items by the item's id, oldest first."""
    return store.annotations.of_items([item.id for item in items])


def annotation_number(annotation: Annotation) -> int:
    """Return the number of an annotation: the first 31 bits of its id that are not the first one."""
    return int(annotation.id[:8], 16) & MAX_NUMBER


def get_numbered_annotation(store: Store, number: int) -> Annotation:
    """Return the annotation with this number; `NotFound` unless there is exactly one."""
    found: list[Annotation] = []
    for begin in (number, number | _HALF) if 0 <= number <= MAX_NUMBER else ():
        low, high = (f"{begin:08x}{rest}" for rest in _REST_OF_ID)
        found += store.annotations.between(low, high)
    if len(found) != 1:
        raise NotFound(f"There is no annotation with the number {number}.")
    return found[0]


Grouping = Literal["page", "day"]
MAX_PER_ITEM: Final = 50
"""Annotations of one item that are listed; its own page has all."""
_MAX_TEXT_CHARS: Final = 400_000
"""Characters of a text in which quotes are looked up for a list; of a longer one, its own page says what is missing."""
_ITEMS: Final = 20
_ANNOTATIONS: Final = 50
_WALKED: Final = 200
"""Items and annotations that are read at a time for an export."""


@dataclass(frozen=True, slots=True)
class Group:
    """Annotations under one heading."""

    day: str
    """The day they were made, as 2025-03-19; empty for a group of one item."""
    item: Item | None
    annotations: tuple[Annotation, ...]
    more: int = 0
    """How many others the item has."""


@dataclass(frozen=True, slots=True)
class Highlights:
    """One page of the library's annotations."""

    groups: tuple[Group, ...]
    items: Mapping[str, Item]
    next: str | None

    @property
    def annotations(self) -> tuple[Annotation, ...]:
        """All annotations on this page."""
        return tuple(annotation for group in self.groups for annotation in group.annotations)


def list_highlights(store: Store, text: str = "", *, by: Grouping = "page", after: str | None = None) -> Highlights:
    """Return one page of annotations in groups; the newest group comes first. A group of an item is in order of time."""
    if by == "page" and not text.strip():
        page = store.annotations.find_newest(limit=_ITEMS, after=after)
        groups = tuple(_groups_of_items(store, page))
        return Highlights(groups, page.items, page.next)
    page = store.annotations.find(text, limit=_ANNOTATIONS, after=after)
    if by == "day":
        days = groupby(page.annotations, key=lambda one: one.created_at[:10])
        groups = tuple(Group(day, None, tuple(found)) for day, found in days)
    else:
        by_item: dict[str, list[Annotation]] = {}
        for annotation in page.annotations:
            by_item.setdefault(annotation.item_id, []).append(annotation)
        groups = tuple(Group("", page.items[item_id], tuple(found[::-1])) for item_id, found in by_item.items())
    return Highlights(groups, page.items, page.next)


def _groups_of_items(store: Store, page: AnnotationPage) -> Iterator[Group]:
    every = store.annotations.of_items([one.item_id for one in page.annotations])
    for newest in page.annotations:
        found = every.get(newest.item_id, ())
        yield Group("", page.items[newest.item_id], found[-MAX_PER_ITEM:], max(0, len(found) - MAX_PER_ITEM))


async def find_gone(highlights: Highlights, retrieval: Retrieval) -> frozenset[str]:
    """Return the ids of listed annotations whose words are no longer in the text of their items."""
    by_item: dict[str, list[Annotation]] = {}
    for annotation in highlights.annotations:
        item = highlights.items[annotation.item_id]
        if annotation.quote and len(item.content) <= _MAX_TEXT_CHARS:
            by_item.setdefault(item.id, []).append(annotation)
    searches = tuple(
        FindQuotesTask(_text_of(highlights.items[item_id]), tuple(annotation.quote for annotation in found))
        for item_id, found in by_item.items()
    )
    if not searches:
        return frozenset()
    results = await retrieval.run(FindInTextsTask(searches), TEXT)
    pairs = zip(by_item.values(), results, strict=True)
    return frozenset(one.id for found, has in pairs for one, is_there in zip(found, has, strict=True) if not is_there)


def _text_of(item: Item) -> str:
    return f"{item.title}\n\n{item.content}"


def walk_annotated(store: Store, text: str = "") -> Iterator[tuple[Item, tuple[Annotation, ...]]]:
    """Yield items with their annotations, all or those that a search finds; the item annotated last comes first."""
    after: str | None = None
    while True:
        if text.strip():
            page = store.annotations.find(text, limit=_WALKED, after=after)
            yield from _in_runs(page.annotations, page.items)
        else:
            page = store.annotations.find_newest(limit=_WALKED, after=after)
            every = store.annotations.of_items([one.item_id for one in page.annotations])
            for one in page.annotations:
                yield page.items[one.item_id], every.get(one.item_id, ())
        after = page.next
        if after is None:
            return


def _in_runs(
    annotations: Iterable[Annotation], items: Mapping[str, Item]
) -> Iterator[tuple[Item, tuple[Annotation, ...]]]:
    for item_id, found in groupby(annotations, key=lambda one: one.item_id):
        yield items[item_id], tuple(found)[::-1]


AnnotationFormat = Literal["markdown", "csv", "readwise"]
ANNOTATION_FILES: Final[dict[AnnotationFormat, tuple[str, str]]] = {
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
                yield _row(
                    [(f"'{cell}" if cell.startswith(_FORMULA) else cell) for cell in _csv_cells(item, annotation)]
                )
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


def _row(cells: Sequence[str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\r\n").writerow(cells)
    return line.getvalue()
