"""Snapshots: the versions of a page; and raw pages, compressed, equal bodies stored once."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final

from pagekeep.errors import NotFound, StoreError
from pagekeep.model import RawPage, Retention, Snapshot
from pagekeep.store.blob_files import pack, unpack
from pagekeep.store.engine import Part, Row, Transaction, reads, writes
from pagekeep.store.storable import clean_id, clean_json, clean_text, clean_time, parse_json

RAW_COLUMNS: Final = (
    *("encoding", "content_type", "final_url", "status", "rendered", "fetched_at", "etag", "last_modified"),
    "headers",
)
"""Columns that hold the facts of a fetch, in `raw_pages` and in `snapshots`."""


_FACTS: Final = ", ".join(RAW_COLUMNS)
_SHOWN: Final = ("number", "hash", "fetched_at", "final_url", "status", "rendered", "source", "pinned")
_ONE: Final = "user_id = :user AND item_id = :item"


class Snapshots(Part):
    """The versions of a user's pages."""

    @reads
    def list(self, tx: Transaction, item_id: str) -> tuple[Snapshot, ...]:
        """Return the versions of an item, oldest first, without their bodies; none when no raw page was kept."""
        return _list(tx, clean_id(item_id))

    @reads
    def raw(self, tx: Transaction, item_id: str, number: int) -> RawPage:
        """Return the raw page of a version; `NotFound` when there is none with this number."""
        item_id = clean_id(item_id)
        raw = select_raw(tx, "snapshots p", "p.item_id = :item AND p.number = :number", item=item_id, number=number)
        if raw is None and number == 1 and not _numbers(tx, item_id):
            raw = get_raw(tx, item_id)
        if raw is None:
            raise _missing(number)
        return raw

    @writes
    def pin(self, tx: Transaction, item_id: str, number: int, pinned: bool) -> Snapshot:
        """Keep a version whatever the limits are, or no longer; `NotFound` when there is none with this number."""
        item_id = clean_id(item_id)
        if pinned and not _numbers(tx, item_id):
            _add_first(tx, item_id)
        tx.run(
            f"UPDATE snapshots SET pinned = :pinned WHERE {_ONE} AND number = :number",
            item=item_id,
            number=number,
            pinned=pinned,
        )
        for snapshot in _list(tx, item_id):
            if snapshot.number == number:
                return snapshot
        raise _missing(number)


def _missing(number: int) -> NotFound:
    return NotFound(f"There is no version {number} of this page.", suggestions=("List its versions with `history`.",))


def add(tx: Transaction, item_id: str, raw: RawPage, source: str, retention: Retention) -> int:
    """Store a raw page as the item's newest version, in place of its raw page, and drop versions over the limits.

    Return its number. The version before stays.
    """
    numbers = _numbers(tx, item_id) or _add_first(tx, item_id)
    put_raw(tx, item_id, raw)
    number = max(numbers, default=0) + 1
    if numbers:
        tx.run(
            f"INSERT INTO snapshots (user_id, item_id, number, hash, source, {_FACTS}) "
            f"VALUES (:user, :item, :number, :hash, :source, {', '.join(f':{name}' for name in RAW_COLUMNS)})",
            item=item_id,
            number=number,
            hash=content_hash(raw.body),
            source=clean_text(source),
            **raw_values(raw),
        )
    _drop_old(tx, item_id, number, retention)
    return number


def newest(tx: Transaction, item_id: str) -> int:
    """Return the number of the item's current version; 0 when no raw page was kept."""
    return max(_numbers(tx, item_id), default=int(has_raw(tx, item_id)))


def drop_all(tx: Transaction, item_id: str) -> None:
    """Delete all versions of an item that is removed, with bodies that nothing else uses."""
    values = {"item": item_id}
    rows = tx.all(f"SELECT DISTINCT hash FROM snapshots WHERE {_ONE}", **values)
    tx.run(f"DELETE FROM snapshots WHERE {_ONE}", **values)
    for (name,) in rows:
        drop_body(tx, name)


