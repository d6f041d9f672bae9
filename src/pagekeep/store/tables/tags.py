"""Rename or remove a tag on all items that have it, a part at a time: no text is read or indexed again."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from pagekeep.model.tags import change_tags, tag_key
from pagekeep.store.engine import Transaction
from pagekeep.store.search.indexed_text import tag_words
from pagekeep.store.storable import clean_id, clean_text
from pagekeep.store.table import Table, writes
from pagekeep.store.tables.browse.vocabulary import add_words
from pagekeep.store.tables.items import TAG_COLUMNS, read_tags
from pagekeep.store.tables.lists.actions import add_records


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
