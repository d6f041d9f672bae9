"""The pace of hosts: when each may be asked again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pagekeep.model.crawl import Pace
from pagekeep.store.engine import Transaction


class HostState(NamedTuple):
    """A host's row."""

    next_at: str
    pace: Pace


def read_hosts(tx: Transaction, hosts: Iterable[str]) -> dict[str, HostState]:
    """Return the rows of hosts that have one."""
    names = {f"h{number}": host for number, host in enumerate(sorted(hosts))}
    if not names:
        return {}
    marks = ", ".join(f":{name}" for name in names)
    rows = tx.all(
        f"SELECT host, next_at, delay, streak FROM crawl_hosts WHERE user_id = :user AND host IN ({marks})",
        user=tx.user_id,
        **names,
    )
    return {host: HostState(next_at, Pace(delay, streak)) for host, next_at, delay, streak in rows}


def lock_host(tx: Transaction, host: str, now: str, lock: str) -> HostState | None:
    """Return the host's row, locked; `None` when another worker has it and `lock` does not wait."""
    key = {"user": tx.user_id, "host": host}
    tx.run(
        "INSERT INTO crawl_hosts (user_id, host, next_at, delay, streak) VALUES (:user, :host, :now, 0, 0) "
        "ON CONFLICT DO NOTHING",
        now=now,
        **key,
    )
    rows = tx.all(
        f"SELECT next_at, delay, streak FROM crawl_hosts WHERE user_id = :user AND host = :host {lock}", **key
    )
    return HostState(rows[0][0], Pace(rows[0][1], rows[0][2])) if rows else None


def put_host(tx: Transaction, host: str, state: HostState) -> None:
    """Store when a host may be asked again."""
    tx.run(
        "UPDATE crawl_hosts SET next_at = :next, delay = :delay, streak = :streak WHERE user_id = :user AND host = :host",
        user=tx.user_id,
        host=host,
        next=state.next_at,
        delay=state.pace.delay,
        streak=state.pace.streak,
    )
