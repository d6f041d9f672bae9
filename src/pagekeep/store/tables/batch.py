"""Save many pages at once, in few statements."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from pagekeep.model import Annotation, Item, NewItem, PutResult, RawPage, Retention
from pagekeep.model.reading import ReadingState
from pagekeep.store.engine import Transaction, select_in
from pagekeep.store.query import tag_words
from pagekeep.store.storable import clean_item, url_hash
from pagekeep.store.tables import actions, item_rows, snapshots
from pagekeep.store.tables import snapshots as raw_pages
from pagekeep.store.tables.counts import add_words
from pagekeep.store.tables.reading import add_missing_annotations, put_newer_states

Merge = Callable[[Item, Item], Item]


def save_many(
    tx: Transaction, entries: Sequence[NewItem], merge: Merge, retention: Retention, *, keep_raw: bool
) -> tuple[tuple[Item, PutResult], ...]:
    """Save many pages, all or none, as `Items.save_many` describes."""
    new = [item_rows.check_item(tx, entry.item) for entry in entries]
    hashes = [url_hash(item.url) for item in new]
    for name in sorted(set(hashes)):  # in the same order for all writers, so that no two wait for each other
        tx.lock(name)
    slots = _existing(tx, hashes)
    outcomes = [
        _fill(slots, name, item, entry.raw if keep_raw else None, merge)
        for name, item, entry in zip(hashes, new, entries, strict=True)
    ]
    existing = [slot for slot in slots.values() if slot.seq is not None]
    added = [slot for slot in slots.values() if slot.seq is None]
    if added:
        item_rows.lock_numbers(tx)
    for slot in existing:
        if slot.raw is not None:
            snapshots.add(tx, slot.item.id, slot.raw, slot.item.source, retention)
        elif slot.replaced:
            raw_pages.drop_raw(tx, slot.item.id)
    _insert(tx, added)
    for slot in existing:
        if slot.old is not None and slot.seq is not None and slot.changed:
            slot.item = item_rows.rewrite(tx, slot.old, slot.item, slot.seq)
    for slot in added:
        if slot.raw is not None:
            raw_pages.put_raw(tx, slot.item.id, slot.raw)
    if added:
        _apply_rules(tx, added)
    stored = [slots[name].item for name in hashes]
    add_missing_annotations(tx, _annotations(stored, entries))
    put_newer_states(tx, _readings(stored, entries))
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
    columns = f"SELECT i.url_hash, {item_rows.SELECT.removeprefix('SELECT ')}"
    sql = f"{columns} WHERE i.user_id = :user AND i.url_hash IN (:list) {tx.for_update}"
    for row in select_in(tx, sql, sorted(set(hashes))):
        item = item_rows.item_of(row[1:])
        slots[row[0]] = _Slot(item, item, row[-1], changed=False)
    return slots


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
    tx.many(item_rows.INSERT, [item_rows.column_values(tx, slot.item) for slot in slots])
    ids = [slot.item.id for slot in slots]
    item_rows.give_numbers(tx, ids)
    rows = select_in(tx, "SELECT id, seq FROM items WHERE user_id = :user AND id IN (:list)", ids)
    seqs: dict[str, int] = {row[0]: row[1] for row in rows}
    for slot in slots:
        slot.seq = seqs[slot.item.id]
    words = [(seqs[slot.item.id], *item_rows.search_words(slot.item)) for slot in slots]
    tx.add_words(words)
    add_words(tx, *(text for _, head, body, _ in words for text in (head, body)))
    add_words(tx, *{tag_words(key) for slot in slots for key in item_rows.tag_keys(slot.item)})
    tx.many(
        item_rows.INSERT_TAG,
        [{"tag": key, "id": slot.item.id} for slot in slots for key in item_rows.tag_keys(slot.item)],
    )


def _apply_rules(tx: Transaction, slots: Sequence[_Slot]) -> None:
    """Apply the user's save rules to new pages."""
    rules = actions.enabled_rules(tx)
    for slot in slots:
        if rules and slot.seq is not None:
            slot.item = actions.apply_rules(tx, slot.item, slot.seq, rules)


def _replace_taken_ids(tx: Transaction, slots: Sequence[_Slot]) -> None:
    """Replace ids that belong to another page, as in a crafted file or a copied library."""
    ids = [slot.item.id for slot in slots]
    sql = "SELECT id FROM items WHERE user_id = :user AND id IN (:list)"
    taken = {row[0] for row in select_in(tx, sql, ids)}
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
