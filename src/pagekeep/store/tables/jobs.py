"""Jobs that wait for a worker, leased for a time so that another can take over, and uploaded files that wait for a job."""

from __future__ import annotations

import re
import uuid
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from pagekeep.errors import NotFound
from pagekeep.model import Job
from pagekeep.store.engine import Part, Row, Transaction, reads, writes
from pagekeep.store.storable import clean_id, clean_json, clean_text, parse_json, url_hash

SO_FAR: Final = "so_far"
"""In a job's options: the progress that `put_back` stored."""
_COLUMNS: Final = (
    *("id", "user_id", "url", "url_full", "options", "state", "attempts", "error", "run_after", "leased_by"),
    *("leased_until", "created_at"),
)
_NAMES: Final = ", ".join(_COLUMNS)
_SELECT: Final = f"SELECT {_NAMES} FROM jobs"
_TASK: Final = "pagekeep:"
"""How the addresses of jobs begin that are not saves."""
_MAY_BEGIN: Final = (
    f"(SUBSTR(j.url_full, 1, {len(_TASK)}) <> :task OR NOT EXISTS (SELECT 1 FROM jobs o WHERE o.user_id = j.user_id "
    f"AND o.state = 'running' AND o.leased_until > :now AND o.leased_until <= :lease_limit AND o.seq <> j.seq "
    f"AND SUBSTR(o.url_full, 1, {len(_TASK)}) = :task))"
)
_HEX: Final = re.compile(r"[0-9a-f]{1,32}")
_NEVER: Final = "9999-12-31T23:59:59.999999Z"
"""Sorts after every time."""
_DUE: Final = (
    "j.due_at <= :now",
    "j.due_at > :lease_limit AND (j.state = 'running' OR j.due_at > :retry_limit)",
)
"""Conditions of jobs that can be leased: first those that are due, then those that a wrong clock put too far ahead."""
_LEASED: Final = "WHERE id = :id AND state = 'running' AND leased_by = :worker"
_HOLDER: Final = "direct save "
"""How the names of those begin who hold a job because they save its page themselves; its id follows."""


