"""Items on the shelf: put in, look up, change, remove."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from pagekeep.errors import InvalidQuery, NotFound, Outdated, StoreError
from pagekeep.model import DERIVED_METADATA, Item, ItemMetadata, MetadataChanges, RawPage
from pagekeep.store.engine import Row, Transaction
from pagekeep.store.metadata_json import metadata_from_json, metadata_to_json
from pagekeep.store.search.filters import tag_key
from pagekeep.store.search.indexed_text import body_words, head_words, without_frontmatter
from pagekeep.store.search.search_words import fold
from pagekeep.store.storable import clean_item, clean_metadata, clean_text, domain_key, url_hash
from pagekeep.store.tables import raw_pages
from pagekeep.text import count_words

COLUMNS: Final = (
    *("id", "user_id", "url", "url_full", "domain", "title", "content", "source", "author", "saved_at", "published_at"),
    *("metadata", "created_at", "updated_at", "last_opened_at", "deleted_at"),
)
SELECT: Final = f"SELECT {', '.join(f'i.{name}' for name in COLUMNS)}, i.seq FROM items i"
_PREFIX: Final = re.compile(r"[0-9a-f][0-9a-f-]{3,35}")
_LONGEST_KEY: Final = 200
"""Characters of a title by which it is sorted."""


def item_of(row: Row) -> Item:
    """The item in a row of `SELECT`."""
    values = dict(zip(COLUMNS, row, strict=False))
    values["metadata"] = metadata_from_json(json_of(values["metadata"]))
    return Item(**values)


def json_of(value: Any) -> Any:
    """A JSON column: SQLite gives text, PostgreSQL the value."""
    return json.loads(value) if isinstance(value, str) else value


def get(tx: Transaction, key: str) -> Item:
    """By id, prefix of an id, or normalised URL."""
    if _PREFIX.fullmatch(key.lower()):
        # Every character of an id sorts before "g".
        rows = tx.all(
            f"{SELECT} WHERE i.user_id = :user AND i.id >= :low AND i.id < :high LIMIT 2",
            low=key.lower(),
            high=key.lower() + "g",
            user=tx.user_id,
        )
        if len(rows) > 1:
            raise InvalidQuery(f"More than one item begins with {key}.", suggestions=("Give more of the id.",))
        if rows:
            return item_of(rows[0])
    found = find_url(tx, key) or _by_id(tx, key)
    if found is None:
        raise NotFound(f"There is no item {key:.200}.")
    return found


def find_url(tx: Transaction, url: str) -> Item | None:
    """By normalised URL, deleted or not."""
    rows = tx.all(f"{SELECT} WHERE i.user_id = :user AND i.url_hash = :hash", user=tx.user_id, hash=url_hash(url))
    return item_of(rows[0]) if rows else None


def _by_id(tx: Transaction, item_id: str) -> Item | None:
    rows = tx.all(f"{SELECT} WHERE i.user_id = :user AND i.id = :id", user=tx.user_id, id=clean_text(item_id))
    return item_of(rows[0]) if rows else None


def upsert(tx: Transaction, item: Item, raw: RawPage | None) -> Item:
    """Put a page in, once per normalised URL; `raw` is `None` when it is not to be kept."""
    if item.user_id != tx.user_id:
        raise StoreError("The item is another user's than the library.")
    item = clean_item(item)
    tx.lock(url_hash(item.url))
    rows = tx.all(
        f"{SELECT} WHERE i.user_id = :user AND i.url_hash = :hash {tx.for_update}",
        user=tx.user_id,
        hash=url_hash(item.url),
    )
    if rows:
        item = _merged(item_of(rows[0]), item)
        seq = rows[0][-1]
        _update(tx, item, seq)
    else:
        seq = _insert(tx, item)
    index(tx, item, seq)
    raw_pages.put(tx, item.id, raw)
    return item


def _merged(old: Item, new: Item) -> Item:
    theirs, ours = old.metadata, new.metadata
    metadata = replace(
        ours,
        pinned=ours.pinned if theirs.pinned is None else theirs.pinned,
        archived=ours.archived if theirs.archived is None else theirs.archived,
        notes=ours.notes if theirs.notes is None else theirs.notes,
        tags=_joined_tags(theirs.tags, ours.tags),
    )
    if theirs.edited:
        metadata = replace(metadata, edited=True, word_count=theirs.word_count, reading_time=theirs.reading_time)
        return replace(old, metadata=metadata, updated_at=new.updated_at, deleted_at=None)
    return replace(
        new,
        id=old.id,
        created_at=old.created_at,
        saved_at=old.saved_at,
        last_opened_at=old.last_opened_at,
        deleted_at=None,
        metadata=metadata,
    )


def _joined_tags(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, ...]:
    """The old ones as they are, then new ones that are not among them."""
    by_key = {tag_key(tag): tag for tag in reversed([*old, *new])}
    return tuple(by_key.pop(tag_key(tag)) for tag in [*old, *new] if tag_key(tag) in by_key)


def values(tx: Transaction, item: Item) -> dict[str, Any]:
    """What stands in the columns of an item."""
    own = {name: getattr(item, name) for name in COLUMNS}
    return own | {
        "metadata": tx.json(metadata_to_json(item.metadata)),
        "url_hash": url_hash(item.url),
        "domain_key": domain_key(item.domain),
        "title_key": fold(item.title).strip()[:_LONGEST_KEY],
    }


_WRITTEN: Final = (*COLUMNS, "url_hash", "domain_key", "title_key")
INSERT: Final = f"INSERT INTO items ({', '.join(_WRITTEN)}) VALUES ({', '.join(f':{name}' for name in _WRITTEN)})"
INSERT_TAG: Final = "INSERT INTO item_tags (user_id, tag, item_id) VALUES (:user, :tag, :id)"
_UPDATE: Final = f"UPDATE items SET {', '.join(f'{name} = :{name}' for name in _WRITTEN)} WHERE seq = :seq"


def _insert(tx: Transaction, item: Item) -> int:
    return int(tx.all(f"{INSERT} RETURNING seq", **values(tx, item))[0][0])


def _update(tx: Transaction, item: Item, seq: int) -> None:
    tx.run(_UPDATE, **values(tx, item), seq=seq)


def rewrite(tx: Transaction, item: Item, seq: int) -> None:
    """The item in place of what it was, words and tags with it."""
    _update(tx, item, seq)
    index(tx, item, seq)


def index(tx: Transaction, item: Item, seq: int) -> None:
    """Search words and tags follow the item."""
    tags = item.metadata.tags
    head = head_words(item.title, item.author, tags)
    tx.put_words(seq, head, body_words(item.content), count_words(without_frontmatter(item.content)))
    tx.run("DELETE FROM item_tags WHERE user_id = :user AND item_id = :id", user=tx.user_id, id=item.id)
    for key in sorted({tag_key(tag) for tag in tags}):
        tx.run(INSERT_TAG, user=tx.user_id, tag=key, id=item.id)


def _taken(tx: Transaction, item_id: str) -> tuple[Item, int]:
    """The item, nobody else's until the end of the transaction."""
    rows = tx.all(
        f"{SELECT} WHERE i.user_id = :user AND i.id = :id {tx.for_update}", user=tx.user_id, id=clean_text(item_id)
    )
    if not rows:
        raise NotFound(f"There is no item {item_id:.200}.")
    return item_of(rows[0]), rows[0][-1]


