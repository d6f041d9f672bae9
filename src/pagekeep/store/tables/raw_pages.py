"""Raw pages: compressed, and equal bodies stored once."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final

from pagekeep.errors import StoreError
from pagekeep.model import RawPage
from pagekeep.store.engine import Transaction
from pagekeep.store.packing import pack, unpack
from pagekeep.store.storable import clean_id, clean_json, clean_text, clean_time, parse_json

COLUMNS: Final = (
    *("encoding", "content_type", "final_url", "status", "rendered", "fetched_at", "etag", "last_modified"),
    "headers",
)
"""Columns that hold the facts of a fetch, in `raw_pages` and in `snapshots`."""
_PUT: Final = (
    f"INSERT INTO raw_pages (user_id, item_id, hash, {', '.join(COLUMNS)}) "
    f"VALUES (:user, :item, :hash, {', '.join(f':{name}' for name in COLUMNS)})"
)


def put(tx: Transaction, item_id: str, raw: RawPage | None) -> None:
    """Store the item's raw page in place of the one it had; `None` stores none, as the old one belongs to other content."""
    drop(tx, item_id, unless=None if raw is None else content_hash(raw.body))
    if raw is None:
        return
    put_body(tx, raw.body)
    tx.run(_PUT, user=tx.user_id, item=item_id, hash=content_hash(raw.body), **column_values(raw))


def column_values(raw: RawPage) -> dict[str, Any]:
    """Return the facts of a fetch as they are stored."""
    values = {name: getattr(raw, name) for name in COLUMNS}
    values = {name: clean_text(value) if isinstance(value, str) else value for name, value in values.items()}
    headers = None if raw.headers is None else json.dumps(clean_json(raw.headers), ensure_ascii=False)
    return values | {"fetched_at": clean_time(raw.fetched_at), "headers": headers}


def put_validators(tx: Transaction, item_id: str, raw: RawPage) -> None:
    """Store what the server sent to recognise this version by, where a newer fetch had the same content."""
    values = column_values(raw)
    tx.run(
        "UPDATE raw_pages SET etag = :etag, last_modified = :modified WHERE user_id = :user AND item_id = :item "
        "AND (COALESCE(etag, '') <> COALESCE(:etag, '') OR COALESCE(last_modified, '') <> COALESCE(:modified, ''))",
        user=tx.user_id,
        item=item_id,
        etag=values["etag"],
        modified=values["last_modified"],
    )


def content_hash(body: bytes) -> str:
    """Return the hash by which equal bodies are recognised."""
    return hashlib.sha256(body).hexdigest()


def put_body(tx: Transaction, body: bytes) -> None:
    """Store a body, unless it is stored already."""
    name = content_hash(body)
    if tx.all("SELECT 1 FROM raw_bodies WHERE user_id = :user AND hash = :hash", user=tx.user_id, hash=name):
        return
    packed = pack(body)
    tx.run(
        "INSERT INTO raw_bodies (user_id, hash, size, packed, body) VALUES (:user, :hash, :size, :packed, :body) "
        "ON CONFLICT DO NOTHING",
        user=tx.user_id,
        hash=name,
        size=len(body),
        packed=len(packed),
        body=packed,
    )


def drop(tx: Transaction, item_id: str, unless: str | None = None) -> None:
    """Delete the item's raw page, and its body when no other item uses it and its hash is not `unless`."""
    key = {"user": tx.user_id, "item": item_id}
    rows = tx.all("SELECT hash FROM raw_pages WHERE user_id = :user AND item_id = :item", **key)
    tx.run("DELETE FROM raw_pages WHERE user_id = :user AND item_id = :item", **key)
    for (name,) in rows:
        if name != unless:
            drop_body(tx, name)


def drop_body(tx: Transaction, name: str) -> None:
    """Delete a body that no page, snapshot or crawl uses."""
    tx.run(
        "DELETE FROM raw_bodies WHERE user_id = :user AND hash = :hash "
        "AND NOT EXISTS (SELECT 1 FROM raw_pages p WHERE p.user_id = :user AND p.hash = :hash) "
        "AND NOT EXISTS (SELECT 1 FROM snapshots s WHERE s.user_id = :user AND s.hash = :hash) "
        "AND NOT EXISTS (SELECT 1 FROM crawl_results c WHERE c.user_id = :user AND c.body_hash = :hash)",
        user=tx.user_id,
        hash=name,
    )


def get(tx: Transaction, item_id: str) -> RawPage | None:
    """Return the item's raw page, if it was kept."""
    return select(tx, "raw_pages p", "p.item_id = :item", item=clean_id(item_id))


def has(tx: Transaction, item_id: str) -> bool:
    """Return whether the item has a raw page."""
    return bool(
        tx.all("SELECT 1 FROM raw_pages WHERE user_id = :user AND item_id = :item", user=tx.user_id, item=item_id)
    )


def select(tx: Transaction, table: str, where: str, **values: Any) -> RawPage | None:
    """Return the raw page in the row of a table, named `p`, that fulfils the condition."""
    columns = ", ".join(f"p.{name}" for name in COLUMNS)
    rows = tx.all(
        f"SELECT b.body, {columns} FROM {table} JOIN raw_bodies b ON b.user_id = p.user_id AND b.hash = p.hash "
        f"WHERE p.user_id = :user AND {where}",
        user=tx.user_id,
        **values,
    )
    if not rows:
        return None
    packed, *facts = rows[0]
    fields = dict(zip(COLUMNS, facts, strict=True))
    fields["rendered"] = bool(fields["rendered"])
    fields["headers"] = parse_json(fields["headers"])
    return RawPage(body=unpack(packed), **fields)


def hash_of(tx: Transaction, item_id: str) -> str | None:
    """Return the hash of the item's raw page, if it was kept."""
    rows = tx.all(
        "SELECT hash FROM raw_pages WHERE user_id = :user AND item_id = :item", user=tx.user_id, item=clean_id(item_id)
    )
    return rows[0][0] if rows else None


def faults(tx: Transaction) -> list[str]:
    """Return faults: bodies that are damaged, or that no item uses."""
    faults = []
    for name, size, used in tx.all(
        "SELECT b.hash, b.size, (SELECT COUNT(*) FROM raw_pages p WHERE p.user_id = b.user_id AND p.hash = b.hash) "
        "+ (SELECT COUNT(*) FROM snapshots s WHERE s.user_id = b.user_id AND s.hash = b.hash) "
        "+ (SELECT COUNT(*) FROM crawl_results c WHERE c.user_id = b.user_id AND c.body_hash = b.hash) "
        "FROM raw_bodies b WHERE b.user_id = :user ORDER BY b.hash",
        user=tx.user_id,
    ):
        if not used:
            faults.append(f"The raw page {name:.12} belongs to no item.")
        elif not _is_intact(tx, name, size):
            faults.append(f"The raw page {name:.12} is damaged.")
    return faults


def _is_intact(tx: Transaction, name: str, size: int) -> bool:
    rows = tx.all("SELECT body FROM raw_bodies WHERE user_id = :user AND hash = :hash", user=tx.user_id, hash=name)
    try:
        body = unpack(rows[0][0]) if rows else b""
    except StoreError:
        return False
    return len(body) == size and content_hash(body) == name
