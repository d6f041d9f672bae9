"""Items: save, look up, change, delete; and their numbers, for programs that know only numbers of 32 bits."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, Literal, Unpack

from pagekeep.errors import InvalidQuery, NotFound, Outdated, StoreError
from pagekeep.model import DERIVED_METADATA, Item, ItemMetadata, MetadataChanges, RawPage, Retention
from pagekeep.model.lists import carry_edits
from pagekeep.model.tags import change_tags, tag_key, unique_tags
from pagekeep.store.engine import Row, Table, Transaction, reads, writes
from pagekeep.store.query import body_words, head_words, tag_words, without_frontmatter
from pagekeep.store.storable import (
    NO_ID,
    carry_stamp,
    clean_id,
    clean_item,
    clean_metadata,
    domain_key,
    metadata_from_json,
    metadata_to_json,
    parse_json,
    stamp_text,
    url_hash,
)
from pagekeep.store.tables import schedules, snapshots
from pagekeep.store.tables import snapshots as raw_pages
from pagekeep.store.tables.counts import add_words
from pagekeep.store.tables.jobs import drop_held
from pagekeep.text import count_words, fold

COLUMNS: Final = (
    *("id", "user_id", "url", "url_full", "domain", "title", "content", "source", "author", "saved_at", "published_at"),
    *("metadata", "created_at", "updated_at", "last_opened_at", "deleted_at"),
)
WRITTEN: Final = (*COLUMNS, "url_hash", "domain_key", "title_key", "tags")
"""All columns that are written; the others are generated."""
SELECT: Final = f"SELECT {', '.join(f'i.{name}' for name in COLUMNS)}, i.tags, i.seq FROM items i"
INSERT: Final = f"INSERT INTO items ({', '.join(WRITTEN)}) VALUES ({', '.join(f':{name}' for name in WRITTEN)})"
TAG_COLUMNS: Final = "i.tags, CASE WHEN i.tags IS NULL THEN i.metadata END"
"""What `read_tags` reads. A row of an earlier version may have its tags in the metadata only."""
FIND_HINT: Final = "To find its id, use `list` or `search`."
INSERT_TAG: Final = "INSERT INTO item_tags (user_id, tag, item_id) VALUES (:user, :tag, :id)"
_UPDATE: Final = f"UPDATE items SET {', '.join(f'{name} = :{name}' for name in WRITTEN)} WHERE seq = :seq"
_PREFIX: Final = re.compile(r"[0-9a-f][0-9a-f-]{3,35}")
"""The beginning of a UUID, at least 4 characters: fewer are ambiguous in every larger library."""
_DEFAULT_RETENTION: Final = Retention()
_LIST_LENGTH: Final = 100
"""Values in one list of a statement."""
Versions = Literal["replace", "add", "keep"]
"""What becomes of the raw page of an item that gets another: it is replaced, kept as an earlier version, or kept in place of
the new one, whose content is the same."""
_MAX_TITLE_KEY_CHARS: Final = 200
"""Characters of a title by which it is sorted; both engines can index keys of this length."""


class ItemTable(Table):
    """A user's items, with their raw pages."""

    @writes
    def upsert(
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
    def add_page(self, tx: Transaction, item: Item, raw: RawPage | None, *, held_job: str | None = None) -> Item | None:
        """Save a page whose URL is new, and return the item as stored; `None` when an item, deleted or not, has the URL.

        Of several first saves at once exactly one adds the page. `held_job` is the job that is no longer needed then.
        """
        return add_page(tx, item, raw if self._keep_raw else None, held_job)

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
                user=tx.user_id,
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
        found = {
            str(row[0]): item_of(row) for row in _select_in(tx, "i.user_id = :user AND i.id", ids, user=tx.user_id)
        }
        return tuple(found[item_id] for item_id in ids if item_id in found)

    @reads
    def find_url(self, tx: Transaction, url: str) -> Item | None:
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
        by `upsert`, until `edited` is removed from the item. A result better than a bookmark resets the retry count.
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

        What a user changes goes through `change_items`, where it can be undone.
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
        where, values = "user_id = :user AND deleted_at IS NOT NULL", {"user": tx.user_id}
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


def add_page(tx: Transaction, item: Item, raw: RawPage | None, held_job: str | None = None) -> Item | None:
    """Save a page whose URL is new, and remove the job that was held for it; `None` when an item has the URL."""
    item = check_item(tx, item)
    tx.lock(url_hash(item.url))
    if _find_url(tx, item.url) is not None:
        return None
    if held_job is not None:
        drop_held(tx, held_job)
    return _insert_page(tx, item, raw)


def put_page(
    tx: Transaction,
    item: Item,
    raw: RawPage | None,
    *,
    versions: Versions,
    retention: Retention,
    source: str | None = None,
) -> Item:
    """Save a page and its raw page, as `upsert` does; `source` is that of the version, if not the item's."""
    item = check_item(tx, item)
    tx.lock(url_hash(item.url))
    rows = tx.all(
        f"{SELECT} WHERE i.user_id = :user AND i.url_hash = :hash {tx.for_update}",
        user=tx.user_id,
        hash=url_hash(item.url),
    )
    if not rows:
        return _insert_page(tx, item, raw)
    from pagekeep.store.tables import actions  # they change items

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
    from pagekeep.store.tables import actions  # they change items

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


def item_of(row: Row) -> Item:
    """Return the item in a row of `SELECT`."""
    values = dict(zip(COLUMNS, row, strict=False))
    values["metadata"] = read_metadata(values["metadata"], row[len(COLUMNS)])
    return Item(**values)


def read_tags(tags: Any, metadata: Any) -> Sequence[str]:
    """Return the tags in the columns `TAG_COLUMNS` of a row."""
    return read_metadata(metadata, None).tags if tags is None else parse_json(tags)


def read_metadata(metadata: Any, tags: Any) -> ItemMetadata:
    """Return the metadata in the columns of a row. The tags in `metadata` count only where `tags` is missing."""
    stored = parse_json(metadata)
    return metadata_from_json(stored if tags is None else {**stored, "tags": parse_json(tags)})


def get_by_seq(tx: Transaction, seqs: Sequence[int]) -> Iterator[Item]:
    """Yield items by their numbers, in this order; all of them exist."""
    found = {row[-1]: item_of(row) for row in _select_in(tx, "i.seq", seqs)}
    return (found[seq] for seq in seqs)


def _select_in(tx: Transaction, condition: str, values: Sequence[int | str], **others: str) -> Iterator[Row]:
    for begin in range(0, len(values), _LIST_LENGTH):
        part = list(values[begin : begin + _LIST_LENGTH])
        # Always a list of full length, so that the statement is prepared once.
        names = {f"n{at}": value for at, value in enumerate([*part, *part[:1] * (_LIST_LENGTH - len(part))])}
        marks = ", ".join(f":{name}" for name in names)
        yield from tx.all(f"{SELECT} WHERE {condition} IN ({marks})", **names, **others)


def check_item(tx: Transaction, item: Item) -> Item:
    """Return a new item in a form that both engines can store, with the stamp of its text.

    `StoreError` when it belongs to another user.
    """
    if item.user_id != tx.user_id:
        raise StoreError("The item belongs to another user than the library.")
    item_id = clean_id(item.id)
    return stamp_text(clean_item(replace(item, id=str(uuid.uuid4()) if item_id == NO_ID else item_id)), tx.sign)


def _find_url(tx: Transaction, url: str) -> Item | None:
    rows = tx.all(f"{SELECT} WHERE i.user_id = :user AND i.url_hash = :hash", user=tx.user_id, hash=url_hash(url))
    return item_of(rows[0]) if rows else None


def _by_id(tx: Transaction, item_id: str) -> Item | None:
    rows = tx.all(f"{SELECT} WHERE i.user_id = :user AND i.id = :id", user=tx.user_id, id=clean_id(item_id))
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


def column_values(tx: Transaction, item: Item) -> dict[str, Any]:
    """Return the values of the columns that are written for an item."""
    own = {name: getattr(item, name) for name in COLUMNS}
    return own | {
        "metadata": tx.json(metadata_to_json(item.metadata)),
        "tags": tx.tag_list(item.metadata.tags),
        "url_hash": url_hash(item.url),
        "domain_key": domain_key(item.domain),
        "title_key": fold(item.title).strip()[:_MAX_TITLE_KEY_CHARS],
    }


def rewrite(tx: Transaction, old: Item, new: Item, seq: int, *, derived: bool = False) -> Item:
    """Replace a stored item, its search words and its tags; return it as stored, with the stamp of its text.

    A text that is the same keeps its stamp, unless it was `derived` again and not read from the library.
    """
    new = stamp_text(new, tx.sign) if derived else carry_stamp(old, new, tx.sign)
    tx.run(_UPDATE, **column_values(tx, new), seq=seq)
    index_item(tx, new, seq)
    return new


def put_metadata(tx: Transaction, old: Item, new: Item, seq: int) -> None:
    """Store an item of which only the metadata, and whether it is deleted, changed: its text is not indexed again."""
    tx.run(
        "UPDATE items SET metadata = :metadata, tags = :tags, deleted_at = :deleted, updated_at = :now WHERE seq = :seq",
        metadata=tx.json(metadata_to_json(new.metadata)),
        tags=tx.tag_list(new.metadata.tags),
        deleted=new.deleted_at,
        now=new.updated_at,
        seq=seq,
    )
    if old.metadata.tags != new.metadata.tags:
        index_tags(tx, new.id, new.metadata.tags)


def index_item(tx: Transaction, item: Item, seq: int) -> None:
    """Store the search words and tags of an item in place of those it had."""
    head, body, count = search_words(item)
    tx.put_words(seq, head, body, count)
    add_words(tx, head, body)
    index_tags(tx, item.id, item.metadata.tags)


def index_tags(tx: Transaction, item_id: str, tags: Sequence[str]) -> None:
    """Store the keys of an item's tags in place of those it had. Searches find the words of tags by them."""
    own = {"user": tx.user_id, "id": item_id}
    had = {key for (key,) in tx.all("SELECT tag FROM item_tags WHERE user_id = :user AND item_id = :id", **own)}
    keys = {tag_key(tag) for tag in tags}
    for key in sorted(had - keys):
        tx.run("DELETE FROM item_tags WHERE user_id = :user AND item_id = :id AND tag = :tag", **own, tag=key)
    for key in sorted(keys - had):
        tx.run(INSERT_TAG, **own, tag=key)
        add_words(tx, tag_words(key))


def search_words(item: Item) -> tuple[str, str, int]:
    """Return the search words of head and body, and how many words the content has."""
    edits = item.metadata.edits or {}
    head = head_words(item.title, item.author, edits.get("site_name"))
    return head, body_words(item.content), count_words(without_frontmatter(item.content))


def tag_keys(item: Item) -> list[str]:
    """Return the keys of the item's tags, each once."""
    return sorted({tag_key(tag) for tag in item.metadata.tags})


def _lock_item(tx: Transaction, item_id: str) -> tuple[Item, int]:
    """Return the item, which no other transaction can change until the end of this one, and its number."""
    rows = tx.all(
        f"{SELECT} WHERE i.user_id = :user AND i.id = :id {tx.for_update}", user=tx.user_id, id=clean_id(item_id)
    )
    if not rows:
        raise NotFound(f"There is no item {item_id:.200}.", suggestions=(FIND_HINT,))
    return item_of(rows[0]), rows[0][-1]


def lock_tags(tx: Transaction, item_ids: Sequence[str]) -> dict[str, tuple[int, tuple[str, ...]]]:
    """Return the numbers and tags of items, which no other transaction can change until the end of this one."""
    found = {}
    for begin in range(0, len(item_ids), _LIST_LENGTH):
        part = list(item_ids[begin : begin + _LIST_LENGTH])
        names = {f"n{at}": item_id for at, item_id in enumerate([*part, *part[:1] * (_LIST_LENGTH - len(part))])}
        rows = tx.all(
            f"SELECT i.id, i.seq, {TAG_COLUMNS} FROM items i WHERE i.user_id = :user "
            f"AND i.id IN ({', '.join(f':{name}' for name in names)}) ORDER BY i.id {tx.for_update}",
            user=tx.user_id,
            **names,
        )
        found.update({str(item_id): (seq, tuple(read_tags(*stored))) for item_id, seq, *stored in rows})
    return found


def _set_deleted(tx: Transaction, item_id: str, deleted_at: str | None, now: str) -> Item:
    """Delete the item, or restore it with `None`; an item that is deleted already keeps its time of deletion."""
    item, seq = _lock_item(tx, item_id)
    if (item.deleted_at is None) == (deleted_at is None):
        return item
    tx.run("UPDATE items SET deleted_at = :at, updated_at = :now WHERE seq = :seq", at=deleted_at, now=now, seq=seq)
    return replace(item, deleted_at=deleted_at, updated_at=now)


MAX_NUMBER: Final = 2**31 - 1


class NumberTable(Table):
    """The numbers of a user's items."""

    @reads
    def numbers(self, tx: Transaction, item_ids: Sequence[str]) -> dict[str, int]:
        """Return the numbers of these items, by their ids."""
        ids = [clean_id(item_id) for item_id in item_ids]
        return {str(row[0]): row[1] for row in _select_numbers(tx, "item_id", ids)}

    @reads
    def numbered(self, tx: Transaction, numbers: Sequence[int]) -> dict[int, str]:
        """Return the ids of the items with these numbers; those of purged items are among them."""
        known = [number for number in numbers if 0 < number <= MAX_NUMBER]
        return {row[1]: str(row[0]) for row in _select_numbers(tx, "number", known)}

    @reads
    def addresses(self, tx: Transaction) -> list[tuple[str, str, str]]:
        """Return id, normalised URL and URL as entered of all items that are not deleted."""
        rows = tx.all(
            "SELECT id, url, url_full FROM items WHERE user_id = :user AND deleted_at IS NULL", user=tx.user_id
        )
        return [(str(item_id), url, url_full) for item_id, url, url_full in rows]


def _select_numbers(tx: Transaction, column: str, values: Sequence[str | int]) -> Iterator[Row]:
    for begin in range(0, len(values), _LIST_LENGTH):
        part = list(values[begin : begin + _LIST_LENGTH])
        # Always a list of full length, so that the statement is prepared once.
        names = {f"n{at}": value for at, value in enumerate([*part, *part[:1] * (_LIST_LENGTH - len(part))])}
        marks = ", ".join(f":{name}" for name in names)
        sql = f"SELECT item_id, number FROM item_numbers WHERE user_id = :user AND {column} IN ({marks})"
        yield from tx.all(sql, user=tx.user_id, **names)


def lock_numbers(tx: Transaction) -> None:
    """Let no other transaction of the user give numbers until the end of this one; after the locks of addresses."""
    tx.lock(f"numbers {tx.user_id}")


def give_numbers(tx: Transaction, item_ids: Sequence[str]) -> None:
    """Give the next numbers to new items, in their order; one that had a number before keeps it."""
    if not item_ids:
        return
    last = tx.all("SELECT COALESCE(MAX(number), 0) FROM item_numbers WHERE user_id = :user", user=tx.user_id)[0][0]
    tx.many(
        "INSERT INTO item_numbers (user_id, item_id, number) VALUES (:user, :id, :number) "
        "ON CONFLICT (user_id, item_id) DO NOTHING",
        [{"user": tx.user_id, "id": item_id, "number": last + at} for at, item_id in enumerate(item_ids, start=1)],
    )


def give_missing_numbers(tx: Transaction) -> None:
    """Give numbers to all items without one, as after a restore from an older backup, in the order they were saved."""
    rows = tx.all(
        "SELECT i.id FROM items i WHERE i.user_id = :user AND NOT EXISTS (SELECT 1 FROM item_numbers n "
        "WHERE n.user_id = i.user_id AND n.item_id = i.id) ORDER BY i.seq",
        user=tx.user_id,
    )
    give_numbers(tx, [str(row[0]) for row in rows])