def _numbers(tx: Transaction, item_id: str) -> list[int]:
    rows = tx.all(f"SELECT number FROM snapshots WHERE {_ONE} ORDER BY number", item=item_id)
    return [int(row[0]) for row in rows]


def _add_first(tx: Transaction, item_id: str) -> list[int]:
    """Copy the item's raw page to its versions, as the first; return the numbers there are then."""
    tx.run(
        f"INSERT INTO snapshots (user_id, item_id, number, hash, source, {_FACTS}) "
        f"SELECT p.user_id, p.item_id, 1, p.hash, i.source, {', '.join(f'p.{name}' for name in RAW_COLUMNS)} "
        "FROM raw_pages p JOIN items i ON i.user_id = p.user_id AND i.id = p.item_id "
        "WHERE p.user_id = :user AND p.item_id = :item",
        item=item_id,
    )
    return _numbers(tx, item_id)


def _drop_old(tx: Transaction, item_id: str, current: int, retention: Retention) -> None:
    rows = tx.all(
        f"SELECT number, hash, fetched_at FROM snapshots WHERE {_ONE} AND NOT pinned AND number < :current "
        "ORDER BY number DESC",
        item=item_id,
        current=current,
    )
    kept = len(rows) if not retention.count else max(0, retention.count - 1)
    for place, (number, name, fetched_at) in enumerate(rows):
        if place >= kept or (retention.since is not None and fetched_at < retention.since):
            tx.run(f"DELETE FROM snapshots WHERE {_ONE} AND number = :number", item=item_id, number=number)
            drop_body(tx, name)


def _list(tx: Transaction, item_id: str) -> tuple[Snapshot, ...]:
    names = ", ".join(f"s.{name}" for name in _SHOWN)
    rows = tx.all(
        f"SELECT {names}, b.size FROM snapshots s JOIN raw_bodies b ON b.user_id = s.user_id AND b.hash = s.hash "
        "WHERE s.user_id = :user AND s.item_id = :item ORDER BY s.number",
        item=item_id,
    )
    if not rows:
        rows = tx.all(
            "SELECT 1, p.hash, p.fetched_at, p.final_url, p.status, p.rendered, i.source, FALSE, b.size FROM raw_pages p "
            "JOIN raw_bodies b ON b.user_id = p.user_id AND b.hash = p.hash "
            "JOIN items i ON i.user_id = p.user_id AND i.id = p.item_id WHERE p.user_id = :user AND p.item_id = :item",
            item=item_id,
        )
    return tuple(_snapshot(item_id, row, current=place == len(rows)) for place, row in enumerate(rows, 1))


def _snapshot(item_id: str, row: Row, *, current: bool) -> Snapshot:
    *values, size = row
    fields = dict(zip(_SHOWN, values, strict=True))
    fields |= {"rendered": bool(fields["rendered"]), "pinned": bool(fields["pinned"])}
    return Snapshot(item_id=item_id, size=int(size), current=current, **fields)


_PUT_RAW: Final = (
    f"INSERT INTO raw_pages (user_id, item_id, hash, {', '.join(RAW_COLUMNS)}) "
    f"VALUES (:user, :item, :hash, {', '.join(f':{name}' for name in RAW_COLUMNS)})"
)


def put_raw(tx: Transaction, item_id: str, raw: RawPage | None) -> None:
    """Store the item's raw page in place of the one it had; `None` stores none, as the old one belongs to other content."""
    drop_raw(tx, item_id, unless=None if raw is None else content_hash(raw.body))
    if raw is None:
        return
    put_body(tx, raw.body)
    tx.run(_PUT_RAW, item=item_id, hash=content_hash(raw.body), **raw_values(raw))


def raw_values(raw: RawPage) -> dict[str, Any]:
    """Return the facts of a fetch as they are stored."""
    values = {name: getattr(raw, name) for name in RAW_COLUMNS}
    values = {name: clean_text(value) if isinstance(value, str) else value for name, value in values.items()}
    headers = None if raw.headers is None else json.dumps(clean_json(raw.headers), ensure_ascii=False)
    return values | {"fetched_at": clean_time(raw.fetched_at), "headers": headers}


