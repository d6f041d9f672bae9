"""Saves that wait for a worker: leased for a time, so that the job of a worker that died is taken up by another."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pagekeep.errors import NotFound
from pagekeep.model import Job
from pagekeep.store.engine import Row, Transaction
from pagekeep.store.storable import clean_json, clean_text, url_hash
from pagekeep.store.tables.items import json_of

SO_FAR: Final = "so_far"
"""In a job's options: what `put_back` kept."""
_COLUMNS: Final = (
    *("id", "user_id", "url", "url_full", "options", "state", "attempts", "error", "run_after", "leased_by"),
    *("leased_until", "created_at"),
)
_NAMES: Final = ", ".join(_COLUMNS)
_SELECT: Final = f"SELECT {_NAMES} FROM jobs"


def _job(row: Row) -> Job:
    values = dict(zip(_COLUMNS, row, strict=True))
    return Job(**values | {"options": json_of(values["options"]), "error": json_of(values["error"])})


def _unfinished(tx: Transaction, name: str) -> Job | None:
    rows = tx.all(
        f"{_SELECT} WHERE user_id = :user AND url_hash = :hash AND state IN ('queued', 'running')",
        user=tx.user_id,
        hash=name,
    )
    return _job(rows[0]) if rows else None


def enqueue(tx: Transaction, url: str, url_full: str, options: Mapping[str, Any], now: str) -> Job:
    """A new job, or the unfinished one for this URL."""
    name = url_hash(url)
    tx.lock(name)
    waiting = _unfinished(tx, name)
    if waiting is not None:
        return waiting
    rows = tx.all(
        "INSERT INTO jobs (id, user_id, url_hash, url, url_full, options, state, run_after, due_at, created_at) "
        f"VALUES (:id, :user, :hash, :url, :url_full, :options, 'queued', :now, :now, :now) RETURNING {_NAMES}",
        id=str(uuid.uuid4()),
        user=tx.user_id,
        hash=name,
        url=clean_text(url),
        url_full=clean_text(url_full),
        options=tx.json(clean_json(options)),
        now=now,
    )
    return _job(rows[0])


def enqueue_many(tx: Transaction, addresses: Sequence[tuple[str, str]], options: Mapping[str, Any], now: str) -> int:
    """Jobs for those of the addresses (normalised, and as given) that neither wait already nor were given up; how many
    are new. One that was given up is the user's to try again."""
    pairs = {url_hash(url): (url, url_full) for url, url_full in addresses}
    added = 0
    for name in sorted(pairs):
        tx.lock(name)
    dead = {
        row[0] for row in tx.all("SELECT url_hash FROM jobs WHERE user_id = :user AND state = 'dead'", user=tx.user_id)
    }
    for name, (url, url_full) in pairs.items():
        if name not in dead and _unfinished(tx, name) is None:
            enqueue(tx, url, url_full, options, now)
            added += 1
    return added


_TASK: Final = "pagekeep:"
"""How the addresses of jobs begin that are no saves."""
_MAY_BEGIN: Final = (
    f"(SUBSTR(j.url_full, 1, {len(_TASK)}) <> :task OR NOT EXISTS (SELECT 1 FROM jobs o WHERE o.user_id = j.user_id "
    f"AND o.state = 'running' AND o.leased_until > :now AND o.seq <> j.seq AND SUBSTR(o.url_full, 1, {len(_TASK)}) = :task))"
)


def lease(tx: Transaction, worker: str, now: str, until: str, *, everyone: bool) -> Job | None:
    """The job that is due longest, leased to this worker. Of tasks that are no saves each user has one at a time."""
    whose = "" if everyone else "j.user_id = :user AND "
    rows = tx.all(
        "UPDATE jobs SET state = 'running', attempts = attempts + 1, leased_by = :worker, leased_until = :until, "
        f"due_at = :until WHERE seq = (SELECT j.seq FROM jobs j WHERE {whose}j.due_at <= :now AND {_MAY_BEGIN} "
        f"ORDER BY j.due_at, j.seq LIMIT 1 {tx.skip_locked}) RETURNING {_NAMES}",
        worker=worker,
        until=until,
        now=now,
        task=_TASK,
        **({} if everyone else {"user": tx.user_id}),
    )
    return _job(rows[0]) if rows else None


_LEASED: Final = "WHERE id = :id AND state = 'running' AND leased_by = :worker"


def heartbeat(tx: Transaction, job_id: str, worker: str, until: str) -> bool:
    """Extend the lease."""
    changed = tx.run(
        f"UPDATE jobs SET leased_until = :until, due_at = :until {_LEASED}", id=job_id, worker=worker, until=until
    )
    return changed == 1


