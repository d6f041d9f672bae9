"""Changes of many items in few statements: save many pages at once, and rename or remove a tag on all its items."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from pagekeep.model import Annotation, Item, NewItem, PutResult, RawPage, Retention
from pagekeep.model.reading import ReadingState
from pagekeep.model.tags import change_tags, tag_key
from pagekeep.store.engine import Row, Table, Transaction, writes
from pagekeep.store.query import tag_words
from pagekeep.store.storable import clean_id, clean_item, clean_text, url_hash
from pagekeep.store.tables import items, snapshots
from pagekeep.store.tables import items as numbers
from pagekeep.store.tables import snapshots as raw_pages
from pagekeep.store.tables.actions import add_records
from pagekeep.store.tables.counts import add_words
from pagekeep.store.tables.items import TAG_COLUMNS, read_tags
from pagekeep.store.tables.reading import add_missing_annotations, put_newer_states

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
            numbers.lock_numbers(tx)
        for slot in existing:
            if slot.raw is not None:
                snapshots.add(tx, slot.item.id, slot.raw, slot.item.source, retention)
            elif slot.replaced:
                raw_pages.drop_raw(tx, slot.item.id)
        _insert(tx, added)
        for slot in existing:
            if slot.old is not None and slot.seq is not None and slot.changed:
                slot.item = items.rewrite(tx, slot.old, slot.item, slot.seq)
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
    numbers.give_numbers(tx, ids)
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
    from pagekeep.store.tables import actions  # they change items

    rules = actions.enabled_rules(tx)
    for slot in slots:
        if rules and slot.seq is not None:
            slot.item = actions.apply_rules(tx, slot.item, slot.seq, rules)


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


class Retagged(NamedTuple):
    """What became of some items with a tag."""

    changed: int
    last: str | None
    """The id of the last of them, after which the next part begins; `None` when there are no more."""


class TagTable(Table):
    """Changes of a tag as a whole."""

    @writes
    def retag(
        self, tx: Transaction, action_id: str, tag: str, new: str | None, now: str, *, after: str | None, limit: int
    ) -> Retagged:
        """Rename a tag on some items, those in the trash too, or remove it with `None`; note what is needed to undo that.

        An item that has the new tag already keeps that one.
        """
        old_key, new_key = tag_key(tag), None if new is None else tag_key(clean_text(new))
        rows = tx.all(
            f"SELECT i.id, i.seq, {TAG_COLUMNS}, i.deleted_at IS NULL AND NOT i.failed FROM items i "
            "WHERE i.user_id = :user AND i.id IN (SELECT t.item_id FROM item_tags t WHERE t.user_id = :user "
            f"AND t.tag = :tag AND t.item_id > :after ORDER BY t.item_id LIMIT :limit) ORDER BY i.id {tx.for_update}",
            user=tx.user_id,
            tag=old_key,
            after=clean_id(after or ""),
            limit=limit,
        )
        lists: list[tuple[int, list[str]]] = []
        records: list[tuple[str, str]] = []
        moved = 0
        keys, found = _Keys(), _Changes(tag, new)
        for item_id, seq, stored, metadata, counts in rows:
            tags = read_tags(stored, metadata)
            had = tuple(one for one in tags if keys[one] in (old_key, new_key))
            have, record = found[had]
            if had == have or not any(keys[one] == old_key for one in had):
                continue
            if len(had) == len(have) == 1:
                lists.append((seq, [have[0] if one == had[0] else one for one in tags]))
                moved += bool(counts)
            else:
                lists.append((seq, [one for one in tags if one not in had or one in have]))
            records.append((str(item_id), record))
        last = str(rows[-1][0]) if len(rows) == limit else None
        tx.put_tags(lists, now)
        if rows and old_key != new_key:
            _move_keys(tx, old_key, new_key, str(rows[0][0]), str(rows[-1][0]), moved)
        if records:
            add_records(tx, clean_id(action_id), records)
        if new is not None:
            add_words(tx, tag_words(new))
        return Retagged(len(records), last)


class _Keys(dict[str, str]):
    """Spelling of a tag to its key, computed when first needed."""

    def __missing__(self, tag: str) -> str:
        self[tag] = tag_key(tag)
        return self[tag]


class _Changes(dict[tuple[str, ...], tuple[tuple[str, ...], str]]):
    """Tags that an item has of the two to those that it gets, and the record of that: most items have the same."""

    def __init__(self, tag: str, new: str | None) -> None:
        super().__init__()
        self._tag = tag
        self._new = () if new is None else (clean_text(new),)

    def __missing__(self, had: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
        have = change_tags(had, self._new, (self._tag,))
        self[had] = have, json.dumps({"tags": [had, have]}, ensure_ascii=False)
        return self[had]


def _move_keys(tx: Transaction, old: str, new: str | None, first: str, last: str, moved: int) -> None:
    """Move the key of a tag for a range of items. The database counts rows that go; those that move are counted here."""
    values: dict[str, Any] = {"user": tx.user_id, "old": old, "first": first, "last": last}
    where = "user_id = :user AND tag = :old AND item_id >= :first AND item_id <= :last"
    if new is not None:
        tx.run(
            f"UPDATE item_tags SET tag = :new WHERE {where} AND NOT EXISTS (SELECT 1 FROM item_tags o "
            "WHERE o.user_id = :user AND o.tag = :new AND o.item_id = item_tags.item_id)",
            **values,
            new=new,
        )
        tx.add_count("tag", old, -moved)
        tx.add_count("tag", new, moved)
    tx.run(f"DELETE FROM item_tags WHERE {where}", **values)
