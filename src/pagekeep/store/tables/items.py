"""Items: save, look up, change, delete; their numbers, for programs that know only numbers of 32 bits."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, Literal, Unpack

from pagekeep.errors import InvalidQuery, NotFound, Outdated
from pagekeep.model import DERIVED_METADATA, Item, ItemMetadata, MetadataChanges, NewItem, PutResult, RawPage, Retention
from pagekeep.model.lists import carry_edits
from pagekeep.model.tags import change_tags, unique_tags
from pagekeep.store.engine import Part, Transaction, reads, select_in, writes
from pagekeep.store.storable import NO_ID, clean_id, clean_item, clean_metadata, url_hash
from pagekeep.store.tables import actions, batch, schedules, snapshots
from pagekeep.store.tables import snapshots as raw_pages
from pagekeep.store.tables.item_rows import (
    INSERT,
    SELECT,
    check_item,
    column_values,
    give_numbers,
    index_item,
    item_of,
    items_by_id,
    lock_numbers,
    put_metadata,
    rewrite,
)
from pagekeep.store.tables.jobs import drop_held

FIND_HINT: Final = "To find its id, use `list` or `search`."
_PREFIX: Final = re.compile(r"[0-9a-f][0-9a-f-]{3,35}")
"""The beginning of a UUID, at least 4 characters: fewer are ambiguous in every larger library."""
_DEFAULT_RETENTION: Final = Retention()
Versions = Literal["replace", "add", "keep"]
"""What becomes of the raw page of an item that gets another: it is replaced, kept as an earlier version, or kept in place of
the new one, whose content is the same."""
_MAX_NUMBER: Final = 2**31 - 1
_SELECT_NUMBERS: Final = "SELECT item_id, number FROM item_numbers WHERE user_id = :user"
_BATCH: Final = 200
"""Ids that are read at a time: few enough that none waits long in memory."""


class Items(Part):
    """A user's items, with their raw pages."""

    @writes
    def save(
        self,
        tx: Transaction,
        item: Item,
        raw: RawPage | None,
        *,
        versions: Versions = "replace",
        retention: Retention = _DEFAULT_RETENTION,
        version_source: str | None = None,
    ) -> Item:
        """Save a page, once per normalised URL, and return the item as stored.

        On an existing item: content, title, author, published_at, url_full, source and the derived metadata are
        replaced; id, created_at, saved_at, last_opened_at and what the user set (pinned, archived, tags, notes) stay; tags
        of the new item are added; a deleted item is restored. A text that the user edited stays too. `versions` says what
        becomes of the raw page that it had, and `version_source` where the new version is from, if not from where the item
        is.
        """
        raw = raw if self._keep_raw else None
        return put_page(tx, item, raw, versions=versions, retention=retention, source=version_source)

    @writes
    def add(
        self,
        tx: Transaction,
        item: Item,
        raw: RawPage | None,
        *,
        held_job: str | None = None,
        action_id: str | None = None,
    ) -> Item | None:
        """Save a page whose URL is new, and return the item as stored; `None` when an item, deleted or not, has the URL.

        Of several first saves at once exactly one adds the page. `held_job` is the job that is no longer needed then, and
        `action_id` the action that is noted to have added it.
        """
        item = check_item(tx, item)
        tx.lock(url_hash(item.url))
        if _find_url(tx, item.url) is not None:
            return None
        if held_job is not None:
            drop_held(tx, held_job)
        added = _insert_page(tx, item, raw if self._keep_raw else None)
        if action_id is not None:
            actions.note_added(tx, action_id, (added.id,))
        return added

    @reads
    def get(self, tx: Transaction, key: str) -> Item:
        """Return the item with this id, unique prefix of an id (at least 4 characters) or normalised URL, deleted or not.

        `NotFound` when there is none; `InvalidQuery` when more than one id starts with the key.
        """
        if _PREFIX.fullmatch(key.lower()):
            digits = key.lower().replace("-", "")[:32]
            rows = tx.all(
                f"{SELECT} WHERE i.user_id = :user AND i.id >= :low AND i.id <= :high LIMIT 2",
                low=str(uuid.UUID(f"{digits:0<32}")),
                high=str(uuid.UUID(f"{digits:f<32}")),
            )
            if len(rows) > 1:
                raise InvalidQuery(f"More than one item id starts with {key}.", suggestions=("Give more of the id.",))
            if rows:
                return item_of(rows[0])
        item = _find_url(tx, key) or _by_id(tx, key)
        if item is None:
            raise NotFound(f"There is no item {key:.200}.", suggestions=(FIND_HINT,))
        return item

    @reads
    def get_many(self, tx: Transaction, item_ids: Sequence[str]) -> tuple[Item, ...]:
        """Return the items with these ids that exist, deleted or not, in this order."""
        ids = [clean_id(item_id) for item_id in item_ids]
        found = items_by_id(tx, ids)
        return tuple(found[item_id] for item_id in ids if item_id in found)

    @reads
    def by_url(self, tx: Transaction, url: str) -> Item | None:
        """Return the item with this normalised URL, deleted or not."""
        return _find_url(tx, url)

    @reads
    def raw(self, tx: Transaction, item_id: str) -> RawPage | None:
        """Return the page as it was fetched, if it was kept."""
        return raw_pages.get_raw(tx, item_id)

    @reads
    def raw_hash(self, tx: Transaction, item_id: str) -> str | None:
        """Return the hash under which the item's raw page is stored, if it was kept."""
        return raw_pages.raw_hash(tx, item_id)

    @writes
    def replace_content(
        self,
        tx: Transaction,
        item_id: str,
        *,
        content: str,
        title: str,
        author: str | None,
        published_at: str | None,
        metadata: ItemMetadata,
        now: str,
        replaces: str | None = None,
    ) -> Item:
        """Store a new extraction of the same page: the derived fields of the metadata are replaced, the user's stay.

        `replaces` is the text that the caller has seen; `Outdated` when the item has another one by now, or another raw
        page than the one that the text was made from.

        With `edited` in the metadata it is the user's own version, which no later extraction replaces, neither by this nor
        by `save`, until `edited` is removed from the item. A result better than a bookmark resets the retry count.
        """
        old, seq = _lock_item(tx, item_id)
        if replaces is not None and old.content != replaces:
            raise Outdated("The item was changed in the meantime.")
        if old.metadata.edited and not metadata.edited:
            return old
        if metadata.raw_hash not in (None, raw_pages.raw_hash(tx, item_id)) and replaces is not None:
            raise Outdated("The item was changed in the meantime.")
        derived = {name: getattr(metadata, name) for name in DERIVED_METADATA}
        retries = old.metadata.retry_count if metadata.quality == "bookmark" else 0
        merged = replace(old.metadata, **derived, edited=metadata.edited, retry_count=retries)
        merged = replace(merged, edits=metadata.edits, page_values=metadata.page_values)
        item = replace(old, content=content, title=title, author=author, published_at=published_at, updated_at=now)
        return rewrite(tx, old, clean_item(carry_edits(old, replace(item, metadata=merged))), seq, derived=True)

    @writes
    def set_metadata(
        self,
        tx: Transaction,
        item_id: str,
        now: str,
        *,
        unchanged_since: str | None = None,
        add_tags: Sequence[str] = (),
        **changes: Unpack[MetadataChanges],
    ) -> Item:
        """Note something about an item; `Outdated` when its `updated_at` is not `unchanged_since`.

        What a user changes goes through `Actions.change`, where it can be undone.
        """
        old, seq = _lock_item(tx, item_id)
        if unchanged_since is not None and old.updated_at != unchanged_since:
            raise Outdated("The item was changed in the meantime.")
        metadata = replace(old.metadata, **changes)
        metadata = clean_metadata(replace(metadata, tags=change_tags(metadata.tags, add_tags, ())))
        item = replace(old, metadata=metadata, updated_at=now)
        put_metadata(tx, old, item, seq)
        return item

    @writes
    def add_timestamp(self, tx: Transaction, item_id: str, statement: str, token: str) -> bool:
        """Store the time stamp of an item's signed receipt; return whether that is still the one with this statement."""
        old, seq = _lock_item(tx, item_id)
        signed = old.metadata.signature
        if signed is None or signed.get("statement") != statement:
            return False
        metadata = replace(old.metadata, signature={**signed, "timestamp": token})
        put_metadata(tx, old, replace(old, metadata=metadata), seq)
        return True

    @writes
    def mark_opened(self, tx: Transaction, item_id: str, now: str) -> Item:
        """Note that the item was read now. That does not change the item, so `updated_at` stays."""
        item, seq = _lock_item(tx, item_id)
        tx.run("UPDATE items SET last_opened_at = :now WHERE seq = :seq", now=now, seq=seq)
        return replace(item, last_opened_at=now)

    @writes
    def delete(self, tx: Transaction, item_id: str, now: str) -> Item:
        """Move the item to the trash, where it stays until purged."""
        return _set_deleted(tx, item_id, now, now)

    @writes
    def restore(self, tx: Transaction, item_id: str, now: str) -> Item:
        """Bring the item back from the trash."""
        return _set_deleted(tx, item_id, None, now)

    @writes
    def purge(
        self, tx: Transaction, item_ids: Sequence[str] | None = None, *, deleted_before: str | None = None
    ) -> int:
        """Remove deleted items permanently, with raw pages that no other item uses; return how many."""
        where, values = "user_id = :user AND deleted_at IS NOT NULL", dict[str, Any]()
        if deleted_before is not None:
            where, values["before"] = where + " AND deleted_at < :before", deleted_before
        rows = tx.all(f"SELECT seq, id FROM items WHERE {where} ORDER BY seq {tx.for_update}", **values)
        chosen = None if item_ids is None else set(item_ids)
        purged = [(seq, item_id) for seq, item_id in rows if chosen is None or item_id in chosen]
        for seq, item_id in purged:
            snapshots.drop_all(tx, item_id)
            raw_pages.drop_raw(tx, item_id)
            schedules.drop_item(tx, item_id)
            tx.drop_words(seq)
            tx.run("DELETE FROM items WHERE seq = :seq", seq=seq)
        return len(purged)

    @writes
    def save_many(
        self,
        tx: Transaction,
        entries: Sequence[NewItem],
        merge: batch.Merge,
        *,
        retention: Retention = _DEFAULT_RETENTION,
    ) -> tuple[tuple[Item, PutResult], ...]:
        """Save many pages, all or none; return each as stored, and whether it was added, updated or unchanged.

        An existing item becomes `merge(old, new)`, which must have no other effect; returning the old item leaves it
        unchanged. The raw page is stored where the content is the new one's, as another version of the page; if that came
        without one, the old raw page goes, as it belongs to other content. Annotations are added unless one with their id
        exists. An id that belongs to another page is replaced.
        """
        return batch.save_many(tx, entries, merge, retention, keep_raw=self._keep_raw)

    @reads
    def numbers(self, tx: Transaction, item_ids: Sequence[str]) -> dict[str, int]:
        """Return the numbers of these items, by their ids."""
        ids = [clean_id(item_id) for item_id in item_ids]
        return {str(row[0]): row[1] for row in select_in(tx, f"{_SELECT_NUMBERS} AND item_id IN (:list)", ids)}

    @reads
    def by_number(self, tx: Transaction, numbers: Sequence[int]) -> dict[int, str]:
        """Return the ids of the items with these numbers; those of purged items are among them."""
        known = [number for number in numbers if 0 < number <= _MAX_NUMBER]
        return {row[1]: str(row[0]) for row in select_in(tx, f"{_SELECT_NUMBERS} AND number IN (:list)", known)}

    @reads
    def addresses(self, tx: Transaction) -> list[tuple[str, str, str]]:
        """Return id, normalised URL and URL as entered of all items that are not deleted."""
        rows = tx.all("SELECT id, url, url_full FROM items WHERE user_id = :user AND deleted_at IS NULL")
        return [(str(item_id), url, url_full) for item_id, url, url_full in rows]

    def stale_ids(self, *, parser_version: int, rules_hash: str | None, limit: int | None = None) -> Iterator[str]:
        """Yield ids of items with a raw page that an older parser or other rules extracted, oldest saved first.

        They are read in batches, so that the caller may change each item before the next.
        """
        left, after = limit, ("0001-01-01T00:00:00.000000Z", NO_ID)
        while left is None or left > 0:
            size = _BATCH if left is None else min(left, _BATCH)
            batch = self._stale(parser_version, rules_hash, after, size)
            yield from (item_id for _, item_id in batch)
            if len(batch) < size:
                return
            after = batch[-1]
            left = None if left is None else left - len(batch)

    @reads
    def _stale(
        self, tx: Transaction, parser_version: int, rules_hash: str | None, after: tuple[str, str], limit: int
    ) -> list[tuple[str, str]]:
        """Return (saved_at, id) of the next outdated items."""
        values: dict[str, Any] = {"version": parser_version, "saved": after[0], "id": after[1]}
        rules = ""
        if rules_hash is not None:
            rules, values["rules"] = " OR COALESCE(i.rules_hash, '') <> :rules", rules_hash
        rows = tx.all(
            "SELECT i.saved_at, i.id FROM items i WHERE i.user_id = :user AND (i.saved_at, i.id) > (:saved, :id) "
            f"AND i.deleted_at IS NULL AND (COALESCE(i.parser_version, -1) < :version{rules}) "
            "AND EXISTS (SELECT 1 FROM raw_pages p WHERE p.user_id = i.user_id AND p.item_id = i.id) "
            f"ORDER BY i.saved_at, i.id LIMIT {int(limit)}",
            **values,
        )
        return [(saved, item_id) for saved, item_id in rows]

    def all_ids(self) -> Iterator[str]:
        """Yield the ids of all items, deleted ones too, without reading anything else of them."""
        last = NO_ID
        while True:
            batch = self._ids_after(last)
            yield from batch
            if len(batch) < _BATCH:
                return
            last = batch[-1]

    @reads
    def _ids_after(self, tx: Transaction, last: str) -> list[str]:
        rows = tx.all(
            f"SELECT id FROM items WHERE user_id = :user AND id > :last ORDER BY id LIMIT {_BATCH}", last=last
        )
        return [item_id for (item_id,) in rows]

    @reads
    def versions(self, tx: Transaction) -> Sequence[tuple[str, str]]:
        """Return (id, version) of every item that is not deleted, by id.

        Every change of an item, its annotations or its kept pictures changes its version, so that a copy can be kept up to
        date.
        """
        annotated = tx.all(
            "SELECT item_id, COUNT(*), MAX(updated_at) FROM annotations WHERE user_id = :user GROUP BY item_id"
        )
        annotations = {item_id: f" {count} {latest}" for item_id, count, latest in annotated}
        kept = tx.all(
            "SELECT item_id, COUNT(*), MAX(created_at) FROM item_blobs WHERE user_id = :user AND hash IS NOT NULL "
            "AND role IN ('picture', 'hero') GROUP BY item_id"
        )
        pictures = {item_id: f" p{count} {latest}" for item_id, count, latest in kept}
        rows = tx.all("SELECT id, updated_at FROM items WHERE user_id = :user AND deleted_at IS NULL ORDER BY id")
        return [
            (item_id, f"{updated}{annotations.get(item_id, '')}{pictures.get(item_id, '')}")
            for item_id, updated in rows
        ]

    @reads
    def faults(self, tx: Transaction) -> list[str]:
        """Return what is wrong with the stored items."""
        unindexed = tx.all(
            "SELECT i.id FROM items i LEFT JOIN item_words w ON w.seq = i.seq WHERE i.user_id = :user AND w.seq IS NULL "
            "ORDER BY i.id"
        )
        return [
            f"The item {item_id} is missing from the search index." for (item_id,) in unindexed
        ] + snapshots.raw_faults(tx)


