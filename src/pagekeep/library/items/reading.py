"""Reading: how far items have been read, which are similar, and which come next in a list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from pagekeep import clock
from pagekeep.errors import InvalidQuery
from pagekeep.extraction.metadata.common_words import COMMON_WORDS
from pagekeep.extraction.metadata.tags import find_terms
from pagekeep.library.items.find import asks_for_feeds, get_item
from pagekeep.model import Item, ItemQuery
from pagekeep.model.reading import Neighbours, ReadingState, ReadState, SimilarItem
from pagekeep.present.sections import body_of
from pagekeep.store import Store, parse_query
from pagekeep.store.query import is_unspaced, words
from pagekeep.store.storable import clean_time
from pagekeep.text import strip_markdown

_END: Final = 0.98
"""Progress at which the end was reached: the last lines are often a signature."""
_MAX_SHELF: Final = 24


@dataclass(frozen=True, slots=True)
class StartedItem:
    """An item that is being read."""

    item: Item
    reading: ReadingState


def get_reading(store: Store, key: str) -> ReadingState:
    """Return how far an item has been read."""
    return store.reading.get(get_item(store, key).id)


def readings_of(store: Store, items: Iterable[Item]) -> Mapping[str, ReadingState]:
    """Return how far items have been read, by the item's id; those that nothing is known about are left out."""
    return store.reading.get_many([item.id for item in items])


def report_position(
    store: Store, key: str, progress: float, *, block: int = 0, offset: float = 0.0, at: str | None = None
) -> ReadingState:
    """Store the position that a device reports, and return what is stored then: a newer report of another device stays.

    `at` is the device's time; one in the future counts as now, so that a wrong clock cannot win for ever.
    """
    now = clock.now()
    time = min(clean_time(at), now) if at else now

    def change(old: ReadingState) -> ReadingState:
        if time < old.updated_at:
            return old
        moved = replace(old, progress=progress, block=block, offset=offset, updated_at=time)
        if old.chosen or old.state == "read":
            return moved
        if progress >= _END:
            return replace(moved, state="read", read_at=time)
        return replace(moved, state="reading") if progress > 0 else moved

    return store.reading.change(get_item(store, key).id, change)


def choose_state(store: Store, key: str, state: ReadState) -> ReadingState:
    """Mark an item as unread, being read or read, as the user wants; the position stays."""
    now = clock.now()

    def change(old: ReadingState) -> ReadingState:
        return replace(old, state=state, chosen=True, updated_at=now, read_at=now if state == "read" else None)

    return store.reading.change(get_item(store, key).id, change)


def started_items(store: Store, limit: int = 4) -> tuple[StartedItem, ...]:
    """Return the inbox's items that are being read, those read last first."""
    states = store.reading.in_state("reading", min(limit, _MAX_SHELF))
    items = {item.id: item for item in store.items.get_many([state.item_id for state in states])}
    return tuple(StartedItem(items[state.item_id], state) for state in states if state.item_id in items)


_TEXT_CHARS: Final = 12_000
"""Characters of Markdown from which words are taken: a text states its subject early."""
_TITLE_WEIGHT, _TAG_WEIGHT, _TEXT_WEIGHT = 1.5, 1.5, 1.0
_MIN_TITLE_CHARS, _MIN_TERM_CHARS = 4, 2
"""Letters of a word: short ones of a title are mostly common words, short terms are abbreviations."""
_MAX_PHRASE_CHARS: Final = 8
_MAX_ITEMS: Final = 20


def similar_items(store: Store, key: str, limit: int = 5) -> tuple[SimilarItem, ...]:
    """Return the items that are most similar to an item, best first; none when all its words are common."""
    item = get_item(store, key)
    return store.search.similar(item.id, weigh_words(item), max(1, min(limit, _MAX_ITEMS)))


def weigh_words(item: Item) -> dict[str, float]:
    """Return the words that say what an item is about, the most telling first: of its tags, title and text."""
    about, language = item.metadata, (item.metadata.language or "en").partition("-")[0]
    text = strip_markdown(body_of(item.content[:_TEXT_CHARS]))
    common = COMMON_WORDS.get(language, frozenset())
    sources = (
        (_TITLE_WEIGHT, _MIN_TITLE_CHARS, [item.title]),
        (_TAG_WEIGHT, _MIN_TERM_CHARS, [*about.tags, *about.suggested_tags]),
        (_TEXT_WEIGHT, _MIN_TERM_CHARS, find_terms(text, item.title, about.language)),
    )
    weights: dict[str, float] = {}
    for weight, least, texts in sources:
        for word in (word for text in texts for word in _split(text)):
            if len(word) >= least and word not in common and not word.isdigit():
                weights.setdefault(word, weight)
    return weights


def _split(text: str) -> list[str]:
    """Return the search words of a title, tag or term; one in a script without spaces is a phrase."""
    found = words(text)
    if any(map(is_unspaced, found)):
        return [" ".join(found)] if len(found) <= _MAX_PHRASE_CHARS else []
    return found


def find_neighbours(store: Store, item_id: str, listed: ItemQuery | str) -> Neighbours:
    """Return what is before and after an item in a list, or in the results of a text in the query language."""
    try:
        query = parse_query(listed) if isinstance(listed, str) else listed
        return Neighbours() if asks_for_feeds(query) else store.search.neighbours(query, item_id)
    except InvalidQuery:  # the list itself shows what is wrong
        return Neighbours()
