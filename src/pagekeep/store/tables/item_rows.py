"""Items as rows: read, check, rewrite and index them, and give them numbers."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from pagekeep.errors import StoreError
from pagekeep.model import Item, ItemMetadata
from pagekeep.model.tags import tag_key
from pagekeep.store.engine import Row, Transaction, select_in
from pagekeep.store.query import body_words, head_words, tag_words, without_frontmatter
from pagekeep.store.storable import (
    NO_ID,
    carry_stamp,
    clean_id,
    clean_item,
    domain_key,
    metadata_from_json,
    metadata_to_json,
    parse_json,
    stamp_text,
    url_hash,
)
from pagekeep.store.tables.counts import add_words
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
INSERT_TAG: Final = "INSERT INTO item_tags (user_id, tag, item_id) VALUES (:user, :tag, :id)"
_UPDATE: Final = f"UPDATE items SET {', '.join(f'{name} = :{name}' for name in WRITTEN)} WHERE seq = :seq"
_MAX_TITLE_KEY_CHARS: Final = 200
"""Characters of a title by which it is sorted; both engines can index keys of this length."""


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


def items_by_id(tx: Transaction, item_ids: Sequence[str]) -> dict[str, Item]:
    """Return the items with these clean ids, deleted or not."""
    rows = select_in(tx, f"{SELECT} WHERE i.user_id = :user AND i.id IN (:list)", item_ids)
    return {item.id: item for item in map(item_of, rows)}


def get_by_seq(tx: Transaction, seqs: Sequence[int]) -> Iterator[Item]:
    """Yield items by their numbers, in this order; all of them exist."""
    found = {row[-1]: item_of(row) for row in select_in(tx, f"{SELECT} WHERE i.seq IN (:list)", seqs)}
    return (found[seq] for seq in seqs)


def lock_tags(tx: Transaction, item_ids: Sequence[str]) -> dict[str, tuple[int, tuple[str, ...]]]:
    """Return the numbers and tags of items, which no other transaction can change until the end of this one."""
    rows = select_in(
        tx,
        f"SELECT i.id, i.seq, {TAG_COLUMNS} FROM items i WHERE i.user_id = :user AND i.id IN (:list) "
        f"ORDER BY i.id {tx.for_update}",
        item_ids,
    )
    return {str(item_id): (seq, tuple(read_tags(*stored))) for item_id, seq, *stored in rows}


def check_item(tx: Transaction, item: Item) -> Item:
    """Return a new item in a form that both engines can store, with the stamp of its text.

    `StoreError` when it belongs to another user.
    """
    if item.user_id != tx.user_id:
        raise StoreError("The item belongs to another user than the library.")
    item_id = clean_id(item.id)
    return stamp_text(clean_item(replace(item, id=str(uuid.uuid4()) if item_id == NO_ID else item_id)), tx.sign)


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
    own = {"id": item_id}
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


def lock_numbers(tx: Transaction) -> None:
    """Let no other transaction of the user give numbers until the end of this one; after the locks of addresses."""
    tx.lock(f"numbers {tx.user_id}")


def give_numbers(tx: Transaction, item_ids: Sequence[str]) -> None:
    """Give the next numbers to new items, in their order; one that had a number before keeps it."""
    if not item_ids:
        return
    last = tx.all("SELECT COALESCE(MAX(number), 0) FROM item_numbers WHERE user_id = :user")[0][0]
    tx.many(
        "INSERT INTO item_numbers (user_id, item_id, number) VALUES (:user, :id, :number) "
        "ON CONFLICT (user_id, item_id) DO NOTHING",
        [{"id": item_id, "number": last + at} for at, item_id in enumerate(item_ids, start=1)],
    )


def give_missing_numbers(tx: Transaction) -> None:
    """Give numbers to all items without one, as after a restore from an older backup, in the order they were saved."""
    rows = tx.all(
        "SELECT i.id FROM items i WHERE i.user_id = :user AND NOT EXISTS (SELECT 1 FROM item_numbers n "
        "WHERE n.user_id = i.user_id AND n.item_id = i.id) ORDER BY i.seq"
    )
    give_numbers(tx, [str(row[0]) for row in rows])
