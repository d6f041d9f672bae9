"""Saving many pages at once: one transaction, and each statement for all of them."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from pagekeep.model import Annotation, Item, NewItem, PutResult, RawPage, Retention
from pagekeep.model.reading import ReadingState
from pagekeep.store.engine import Row, Transaction
from pagekeep.store.search.indexed_text import tag_words
from pagekeep.store.storable import clean_item, url_hash
from pagekeep.store.table import Table, writes
from pagekeep.store.tables import items, numbers, raw_pages, snapshots
from pagekeep.store.tables.annotations import add_missing
from pagekeep.store.tables.browse.vocabulary import add_words
from pagekeep.store.tables.reading.states import put_newer

Merge = Callable[[Item, Item], Item]
_DEFAULT_RETENTION: Final = Retention()
_LIST_LENGTH: Final = 500
"""Values in one list of a statement: SQLite allows 999 parameters by default."""


class BatchTable(Table):
    """Imports."""

    @writes
    def upsert_many(
        self, tx: Transaction, entries: Sequence[NewItem], merge: Merge, *, retention: Retention = _DEFAULT_RETENTION
    ) -> tuple[tuple[Item, PutResult], ...]:
        """Save many pages, all or none; return each as stored, and whether it was added, updated or unchanged.

        An existing item becomes `merge(old, new)`, which must have no other effect; returning the old item leaves it
        unchanged. The raw page is stored where the content is the new one's, as another version of the page; if that came
        without one, the old raw page goes, as it belongs to other content. Annotations are added unless one with their id
        exists. An id that belongs to another page is replaced.
        """
        new = [items.check_item(tx, entry.item) for entry in entries]
        hashes = [url_hash(item.url) for item in new]
        for name in sorted(set(hashes)):  # in the same order for all writers, so that no two wait for each other
            tx.lock(name)
        slots = _existing(tx, hashes)
        outcomes = [
            _fill(slots, name, item, entry.raw if self._keep_raw else None, merge)
            for name, item, entry in zip(hashes, new, entries, strict=True)
        ]
        existing = [slot for slot in slots.values() if slot.seq is not None]
        added = [slot for slot in slots.values() if slot.seq is None]
        if added:
            numbers.lock(tx)
        for slot in existing:
            if slot.raw is not None:
                snapshots.add(tx, slot.item.id, slot.raw, slot.item.source, retention)
            elif slot.replaced:
                raw_pages.drop(tx, slot.item.id)
        _insert(tx, added)
        for slot in existing:
            if slot.old is not None and slot.seq is not None and slot.changed:
                slot.item = items.rewrite(tx, slot.old, slot.item, slot.seq)
        for slot in added:
            if slot.raw is not None:
                raw_pages.put(tx, slot.item.id, slot.raw)
        if added:
            _apply_rules(tx, added)
        stored = [slots[name].item for name in hashes]
        add_missing(tx, _annotations(stored, entries))
        put_newer(tx, _readings(stored, entries))
        return tuple(zip(stored, outcomes, strict=True))


@dataclass(slots=True)
class _Slot:
    """One page of the batch."""

    item: Item
    """As it will be stored."""
    old: Item | None
    """As it is stored; `None` for a new page."""
    seq: int | None
    """`None` until it is inserted."""
    raw: RawPage | None = None
    changed: bool = True
    replaced: bool = False
    """Whether the content is that of a new item, which came without the raw page it was made from."""


def _existing(tx: Transaction, hashes: Sequence[str]) -> dict[str, _Slot]:
    slots = {}
    columns = f"SELECT i.url_hash, {items.SELECT.removeprefix('SELECT ')}"
    sql = f"{columns} WHERE i.user_id = :user AND i.url_hash IN"
    for row in _select_in(tx, sql, sorted(set(hashes)), tx.for_update):
        item = items.item_of(row[1:])
        slots[row[0]] = _Slot(item, item, row[-1], changed=False)
    return slots


def _select_in(tx: Transaction, sql: str, names: Sequence[str], end: str = "") -> Iterator[Row]:
    for begin in range(0, len(names), _LIST_LENGTH):
        part = list(names[begin : begin + _LIST_LENGTH])
        # Always a list of full length, so that the statement is prepared once.
        values = {f"n{number}": name for number, name in enumerate([*part, *part[:1] * (_LIST_LENGTH - len(part))])}
        yield from tx.all(f"{sql} ({', '.join(f':{name}' for name in values)}) {end}", user=tx.user_id, **values)


def _fill(slots: dict[str, _Slot], name: str, item: Item, raw: RawPage | None, merge: Merge) -> PutResult:
    slot = slots.get(name)
    if slot is None:
        slots[name] = _Slot(item, None, None, raw)
        return "added"
    merged = clean_item(merge(slot.item, item))
    if merged == slot.item:
        return "unchanged"
    if merged.content == item.content != slot.item.content:
        slot.raw, slot.replaced = raw, raw is None
    slot.item, slot.changed = merged, True
    return "updated"


def _insert(tx: Transaction, slots: Sequence[_Slot]) -> None:
    """Insert new pages with their search words and tags."""
    if not slots:
        return
    _replace_taken_ids(tx, slots)
    tx.many(items.INSERT, [items.column_values(tx, slot.item) for slot in slots])
    ids = [slot.item.id for slot in slots]
    numbers.give(tx, ids)
    rows = _select_in(tx, "SELECT id, seq FROM items WHERE user_id = :user AND id IN", ids)
    seqs: dict[str, int] = {row[0]: row[1] for row in rows}
    for slot in slots:
        slot.seq = seqs[slot.item.id]
    words = [(seqs[slot.item.id], *items.search_words(slot.item)) for slot in slots]
    tx.add_words(words)
    add_words(tx, *(text for _, head, body, _ in words for text in (head, body)))
    add_words(tx, *{tag_words(key) for slot in slots for key in items.tag_keys(slot.item)})
    tx.many(
        items.INSERT_TAG,
        [{"user": tx.user_id, "tag": key, "id": slot.item.id} for slot in slots for key in items.tag_keys(slot.item)],
    )


def _apply_rules(tx: Transaction, slots: Sequence[_Slot]) -> None:
    """Apply the user's save rules to new pages."""
    from pagekeep.store.tables.lists import save_rules  # they change items

    rules = save_rules.enabled_rules(tx)
    for slot in slots:
        if rules and slot.seq is not None:
            slot.item = save_rules.apply_rules(tx, slot.item, slot.seq, rules)


def _replace_taken_ids(tx: Transaction, slots: Sequence[_Slot]) -> None:
    """Replace ids that belong to another page, as in a crafted file or a copied library."""
    ids = [slot.item.id for slot in slots]
    taken = {row[0] for row in _select_in(tx, "SELECT id FROM items WHERE user_id = :user AND id IN", ids)}
    for slot in slots:
        if slot.item.id in taken:
            slot.item = replace(slot.item, id=str(uuid.uuid4()))
        taken.add(slot.item.id)


def _annotations(stored: Sequence[Item], entries: Sequence[NewItem]) -> Iterator[Annotation]:
    for item, entry in zip(stored, entries, strict=True):
        for annotation in entry.annotations:
            yield replace(annotation, item_id=item.id)


def _readings(stored: Sequence[Item], entries: Sequence[NewItem]) -> Iterator[ReadingState]:
    for item, entry in zip(stored, entries, strict=True):
        if entry.reading is not None:
            yield replace(entry.reading, item_id=item.id)