class Jobs(Part):
    """A user's jobs; those of all users where the store was opened for workers."""

    @writes
    def add(self, tx: Transaction, url: str, url_full: str, options: Mapping[str, Any], now: str) -> Job:
        """Return a new job, or the unfinished one for this URL."""
        return add_job(tx, url, url_full, options, now)

    @writes
    def add_many(
        self, tx: Transaction, addresses: Sequence[tuple[str, str]], options: Mapping[str, Any], now: str
    ) -> int:
        """Add jobs for addresses (normalised, and as given) that neither wait nor are dead; return how many.

        A dead job is for the user to retry.
        """
        pairs = {url_hash(url): (url, url_full) for url, url_full in addresses}
        added = 0
        for name in sorted(pairs):
            tx.lock(name)
        rows = tx.all("SELECT url_hash FROM jobs WHERE user_id = :user AND state = 'dead'")
        dead = {row[0] for row in rows}
        for name, (url, url_full) in pairs.items():
            if name not in dead and _unfinished(tx, name) is None:
                add_job(tx, url, url_full, options, now)
                added += 1
        return added

    @writes
    def hold(
        self, tx: Transaction, job_id: str, url: str, url_full: str, options: Mapping[str, Any], now: str, until: str
    ) -> bool:
        """Add a job for a page that the caller saves now, leased to it until a time; False when one for this URL waits already.

        When the page is saved, `drop_held` removes it. A caller that is killed leaves it to the next worker.
        """
        name = url_hash(url)
        tx.lock(name)
        if _unfinished(tx, name) is not None:
            return False
        tx.run(
            "INSERT INTO jobs (id, user_id, url_hash, url, url_full, options, state, attempts, run_after, due_at, leased_by, "
            "leased_until, created_at) VALUES (:id, :user, :hash, :url, :url_full, :options, 'running', 1, :now, :until, "
            ":holder, :until, :now)",
            id=clean_id(job_id),
            hash=name,
            url=clean_text(url),
            url_full=clean_text(url_full),
            options=tx.json(clean_json(options)),
            holder=f"{_HOLDER}{job_id}",
            now=now,
            until=until,
        )
        return True

    @writes
    def remove_held(self, tx: Transaction, job_id: str) -> None:
        """Remove a held job, as its page is saved or cannot be; one that was taken over stays."""
        drop_held(tx, job_id)

    @writes
    def release_held(self, tx: Transaction, job_id: str, error: Mapping[str, Any], now: str) -> None:
        """Leave a held job to the next worker, at once and with no attempt counted."""
        tx.run(
            "UPDATE jobs SET state = 'queued', attempts = 0, due_at = :now, run_after = :now, error = :error, "
            f"leased_by = NULL, leased_until = NULL {_LEASED}",
            id=clean_id(job_id),
            worker=f"{_HOLDER}{job_id}",
            error=tx.json(clean_json(error)),
            now=now,
        )

    @writes
    def lease(
        self,
        tx: Transaction,
        worker: str,
        now: str,
        until: str,
        *,
        lease_limit: str = _NEVER,
        retry_limit: str = _NEVER,
        job_id: str | None = None,
    ) -> Job | None:
        """Lease the job that has been due longest (queued, or running with an expired lease) to this worker.

        With `job_id` it leases that one, whatever else runs.

        Of tasks that are not saves (`pagekeep:...`), each user has one running at a time. No lease ends after `lease_limit`,
        and no job waits until after `retry_limit`: one that does was written when the clock was ahead, and is due.
        """
        owner, values = self._owner("j.")
        may_begin = _MAY_BEGIN
        if job_id is not None:
            owner, may_begin, values = f"{owner}j.id = :job AND ", ":task = :task", {**values, "job": clean_id(job_id)}
        for due in _DUE if lease_limit < _NEVER else _DUE[:1]:
            rows = tx.all(
                "UPDATE jobs SET state = 'running', attempts = attempts + 1, leased_by = :worker, leased_until = :until, "
                f"due_at = :until WHERE seq = (SELECT j.seq FROM jobs j WHERE {owner}{due} AND {may_begin} "
                f"ORDER BY j.due_at, j.seq LIMIT 1 {tx.skip_locked}) RETURNING {_NAMES}",
                worker=worker,
                until=until,
                now=now,
                task=_TASK,
                lease_limit=lease_limit,
                **({"retry_limit": retry_limit} if due == _DUE[1] else {}),
                **values,
            )
            if rows:
                return _job(rows[0])
        return None

    @writes
    def heartbeat(self, tx: Transaction, job_id: str, worker: str, until: str) -> bool:
        """Extend the lease; return False when it was lost."""
        changed = tx.run(
            f"UPDATE jobs SET leased_until = :until, due_at = :until {_LEASED}", id=job_id, worker=worker, until=until
        )
        return changed == 1

    @writes
    def finish(
        self,
        tx: Transaction,
        job_id: str,
        worker: str,
        item_id: str | None = None,
        report: Mapping[str, Any] | None = None,
    ) -> bool:
        """Mark the job done; return False when the lease was lost.

        The item it made is stored in its options, since the page's address may differ from the requested one; so is the
        report of a job that is not a save, in place of its progress.
        """
        rows = tx.all(f"SELECT options FROM jobs {_LEASED} {tx.for_update}", id=job_id, worker=worker)
        if not rows:
            return False
        options = {name: value for name, value in parse_json(rows[0][0]).items() if name != SO_FAR}
        options |= {name: value for name, value in (("item", item_id), ("report", report)) if value}
        changed = tx.run(
            "UPDATE jobs SET state = 'done', error = NULL, due_at = NULL, leased_by = NULL, leased_until = NULL, "
            f"options = :options {_LEASED}",
            id=job_id,
            worker=worker,
            options=tx.json(clean_json(options)),
        )
        return changed == 1

    @writes
    def put_back(self, tx: Transaction, job_id: str, worker: str, so_far: Mapping[str, Any], now: str) -> bool:
        """Return a job that is partly done to the end of the queue, with its progress; return False when the lease was lost.

        Its attempts start again, as it made progress.
        """
        rows = tx.all(f"SELECT options FROM jobs {_LEASED} {tx.for_update}", id=job_id, worker=worker)
        if not rows:
            return False
        changed = tx.run(
            "UPDATE jobs SET state = 'queued', attempts = 0, error = NULL, due_at = :now, run_after = :now, leased_by = NULL, "
            f"leased_until = NULL, options = :options {_LEASED}",
            id=job_id,
            worker=worker,
            now=now,
            options=tx.json(clean_json({**parse_json(rows[0][0]), SO_FAR: so_far})),
        )
        return changed == 1

    @writes
    def fail(
        self,
        tx: Transaction,
        job_id: str,
        worker: str,
        error: Mapping[str, Any],
        *,
        retry_at: str | None,
        counts: bool = True,
        item_id: str | None = None,
    ) -> bool:
        """Return the job to the queue for `retry_at`, or mark it dead when that is `None`; False when the lease was lost.

        Without `counts` it does not count as a failed attempt, as when its worker was stopped. `item_id` is the item that
        has the address of the page; it is stored in the options, as by `finish`.
        """
        state = (
            "state = 'dead', due_at = NULL" if retry_at is None else "state = 'queued', due_at = :at, run_after = :at"
        )
        if not counts:
            state += ", attempts = attempts - 1"
        values: dict[str, Any] = {} if retry_at is None else {"at": retry_at}
        if item_id is not None:
            rows = tx.all(f"SELECT options FROM jobs {_LEASED} {tx.for_update}", id=job_id, worker=worker)
            state += ", options = :options"
            values["options"] = tx.json(clean_json({**(parse_json(rows[0][0]) if rows else {}), "item": item_id}))
        changed = tx.run(
            f"UPDATE jobs SET {state}, error = :error, leased_by = NULL, leased_until = NULL {_LEASED}",
            id=job_id,
            worker=worker,
            error=tx.json(clean_json(error)),
            **values,
        )
        return changed == 1

    @reads
    def get(self, tx: Transaction, job_id: str) -> Job:
        """Return the user's job with this id; `NotFound` when there is none."""
        rows = tx.all(f"{_SELECT} WHERE user_id = :user AND id = :id", id=clean_id(job_id))
        if not rows:
            raise NotFound(f"There is no job {job_id:.200}.")
        return _job(rows[0])

    @reads
    def list(self, tx: Transaction, state: str | None = None, limit: int = 100, without: str = "") -> tuple[Job, ...]:
        """Return the user's jobs, newest first, but for those with the address `without`."""
        where, values = ("", {}) if state is None else (" AND state = :state", {"state": state})
        rows = tx.all(
            f"{_SELECT} WHERE user_id = :user{where} AND url_full <> :without ORDER BY seq DESC LIMIT :limit",
            without=without,
            limit=max(1, limit),
            **values,
        )
        return tuple(map(_job, rows))

    @reads
    def find_unfinished(self, tx: Transaction, prefix: str) -> tuple[Job, ...]:
        """Return the user's jobs whose id starts with a prefix and that wait, run or are dead; at most two."""
        digits = prefix.lower().replace("-", "")
        if not _HEX.fullmatch(digits):
            return ()
        rows = tx.all(
            f"{_SELECT} WHERE user_id = :user AND id >= :low AND id <= :high AND state IN ('queued', 'running', 'dead') "
            "LIMIT 2",
            low=str(uuid.UUID(f"{digits:0<32}")),
            high=str(uuid.UUID(f"{digits:f<32}")),
        )
        return tuple(map(_job, rows))

    @reads
    def counts(self, tx: Transaction, without: str = "") -> Mapping[str, int]:
        """Return how many jobs are queued, running and dead, not counting those with the address `without`."""
        owner, values = self._owner()
        rows = tx.all(
            f"SELECT state, COUNT(*) FROM jobs WHERE {owner}state IN ('queued', 'running', 'dead') "
            "AND url_full <> :without GROUP BY state",
            without=without,
            **values,
        )
        return {"queued": 0, "running": 0, "dead": 0, **dict(rows)}

    @reads
    def failed_tasks(self, tx: Transaction, limit: int = 100, without: str = "") -> tuple[Job, ...]:
        """Return the user's dead jobs that are not saves, newest first, but for those with the address `without`."""
        rows = tx.all(
            f"{_SELECT} WHERE user_id = :user AND state = 'dead' AND SUBSTR(url, 1, {len(_TASK)}) = :task "
            "AND url_full <> :without ORDER BY seq DESC LIMIT :limit",
            task=_TASK,
            without=without,
            limit=max(1, limit),
        )
        return tuple(map(_job, rows))

    @reads
    def unfinished_urls(self, tx: Transaction, urls: Sequence[str]) -> set[str]:
        """Return which of these normalised addresses are queued or running."""
        return {url for url in urls if _unfinished(tx, url_hash(url)) is not None}

    @writes
    def revive(self, tx: Transaction, job_id: str, now: str) -> Job:
        """Return a dead job to the queue with no attempts counted; when its URL waits already, return the job that waits."""
        rows = tx.all(
            f"SELECT url_hash, state, {_NAMES} FROM jobs WHERE user_id = :user AND id = :id {tx.for_update}",
            id=clean_id(job_id),
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
            id=job_id,
        )
        return _job(revived[0])

    @writes
    def make_due(self, tx: Transaction, now: str, lease_limit: str, job_id: str | None = None) -> tuple[Job, ...]:
        """Make the user's jobs that wait for a later time due now, and those leased until after `lease_limit`; return them."""
        one, values = ("", {}) if job_id is None else (" AND id = :id", {"id": clean_id(job_id)})
        rows = tx.all(
            "UPDATE jobs SET state = 'queued', run_after = :now, due_at = :now, leased_by = NULL, leased_until = NULL, "
            "attempts = CASE WHEN state = 'running' THEN attempts - 1 ELSE attempts END WHERE user_id = :user "
            "AND ((state = 'queued' AND due_at > :now) OR (state = 'running' AND leased_until > :lease_limit))"
            f"{one} RETURNING {_NAMES}",
            now=now,
            lease_limit=lease_limit,
            **values,
        )
        return tuple(map(_job, rows))

    @writes
    def remove(self, tx: Transaction, job_id: str) -> None:
        """Delete a dead job; one that waits or is done stays. `NotFound` when there is none."""
        names = {"id": clean_id(job_id)}
        if not tx.all("SELECT 1 FROM jobs WHERE user_id = :user AND id = :id", **names):
            raise NotFound(f"There is no job {job_id:.200}.")
        tx.run("DELETE FROM jobs WHERE user_id = :user AND id = :id AND state = 'dead'", **names)