def put_page(
    tx: Transaction,
    item: Item,
    raw: RawPage | None,
    *,
    versions: Versions,
    retention: Retention,
    source: str | None = None,
) -> Item:
    """Save a page and its raw page, as `Items.save` does; `source` is that of the version, if not the item's."""
    item = check_item(tx, item)
    tx.lock(url_hash(item.url))
    rows = tx.all(f"{SELECT} WHERE i.user_id = :user AND i.url_hash = :hash {tx.for_update}", hash=url_hash(item.url))
    if not rows:
        return _insert_page(tx, item, raw)
    old = item_of(rows[0])
    new_source, item = item.source, _merge(old, item)
    # First the raw page: a first version takes its source from the item as it was.
    item = _put_raw(tx, item, raw, versions, source or new_source, retention)
    item = rewrite(tx, old, item, rows[0][-1])
    if old.metadata.has_only_address and not item.metadata.has_only_address:
        item = actions.apply_rules(tx, item, rows[0][-1], actions.enabled_rules(tx))
    return item


def _insert_page(tx: Transaction, item: Item, raw: RawPage | None) -> Item:
    """Store a page whose URL is new and locked."""
    lock_numbers(tx)
    seq = int(tx.all(f"{INSERT} RETURNING seq", **column_values(tx, item))[0][0])
    index_item(tx, item, seq)
    give_numbers(tx, [item.id])
    raw_pages.put_raw(tx, item.id, raw)
    return actions.apply_rules(tx, item, seq, actions.enabled_rules(tx))


