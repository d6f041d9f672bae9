"""Many pages put in at once: one transaction, and statements for all of them rather than for each."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from pagekeep.errors import StoreError
from pagekeep.model import Annotation, Item, NewItem, PutResult, RawPage
from pagekeep.store.engine import Row, Transaction
from pagekeep.store.search.filters import tag_key
from pagekeep.store.search.indexed_text import body_words, head_words, without_frontmatter
from pagekeep.store.storable import clean_item, url_hash
from pagekeep.store.tables import annotations as passages
from pagekeep.store.tables import items, raw_pages
from pagekeep.text import count_words

Merge = Callable[[Item, Item], Item]
_AT_A_TIME: Final = 500
"""Names in one list of a statement: both engines have limits."""


@dataclass(slots=True)
class _Slot:
    """A page of the batch: what it is to be, and what it was."""

    item: Item
    seq: int | None
    """`None` until it is inserted."""
    raw: RawPage | None = None
    changed: bool = True


def upsert_many(tx: Transaction, entries: Sequence[NewItem], merge: Merge) -> tuple[tuple[Item, PutResult], ...]:
    """Put the pages in, in order; where one is there already, `merge(old, new)` is what it becomes."""
    new = [_checked(tx, entry.item) for entry in entries]
    hashes = [url_hash(item.url) for item in new]
    for name in sorted(set(hashes)):  # in one order for all writers, so that no two wait for each other
        tx.lock(name)
    slots = _there(tx, hashes)
    outcomes = [
        _place(slots, name, item, entry.raw, merge) for name, item, entry in zip(hashes, new, entries, strict=True)
    ]
    _insert(tx, [slot for slot in slots.values() if slot.seq is None])
    for slot in slots.values():
        if slot.seq is not None and slot.changed:
            items.rewrite(tx, slot.item, slot.seq)
    for slot in slots.values():
        if slot.raw is not None:
            raw_pages.put(tx, slot.item.id, slot.raw)
    stored = [slots[name].item for name in hashes]
    passages.add_missing(tx, _marked(stored, entries))
    return tuple(zip(stored, outcomes, strict=True))


def _checked(tx: Transaction, item: Item) -> Item:
    if item.user_id != tx.user_id:
        raise StoreError("The item is another user's than the library.")
    return clean_item(item)


def _there(tx: Transaction, hashes: Sequence[str]) -> dict[str, _Slot]:
    slots = {}
    columns = f"SELECT i.url_hash, {items.SELECT.removeprefix('SELECT ')}"
    for row in _in_list(tx, f"{columns} WHERE i.user_id = :user AND i.url_hash IN", sorted(set(hashes)), tx.for_update):
        slots[row[0]] = _Slot(items.item_of(row[1:]), row[-1], changed=False)
    return slots


def _in_list(tx: Transaction, sql: str, names: Sequence[str], end: str = "") -> Iterator[Row]:
    for begin in range(0, len(names), _AT_A_TIME):
        part = list(names[begin : begin + _AT_A_TIME])
        # A list of full length always, so that the statement is prepared once.
        values = {f"n{number}": name for number, name in enumerate([*part, *part[:1] * (_AT_A_TIME - len(part))])}
        yield from tx.all(f"{sql} ({', '.join(f':{name}' for name in values)}) {end}", user=tx.user_id, **values)


def _place(slots: dict[str, _Slot], name: str, item: Item, raw: RawPage | None, merge: Merge) -> PutResult:
    slot = slots.get(name)
    if slot is None:
        slots[name] = _Slot(item, None, raw)
        return "added"
    merged = clean_item(merge(slot.item, item))
    if merged == slot.item:
        return "unchanged"
    if raw is not None and merged.content == item.content != slot.item.content:
        slot.raw = raw
    slot.item, slot.changed = merged, True
    return "updated"


def _insert(tx: Transaction, slots: Sequence[_Slot]) -> None:
    """New pages, with their search words and tags."""
    if not slots:
        return
    _give_free_ids(tx, slots)
    tx.many(items.INSERT, [items.values(tx, slot.item) for slot in slots])
    found = _in_list(tx, "SELECT id, seq FROM items WHERE user_id = :user AND id IN", [slot.item.id for slot in slots])
    numbers: dict[str, int] = {row[0]: row[1] for row in found}
    tx.add_words([(numbers[slot.item.id], *_words(slot.item)) for slot in slots])
    tx.many(items.INSERT_TAG, list(_tags(tx, (slot.item for slot in slots))))


def _give_free_ids(tx: Transaction, slots: Sequence[_Slot]) -> None:
    """An id that is another page's (from a crafted file, or a copied library) is replaced."""
    ids = [slot.item.id for slot in slots]
    taken = {row[0] for row in _in_list(tx, "SELECT id FROM items WHERE user_id = :user AND id IN", ids)}
    for slot in slots:
        if slot.item.id in taken:
            slot.item = replace(slot.item, id=str(uuid.uuid4()))
        taken.add(slot.item.id)


def _words(item: Item) -> tuple[str, str, int]:
    head = head_words(item.title, item.author, item.metadata.tags)
    return head, body_words(item.content), count_words(without_frontmatter(item.content))


def _tags(tx: Transaction, new: Iterable[Item]) -> Iterator[dict[str, Any]]:
    for item in new:
        for key in sorted({tag_key(tag) for tag in item.metadata.tags}):
            yield {"user": tx.user_id, "tag": key, "id": item.id}


def _marked(stored: Sequence[Item], entries: Sequence[NewItem]) -> Iterator[Annotation]:
    for item, entry in zip(stored, entries, strict=True):
        for annotation in entry.annotations:
            yield replace(annotation, item_id=item.id)
