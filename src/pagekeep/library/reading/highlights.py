"""All annotations of the library: by page or by day, searched, and which of them are no longer in the text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Final, Literal

from pagekeep.capture.from_url import Retrieval
from pagekeep.model import Annotation, Item
from pagekeep.model.reading import AnnotationPage
from pagekeep.present.tasks import FindInTextsTask, FindQuotesTask
from pagekeep.store import Store
from pagekeep.workers import TEXT

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


def find_annotations(store: Store, text: str = "", *, limit: int = 50, after: str | None = None) -> AnnotationPage:
    """Return one page of annotations, newest first: all, or those with all words of the text in quote or note."""
    return store.find_annotations(text, limit=limit, after=after)


def list_highlights(store: Store, text: str = "", *, by: Grouping = "page", after: str | None = None) -> Highlights:
    """Return one page of annotations in groups; the newest group comes first. A group of an item is in order of time."""
    if by == "page" and not text.strip():
        page = store.find_annotated(limit=_ITEMS, after=after)
        groups = tuple(_groups_of_items(store, page))
        return Highlights(groups, page.items, page.next)
    page = store.find_annotations(text, limit=_ANNOTATIONS, after=after)
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
    every = store.annotations_of([one.item_id for one in page.annotations])
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
            page = store.find_annotations(text, limit=_WALKED, after=after)
            yield from _in_runs(page.annotations, page.items)
        else:
            page = store.find_annotated(limit=_WALKED, after=after)
            every = store.annotations_of([one.item_id for one in page.annotations])
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
