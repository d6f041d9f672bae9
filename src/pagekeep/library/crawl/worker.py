"""Work on a crawl, or on all that run: visit addresses until it is done. Any number of processes can, on any machines."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from time import monotonic
from typing import Final

from pagekeep import clock
from pagekeep.capture.active_rules import fingerprint
from pagekeep.capture.from_url import Retrieval
from pagekeep.errors import DatabaseUnreachable, NotFound, StoreError, Unexpected
from pagekeep.library.crawl import sitemaps
from pagekeep.library.crawl.addresses import authority, make_scope
from pagekeep.library.crawl.settle import CrawlPolicy
from pagekeep.library.crawl.visit import Visitor
from pagekeep.library.open import outlast
from pagekeep.library.queue import RunningTasks, worker_name
from pagekeep.model import PARSER_VERSION
from pagekeep.model.crawl import Crawl, FrontierPage, Progress, Visit
from pagekeep.store import Store
from pagekeep.store.storable import url_hash
from pagekeep.workers import Client, current_client

LEASE_SECONDS: Final = 120.0
"""After this long without a sign of its worker, another one takes an address over."""
BATCH_SECONDS: Final = 0.04
"""How long a finished visit waits for others, to be stored with them in one transaction."""
POLL_SECONDS: Final = 1.0
"""How often a worker that has nothing to do looks for addresses that others found."""
MIN_POLL_SECONDS: Final = 0.02
PER_LANE: Final = 2
"""Addresses leased per visit at a time: while some pages are extracted, others are fetched."""


def is_dead(worker: str) -> bool:
    """Return whether a worker ran on this machine and no longer does."""
    host, pid, _ = worker.rsplit(":", 2)
    if host != socket.gethostname() or not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def release_dead(library: Store, crawl_id: str) -> int:
    """Return addresses to the frontier whose worker was killed on this machine; others wait until the lease ends."""
    dead = [worker for worker in library.frontier.workers(crawl_id) if is_dead(worker)]
    return library.frontier.release_leases(crawl_id, dead, clock.now()) if dead else 0


def _ignore(_crawl: Crawl) -> None:
    """Report nothing."""


@dataclass(slots=True)
class CrawlWorker:
    """Works on one crawl."""

    crawl_id: str
    library: Store
    retrieval: Retrieval
    at_a_time: int = 4
    name: str = field(default_factory=worker_name)
    clients: int = 1
    """Clients as which pages are read: with one, a room with several processes leaves one of them to others."""
    report: Callable[[Crawl], None] = _ignore
    """Called whenever something was decided."""
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    _running: dict[asyncio.Task[Visit], FrontierPage] = field(default_factory=dict)
    _policy: CrawlPolicy | None = None
    _run: int = 0
    _visitor: Visitor | None = None
    _extend_at: float = 0.0
    _turn: count[int] = field(default_factory=count)

    async def run(self, seconds: float | None = None) -> Crawl:
        """Work until the crawl is done, this worker is stopped, or the seconds are over; return the crawl as it then is.

        What is being visited then goes back to the frontier. A database server that does not answer is waited for, and what
        is visited meanwhile is kept.
        """
        ends = None if seconds is None else monotonic() + seconds
        crawl = await outlast(lambda: asyncio.to_thread(self.library.crawls.get, self.crawl_id), self.stopping)
        done: list[Visit] = []
        try:
            while crawl.state == "running":
                stop = self.stopping.is_set() or (ends is not None and monotonic() > ends)
                if stop and not self._running and not done:
                    break
                progress = await self._outlast_advance(crawl, done, 0 if stop else self._want())
                if progress is None:
                    break
                self._start(progress)
                if progress.crawl.settled != crawl.settled or progress.crawl.state != crawl.state:
                    self.report(progress.crawl)
                crawl = progress.crawl
                done = await self._wait(progress) if crawl.state == "running" else []
            return crawl
        finally:
            await self._release()

    def _want(self) -> int:
        return max(0, PER_LANE * self.at_a_time - len(self._running))

    async def _outlast_advance(self, crawl: Crawl, done: list[Visit], want: int) -> Progress | None:
        """Store visits and lease addresses, again while the database server does not answer."""
        away = False

        async def advance() -> Progress | None:
            nonlocal away
            try:
                if away:  # it may have leased addresses that we know nothing of
                    held = [page.position for page in self._running.values()] + [visit.position for visit in done]
                    await asyncio.to_thread(
                        self.library.frontier.release_leases, self.crawl_id, [self.name], clock.now(), keep=held
                    )
                return await self._advance(crawl, done, want)
            except DatabaseUnreachable:
                away = True
                raise

        progress = await outlast(advance, self.stopping)
        if progress is not None:  # a robots.txt may have been decided together with the lease
            await outlast(lambda: self._prepare(progress.crawl), self.stopping)
        return progress

    async def _advance(self, crawl: Crawl, done: list[Visit], want: int) -> Progress | None:
        await self._prepare(crawl)
        policy, now = self._policy, clock.now()
        assert policy is not None
        until = clock.add_seconds(now, LEASE_SECONDS)
        if monotonic() > self._extend_at:
            await asyncio.to_thread(self.library.frontier.extend_leases, self.crawl_id, self.name, until)
            await asyncio.to_thread(release_dead, self.library, self.crawl_id)
            self._extend_at = monotonic() + LEASE_SECONDS / 4
        return await asyncio.to_thread(
            self.library.frontier.advance,
            self.crawl_id,
            self.name,
            done,
            policy,
            want=want,
            now=now,
            until=until,
        )

    async def _prepare(self, crawl: Crawl) -> None:
        """Get ready for the crawl as it is now: its options, and the robots.txt of its hosts."""
        if self._policy is None or self._run != crawl.run or self._policy.stored != crawl.options:
            self._policy, self._run, self._visitor = (
                CrawlPolicy(crawl, self.retrieval.settings.crawl_delay),
                crawl.run,
                None,
            )
        places = crawl.counts.get("robots", {})
        settled = frozenset(host for host, position in places.items() if position < crawl.settled)
        if self._visitor is None or self._visitor.scope.hosts != settled:
            await self._prepare_visitor(settled)

    async def _prepare_visitor(self, settled: frozenset[str]) -> None:
        assert self._policy is not None
        settings, options = self.retrieval.settings, self._policy.options
        found = await asyncio.to_thread(self.library.crawls.robots, self.crawl_id)
        texts = {authority(page.requested): str(page.content.get("robots", "")) for page in found}
        rules = await asyncio.to_thread(lambda: fingerprint(self.retrieval.rules))
        known = {host: text for host, text in sorted(texts.items()) if host in settled and text}
        self._visitor = Visitor(
            retrieval=self.retrieval,
            scope=make_scope(options, settled),
            robots=known,
            agent=sitemaps.agent_of(settings.user_agent),
            made_by=f"{PARSER_VERSION} {rules[:16]} {url_hash(repr(known))[:16]}",
            render=options.render or settings.render,
        )

    def _start(self, progress: Progress) -> None:
        visitor = self._visitor
        assert visitor is not None
        for page in progress.leased:
            client = Client(self.library.user_id, f"crawl {next(self._turn) % self.clients}")
            self._running[asyncio.create_task(_visit(visitor, page, client))] = page

    async def _wait(self, progress: Progress) -> list[Visit]:
        """Wait for visits, or until there may be more to do; return the visits that are done."""
        pause = POLL_SECONDS
        if progress.next_at is not None:
            left = datetime.fromisoformat(progress.next_at) - datetime.fromisoformat(clock.now())
            pause = min(POLL_SECONDS, max(MIN_POLL_SECONDS, left.total_seconds()))
        if not self._running:
            if progress.leased or progress.crawl.settled < progress.crawl.admitted:
                await self._sleep(pause)
            return []
        done, _ = await asyncio.wait(self._running, timeout=pause, return_when=asyncio.FIRST_COMPLETED)
        if done and len(self._running) > len(done):
            more, _ = await asyncio.wait(self._running, timeout=BATCH_SECONDS, return_when=asyncio.ALL_COMPLETED)
            done |= more
        for task in done:
            self._running.pop(task)
        return [task.result() for task in done]

    async def _sleep(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self.stopping.wait(), seconds)
        except TimeoutError:
            return

    async def _release(self) -> None:
        """Return what is being visited to the frontier."""
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        self._running.clear()
        with suppress(DatabaseUnreachable):  # others take the addresses over when the leases end
            self.library.frontier.release_leases(self.crawl_id, [self.name], clock.now())


async def _visit(visitor: Visitor, page: FrontierPage, client: Client) -> Visit:
    current_client.set(client)
    try:
        return await visitor.visit(page)
    except Exception as error:  # a bug must not end the crawl; the address shows it
        message = Unexpected(f"{type(error).__name__}: {error}").message
        return Visit(page.position, page.host, "failed", facts={"reason": message})


_log: Final = logging.getLogger("pagekeep.crawls")
BACKGROUND_POLL_SECONDS: Final = 2.0
"""How often running crawls are looked for."""
MAX_CRAWLS: Final = 4
"""Crawls that one process works on at a time."""
SLICE_SECONDS: Final = 30.0
"""Seconds that a process works on a crawl while others wait."""


@dataclass(slots=True)
class CrawlRunner:
    """Works on running crawls, several at a time."""

    queue: Store
    """Opened for workers: sees the crawls of all users."""
    open_library: Callable[[str], Store]
    retrieval: Retrieval
    at_a_time: int = 4
    """Pages of one crawl that are read at a time."""
    report: Callable[[Crawl], None] = _ignore
    """Called with a crawl that is done."""
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    _active: RunningTasks = field(default_factory=RunningTasks)

    async def run(self, *, until_empty: bool = False) -> None:
        """Work until stopped or, with `until_empty`, until no crawl is running."""
        try:
            while not self.stopping.is_set():
                running = await outlast(lambda: asyncio.to_thread(self.queue.crawls.running), self.stopping)
                waiting = [entry for entry in running if entry[1] not in self._active]
                for user, crawl_id in waiting[: MAX_CRAWLS - len(self._active)]:
                    self._active[crawl_id] = asyncio.create_task(self._work(user, crawl_id, len(running)))
                if until_empty and not self._active:
                    return
                await self._active.wait(self.stopping, BACKGROUND_POLL_SECONDS)
        finally:
            await self._active.cancel()

    async def _work(self, user: str, crawl_id: str, running: int) -> None:
        """Work on one crawl; where more are running than are worked on, for a slice of time."""
        seconds = SLICE_SECONDS if running > MAX_CRAWLS else None
        try:
            with closing(await asyncio.to_thread(self.open_library, user)) as library:
                worker = CrawlWorker(crawl_id, library, self.retrieval, self.at_a_time, stopping=self.stopping)
                crawl = await worker.run(seconds)
                if crawl.state == "done":
                    await asyncio.to_thread(drop_earlier_runs, library, crawl_id)
                    self.report(crawl)
        except NotFound:  # removed
            return
        except StoreError as error:
            _log.warning("crawl interrupted", extra={"fields": {"crawl": crawl_id, "error": error.message}})
            await asyncio.sleep(BACKGROUND_POLL_SECONDS)


def drop_earlier_runs(library: Store, crawl_id: str) -> None:
    """Delete the pages of earlier runs, which are no longer needed when a run is done."""
    while library.crawls.remove_earlier_run(crawl_id):
        pass
