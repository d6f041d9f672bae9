"""Schedules: what is done regularly. A schedule that is due becomes a job, in one step with its next time.

The queue leases the job, repeats it after a crash, and never holds two of one schedule, so that nothing is missed or doubled.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from typing import Any, Final

from pagekeep.errors import NotFound
from pagekeep.model import Schedule
from pagekeep.store.engine import Part, Row, Transaction, reads, writes
from pagekeep.store.storable import clean_id, clean_json, clean_text, parse_json, url_hash

_COLUMNS: Final = (
    *("id", "user_id", "task", "subject", "address", "every", "attempts", "next_at", "last_run_at", "created_at"),
    "state",
)
_NAMES: Final = ", ".join(_COLUMNS)
_MAX_STARTED: Final = 100
"""Schedules that become jobs in one transaction."""
_UNFINISHED: Final = "state IN ('queued', 'running')"


class Schedules(Part):
    """A user's schedules; those of all users are started where the store was opened for workers."""

    @writes
    def put(
        self,
        tx: Transaction,
        task: str,
        subject: str,
        address: str,
        every: int,
        next_at: str,
        now: str,
        state: Mapping[str, Any] | None = None,
    ) -> Schedule:
        """Return the schedule of this task and subject, new with this state, or with another interval; its state stays."""
        tx.run(
            f"INSERT INTO schedules ({_NAMES}) VALUES (:id, :user, :task, :subject, :address, :every, 0, :next, NULL, :now, "
            ":state) ON CONFLICT (user_id, task, subject) DO UPDATE SET every = excluded.every, "
            "address = excluded.address, attempts = 0, next_at = excluded.next_at",
            id=str(uuid.uuid4()),
            task=task,
            subject=clean_text(subject),
            address=clean_text(address),
            every=every,
            next=next_at,
            now=now,
            state=tx.json(clean_json(state or {})),
        )
        return _get(tx, task, subject)

    @reads
    def get(self, tx: Transaction, task: str, subject: str) -> Schedule | None:
        """Return the schedule of this task and subject, if there is one."""
        return _find(tx, task, subject)

    @reads
    def list(self, tx: Transaction, task: str) -> tuple[Schedule, ...]:
        """Return the user's schedules of a task, the next one first."""
        rows = tx.all(
            f"SELECT {_NAMES} FROM schedules WHERE user_id = :user AND task = :task ORDER BY next_at, id", task=task
        )
        return tuple(map(_schedule, rows))

    @writes
    def remove(self, tx: Transaction, task: str, subject: str) -> bool:
        """End a schedule, with its job if that is not running; return whether there was one."""
        values = {"task": task, "subject": clean_text(subject)}
        rows = tx.all(
            "DELETE FROM schedules WHERE user_id = :user AND task = :task AND subject = :subject RETURNING id", **values
        )
        for (schedule_id,) in rows:
            tx.run(
                "DELETE FROM jobs WHERE user_id = :user AND url_hash = :hash AND state = 'queued'",
                hash=_job_hash(schedule_id),
            )
        return bool(rows)

    @reads
    def has_due(self, tx: Transaction, now: str, far: str) -> bool:
        """Return whether a schedule is due, or waits until after `far`, as when it was set while the clock was ahead."""
        owner, values = self._owner()
        rows = tx.all(
            f"SELECT 1 FROM schedules WHERE {owner}(next_at <= :now OR next_at > :far) LIMIT 1",
            now=now,
            far=far,
            **values,
        )
        return bool(rows)

    @writes
    def start_due(self, tx: Transaction, now: str, far: str, next_time: Callable[[Schedule, str], str]) -> int:
        """Turn due schedules into jobs and set their next times; return how many jobs were added.

        A schedule whose job is not done yet gets no second one.
        """
        owner, values = self._owner()
        rows = tx.all(
            f"SELECT {_NAMES} FROM schedules WHERE {owner}(next_at <= :now OR next_at > :far) "
            f"ORDER BY next_at, id LIMIT {_MAX_STARTED} {tx.skip_locked}",
            now=now,
            far=far,
            **values,
        )
        return sum(_start(tx, schedule, now, next_time(schedule, now)) for schedule in map(_schedule, rows))

    @writes
    def settle(
        self,
        tx: Transaction,
        schedule_id: str,
        state: Mapping[str, Any],
        *,
        failed: bool,
        now: str,
        next_at: str | None = None,
    ) -> None:
        """Store what a run remembers; a failed one counts, and a success resets the count. No effect when it has ended."""
        put_state(tx, schedule_id, state, failed=failed, now=now, next_at=next_at)

    @writes
    def merge_state(
        self,
        tx: Transaction,
        schedule_id: str,
        changes: Mapping[str, Any],
        *,
        failed: bool | None = None,
        now: str = "",
        next_at: str | None = None,
    ) -> None:
        """Replace these keys of what a schedule remembers; others may change other keys at the same time.

        `failed` is whether the run that ends with it has failed; `None` while it goes on.
        """
        values = {"id": clean_id(schedule_id)}
        tx.run("UPDATE schedules SET every = every WHERE user_id = :user AND id = :id", **values)  # locks the row
        rows = tx.all("SELECT state FROM schedules WHERE user_id = :user AND id = :id", **values)
        if rows:
            state = {**parse_json(rows[0][0]), **changes}
            if failed is not None:
                put_state(tx, schedule_id, state, failed=failed, now=now, next_at=next_at)
                return
            tx.run(
                "UPDATE schedules SET state = :state WHERE user_id = :user AND id = :id",
                state=tx.json(clean_json(state)),
                **values,
            )

    @writes
    def finish(self, tx: Transaction, job_id: str, worker: str) -> bool:
        """Delete the job of a schedule that is done; return False when the lease was lost."""
        changed = tx.run(
            "DELETE FROM jobs WHERE id = :id AND state = 'running' AND leased_by = :worker", id=job_id, worker=worker
        )
        return changed == 1