def _job(row: Row) -> Job:
    values = dict(zip(_COLUMNS, row, strict=True))
    return Job(**values | {"options": parse_json(values["options"]), "error": parse_json(values["error"])})


def _unfinished(tx: Transaction, name: str) -> Job | None:
    rows = tx.all(f"{_SELECT} WHERE user_id = :user AND url_hash = :hash AND state IN ('queued', 'running')", hash=name)
    return _job(rows[0]) if rows else None


def drop_held(tx: Transaction, job_id: str) -> None:
    """Remove a held job; one that was taken over stays."""
    tx.run(f"DELETE FROM jobs {_LEASED}", id=clean_id(job_id), worker=f"{_HOLDER}{job_id}")


def add_job(tx: Transaction, url: str, url_full: str, options: Mapping[str, Any], now: str) -> Job:
    """Return a new job, or the unfinished one for this URL."""
    name = url_hash(url)
    tx.lock(name)
    waiting = _unfinished(tx, name)
    if waiting is not None:
        return waiting if waiting.leased_by != f"{_HOLDER}{waiting.id}" else _take_over(tx, waiting, options, now)
    rows = tx.all(
        "INSERT INTO jobs (id, user_id, url_hash, url, url_full, options, state, run_after, due_at, created_at) "
        f"VALUES (:id, :user, :hash, :url, :url_full, :options, 'queued', :now, :now, :now) RETURNING {_NAMES}",
        id=str(uuid.uuid4()),
        hash=name,
        url=clean_text(url),
        url_full=clean_text(url_full),
        options=tx.json(clean_json(options)),
        now=now,
    )
    return _job(rows[0])


