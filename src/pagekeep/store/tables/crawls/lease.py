"""Leasing addresses of a frontier: in their order, and from each host no faster than it bears."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from pagekeep.model.crawl import Crawl, FrontierPage, Validators
from pagekeep.store.engine import Row, Transaction
from pagekeep.store.tables.crawls.hosts import lock_host, read_hosts
from pagekeep.store.tables.crawls.rows import FRONTIER, IN_RUN, in_run

_NAMES: Final = ", ".join(f"p.{name}" for name in FRONTIER)
_OPEN: Final = "((p.state = 'queued' AND p.due_at <= :now) OR (p.state = 'leased' AND p.leased_until <= :now))"
_WHERE: Final = "p.user_id = :user AND p.crawl_id = :crawl AND p.run = :run"


def lease(
    tx: Transaction,
    crawl: Crawl,
    worker: str,
    hosts: Mapping[str, float],
    *,
    want: int,
    end: int,
    barrier: int | None,
    now: str,
    until: str,
) -> tuple[tuple[FrontierPage, ...], str | None]:
    """Lease addresses before the position `end`; return them, and when there may be more.

    After the position `barrier` only files robots.txt are leased: the others depend on the one there.

    A host with a pause has one visit at a time, and the next one begins when the pause after its response is over.
    """
    window = {"end": end, "barrier": end if barrier is None else barrier}
    known = read_hosts(tx, hosts)
    leased: list[FrontierPage] = []
    waits: list[str] = []
    share = max(1, want // max(1, len(hosts)))
    for number, (host, base) in enumerate(sorted(hosts.items())):
        room = want - len(leased)
        if room <= 0:
            break
        state = known.get(host)
        if state is not None and state.next_at > now:
            waits.append(state.next_at)
            continue
        slow = max(base, state.pace.delay if state else 0.0) > 0
        if slow and not _may_ask(tx, crawl, host, now, waits):
            continue
        limit = 1 if slow else room if number == len(hosts) - 1 else min(share, room)
        leased += _take(tx, crawl, worker, host, limit, window, now, until)
    if not leased:
        waits += _next_due(tx, crawl, end, now)
    return _with_validators(tx, crawl, leased), min(waits, default=None)


def _may_ask(tx: Transaction, crawl: Crawl, host: str, now: str, waits: list[str]) -> bool:
    """Return whether a host with a pause may be asked now; its row stays locked until the end of the transaction."""
    state = lock_host(tx, host, now, tx.skip_locked)
    if state is None:
        return False
    if state.next_at > now:
        waits.append(state.next_at)
        return False
    busy = tx.all(
        f"SELECT 1 FROM crawl_pages p WHERE {_WHERE} AND p.host = :host AND p.state = 'leased' "
        "AND p.leased_until > :now LIMIT 1",
        host=host,
        now=now,
        **in_run(tx, crawl),
    )
    return not busy


def _take(
    tx: Transaction, crawl: Crawl, worker: str, host: str, limit: int, window: Mapping[str, int], now: str, until: str
) -> list[FrontierPage]:
    key = in_run(tx, crawl)
    rows = tx.all(
        f"SELECT {_NAMES} FROM crawl_pages p WHERE {_WHERE} AND p.host = :host AND p.position < :end "
        "AND (p.position <= :barrier OR p.kind = 'robots') "
        f"AND p.state IN ('queued', 'leased') AND {_OPEN} ORDER BY p.position LIMIT :limit {tx.skip_locked}",
        host=host,
        now=now,
        limit=limit,
        **window,
        **key,
    )
    pages = [FrontierPage(**dict(zip(FRONTIER, row, strict=True))) for row in rows]
    if pages:
        tx.many(
            "UPDATE crawl_pages SET state = 'leased', leased_by = :worker, leased_until = :until "
            f"WHERE {IN_RUN} AND position = :position",
            [{**key, "worker": worker, "until": until, "position": page.position} for page in pages],
        )
    return pages


def _next_due(tx: Transaction, crawl: Crawl, end: int, now: str) -> list[str]:
    """Return when the first address that is not due yet can be visited."""
    rows = tx.all(
        f"SELECT MIN(CASE WHEN p.state = 'queued' THEN p.due_at ELSE p.leased_until END) FROM crawl_pages p WHERE {_WHERE} "
        "AND p.state IN ('queued', 'leased') AND p.position < :end "
        "AND CASE WHEN p.state = 'queued' THEN p.due_at ELSE p.leased_until END > :now",
        end=end,
        now=now,
        **in_run(tx, crawl),
    )
    return [row[0] for row in rows if row[0]]


def _with_validators(tx: Transaction, crawl: Crawl, pages: list[FrontierPage]) -> tuple[FrontierPage, ...]:
    """Return the pages with what the run before knows about them."""
    if crawl.run == 1 or not pages:
        return tuple(pages)
    return tuple(_with_validator(tx, crawl, page) for page in pages)


def _with_validator(tx: Transaction, crawl: Crawl, page: FrontierPage) -> FrontierPage:
    values: dict[str, Any] = {"user": tx.user_id, "crawl": crawl.id, "run": crawl.run, "before": crawl.run - 1}
    rows: list[Row] = tx.all(
        "SELECT b.position, r.etag, r.last_modified, r.made_by, r.fetched_at FROM crawl_pages p JOIN crawl_pages b "
        "ON b.user_id = p.user_id AND b.crawl_id = p.crawl_id AND b.run = :before AND b.url_hash = p.url_hash "
        "JOIN crawl_results r ON r.user_id = b.user_id AND r.crawl_id = b.crawl_id AND r.run = b.run "
        f"AND r.position = b.position WHERE {_WHERE} AND p.position = :position AND b.outcome IN ('kept', 'duplicate', 'read')",
        position=page.position,
        **values,
    )
    return replace(page, before=Validators(*rows[0])) if rows else page
