"""Sinks, to which a user's items are sent on, and the outbox: at least once, in order per sink, never lost by a crash."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pagekeep.errors import Conflict, NotFound
from pagekeep.model.sinks import ChangedItem, Delivery, SentItem, Sink
from pagekeep.store.engine import Part, Row, Transaction, reads, writes
from pagekeep.store.storable import clean_id, clean_json, clean_text, parse_json

SINK_COLUMNS: Final = (
    *("id", "user_id", "kind", "name", "address", "options", "state", "created_at", "secret", "hidden", "error"),
    *("sent", "sent_at", "due_at"),
)
_SINK_NAMES: Final = ", ".join(SINK_COLUMNS)
_OWN: Final = "user_id = :user AND id = :id"
_DUE: Final = "due_at IS NOT NULL AND (due_at <= :now OR due_at > :far)"
"""One that waits until after `far` was written when the clock was ahead."""


class Sinks(Part):
    """A user's sinks; what is due of all users where the store was opened for workers."""

    @writes
    def add(self, tx: Transaction, sink: Sink) -> Sink:
        """Add a sink; `Conflict` when its name is taken."""
        tx.lock("sinks")
        if tx.all("SELECT 1 FROM sinks WHERE user_id = :user AND name = :name", name=sink.name):
            raise Conflict(f"There is already a sink {sink.name:.100}.", suggestions=("Choose another name.",))
        put(tx, sink)
        return get(tx, sink.id)

    @writes
    def change(self, tx: Transaction, sink_id: str, options: Mapping[str, Any], secret: str | None) -> Sink:
        """Replace the options and the secret of a sink; `NotFound` when there is none."""
        changed = tx.run(
            f"UPDATE sinks SET options = :options, secret = :secret, takes_items = :takes WHERE {_OWN}",
            id=clean_id(sink_id),
            options=tx.json(clean_json(options)),
            secret=secret,
            takes=bool(options.get("rules")),
        )
        if not changed:
            raise missing(sink_id)
        return get(tx, sink_id)

    @reads
    def list(self, tx: Transaction) -> tuple[Sink, ...]:
        """Return the user's sinks by name, the webhooks of crawls among them."""
        rows = tx.all(f"SELECT {_SINK_NAMES} FROM sinks WHERE user_id = :user ORDER BY name, id")
        return tuple(map(_sink, rows))

    @reads
    def get(self, tx: Transaction, sink_id: str) -> Sink:
        """Return the sink with this id; `NotFound` when there is none."""
        return get(tx, sink_id)

    @writes
    def remove(self, tx: Transaction, sink_id: str) -> bool:
        """Delete a sink with all that waits for it; return whether there was one."""
        return tx.run(f"DELETE FROM sinks WHERE {_OWN}", id=clean_id(sink_id)) == 1

    @writes
    def switch(self, tx: Transaction, sink_id: str, *, on: bool, error: str | None, now: str) -> Sink:
        """Switch a sink on or off, with the reason; what waits for it is due when it is on again."""
        values = {"id": clean_id(sink_id)}
        changed = tx.run(
            "UPDATE sinks SET state = :state, error = :error, leased_by = NULL, leased_until = NULL, due_at = NULL "
            f"WHERE {_OWN}",
            state="active" if on else "off",
            error=None if error is None else clean_text(error),
            **values,
        )
        if not changed:
            raise missing(sink_id)
        if on and _has_waiting(tx, sink_id):
            tx.run(f"UPDATE sinks SET due_at = :now WHERE {_OWN}", now=now, **values)
        return get(tx, sink_id)

    @reads
    def due(self, tx: Transaction, now: str, far: str, *, each: int, limit: int = 100) -> tuple[tuple[str, str], ...]:
        """Return user and id of sinks with something due, at most `each` of a user: first the longest due of every user."""
        owner, values = self._owner()
        rows = tx.all(
            "SELECT user_id, id FROM (SELECT user_id, id, due_at, ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY due_at, id) "
            f"AS place FROM sinks WHERE {owner}state = 'active' AND {_DUE}) AS due WHERE place <= :each "
            "ORDER BY place, due_at, id LIMIT :limit",
            now=now,
            far=far,
            each=each,
            limit=limit,
            **values,
        )
        return tuple((user, sink_id) for user, sink_id in rows)

    @reads
    def users_with_changes(self, tx: Transaction, limit: int = 100) -> tuple[str, ...]:
        """Return users with items to which the rules of their sinks were not applied yet."""
        owner, values = self._owner()
        rows = tx.all(
            f"SELECT user_id FROM changed_items WHERE {owner}number > 0 GROUP BY user_id ORDER BY MIN(number) LIMIT :limit",
            limit=limit,
            **values,
        )
        return tuple(user for (user,) in rows)

    @writes
    def lease(self, tx: Transaction, sink_id: str, worker: str, now: str, until: str, far: str) -> Sink | None:
        """Lease a sink that is due to a worker, which alone then delivers; `None` when another was faster."""
        changed = tx.run(
            f"UPDATE sinks SET leased_by = :worker, leased_until = :until, due_at = :until WHERE {_OWN} "
            f"AND state = 'active' AND {_DUE}",
            id=clean_id(sink_id),
            worker=worker,
            until=until,
            now=now,
            far=far,
        )
        return get(tx, sink_id) if changed else None

    @writes
    def release(self, tx: Transaction, sink_id: str, worker: str, now: str) -> None:
        """Give a leased sink back: what still waits for it is due now."""
        settle_due(tx, sink_id, worker, now)