def _take_over(tx: Transaction, held: Job, options: Mapping[str, Any], now: str) -> Job:
    """Return a held job to the queue: who asked for it may wait for its end, and its holder would remove it."""
    rows = tx.all(
        "UPDATE jobs SET state = 'queued', attempts = 0, due_at = :now, run_after = :now, leased_by = NULL, "
        f"leased_until = NULL, options = :options WHERE user_id = :user AND id = :id RETURNING {_NAMES}",
        id=held.id,
        options=tx.json(clean_json(options)),
        now=now,
    )
    return _job(rows[0])


class Uploads(Part):
    """A user's uploaded files."""

    @writes
    def put_part(self, tx: Transaction, upload_id: str, part: int, body: bytes, now: str) -> None:
        """Store one part of a file; parts are numbered from 0."""
        tx.run(
            "INSERT INTO uploads (user_id, id, part, created_at, body) VALUES (:user, :id, :part, :now, :body)",
            id=clean_id(upload_id),
            part=part,
            now=now,
            body=body,
        )

    @reads
    def get_part(self, tx: Transaction, upload_id: str, part: int) -> bytes | None:
        """Return one part of a file; `None` after the last."""
        rows = tx.all(
            "SELECT body FROM uploads WHERE user_id = :user AND id = :id AND part = :part",
            id=clean_id(upload_id),
            part=part,
        )
        return bytes(rows[0][0]) if rows else None

    @writes
    def remove(self, tx: Transaction, upload_id: str) -> None:
        """Delete a file."""
        tx.run("DELETE FROM uploads WHERE user_id = :user AND id = :id", id=clean_id(upload_id))

    @writes
    def remove_old(self, tx: Transaction, before: str, needed: Collection[str]) -> None:
        """Delete files that were uploaded before this time, except those that are still needed."""
        rows = tx.all(
            "SELECT DISTINCT id FROM uploads WHERE user_id = :user AND part = 0 AND created_at < :before", before=before
        )
        for (upload_id,) in rows:
            if upload_id not in needed:
                tx.run("DELETE FROM uploads WHERE user_id = :user AND id = :id", id=upload_id)
