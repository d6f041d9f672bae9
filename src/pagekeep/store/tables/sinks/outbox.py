"""The outbox: what waits to be delivered to sinks. At least once, in order per sink, and never lost by a crash.

A delivery is begun in one transaction and settled in another. One that was begun and not settled may have arrived: sinks
look for it before they send it again, or their receivers know it by its id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pagekeep.errors import NotFound
from pagekeep.model.sinks import ChangedItem, Delivery, SentItem
from pagekeep.store.engine import Row, Transaction
from pagekeep.store.storable import clean_id, clean_json, clean_text, parse_json
from pagekeep.store.table import Table, reads, writes
from pagekeep.store.tables.sinks import sinks

_COLUMNS: Final = (
    *("position", "sink_id", "item_id", "event", "body", "state", "attempts", "error", "created_at", "tried_at"),
)
_NAMES: Final = ", ".join(_COLUMNS)
_OF_SINK: Final = "user_id = :user AND sink_id = :sink"
_WAITS: Final = f"SELECT 1 FROM outbox WHERE {_OF_SINK} AND item_id = :item AND state = 'queued' AND attempts = 0"


class OutboxTable(Table):
    """A user's outbox."""

    @reads
    def changed_items(self, tx: Transaction, limit: int = 100) -> tuple[ChangedItem, ...]:
        """Return items to which the rules were not applied since they changed, in the order of the changes."""
        rows = tx.all(
            "SELECT number, item_id FROM changed_items WHERE user_id = :user ORDER BY number LIMIT :limit",
            user=tx.user_id,
            limit=limit,
        )
        return tuple(ChangedItem(*row) for row in rows)

    @writes
    def note_changed(self, tx: Transaction, item_ids: Sequence[str]) -> None:
        """Have the rules applied to these items, as if they had changed."""
        for item_id in dict.fromkeys(map(clean_id, item_ids)):
            values = {"user": tx.user_id, "item": item_id}
            tx.run("DELETE FROM changed_items WHERE user_id = :user AND item_id = :item", **values)
            tx.run("INSERT INTO changed_items (user_id, item_id) VALUES (:user, :item)", **values)

    @writes
    def route(
        self, tx: Transaction, changed: ChangedItem, version: str | None, sink_ids: Sequence[str], now: str
    ) -> int:
        """Put a changed item into the outbox of these sinks, unless they have this version; return for how many.

        Nothing happens when the item has changed again since, or another process was faster.
        """
        tx.lock("outbox")  # the order of positions is then the order in which they become visible
        done = tx.run(
            "DELETE FROM changed_items WHERE user_id = :user AND number = :number",
            user=tx.user_id,
            number=changed.number,
        )
        if not done or version is None:
            return 0
        return sum(_add_item(tx, sink_id, changed.item_id, version, now) for sink_id in sink_ids)

    @writes
    def post_event(self, tx: Transaction, sink_id: str, event: str, body: Mapping[str, Any], now: str) -> bool:
        """Put an event into the outbox of a sink, unless one with its id waits; return whether it was added."""
        return add_event(tx, sink_id, event, body, now)

    @writes
    def begin_delivery(self, tx: Transaction, sink_id: str, worker: str, now: str, until: str) -> Delivery | None:
        """Return the next delivery of a leased sink, which counts as tried; the lease is extended.

        `None` when the lease was lost, or nothing waits: the lease has then ended.
        """
        values = {"user": tx.user_id, "sink": clean_id(sink_id)}
        held = tx.run(
            "UPDATE sinks SET leased_until = :until, due_at = :until WHERE user_id = :user AND id = :sink "
            "AND leased_by = :worker AND state = 'active'",
            until=until,
            worker=worker,
            **values,
        )
        if not held:
            return None
        rows = tx.all(
            "UPDATE outbox SET attempts = attempts + 1, tried_at = :now WHERE position = (SELECT MIN(position) FROM outbox "
            f"WHERE {_OF_SINK} AND state = 'queued') RETURNING {_NAMES}",
            now=now,
            **values,
        )
        if not rows:
            sinks.settle_due(tx, sink_id, worker, now)
            return None
        return _delivery(rows[0])

    @writes
    def finish_delivery(
        self,
        tx: Transaction,
        delivery: Delivery,
        worker: str,
        now: str,
        *,
        version: str | None = None,
        remote_id: str | None = None,
        sent: bool = True,
    ) -> None:
        """Remove a delivery that was made, and remember the version that the sink has.

        It is true whichever process holds the lease by now. `sent` is false when there was nothing to send.
        """
        values = {"user": tx.user_id, "sink": delivery.sink_id}
        gone = not tx.run(
            "DELETE FROM outbox WHERE user_id = :user AND position = :at", user=tx.user_id, at=delivery.position
        )
        if not tx.run(
            "UPDATE sinks SET error = NULL, sent = sent + :count, sent_at = CASE WHEN :count > 0 THEN :now ELSE sent_at END "
            "WHERE user_id = :user AND id = :sink",
            count=int(sent and not gone),
            now=now,
            **values,
        ):
            return  # the sink was removed
        if version is not None and delivery.item_id is not None:
            tx.run(
                "INSERT INTO sent_items (user_id, sink_id, item_id, version, remote_id, sent_at) "
                "VALUES (:user, :sink, :item, :version, :remote, :now) ON CONFLICT (user_id, sink_id, item_id) "
                "DO UPDATE SET version = excluded.version, remote_id = excluded.remote_id, sent_at = excluded.sent_at",
                item=delivery.item_id,
                version=version,
                remote=None if remote_id is None else clean_text(remote_id),
                now=now,
                **values,
            )

    @writes
    def fail_delivery(
        self,
        tx: Transaction,
        delivery: Delivery,
        worker: str,
        error: Mapping[str, Any],
        *,
        retry_at: str | None,
        now: str,
        counts: bool = True,
    ) -> None:
        """Note that a delivery failed: it is tried again at `retry_at`, and the sink waits until then; or it is dead.

        Without `counts` the attempt does not count, as when the sink is only busy. No effect when the lease was lost.
        """
        values = {"user": tx.user_id, "sink": delivery.sink_id}
        held = tx.run(
            "UPDATE sinks SET error = :error WHERE user_id = :user AND id = :sink AND leased_by = :worker",
            error=clean_text(str(error.get("message", "")))[:1_000],
            worker=worker,
            **values,
        )
        if not held:
            return
        tx.run(
            f"UPDATE outbox SET state = :state, error = :error, attempts = attempts - {int(not counts)} "
            "WHERE user_id = :user AND position = :at",
            user=tx.user_id,
            at=delivery.position,
            state="queued" if retry_at else "dead",
            error=tx.json(clean_json(error)),
        )
        if retry_at is not None:
            sinks.settle_due(tx, delivery.sink_id, worker, retry_at)

    @reads
    def sent_item(self, tx: Transaction, sink_id: str, item_id: str) -> SentItem | None:
        """Return what a sink has of an item, if anything."""
        rows = tx.all(
            f"SELECT version, remote_id, sent_at FROM sent_items WHERE {_OF_SINK} AND item_id = :item",
            user=tx.user_id,
            sink=clean_id(sink_id),
            item=clean_id(item_id),
        )
        return SentItem(*rows[0]) if rows else None

    @reads
    def deliveries(
        self, tx: Transaction, sink_id: str | None = None, state: str | None = None, limit: int = 100
    ) -> tuple[Delivery, ...]:
        """Return what waits and what is dead, in the order of delivery."""
        where, values = "user_id = :user", {"user": tx.user_id}
        if sink_id is not None:
            where, values["sink"] = _OF_SINK, clean_id(sink_id)
        if state is not None:
            where, values["state"] = f"{where} AND state = :state", state
        rows = tx.all(
            f"SELECT {_NAMES} FROM outbox WHERE {where} ORDER BY position LIMIT :limit", limit=max(1, limit), **values
        )
        return tuple(map(_delivery, rows))

    @reads
    def outbox_counts(self, tx: Transaction) -> Mapping[str, Mapping[str, int]]:
        """Return how many deliveries wait and are dead, by sink."""
        rows = tx.all(
            "SELECT sink_id, state, COUNT(*) FROM outbox WHERE user_id = :user GROUP BY sink_id, state", user=tx.user_id
        )
        counts: dict[str, dict[str, int]] = {}
        for sink_id, state, count in rows:
            counts.setdefault(sink_id, {"queued": 0, "dead": 0})[state] = count
        return counts

    @writes
    def revive_deliveries(
        self, tx: Transaction, now: str, *, sink_id: str | None = None, position: int | None = None
    ) -> int:
        """Let dead deliveries be tried again, all, those of a sink, or one; what waits for a later time is due now.

        Return how many were dead.
        """
        where, values = _chosen(tx, sink_id, position)
        rows = tx.all(
            f"UPDATE outbox SET state = 'queued', attempts = 0, error = NULL WHERE {where} AND state = 'dead' "
            "RETURNING sink_id",
            **values,
        )
        for one in sorted({row[0] for row in rows} | ({clean_id(sink_id)} if sink_id else set())):
            _wake(tx, one, now, at_once=True)
        return len(rows)

    @writes
    def drop_dead(self, tx: Transaction, *, sink_id: str | None = None, position: int | None = None) -> int:
        """Delete dead deliveries, all, those of a sink, or one; return how many."""
        where, values = _chosen(tx, sink_id, position)
        return tx.run(f"DELETE FROM outbox WHERE {where} AND state = 'dead'", **values)


