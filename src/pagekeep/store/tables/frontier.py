"""The frontier that workers share: results come in, decisions are made in order, and addresses are leased politely."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple, Protocol

from pagekeep import clock
from pagekeep.model.crawl import Crawl, Found, FrontierPage, Pace, Progress, Settlement, Validators, Visit
from pagekeep.store.engine import Part, Transaction, reads, select_in, writes
from pagekeep.store.storable import clean_json, clean_text, parse_json
from pagekeep.store.tables.crawls import (
    FRONTIER,
    IN_RUN,
    RESULT,
    Lookup,
    add_addresses,
    find_crawl,
    in_run,
    post_events,
)
from pagekeep.store.tables.jobs import add_job

LOOKAHEAD: Final = 1_000
"""Addresses that are visited before all earlier ones are decided: one slow host does not hold up the others."""
_SETTLE_BATCH: Final = 50
"""Addresses that are decided in one transaction."""
_NAMES: Final = ", ".join(f"p.{name}" for name in FRONTIER)


class Policy(Protocol):
    """How the library decides; it must have no effect but its result, as a transaction may run again."""

    def decide(self, crawl: Crawl, found: Sequence[Found], lookup: Lookup, now: str) -> Settlement:
        """Return what follows from the next visited addresses."""
        ...

    def pace(self, before: Pace, base: float, visit: Visit) -> tuple[Pace, float]:
        """Return the pace of a host after a visit, and the seconds until its next one."""
        ...

    def hosts(self, crawl: Crawl) -> Mapping[str, float]:
        """Return the least pause of every host of the crawl, in seconds."""
        ...

    def max_position(self, crawl: Crawl) -> int:
        """Return the position from which no address is needed yet."""
        ...

    def barrier(self, crawl: Crawl) -> int | None:
        """Return the position of the first robots.txt that is not decided."""
        ...

    def is_late(self, crawl: Crawl, now: str) -> bool:
        """Return whether the time of the crawl is up."""
        ...


class Frontier(Part):
    """What the workers of a crawl do with its frontier."""

    @writes
    def advance(
        self,
        tx: Transaction,
        crawl_id: str,
        worker: str,
        visits: Sequence[Visit],
        policy: Policy,
        *,
        want: int,
        now: str,
        until: str,
    ) -> Progress | None:
        """Store visits, decide what can be decided, and lease addresses until a time; `None` when the crawl was removed."""
        crawl = find_crawl(tx, crawl_id)
        if crawl is None:
            return None
        _store_visits(tx, crawl, worker, visits, now, keep_raw=self._keep_raw)
        _set_paces(tx, visits, policy, policy.hosts(crawl), now)
        crawl = _settle(tx, crawl, policy, now)
        if crawl.state != "running" or not want:
            return Progress(crawl, (), None)
        end = min(policy.max_position(crawl), crawl.settled + LOOKAHEAD)
        barrier = policy.barrier(crawl)
        leased, next_at = lease(
            tx, crawl, worker, policy.hosts(crawl), want=want, end=end, barrier=barrier, now=now, until=until
        )
        return Progress(crawl, leased, next_at)

    @writes
    def extend_leases(self, tx: Transaction, crawl_id: str, worker: str, until: str) -> None:
        """Keep the addresses that this worker has leased."""
        crawl = find_crawl(tx, crawl_id)
        if crawl is not None:
            tx.run(
                f"UPDATE crawl_pages SET leased_until = :until WHERE {IN_RUN} AND state = 'leased' AND leased_by = :worker",
                until=until,
                worker=worker,
                **in_run(crawl),
            )

    @writes
    def release_leases(
        self, tx: Transaction, crawl_id: str, workers: Sequence[str], now: str, *, keep: Sequence[int] = ()
    ) -> int:
        """Return to the frontier what these workers have leased, but for the positions `keep`; return how many."""
        crawl = find_crawl(tx, crawl_id)
        if crawl is None or not workers:
            return 0
        names = {f"w{number}": name for number, name in enumerate(workers)}
        kept = {f"p{number}": position for number, position in enumerate(keep)}
        but = f" AND position NOT IN ({', '.join(f':{name}' for name in kept)})" if kept else ""
        return tx.run(
            f"UPDATE crawl_pages SET state = 'queued', due_at = :now, leased_by = NULL, leased_until = NULL WHERE {IN_RUN} "
            f"AND state = 'leased' AND leased_by IN ({', '.join(f':{name}' for name in names)}){but}",
            now=now,
            **names,
            **kept,
            **in_run(crawl),
        )

    @reads
    def workers(self, tx: Transaction, crawl_id: str) -> tuple[str, ...]:
        """Return the workers that have addresses of a crawl leased."""
        crawl = find_crawl(tx, crawl_id)
        if crawl is None:
            return ()
        rows = tx.all(
            f"SELECT DISTINCT leased_by FROM crawl_pages WHERE {IN_RUN} AND state = 'leased' ORDER BY leased_by",
            **in_run(crawl),
        )
        return tuple(row[0] for row in rows)


def _store_visits(
    tx: Transaction, crawl: Crawl, worker: str, visits: Sequence[Visit], now: str, *, keep_raw: bool
) -> None:
    """Store the results of visits whose lease is still ours."""
    for visit in visits:
        key = in_run(crawl) | {"position": visit.position}
        leased = f"WHERE {IN_RUN} AND position = :position AND state = 'leased' AND leased_by = :worker"
        if visit.retry_after is not None:
            tx.run(
                "UPDATE crawl_pages SET state = 'queued', attempts = attempts + 1, due_at = :due, leased_by = NULL, "
                f"leased_until = NULL {leased}",
                due=clock.add_seconds(now, visit.retry_after),
                worker=worker,
                **key,
            )
        elif tx.run(
            "UPDATE crawl_pages SET state = 'fetched', outcome = :outcome, leased_by = NULL, leased_until = NULL "
            f"{leased}",
            outcome=visit.outcome,
            worker=worker,
            **key,
        ):
            _add_result(tx, key, visit, now, keep_raw=keep_raw)


def _add_result(tx: Transaction, key: dict[str, Any], visit: Visit, now: str, *, keep_raw: bool) -> None:
    if visit.same_as is not None:
        _copy_result(tx, key, visit, now)
        return
    body = visit.body if keep_raw else None
    if body is not None:
        tx.run(
            "INSERT INTO raw_bodies (user_id, hash, size, packed, body) VALUES (:user, :hash, :size, :packed, :body) "
            "ON CONFLICT DO NOTHING",
            hash=body.hash,
            size=body.size,
            packed=len(body.packed),
            body=body.packed,
        )
    values = {
        "body_hash": body.hash if body else None,
        "status": visit.status,
        "size": visit.size,
        "rendered": visit.rendered,
        "fetched_at": now,
        "encoding": visit.encoding,
        "content_type": clean_text(visit.content_type),
        "etag": visit.etag and clean_text(visit.etag),
        "last_modified": visit.last_modified and clean_text(visit.last_modified),
        "made_by": visit.made_by,
        "headers": None if visit.headers is None else tx.json(clean_json(visit.headers)),
        "facts": json.dumps(clean_json(visit.facts), ensure_ascii=False),
        "links": clean_text(visit.links),
        "page": clean_text(visit.page),
    }
    marks = ", ".join(f":{name}" for name in RESULT)
    tx.run(
        f"INSERT INTO crawl_results (user_id, crawl_id, run, position, {', '.join(RESULT)}) "
        f"VALUES (:user, :crawl, :run, :position, {marks})",
        **key,
        **values,
    )


def _copy_result(tx: Transaction, key: dict[str, Any], visit: Visit, now: str) -> None:
    """Take the page over from the run before: the server says that it is current, or its sitemap does."""
    names = ", ".join(name for name in RESULT if name != "fetched_at")
    tx.run(
        f"INSERT INTO crawl_results (user_id, crawl_id, run, position, fetched_at, {names}) "
        f"SELECT user_id, crawl_id, :run, :position, COALESCE(:now, fetched_at), {names} FROM crawl_results "
        "WHERE user_id = :user AND crawl_id = :crawl AND run = :before AND position = :same",
        now=now if visit.requested else None,
        before=key["run"] - 1,
        same=visit.same_as,
        **key,
    )


def _set_paces(tx: Transaction, visits: Sequence[Visit], policy: Policy, hosts: Mapping[str, float], now: str) -> None:
    """Set when each visited host may be asked again; a host without a pause that never was busy has no row."""
    known = read_hosts(tx, {visit.host for visit in visits})
    for visit in sorted(visits, key=lambda visit: visit.host):
        base = max(hosts.get(visit.host, 0.0), float(visit.facts.get("delay") or 0.0))
        if not base and visit.busy is None and visit.host not in known:
            continue
        before = lock_host(tx, visit.host, now, tx.for_update)
        if before is not None:
            # A request that began before the host was left in peace says nothing new: one burst slows it down once.
            is_late = visit.busy is not None and before.next_at > now
            pace, pause = (before.pace, visit.busy or 0.0) if is_late else policy.pace(before.pace, base, visit)
            put_host(tx, visit.host, HostState(max(before.next_at, clock.add_seconds(now, pause)), pace))


def _settle(tx: Transaction, crawl: Crawl, policy: Policy, now: str) -> Crawl:
    """Decide the next visited addresses, unless another worker is doing that."""
    locked = find_crawl(tx, crawl.id, tx.skip_locked)
    if locked is None or locked.state != "running":
        return locked or crawl
    found = _next_found(tx, locked)
    if not found and locked.settled < locked.admitted and not _is_over(policy, locked, now):
        return locked
    settlement = policy.decide(locked, found, Lookup(tx, locked), now)
    _apply(tx, locked, settlement, now)
    return find_crawl(tx, crawl.id) or locked


def _is_over(policy: Policy, crawl: Crawl, now: str) -> bool:
    return policy.max_position(crawl) <= crawl.settled or policy.is_late(crawl, now)


def _next_found(tx: Transaction, crawl: Crawl) -> tuple[Found, ...]:
    """Return the visited addresses that follow the last decided one, without a gap."""
    rows = tx.all(
        f"SELECT {_NAMES}, p.state, p.outcome, r.size, r.facts, r.links FROM crawl_pages p LEFT JOIN crawl_results r "
        "ON r.user_id = p.user_id AND r.crawl_id = p.crawl_id AND r.run = p.run AND r.position = p.position "
        "WHERE p.user_id = :user AND p.crawl_id = :crawl AND p.run = :run AND p.position >= :first AND p.position < :end "
        "ORDER BY p.position",
        first=crawl.settled,
        end=crawl.settled + _SETTLE_BATCH,
        **in_run(crawl),
    )
    found = []
    for row in rows:
        state, outcome, size, facts, links = row[len(FRONTIER) :]
        if state != "fetched":
            break
        page = FrontierPage(**dict(zip(FRONTIER, row, strict=False)))
        found.append(Found(page, outcome, size or 0, parse_json(facts) or {}, tuple(parse_json(links) or ())))
    return tuple(found)


def _apply(tx: Transaction, crawl: Crawl, settlement: Settlement, now: str) -> None:
    key = in_run(crawl)
    if settlement.decisions:
        tx.many(
            "UPDATE crawl_pages SET state = 'settled', outcome = :outcome, page_hash = :page, content_hash = :content "
            f"WHERE {IN_RUN} AND position = :position",
            [
                {
                    **key,
                    "position": one.position,
                    "outcome": one.outcome,
                    "page": one.page_hash,
                    "content": one.content_hash,
                }
                for one in settlement.decisions
            ],
        )
    add_addresses(tx, crawl, crawl.admitted, settlement.admitted, now)
    if settlement.numbers:
        tx.many(
            "INSERT INTO crawl_counts (user_id, crawl_id, run, name, number) VALUES (:user, :crawl, :run, :name, :number) "
            "ON CONFLICT (user_id, crawl_id, run, name) DO UPDATE SET number = excluded.number",
            [{**key, "name": name, "number": number} for name, number in sorted(settlement.numbers.items())],
        )
    tx.run(
        "UPDATE crawls SET admitted = :admitted, settled = :settled, kept = :kept, size = :size, counts = :counts, "
        "state = :state, reason = :reason, finished_at = :finished WHERE user_id = :user AND id = :crawl",
        crawl=crawl.id,
        admitted=crawl.admitted + len(settlement.admitted),
        settled=crawl.settled + len(settlement.decisions),
        kept=settlement.kept,
        size=settlement.size,
        counts=tx.json(clean_json(settlement.counts)),
        state=settlement.state,
        reason=settlement.reason,
        finished=None if settlement.state == "running" else now,
    )
    post_events(tx, crawl, settlement.sink, settlement.events, now)
    if settlement.job is not None:
        add_job(tx, f"pagekeep:crawl/{crawl.id}/{crawl.run}", "pagekeep:crawl", settlement.job, now)


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
        **in_run(crawl),
    )
    return not busy


def _take(
    tx: Transaction, crawl: Crawl, worker: str, host: str, limit: int, window: Mapping[str, int], now: str, until: str
) -> list[FrontierPage]:
    key = in_run(crawl)
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
        **in_run(crawl),
    )
    return [row[0] for row in rows if row[0]]


def _with_validators(tx: Transaction, crawl: Crawl, pages: list[FrontierPage]) -> tuple[FrontierPage, ...]:
    """Return the pages with what the run before knows about them."""
    if crawl.run == 1 or not pages:
        return tuple(pages)
    return tuple(_with_validator(tx, crawl, page) for page in pages)


def _with_validator(tx: Transaction, crawl: Crawl, page: FrontierPage) -> FrontierPage:
    rows = tx.all(
        "SELECT b.position, r.etag, r.last_modified, r.made_by, r.fetched_at FROM crawl_pages p JOIN crawl_pages b "
        "ON b.user_id = p.user_id AND b.crawl_id = p.crawl_id AND b.run = :before AND b.url_hash = p.url_hash "
        "JOIN crawl_results r ON r.user_id = b.user_id AND r.crawl_id = b.crawl_id AND r.run = b.run "
        f"AND r.position = b.position WHERE {_WHERE} AND p.position = :position AND b.outcome IN ('kept', 'duplicate', 'read')",
        position=page.position,
        before=crawl.run - 1,
        **in_run(crawl),
    )
    return replace(page, before=Validators(*rows[0])) if rows else page


class HostState(NamedTuple):
    """A host's row."""

    next_at: str
    pace: Pace