def _put_raw(
    tx: Transaction, item: Item, raw: RawPage | None, versions: Versions, source: str, retention: Retention
) -> Item:
    """Store the raw page of an item; return the item, which names the raw page that its text is from."""
    if raw is None:
        raw_pages.put_raw(tx, item.id, None)
    elif versions == "add":
        snapshots.add(tx, item.id, raw, source, retention)
    elif versions == "keep" and (stored := raw_pages.raw_hash(tx, item.id)) is not None:
        if item.metadata.raw_hash in (None, stored):
            raw_pages.put_validators(tx, item.id, raw)
        else:  # another save stored a newer version in the meantime: this one is the newest again
            snapshots.add(tx, item.id, raw, source, retention)
            return replace(item, metadata=replace(item.metadata, raw_hash=raw_pages.content_hash(raw.body)))
    else:
        raw_pages.put_raw(tx, item.id, raw)
    return item


def _find_url(tx: Transaction, url: str) -> Item | None:
    rows = tx.all(f"{SELECT} WHERE i.user_id = :user AND i.url_hash = :hash", hash=url_hash(url))
    return item_of(rows[0]) if rows else None


def _by_id(tx: Transaction, item_id: str) -> Item | None:
    rows = tx.all(f"{SELECT} WHERE i.user_id = :user AND i.id = :id", id=clean_id(item_id))
    return item_of(rows[0]) if rows else None