def add_event(tx: Transaction, sink_id: str, event: str, body: Mapping[str, Any], now: str) -> bool:
    """Put an event into the outbox of a sink, in the transaction of what it reports; `NotFound` without the sink."""
    tx.lock("outbox")
    if not _wake(tx, sink_id, now):
        raise NotFound(f"There is no sink {sink_id:.200}.")
    added = tx.run(
        "INSERT INTO outbox (user_id, sink_id, event, body, state, attempts, created_at) "
        "VALUES (:user, :sink, :event, :body, 'queued', 0, :now) ON CONFLICT (user_id, sink_id, event) DO NOTHING",
        user=tx.user_id,
        sink=clean_id(sink_id),
        event=clean_text(event),
        body=tx.json(clean_json(body)),
        now=now,
    )
    return added == 1


def _add_item(tx: Transaction, sink_id: str, item_id: str, version: str, now: str) -> int:
    """Add an item, unless the sink has this version, or it waits already: what is sent is the item as it is then."""
    values = {"user": tx.user_id, "sink": clean_id(sink_id), "item": item_id}
    has = f"SELECT 1 FROM sent_items WHERE {_OF_SINK} AND item_id = :item AND version = :version"
    if not _wake(tx, sink_id, now) or tx.all(_WAITS, **values):
        return 0
    if tx.all(has, version=version, **values) and not tx.all(_WAITS.removesuffix(" AND attempts = 0"), **values):
        return 0
    tx.run(
        "INSERT INTO outbox (user_id, sink_id, item_id, state, attempts, created_at) "
        "VALUES (:user, :sink, :item, 'queued', 0, :now)",
        now=now,
        **values,
    )
    return 1


def _wake(tx: Transaction, sink_id: str, now: str, *, at_once: bool = False) -> bool:
    """Have a sink looked at, and lock its row; return False when there is none. One that is leased or off stays so."""
    due = "CASE WHEN leased_by IS NULL THEN :now ELSE due_at END" if at_once else "COALESCE(due_at, :now)"
    return bool(
        tx.run(
            f"UPDATE sinks SET due_at = {due} WHERE user_id = :user AND id = :id",
            user=tx.user_id,
            id=clean_id(sink_id),
            now=now,
        )
    )


def _chosen(tx: Transaction, sink_id: str | None, position: int | None) -> tuple[str, dict[str, Any]]:
    where, values = "user_id = :user", dict[str, Any](user=tx.user_id)
    if sink_id is not None:
        where, values["sink"] = _OF_SINK, clean_id(sink_id)
    if position is not None:
        where, values["at"] = f"{where} AND position = :at", position
    return where, values


def _delivery(row: Row) -> Delivery:
    values = dict(zip(_COLUMNS, row, strict=True))
    return Delivery(**values | {"body": parse_json(values["body"]), "error": parse_json(values["error"])})