def read_hosts(tx: Transaction, hosts: Iterable[str]) -> dict[str, HostState]:
    """Return the rows of hosts that have one."""
    sql = "SELECT host, next_at, delay, streak FROM crawl_hosts WHERE user_id = :user AND host IN (:list)"
    return {
        host: HostState(next_at, Pace(delay, streak))
        for host, next_at, delay, streak in select_in(tx, sql, sorted(hosts))
    }


def lock_host(tx: Transaction, host: str, now: str, lock: str) -> HostState | None:
    """Return the host's row, locked; `None` when another worker has it and `lock` does not wait."""
    tx.run(
        "INSERT INTO crawl_hosts (user_id, host, next_at, delay, streak) VALUES (:user, :host, :now, 0, 0) "
        "ON CONFLICT DO NOTHING",
        host=host,
        now=now,
    )
    sql = f"SELECT next_at, delay, streak FROM crawl_hosts WHERE user_id = :user AND host = :host {lock}"
    rows = tx.all(sql, host=host)
    return HostState(rows[0][0], Pace(rows[0][1], rows[0][2])) if rows else None


def put_host(tx: Transaction, host: str, state: HostState) -> None:
    """Store when a host may be asked again."""
    tx.run(
        "UPDATE crawl_hosts SET next_at = :next, delay = :delay, streak = :streak WHERE user_id = :user AND host = :host",
        host=host,
        next=state.next_at,
        delay=state.pace.delay,
        streak=state.pace.streak,
    )