def _merge(old: Item, new: Item) -> Item:
    before, after = old.metadata, new.metadata
    metadata = replace(
        after,
        pinned=after.pinned if before.pinned is None else before.pinned,
        archived=after.archived if before.archived is None else before.archived,
        notes=after.notes if before.notes is None else before.notes,
        join_pages=before.join_pages if after.join_pages is None else after.join_pages,
        tags=unique_tags((*before.tags, *after.tags)),
        part_of=after.part_of or before.part_of,
        attachments=after.attachments or before.attachments,
        refused_tags=before.refused_tags,
        keep_pictures=before.keep_pictures,
        applied_rules=before.applied_rules,
    )
    if before.edited:
        metadata = replace(
            metadata,
            edited=True,
            word_count=before.word_count,
            reading_time=before.reading_time,
            edits=before.edits,
            page_values=before.page_values,
            site_name=before.site_name if before.edits else metadata.site_name,
        )
        return replace(old, metadata=metadata, updated_at=new.updated_at, deleted_at=None)
    merged = replace(
        new,
        id=old.id,
        created_at=old.created_at,
        saved_at=old.saved_at,
        last_opened_at=old.last_opened_at,
        deleted_at=None,
        metadata=metadata,
    )
    return carry_edits(old, merged) if before.edits or after.edits else merged


def _lock_item(tx: Transaction, item_id: str) -> tuple[Item, int]:
    """Return the item, which no other transaction can change until the end of this one, and its number."""
    rows = tx.all(f"{SELECT} WHERE i.user_id = :user AND i.id = :id {tx.for_update}", id=clean_id(item_id))
    if not rows:
        raise NotFound(f"There is no item {item_id:.200}.", suggestions=(FIND_HINT,))
    return item_of(rows[0]), rows[0][-1]


def _set_deleted(tx: Transaction, item_id: str, deleted_at: str | None, now: str) -> Item:
    """Delete the item, or restore it with `None`; an item that is deleted already keeps its time of deletion."""
    item, seq = _lock_item(tx, item_id)
    if (item.deleted_at is None) == (deleted_at is None):
        return item
    tx.run("UPDATE items SET deleted_at = :at, updated_at = :now WHERE seq = :seq", at=deleted_at, now=now, seq=seq)
    return replace(item, deleted_at=deleted_at, updated_at=now)
