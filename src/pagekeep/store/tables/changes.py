"""Changes of watched pages, which wait to be read; and checks of addresses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Final

from pagekeep.errors import NotFound
from pagekeep.model import Change, Item, PageCheck, RawPage, Retention
from pagekeep.store.engine import Part, Row, Transaction, reads, writes
from pagekeep.store.storable import clean_id, clean_text
from pagekeep.store.tables import items, jobs, schedules, snapshots
from pagekeep.store.tables import snapshots as raw_pages

_COLUMNS: Final = (*("id", "item_id", "before", "after", "added", "removed", "excerpt", "found_at", "seen_at"),)
_NAMES: Final = ", ".join(_COLUMNS)
_CHECK: Final = ("item_id", "checked_at", "next_at", "state", "failures", "first_failed_at", "reason")


class Changes(Part):
    """A user's inbox of changes, and what is known about addresses."""

    @writes
    def add(
        self,
        tx: Transaction,
        schedule_id: str,
        state: Mapping[str, Any],
        item: Item,
        raw: RawPage,
        change: Change,
        *,
        retention: Retention,
        deliver: str | None = None,
    ) -> Change | None:
        """Store a new version of a watched page, the change, and what its schedule remembers, all or nothing.

        Return `None`, and store nothing, when `before` of the change is not the newest version any more: another process
        had the job too, as after a lost lease, and was faster. `deliver` is the task of a job that sends the change on. The
        text of an item that the user edited stays.
        """
        tx.lock(f"versions {change.item_id}")
        before = snapshots.newest(tx, change.item_id)
        if before != change.before:
            return None
        if item.metadata.edited:
            snapshots.add(tx, change.item_id, raw, "web", retention)
        else:
            items.put_page(tx, item, raw, versions="add", retention=retention, source="web")
        change = replace(change, after=snapshots.newest(tx, change.item_id))
        values = {**asdict(change), "excerpt": clean_text(change.excerpt)}
        tx.run(
            f"INSERT INTO changes (user_id, {_NAMES}) VALUES (:user, {', '.join(f':{name}' for name in _COLUMNS)})",
            **values,
        )
        schedules.put_state(tx, schedule_id, state, failed=False, now=change.found_at)
        if deliver is not None:
            address = f"pagekeep:{deliver}/{change.id}"
            jobs.add_job(tx, address, f"pagekeep:{deliver}", {"task": deliver, "change": change.id}, change.found_at)
        return change

    @reads
    def list(
        self, tx: Transaction, *, unseen: bool = False, item_id: str | None = None, limit: int = 100
    ) -> tuple[Change, ...]:
        """Return changes of items that are not deleted, newest first."""
        where, values = " AND c.seen_at IS NULL" if unseen else "", {}
        if item_id is not None:
            where, values = where + " AND c.item_id = :item", {"item": clean_id(item_id)}
        rows = tx.all(
            f"SELECT {', '.join(f'c.{name}' for name in _COLUMNS)} FROM changes c "
            "JOIN items i ON i.user_id = c.user_id AND i.id = c.item_id AND i.deleted_at IS NULL "
            f"WHERE c.user_id = :user{where} ORDER BY c.found_at DESC, c.id LIMIT :limit",
            limit=max(1, limit),
            **values,
        )
        return tuple(Change(*row) for row in rows)

    @reads
    def get(self, tx: Transaction, change_id: str) -> Change:
        """Return a change; `NotFound` when there is none with this id."""
        rows = tx.all(f"SELECT {_NAMES} FROM changes WHERE user_id = :user AND id = :id", id=clean_id(change_id))
        if not rows:
            raise NotFound("There is no such change.")
        return Change(*rows[0])

    @writes
    def mark_seen(self, tx: Transaction, change_ids: Sequence[str] | None, now: str) -> int:
        """Mark changes as seen, all of them or those with these ids; return how many were not seen before."""
        where = "user_id = :user AND seen_at IS NULL"
        if change_ids is None:
            return tx.run(f"UPDATE changes SET seen_at = :now WHERE {where}", now=now)
        return sum(
            tx.run(f"UPDATE changes SET seen_at = :now WHERE {where} AND id = :id", now=now, id=one)
            for one in map(clean_id, change_ids)
        )

    @writes
    def put_check(self, tx: Transaction, check: PageCheck, raw: RawPage | None = None) -> None:
        """Store when an address was requested and with what result; `raw` has what recognises its version by now."""
        put_check(tx, check)
        if raw is not None:
            raw_pages.put_validators(tx, clean_id(check.item_id), raw)

    @reads
    def get_check(self, tx: Transaction, item_id: str) -> PageCheck | None:
        """Return when the item's address was last requested, if ever."""
        rows = tx.all(
            f"SELECT {', '.join(_CHECK)} FROM page_checks WHERE user_id = :user AND item_id = :item",
            item=clean_id(item_id),
        )
        return _check(rows[0]) if rows else None

    @reads
    def due_checks(self, tx: Transaction, now: str, saved_before: str, limit: int) -> tuple[str, ...]:
        """Return ids of items whose address is to be checked: its time has come, or it was saved before and never checked."""
        rows = tx.all(
            "SELECT i.id FROM items i LEFT JOIN page_checks c ON c.user_id = i.user_id AND c.item_id = i.id "
            "WHERE i.user_id = :user AND i.deleted_at IS NULL "
            "AND (c.next_at <= :now OR (c.item_id IS NULL AND i.saved_at <= :saved)) "
            "ORDER BY COALESCE(c.next_at, i.saved_at), i.id LIMIT :limit",
            now=now,
            saved=saved_before,
            limit=limit,
        )
        return tuple(row[0] for row in rows)


def put_check(tx: Transaction, check: PageCheck) -> None:
    """Store the result of a request for an item's address; nothing when the item was removed."""
    updates = ", ".join(f"{name} = excluded.{name}" for name in _CHECK[1:])
    tx.run(
        f"INSERT INTO page_checks (user_id, {', '.join(_CHECK)}) SELECT i.user_id, i.id, "
        f"{', '.join(f':{name}' for name in _CHECK[1:])} FROM items i WHERE i.user_id = :user AND i.id = :item_id "
        f"ON CONFLICT (user_id, item_id) DO UPDATE SET {updates}",
        **asdict(check) | {"item_id": clean_id(check.item_id), "reason": clean_text(check.reason or "") or None},
    )


def _check(row: Row) -> PageCheck:
    return PageCheck(**dict(zip(_CHECK, row, strict=True)))