def replace_content(
    tx: Transaction,
    item_id: str,
    *,
    content: str,
    title: str,
    author: str | None,
    published_at: str | None,
    metadata: ItemMetadata,
    now: str,
) -> Item:
    """A new reading: its derived metadata replaces the old, the user's stays."""
    old, seq = _taken(tx, item_id)
    if old.metadata.edited and not metadata.edited:
        return old
    derived = {name: getattr(metadata, name) for name in DERIVED_METADATA}
    retries = old.metadata.retry_count if metadata.quality == "bookmark" else 0
    item = replace(old, content=content, title=title, author=author, published_at=published_at, updated_at=now)
    merged = replace(old.metadata, **derived, edited=metadata.edited, retry_count=retries)
    item = clean_item(replace(item, metadata=merged))
    _update(tx, item, seq)
    index(tx, item, seq)
    return item


def set_metadata(
    tx: Transaction, item_id: str, changes: MetadataChanges, now: str, unchanged_since: str | None
) -> Item:
    """Change some fields of the metadata."""
    old, seq = _taken(tx, item_id)
    if unchanged_since is not None and old.updated_at != unchanged_since:
        raise Outdated("The item was changed meanwhile.")
    metadata = clean_metadata(replace(old.metadata, **changes))
    item = replace(old, metadata=metadata, updated_at=now)
    tx.run(
        "UPDATE items SET metadata = :metadata, updated_at = :now WHERE seq = :seq",
        metadata=tx.json(metadata_to_json(metadata)),
        now=now,
        seq=seq,
    )
    if old.metadata.tags != metadata.tags:
        index(tx, item, seq)
    return item


def mark_opened(tx: Transaction, item_id: str, now: str) -> Item:
    """It was read just now. That changes nothing about it, so `updated_at` stays."""
    item, seq = _taken(tx, item_id)
    tx.run("UPDATE items SET last_opened_at = :now WHERE seq = :seq", now=now, seq=seq)
    return replace(item, last_opened_at=now)


def set_deleted(tx: Transaction, item_id: str, deleted_at: str | None, now: str) -> Item:
    """Soft deletion, or back from it with `None`. What is deleted already keeps its moment."""
    item, seq = _taken(tx, item_id)
    if (item.deleted_at is None) == (deleted_at is None):
        return item
    tx.run("UPDATE items SET deleted_at = :at, updated_at = :now WHERE seq = :seq", at=deleted_at, now=now, seq=seq)
    return replace(item, deleted_at=deleted_at, updated_at=now)


def purge(tx: Transaction, item_ids: Sequence[str] | None, deleted_before: str | None) -> int:
    """Remove deleted items for good."""
    where, values = "user_id = :user AND deleted_at IS NOT NULL", {"user": tx.user_id}
    if deleted_before is not None:
        where, values["before"] = where + " AND deleted_at < :before", deleted_before
    rows = tx.all(f"SELECT seq, id FROM items WHERE {where} ORDER BY seq {tx.for_update}", **values)
    wanted = None if item_ids is None else set(item_ids)
    gone = [(seq, item_id) for seq, item_id in rows if wanted is None or item_id in wanted]
    for seq, item_id in gone:
        raw_pages.drop(tx, item_id)
        tx.drop_words(seq)
        tx.run("DELETE FROM items WHERE seq = :seq", seq=seq)
    return len(gone)
