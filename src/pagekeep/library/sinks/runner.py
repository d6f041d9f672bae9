"""Deliver to the sinks of all users, beside the jobs of the queue: in `pagekeep work` and in servers."""

from __future__ import annotations

import asyncio
import logging
from asyncio import to_thread
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from typing import Final

from pagekeep import clock
from pagekeep.capture.from_url import Retrieval
from pagekeep.config import Settings
from pagekeep.errors import StoreError
from pagekeep.fetch.client import Client
from pagekeep.fetch.guard import Guard
from pagekeep.fetch.urls import SplitUrl, split_url
from pagekeep.library.queue import MAX_PAUSE, RunningTasks
from pagekeep.library.sinks.api import SECONDS, Api
from pagekeep.library.sinks.kind import Kind, all_kinds
from pagekeep.library.sinks.outbox import USUAL_PACE, Deliverer, Pace, route_changes
from pagekeep.library.sinks.secret_box import read_secret
from pagekeep.model.sinks import Sink
from pagekeep.store import Store

_log: Final = logging.getLogger("pagekeep.sinks")
POLL_SECONDS: Final = 1.0
"""How often changes and due deliveries are looked for."""
MAX_SINKS: Final = 8
"""Sinks that one process delivers to at a time."""
MAX_USER_SINKS: Final = 3
"""Of them, those of one user: slow receivers of one do not hold up the others."""
_LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")


def guard_for(settings: Settings, kind: Kind, address: SplitUrl) -> Guard:
    """Return the guard that checks the address of a sink."""
    return _local_guard(settings) if _is_own_port(settings, kind, address) else Guard(settings.allow_hosts)


def _is_own_port(settings: Settings, kind: Kind, address: SplitUrl) -> bool:
    """Return whether this is the port of a program on this machine, which a library of one user may reach."""
    return not settings.shared and address.host.name in _LOOPBACK and address.port == kind.local_port


def _local_guard(settings: Settings) -> Guard:
    return Guard((*settings.allow_hosts, *_LOOPBACK))


class Clients:
    """The HTTP clients of sinks: one that every sink uses, and one for programs on this machine.

    The second is for a kind of sink with its own port on this machine, in a library of one user; every other private
    address needs the setting `allow_hosts`, as it does for pages.
    """

    def __init__(self, retrieval: Retrieval, seconds: float = SECONDS) -> None:
        self._retrieval = retrieval
        self._seconds = seconds
        settings = retrieval.settings
        self._usual = Client(settings)
        self._local = Client(settings, guard=_local_guard(settings))

    def of(self, sink: Sink) -> Client:
        """Return the client for a sink."""
        kind = all_kinds().get(sink.kind)
        local = kind is not None and _is_own_port(self._retrieval.settings, kind, split_url(sink.address))
        return self._local if local else self._usual

    def api(self, sink: Sink, secret: str) -> Api:
        """Return the way to a sink's program."""
        return Api(sink, secret, self.of(sink), self._retrieval, self._seconds)

    def open_api(self, sink: Sink) -> Api:
        """Return the way to a sink's program with its secret, which may be read from a command."""
        kind = all_kinds().get(sink.kind)
        if kind is not None and kind.optional_secret and sink.secret is None:
            return self.api(sink, "")
        return self.api(sink, read_secret(self._retrieval.settings, sink))

    async def aclose(self) -> None:
        """Close every connection."""
        await self._usual.aclose()
        await self._local.aclose()


@asynccontextmanager
async def open_clients(retrieval: Retrieval, seconds: float = SECONDS) -> AsyncIterator[Clients]:
    """Return the HTTP clients of sinks, and close them after use."""
    clients = Clients(retrieval, seconds)
    try:
        yield clients
    finally:
        await clients.aclose()


@dataclass(slots=True)
class SinkRunner:
    """Applies rules to changed items and delivers what is due, for all users."""

    name: str
    """Unique among all processes."""
    queue: Store
    """Opened for workers: sees what is due of all users."""
    open_library: Callable[[str], Store]
    retrieval: Retrieval
    pace: Pace = USUAL_PACE
    poll_seconds: float = POLL_SECONDS
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    _active: RunningTasks = field(default_factory=RunningTasks)

    async def run(self, *, until_empty: bool = False) -> None:
        """Work until stopped or, with `until_empty`, until nothing has changed and nothing is due."""
        async with open_clients(self.retrieval, self.pace.request_seconds) as clients:
            try:
                while not self.stopping.is_set():
                    busy = await self._route()
                    busy = await self._start_due(clients) or busy
                    if until_empty and not busy and not self._active:
                        return
                    if not busy or self._active:
                        await self._active.wait(self.stopping, self.poll_seconds)
            finally:
                await self._active.cancel()

    async def _route(self) -> bool:
        """Apply the rules to changed items of all users; return whether there were any."""
        users = await to_thread(self.queue.sinks.users_with_changes)
        for user in users:
            with closing(await to_thread(self.open_library, user)) as library:
                await to_thread(route_changes, library)
        return bool(users)

    async def _start_due(self, clients: Clients) -> bool:
        now = clock.now()
        far = clock.add_seconds(now, self.pace.lease_seconds + 2 * MAX_PAUSE)
        found = await to_thread(lambda: self.queue.sinks.due(now, far, each=2 * MAX_USER_SINKS))
        due = [entry for entry in found if entry not in self._active]
        for user, sink_id in due:
            own = sum(active == user for active, _ in self._active)
            if len(self._active) < MAX_SINKS and own < MAX_USER_SINKS:
                self._active[user, sink_id] = asyncio.create_task(self._deliver(user, sink_id, clients))
        return bool(due)

    async def _deliver(self, user: str, sink_id: str, clients: Clients) -> None:
        try:
            with closing(await to_thread(self.open_library, user)) as library:
                await Deliverer(library, self.name, clients.open_api, self.pace).run(sink_id, self.stopping)
        except StoreError as error:
            _log.warning("deliveries interrupted", extra={"fields": {"sink": sink_id, "error": error.message}})
            await asyncio.sleep(self.poll_seconds)
