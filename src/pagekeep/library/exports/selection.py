"""Items to export, with what is written beside them, read in batches: a query for each item would cost more than its text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from pagekeep.model import Annotation, Item
from pagekeep.model.reading import ReadingState
from pagekeep.store import Store
from pagekeep.values import dataclass

_BATCH: Final = 100
"""Items whose annotations and reading states are read at a time: as many as the store looks up in one statement."""


@dataclass(frozen=True, slots=True)
class SelectedItem:
    """An item to export."""

    item: Item
    annotations: Sequence[Annotation]
    """Oldest first."""
    reading: ReadingState | None
    """`None` for an item that was never opened."""


def with_annotations(store: Store, items: Iterable[Item]) -> Iterator[SelectedItem]:
    """Yield items, in their order, with their annotations and how far they have been read."""
    source = iter(items)
    while batch := list(islice(source, _BATCH)):
        ids = [item.id for item in batch]
        annotations, states = store.annotations_of(ids), store.reading_states(ids)
        for item in batch:
            yield SelectedItem(item, annotations.get(item.id, ()), states.get(item.id))