def put(tx: Transaction, sink: Sink) -> None:
    """Insert a sink."""
    tx.run(
        f"INSERT INTO sinks ({_SINK_NAMES}, takes_items) VALUES ({', '.join(f':{name}' for name in SINK_COLUMNS)}, :takes)",
        **{name: getattr(sink, name) for name in SINK_COLUMNS}
        | {
            "user_id": tx.user_id,
            "name": clean_text(sink.name),
            "address": clean_text(sink.address),
            "options": tx.json(clean_json(sink.options)),
        },
        takes=bool(sink.rules),
    )


def get(tx: Transaction, sink_id: str) -> Sink:
    """Return a sink; `NotFound` when there is none."""
    rows = tx.all(f"SELECT {_SINK_NAMES} FROM sinks WHERE {_OWN}", id=clean_id(sink_id))
    if not rows:
        raise missing(sink_id)
    return _sink(rows[0])


def settle_due(tx: Transaction, sink_id: str, worker: str, due_at: str) -> bool:
    """End a lease: the next delivery is due at this time, if there is one. Return False when the lease was lost.

    The row of the sink is locked first, as it is by writers that add to the outbox: none of them is missed.
    """
    values = {"id": clean_id(sink_id)}
    held = tx.run(
        f"UPDATE sinks SET leased_by = NULL, leased_until = NULL WHERE {_OWN} AND leased_by = :worker",
        worker=worker,
        **values,
    )
    if not held:
        return False
    if _has_waiting(tx, sink_id):
        tx.run(f"UPDATE sinks SET due_at = :due WHERE {_OWN}", due=due_at, **values)
    else:
        tx.run(f"UPDATE sinks SET due_at = NULL WHERE {_OWN}", **values)
    return True


def _has_waiting(tx: Transaction, sink_id: str) -> bool:
    return bool(
        tx.all(
            "SELECT 1 FROM outbox WHERE user_id = :user AND sink_id = :id AND state = 'queued' LIMIT 1",
            id=clean_id(sink_id),
        )
    )


def missing(sink_id: str) -> NotFound:
    """Return the error of a sink that does not exist."""
    return NotFound(f"There is no sink {sink_id:.200}.", suggestions=("List the sinks first.",))


def _sink(row: Row) -> Sink:
    values = dict(zip(SINK_COLUMNS, row, strict=True))
    return Sink(**values | {"options": parse_json(values["options"]), "hidden": bool(values["hidden"])})


_DELIVERY_COLUMNS: Final = (
    *("position", "sink_id", "item_id", "event", "body", "state", "attempts", "error", "created_at", "tried_at"),
)
_DELIVERY_NAMES: Final = ", ".join(_DELIVERY_COLUMNS)
_OF_SINK: Final = "user_id = :user AND sink_id = :sink"
_WAITS: Final = f"SELECT 1 FROM outbox WHERE {_OF_SINK} AND item_id = :item AND state = 'queued' AND attempts = 0"