def put_state(
    tx: Transaction,
    schedule_id: str,
    state: Mapping[str, Any],
    *,
    failed: bool,
    now: str,
    next_at: str | None = None,
) -> None:
    """Store what a run of a schedule remembers."""
    next_time, values = ("", {}) if next_at is None else (", next_at = :next", {"next": next_at})
    tx.run(
        f"UPDATE schedules SET state = :state, last_run_at = :now, attempts = {'attempts + 1' if failed else '0'}{next_time} "
        "WHERE user_id = :user AND id = :id",
        id=clean_id(schedule_id),
        state=tx.json(clean_json(state)),
        now=now,
        **values,
    )


def drop_item(tx: Transaction, item_id: str) -> None:
    """Delete the schedules of an item that is removed."""
    tx.run("DELETE FROM schedules WHERE user_id = :user AND subject = :item", item=item_id)


def _find(tx: Transaction, task: str, subject: str) -> Schedule | None:
    rows = tx.all(
        f"SELECT {_NAMES} FROM schedules WHERE user_id = :user AND task = :task AND subject = :subject",
        task=task,
        subject=clean_text(subject),
    )
    return _schedule(rows[0]) if rows else None


def _schedule(row: Row) -> Schedule:
    values = dict(zip(_COLUMNS, row, strict=True))
    return Schedule(**values | {"state": parse_json(values["state"])})


def _get(tx: Transaction, task: str, subject: str) -> Schedule:
    found = _find(tx, task, subject)
    if found is None:
        raise NotFound("There is no such schedule.")
    return found


def _job_hash(schedule_id: str) -> str:
    return url_hash(f"pagekeep:schedule/{schedule_id}")


def _start(tx: Transaction, schedule: Schedule, now: str, next_at: str) -> int:
    """Add the job of one schedule, unless one is not done yet, and set its next time."""
    address = f"pagekeep:schedule/{schedule.id}"
    name = _job_hash(schedule.id)
    owner = {"user": schedule.user_id, "hash": name}
    waiting = tx.all(f"SELECT 1 FROM jobs WHERE user_id = :user AND url_hash = :hash AND {_UNFINISHED}", **owner)
    if not waiting:
        options = {"task": schedule.task, "schedule": schedule.id, "subject": schedule.subject}
        tx.run("DELETE FROM jobs WHERE user_id = :user AND url_hash = :hash AND state = 'dead'", **owner)
        tx.run(
            "INSERT INTO jobs (id, user_id, url_hash, url, url_full, options, state, run_after, due_at, created_at) "
            "VALUES (:id, :user, :hash, :url, :url_full, :options, 'queued', :now, :now, :now)",
            id=str(uuid.uuid4()),
            url=address,
            url_full=schedule.address,
            options=tx.json(options),
            now=now,
            **owner,
        )
    tx.run(
        "UPDATE schedules SET next_at = :next WHERE user_id = :user AND id = :id",
        next=next_at,
        user=schedule.user_id,
        id=schedule.id,
    )
    return int(not waiting)
