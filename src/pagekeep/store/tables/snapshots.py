"""Snapshots: the versions of a page. An item with one version has none here: that one is its raw page."""

from __future__ import annotations

from typing import Final

from pagekeep.errors import NotFound
from pagekeep.model import RawPage, Retention, Snapshot
from pagekeep.store.engine import Row, Transaction
from pagekeep.store.storable import clean_id, clean_text
from pagekeep.store.table import Table, reads, writes
from pagekeep.store.tables import raw_pages
from pagekeep.store.tables.raw_pages import COLUMNS

_FACTS: Final = ", ".join(COLUMNS)
_SHOWN: Final = ("number", "hash", "fetched_at", "final_url", "status", "rendered", "source", "pinned")
_ONE: Final = "user_id = :user AND item_id = :item"


class SnapshotTable(Table):
    """The versions of a user's pages."""

    @reads
    def snapshots(self, tx: Transaction, item_id: str) -> tuple[Snapshot, ...]:
        """Return the versions of an item, oldest first, without their bodies; none when no raw page was kept."""
        return _list(tx, clean_id(item_id))

    @reads
    def snapshot_raw(self, tx: Transaction, item_id: str, number: int) -> RawPage:
        """Return the raw page of a version; `NotFound` when there is none with this number."""
        item_id = clean_id(item_id)
        raw = raw_pages.select(
            tx, "snapshots p", "p.item_id = :item AND p.number = :number", item=item_id, number=number
        )
        if raw is None and number == 1 and not _numbers(tx, item_id):
            raw = raw_pages.get(tx, item_id)
        if raw is None:
            raise _missing(number)
        return raw

    @writes
    def pin_snapshot(self, tx: Transaction, item_id: str, number: int, pinned: bool) -> Snapshot:
        """Keep a version whatever the limits are, or no longer; `NotFound` when there is none with this number."""
        item_id = clean_id(item_id)
        if pinned and not _numbers(tx, item_id):
            _add_first(tx, item_id)
        tx.run(
            f"UPDATE snapshots SET pinned = :pinned WHERE {_ONE} AND number = :number",
            user=tx.user_id,
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
    raw_pages.put(tx, item_id, raw)
    number = max(numbers, default=0) + 1
    if numbers:
        tx.run(
            f"INSERT INTO snapshots (user_id, item_id, number, hash, source, {_FACTS}) "
            f"VALUES (:user, :item, :number, :hash, :source, {', '.join(f':{name}' for name in COLUMNS)})",
            user=tx.user_id,
            item=item_id,
            number=number,
            hash=raw_pages.content_hash(raw.body),
            source=clean_text(source),
            **raw_pages.column_values(raw),
        )
    _drop_old(tx, item_id, number, retention)
    return number


def newest(tx: Transaction, item_id: str) -> int:
    """Return the number of the item's current version; 0 when no raw page was kept."""
    return max(_numbers(tx, item_id), default=int(raw_pages.has(tx, item_id)))


def drop_all(tx: Transaction, item_id: str) -> None:
    """Delete all versions of an item that is removed, with bodies that nothing else uses."""
    values = {"user": tx.user_id, "item": item_id}
    rows = tx.all(f"SELECT DISTINCT hash FROM snapshots WHERE {_ONE}", **values)
    tx.run(f"DELETE FROM snapshots WHERE {_ONE}", **values)
    for (name,) in rows:
        raw_pages.drop_body(tx, name)


def _numbers(tx: Transaction, item_id: str) -> list[int]:
    rows = tx.all(f"SELECT number FROM snapshots WHERE {_ONE} ORDER BY number", user=tx.user_id, item=item_id)
    return [int(row[0]) for row in rows]


def _add_first(tx: Transaction, item_id: str) -> list[int]:
    """Copy the item's raw page to its versions, as the first; return the numbers there are then."""
    tx.run(
        f"INSERT INTO snapshots (user_id, item_id, number, hash, source, {_FACTS}) "
        f"SELECT p.user_id, p.item_id, 1, p.hash, i.source, {', '.join(f'p.{name}' for name in COLUMNS)} "
        "FROM raw_pages p JOIN items i ON i.user_id = p.user_id AND i.id = p.item_id "
        "WHERE p.user_id = :user AND p.item_id = :item",
        user=tx.user_id,
        item=item_id,
    )
    return _numbers(tx, item_id)


def _drop_old(tx: Transaction, item_id: str, current: int, retention: Retention) -> None:
    rows = tx.all(
        f"SELECT number, hash, fetched_at FROM snapshots WHERE {_ONE} AND NOT pinned AND number < :current "
        "ORDER BY number DESC",
        user=tx.user_id,
        item=item_id,
        current=current,
    )
    kept = len(rows) if not retention.count else max(0, retention.count - 1)
    for place, (number, name, fetched_at) in enumerate(rows):
        if place >= kept or (retention.since is not None and fetched_at < retention.since):
            tx.run(
                f"DELETE FROM snapshots WHERE {_ONE} AND number = :number",
                user=tx.user_id,
                item=item_id,
                number=number,
            )
            raw_pages.drop_body(tx, name)


def _list(tx: Transaction, item_id: str) -> tuple[Snapshot, ...]:
    names = ", ".join(f"s.{name}" for name in _SHOWN)
    rows = tx.all(
        f"SELECT {names}, b.size FROM snapshots s JOIN raw_bodies b ON b.user_id = s.user_id AND b.hash = s.hash "
        "WHERE s.user_id = :user AND s.item_id = :item ORDER BY s.number",
        user=tx.user_id,
        item=item_id,
    )
    if not rows:
        rows = tx.all(
            "SELECT 1, p.hash, p.fetched_at, p.final_url, p.status, p.rendered, i.source, FALSE, b.size FROM raw_pages p "
            "JOIN raw_bodies b ON b.user_id = p.user_id AND b.hash = p.hash "
            "JOIN items i ON i.user_id = p.user_id AND i.id = p.item_id WHERE p.user_id = :user AND p.item_id = :item",
            user=tx.user_id,
            item=item_id,
        )
    return tuple(_snapshot(item_id, row, current=place == len(rows)) for place, row in enumerate(rows, 1))


def _snapshot(item_id: str, row: Row, *, current: bool) -> Snapshot:
    *values, size = row
    fields = dict(zip(_SHOWN, values, strict=True))
    fields |= {"rendered": bool(fields["rendered"]), "pinned": bool(fields["pinned"])}
    return Snapshot(item_id=item_id, size=int(size), current=current, **fields)