def put_validators(tx: Transaction, item_id: str, raw: RawPage) -> None:
    """Store what the server sent to recognise this version by, where a newer fetch had the same content."""
    values = raw_values(raw)
    tx.run(
        "UPDATE raw_pages SET etag = :etag, last_modified = :modified WHERE user_id = :user AND item_id = :item "
        "AND (COALESCE(etag, '') <> COALESCE(:etag, '') OR COALESCE(last_modified, '') <> COALESCE(:modified, ''))",
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
    if tx.all("SELECT 1 FROM raw_bodies WHERE user_id = :user AND hash = :hash", hash=name):
        return
    packed = pack(body)
    tx.run(
        "INSERT INTO raw_bodies (user_id, hash, size, packed, body) VALUES (:user, :hash, :size, :packed, :body) "
        "ON CONFLICT DO NOTHING",
        hash=name,
        size=len(body),
        packed=len(packed),
        body=packed,
    )


def drop_raw(tx: Transaction, item_id: str, unless: str | None = None) -> None:
    """Delete the item's raw page, and its body when no other item uses it and its hash is not `unless`."""
    key = {"item": item_id}
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
        hash=name,
    )


def get_raw(tx: Transaction, item_id: str) -> RawPage | None:
    """Return the item's raw page, if it was kept."""
    return select_raw(tx, "raw_pages p", "p.item_id = :item", item=clean_id(item_id))


def has_raw(tx: Transaction, item_id: str) -> bool:
    """Return whether the item has a raw page."""
    return bool(tx.all("SELECT 1 FROM raw_pages WHERE user_id = :user AND item_id = :item", item=item_id))


def select_raw(tx: Transaction, table: str, where: str, **values: Any) -> RawPage | None:
    """Return the raw page in the row of a table, named `p`, that fulfils the condition."""
    columns = ", ".join(f"p.{name}" for name in RAW_COLUMNS)
    rows = tx.all(
        f"SELECT b.body, {columns} FROM {table} JOIN raw_bodies b ON b.user_id = p.user_id AND b.hash = p.hash "
        f"WHERE p.user_id = :user AND {where}",
        **values,
    )
    if not rows:
        return None
    packed, *facts = rows[0]
    fields = dict(zip(RAW_COLUMNS, facts, strict=True))
    fields["rendered"] = bool(fields["rendered"])
    fields["headers"] = parse_json(fields["headers"])
    return RawPage(body=unpack(packed), **fields)


def raw_hash(tx: Transaction, item_id: str) -> str | None:
    """Return the hash of the item's raw page, if it was kept."""
    rows = tx.all("SELECT hash FROM raw_pages WHERE user_id = :user AND item_id = :item", item=clean_id(item_id))
    return rows[0][0] if rows else None


def raw_faults(tx: Transaction) -> list[str]:
    """Return faults: bodies that are damaged, or that no item uses."""
    faults = []
    for name, size, used in tx.all(
        "SELECT b.hash, b.size, (SELECT COUNT(*) FROM raw_pages p WHERE p.user_id = b.user_id AND p.hash = b.hash) "
        "+ (SELECT COUNT(*) FROM snapshots s WHERE s.user_id = b.user_id AND s.hash = b.hash) "
        "+ (SELECT COUNT(*) FROM crawl_results c WHERE c.user_id = b.user_id AND c.body_hash = b.hash) "
        "FROM raw_bodies b WHERE b.user_id = :user ORDER BY b.hash"
    ):
        if not used:
            faults.append(f"The raw page {name:.12} belongs to no item.")
        elif not _is_intact(tx, name, size):
            faults.append(f"The raw page {name:.12} is damaged.")
    return faults


def _is_intact(tx: Transaction, name: str, size: int) -> bool:
    rows = tx.all("SELECT body FROM raw_bodies WHERE user_id = :user AND hash = :hash", hash=name)
    try:
        body = unpack(rows[0][0]) if rows else b""
    except StoreError:
        return False
    return len(body) == size and content_hash(body) == name