def finish(
    tx: Transaction, job_id: str, worker: str, item_id: str | None, report: Mapping[str, Any] | None = None
) -> bool:
    """The job is done. Which item came of it is kept with the options: the page may go by another address than it was
    asked for. So is what there is to tell of a job that is no save, in place of how far it was."""
    rows = tx.all(f"SELECT options FROM jobs {_LEASED} {tx.for_update}", id=job_id, worker=worker)
    if not rows:
        return False
    asked = {name: value for name, value in json_of(rows[0][0]).items() if name != SO_FAR}
    told = {"item": item_id, "report": report}
    changed = tx.run(
        "UPDATE jobs SET state = 'done', error = NULL, due_at = NULL, leased_by = NULL, leased_until = NULL, "
        f"options = :options {_LEASED}",
        id=job_id,
        worker=worker,
        options=tx.json(clean_json({**asked, **{name: value for name, value in told.items() if value}})),
    )
    return changed == 1


def put_back(tx: Transaction, job_id: str, worker: str, so_far: Mapping[str, Any], now: str) -> bool:
    """Back to the queue, behind those that are due, with how far it is: its tries are forgotten, for it got on."""
    rows = tx.all(f"SELECT options FROM jobs {_LEASED} {tx.for_update}", id=job_id, worker=worker)
    if not rows:
        return False
    changed = tx.run(
        "UPDATE jobs SET state = 'queued', attempts = 0, error = NULL, due_at = :now, run_after = :now, leased_by = NULL, "
        f"leased_until = NULL, options = :options {_LEASED}",
        id=job_id,
        worker=worker,
        now=now,
        options=tx.json(clean_json({**json_of(rows[0][0]), SO_FAR: so_far})),
    )
    return changed == 1


def fail(tx: Transaction, job_id: str, worker: str, error: Mapping[str, Any], retry_at: str | None) -> bool:
    """Back to the queue, or to the dead letters."""
    again = "state = 'dead', due_at = NULL" if retry_at is None else "state = 'queued', due_at = :at, run_after = :at"
    changed = tx.run(
        f"UPDATE jobs SET {again}, error = :error, leased_by = NULL, leased_until = NULL {_LEASED}",
        id=job_id,
        worker=worker,
        error=tx.json(clean_json(error)),
        **({} if retry_at is None else {"at": retry_at}),
    )
    return changed == 1


def get(tx: Transaction, job_id: str) -> Job:
    """The user's job with this id."""
    rows = tx.all(f"{_SELECT} WHERE user_id = :user AND id = :id", user=tx.user_id, id=clean_text(job_id))
    if not rows:
        raise NotFound("There is no such job.")
    return _job(rows[0])


def jobs(tx: Transaction, state: str | None, limit: int) -> tuple[Job, ...]:
    """The user's jobs, newest first."""
    where, values = ("", {}) if state is None else (" AND state = :state", {"state": state})
    rows = tx.all(
        f"{_SELECT} WHERE user_id = :user{where} ORDER BY seq DESC LIMIT :limit",
        user=tx.user_id,
        limit=max(1, limit),
        **values,
    )
    return tuple(map(_job, rows))


def counts(tx: Transaction, *, everyone: bool) -> dict[str, int]:
    """Jobs that are not done, by state."""
    whose = "" if everyone else "user_id = :user AND "
    rows = tx.all(
        f"SELECT state, COUNT(*) FROM jobs WHERE {whose}state IN ('queued', 'running', 'dead') GROUP BY state",
        **({} if everyone else {"user": tx.user_id}),
    )
    return {"queued": 0, "running": 0, "dead": 0, **dict(rows)}


def revive(tx: Transaction, job_id: str, now: str) -> Job:
    """A dead job back to the queue with its tries forgotten; when its URL waits again already, the job that waits."""
    rows = tx.all(
        f"SELECT url_hash, state, {_NAMES} FROM jobs WHERE user_id = :user AND id = :id {tx.for_update}",
        user=tx.user_id,
        id=clean_text(job_id),
    )
    if not rows:
        raise NotFound(f"There is no job {job_id:.200}.")
    name, state, *row = rows[0]
    if state != "dead":
        return _job(tuple(row))
    tx.lock(name)
    waiting = _unfinished(tx, name)
    if waiting is not None:
        return waiting
    revived = tx.all(
        "UPDATE jobs SET state = 'queued', attempts = 0, run_after = :now, due_at = :now "
        f"WHERE user_id = :user AND id = :id RETURNING {_NAMES}",
        now=now,
        user=tx.user_id,
        id=job_id,
    )
    return _job(revived[0])


def forget(tx: Transaction, job_id: str) -> None:
    """A dead job goes."""
    names = {"user": tx.user_id, "id": clean_text(job_id)}
    if not tx.all("SELECT 1 FROM jobs WHERE user_id = :user AND id = :id", **names):
        raise NotFound(f"There is no job {job_id:.200}.")
    tx.run("DELETE FROM jobs WHERE user_id = :user AND id = :id AND state = 'dead'", **names)
