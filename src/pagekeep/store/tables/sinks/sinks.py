"""Sinks: where a user's items are sent on to. A sink is leased as a whole, so that its deliveries are made in order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pagekeep.errors import Conflict, NotFound
from pagekeep.model.sinks import Sink
from pagekeep.store.engine import Row, Transaction
from pagekeep.store.storable import clean_id, clean_json, clean_text, parse_json
from pagekeep.store.table import Table, reads, writes

COLUMNS: Final = (
    *("id", "user_id", "kind", "name", "address", "options", "state", "created_at", "secret", "hidden", "error"),
    *("sent", "sent_at", "due_at"),
)
_NAMES: Final = ", ".join(COLUMNS)
_OWN: Final = "user_id = :user AND id = :id"
_DUE: Final = "due_at IS NOT NULL AND (due_at <= :now OR due_at > :far)"
"""One that waits until after `far` was written when the clock was ahead."""


class SinkTable(Table):
    """A user's sinks; what is due of all users where the store was opened for workers."""

    @writes
    def add_sink(self, tx: Transaction, sink: Sink) -> Sink:
        """Add a sink; `Conflict` when its name is taken."""
        tx.lock("sinks")
        if tx.all("SELECT 1 FROM sinks WHERE user_id = :user AND name = :name", user=tx.user_id, name=sink.name):
            raise Conflict(f"There is already a sink {sink.name:.100}.", suggestions=("Choose another name.",))
        put(tx, sink)
        return get(tx, sink.id)

    @writes
    def change_sink(self, tx: Transaction, sink_id: str, options: Mapping[str, Any], secret: str | None) -> Sink:
        """Replace the options and the secret of a sink; `NotFound` when there is none."""
        changed = tx.run(
            f"UPDATE sinks SET options = :options, secret = :secret, takes_items = :takes WHERE {_OWN}",
            user=tx.user_id,
            id=clean_id(sink_id),
            options=tx.json(clean_json(options)),
            secret=secret,
            takes=bool(options.get("rules")),
        )
        if not changed:
            raise missing(sink_id)
        return get(tx, sink_id)

    @reads
    def sinks(self, tx: Transaction) -> tuple[Sink, ...]:
        """Return the user's sinks by name, the webhooks of crawls among them."""
        rows = tx.all(f"SELECT {_NAMES} FROM sinks WHERE user_id = :user ORDER BY name, id", user=tx.user_id)
        return tuple(map(_sink, rows))

    @reads
    def sink(self, tx: Transaction, sink_id: str) -> Sink:
        """Return the sink with this id; `NotFound` when there is none."""
        return get(tx, sink_id)

    @writes
    def remove_sink(self, tx: Transaction, sink_id: str) -> bool:
        """Delete a sink with all that waits for it; return whether there was one."""
        return tx.run(f"DELETE FROM sinks WHERE {_OWN}", user=tx.user_id, id=clean_id(sink_id)) == 1

    @writes
    def switch_sink(self, tx: Transaction, sink_id: str, *, on: bool, error: str | None, now: str) -> Sink:
        """Switch a sink on or off, with the reason; what waits for it is due when it is on again."""
        values = {"user": tx.user_id, "id": clean_id(sink_id)}
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
    def due_sinks(
        self, tx: Transaction, now: str, far: str, *, each: int, limit: int = 100
    ) -> tuple[tuple[str, str], ...]:
        """Return user and id of sinks with something due, at most `each` of a user: first the longest due of every user."""
        owner, values = self._owner_of_sinks()
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
        owner, values = self._owner_of_sinks()
        rows = tx.all(
            f"SELECT user_id FROM changed_items WHERE {owner}number > 0 GROUP BY user_id ORDER BY MIN(number) LIMIT :limit",
            limit=limit,
            **values,
        )
        return tuple(user for (user,) in rows)

    @writes
    def lease_sink(self, tx: Transaction, sink_id: str, worker: str, now: str, until: str, far: str) -> Sink | None:
        """Lease a sink that is due to a worker, which alone then delivers; `None` when another was faster."""
        changed = tx.run(
            f"UPDATE sinks SET leased_by = :worker, leased_until = :until, due_at = :until WHERE {_OWN} "
            f"AND state = 'active' AND {_DUE}",
            user=tx.user_id,
            id=clean_id(sink_id),
            worker=worker,
            until=until,
            now=now,
            far=far,
        )
        return get(tx, sink_id) if changed else None

    @writes
    def release_sink(self, tx: Transaction, sink_id: str, worker: str, now: str) -> None:
        """Give a leased sink back: what still waits for it is due now."""
        settle_due(tx, sink_id, worker, now)

    def _owner_of_sinks(self) -> tuple[str, dict[str, str]]:
        return ("", {}) if self._engine.everyone else ("user_id = :user AND ", {"user": self.user_id})


def put(tx: Transaction, sink: Sink) -> None:
    """Insert a sink."""
    tx.run(
        f"INSERT INTO sinks ({_NAMES}, takes_items) VALUES ({', '.join(f':{name}' for name in COLUMNS)}, :takes)",
        **{name: getattr(sink, name) for name in COLUMNS}
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
    rows = tx.all(f"SELECT {_NAMES} FROM sinks WHERE {_OWN}", user=tx.user_id, id=clean_id(sink_id))
    if not rows:
        raise missing(sink_id)
    return _sink(rows[0])


def settle_due(tx: Transaction, sink_id: str, worker: str, due_at: str) -> bool:
    """End a lease: the next delivery is due at this time, if there is one. Return False when the lease was lost.

    The row of the sink is locked first, as it is by writers that add to the outbox: none of them is missed.
    """
    values = {"user": tx.user_id, "id": clean_id(sink_id)}
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
            user=tx.user_id,
            id=clean_id(sink_id),
        )
    )


def missing(sink_id: str) -> NotFound:
    """Return the error of a sink that does not exist."""
    return NotFound(f"There is no sink {sink_id:.200}.", suggestions=("List the sinks first.",))


def _sink(row: Row) -> Sink:
    values = dict(zip(COLUMNS, row, strict=True))
    return Sink(**values | {"options": parse_json(values["options"]), "hidden": bool(values["hidden"])})
