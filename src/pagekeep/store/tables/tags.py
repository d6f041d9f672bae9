"""Tags: rename or remove one on all its items, and which are in use."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from pagekeep.model.tags import change_tags, tag_key
from pagekeep.store.engine import Part, Transaction, reads, select_in, writes
from pagekeep.store.query import tag_words
from pagekeep.store.storable import clean_id, clean_text, domain_key
from pagekeep.store.tables.actions import add_records
from pagekeep.store.tables.counts import add_words, texts
from pagekeep.store.tables.item_rows import TAG_COLUMNS, read_tags

_MAX_SITES: Final = 50
"""Sites in one statement."""


class Retagged(NamedTuple):
    """What became of some items with a tag."""

    changed: int
    last: str | None
    """The id of the last of them, after which the next part begins; `None` when there are no more."""


class Tags(Part):
    """The tags of a user's items."""

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

    @reads
    def known(self, tx: Transaction, keys: Sequence[str]) -> frozenset[str]:
        """Return which of these keys of tags are in use."""
        sql = "SELECT key FROM item_counts WHERE user_id = :user AND kind = 'tag' AND key IN (:list)"
        return frozenset(key for (key,) in select_in(tx, sql, keys))

    @reads
    def of_sites(
        self, tx: Transaction, domains: Sequence[str], limit: int
    ) -> dict[str, list[tuple[str, tuple[str, ...]]]]:
        """Return the ids and tags of the newest items of each of these domains, at most `limit` of each."""
        found: dict[str, list[tuple[str, tuple[str, ...]]]] = {domain: [] for domain in domains}
        by_key = {domain_key(domain): domain for domain in domains}
        for begin in range(0, len(by_key), _MAX_SITES):
            names = {f"d{at}": key for at, key in enumerate(list(by_key)[begin : begin + _MAX_SITES])}
            newest = (
                "SELECT * FROM (SELECT i.domain_key, i.id, i.tags FROM items i WHERE i.user_id = :user "
                f"AND i.domain_key = :{name} AND i.deleted_at IS NULL ORDER BY i.seq DESC LIMIT {int(limit)}) n{name}"
                for name in names
            )
            for key, item_id, tags in tx.all(" UNION ALL ".join(newest), **names):
                found[by_key[key]].append((str(item_id), texts(tags)))
        return found

    @reads
    def counts(self, tx: Transaction) -> Sequence[tuple[str, int]]:
        """Return the tags of items that are not deleted with their number of items, the most used first."""
        rows = tx.all(
            "SELECT key, count FROM item_counts WHERE user_id = :user AND kind = 'tag' ORDER BY count DESC, key"
        )
        return [(tag, int(count)) for tag, count in rows]


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
    values: dict[str, Any] = {"old": old, "first": first, "last": last}
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