class Outbox(Part):
    """A user's outbox."""

    @reads
    def changed_items(self, tx: Transaction, limit: int = 100) -> tuple[ChangedItem, ...]:
        """Return items to which the rules were not applied since they changed, in the order of the changes."""
        rows = tx.all(
            "SELECT number, item_id FROM changed_items WHERE user_id = :user ORDER BY number LIMIT :limit", limit=limit
        )
        return tuple(ChangedItem(*row) for row in rows)

    @writes
    def note_changed(self, tx: Transaction, item_ids: Sequence[str]) -> None:
        """Have the rules applied to these items, as if they had changed."""
        for item_id in dict.fromkeys(map(clean_id, item_ids)):
            values = {"item": item_id}
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
        done = tx.run("DELETE FROM changed_items WHERE user_id = :user AND number = :number", number=changed.number)
        if not done or version is None:
            return 0
        return sum(_add_item(tx, sink_id, changed.item_id, version, now) for sink_id in sink_ids)

    @writes
    def post_event(self, tx: Transaction, sink_id: str, event: str, body: Mapping[str, Any], now: str) -> bool:
        """Put an event into the outbox of a sink, unless one with its id waits; return whether it was added."""
        return add_event(tx, sink_id, event, body, now)

    @writes
    def begin(self, tx: Transaction, sink_id: str, worker: str, now: str, until: str) -> Delivery | None:
        """Return the next delivery of a leased sink, which counts as tried; the lease is extended.

        `None` when the lease was lost, or nothing waits: the lease has then ended.
        """
        values = {"sink": clean_id(sink_id)}
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
            f"WHERE {_OF_SINK} AND state = 'queued') RETURNING {_DELIVERY_NAMES}",
            now=now,
            **values,
        )
        if not rows:
            settle_due(tx, sink_id, worker, now)
            return None
        return _delivery(rows[0])

    @writes
    def finish(
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
        values = {"sink": delivery.sink_id}
        gone = not tx.run("DELETE FROM outbox WHERE user_id = :user AND position = :at", at=delivery.position)
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
    def fail(
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
        values = {"sink": delivery.sink_id}
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
            at=delivery.position,
            state="queued" if retry_at else "dead",
            error=tx.json(clean_json(error)),
        )
        if retry_at is not None:
            settle_due(tx, delivery.sink_id, worker, retry_at)

    @reads
    def sent_item(self, tx: Transaction, sink_id: str, item_id: str) -> SentItem | None:
        """Return what a sink has of an item, if anything."""
        rows = tx.all(
            f"SELECT version, remote_id, sent_at FROM sent_items WHERE {_OF_SINK} AND item_id = :item",
            sink=clean_id(sink_id),
            item=clean_id(item_id),
        )
        return SentItem(*rows[0]) if rows else None

    @reads
    def list(
        self, tx: Transaction, sink_id: str | None = None, state: str | None = None, limit: int = 100
    ) -> tuple[Delivery, ...]:
        """Return what waits and what is dead, in the order of delivery."""
        where, values = "user_id = :user", dict[str, Any]()
        if sink_id is not None:
            where, values["sink"] = _OF_SINK, clean_id(sink_id)
        if state is not None:
            where, values["state"] = f"{where} AND state = :state", state
        rows = tx.all(
            f"SELECT {_DELIVERY_NAMES} FROM outbox WHERE {where} ORDER BY position LIMIT :limit",
            limit=max(1, limit),
            **values,
        )
        return tuple(map(_delivery, rows))

    @reads
    def counts(self, tx: Transaction) -> Mapping[str, Mapping[str, int]]:
        """Return how many deliveries wait and are dead, by sink."""
        rows = tx.all("SELECT sink_id, state, COUNT(*) FROM outbox WHERE user_id = :user GROUP BY sink_id, state")
        counts: dict[str, dict[str, int]] = {}
        for sink_id, state, count in rows:
            counts.setdefault(sink_id, {"queued": 0, "dead": 0})[state] = count
        return counts

    @writes
    def revive(self, tx: Transaction, now: str, *, sink_id: str | None = None, position: int | None = None) -> int:
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
    def remove_dead(self, tx: Transaction, *, sink_id: str | None = None, position: int | None = None) -> int:
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
        sink=clean_id(sink_id),
        event=clean_text(event),
        body=tx.json(clean_json(body)),
        now=now,
    )
    return added == 1


def _add_item(tx: Transaction, sink_id: str, item_id: str, version: str, now: str) -> int:
    """Add an item, unless the sink has this version, or it waits already: what is sent is the item as it is then."""
    values = {"sink": clean_id(sink_id), "item": item_id}
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
        tx.run(f"UPDATE sinks SET due_at = {due} WHERE user_id = :user AND id = :id", id=clean_id(sink_id), now=now)
    )


def _chosen(tx: Transaction, sink_id: str | None, position: int | None) -> tuple[str, dict[str, Any]]:
    where, values = "user_id = :user", dict[str, Any]()
    if sink_id is not None:
        where, values["sink"] = _OF_SINK, clean_id(sink_id)
    if position is not None:
        where, values["at"] = f"{where} AND position = :at", position
    return where, values


def _delivery(row: Row) -> Delivery:
    values = dict(zip(_DELIVERY_COLUMNS, row, strict=True))
    return Delivery(**values | {"body": parse_json(values["body"]), "error": parse_json(values["error"])})
