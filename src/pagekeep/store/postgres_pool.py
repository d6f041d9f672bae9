"""Connections to a PostgreSQL server: opened, shared, and opened again when the server was away.

A connection can be lost at any moment: servers restart, and networks fail. What was not committed then did not happen, and
is run again; `PostgresEngine` finds out whether a lost commit happened. While the server does not answer, callers wait for it,
with growing pauses, for a few seconds; then they get `DatabaseUnreachable`, and can try again whenever they like.
"""

from __future__ import annotations

import random
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from time import monotonic, sleep
from typing import Any, Final

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import PGconn, Ping, TransactionStatus

from pagekeep.store.engine import Row
from pagekeep.store.postgres_errors import is_lost, refuse, unreachable
from pagekeep.store.postgres_types import adapt

SCHEMA: Final = "pagekeep"
WAIT_SECONDS: Final = 5.0
"""How long after the server was lost callers wait for it: a restart takes about one second, a crash a few more."""
_FIRST_PAUSE: Final = 0.05
_MAX_PAUSE: Final = 1.0
"""Seconds between two attempts to connect; each pause is twice the one before."""
_MAX_IDLE: Final = 8
"""Unused connections kept open per process and role."""
_NETWORK: Final[dict[str, Any]] = {
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
"""So that a server that vanished without a word is noticed within a minute. The address of the library may say otherwise."""


class PooledConnection(psycopg.Connection[Row]):
    """A connection with a name, under which the library keeps the number of its last commit."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.writer = uuid.uuid4()
        self.commits = 0
        self.committed_for: set[str] = set()
        """Users for whom it has committed."""
        self.opened_at = monotonic()


class _Server:
    """Whether a database server answers this process, and since when it does not. There is one for each address."""

    def __init__(self, dsn: str) -> None:
        self.conninfo = make_conninfo("", **{**_NETWORK, **conninfo_to_dict(dsn)})
        self._lock = threading.Lock()
        self._answered = False
        self._away_since: float | None = None
        self._lost_at = 0.0
        """When a connection was lost last."""
        self._watchers: list[tuple[Callable[[], None], Callable[[], None]]] = []

    def watch(self, lost: Callable[[], None], back: Callable[[], None]) -> None:
        """Call `lost` when the connection is lost, and `back` when the server answers again, in any thread."""
        self._watchers.append((lost, back))

    def is_old(self, connection: PooledConnection) -> bool:
        """Return whether the connection is from before the server was lost, and so probably broken."""
        return connection.opened_at < self._lost_at

    def note_lost(self, connection: PooledConnection | None = None) -> None:
        """Note that a connection was lost, or that none could be opened. Several that break together are one loss."""
        with self._lock:
            known = self._away_since is not None or (connection is not None and self.is_old(connection))
            if known or not self._answered:
                return
            self._away_since = self._lost_at = monotonic()
        for lost, _ in self._watchers:
            lost()

    def note_answer(self) -> None:
        """Note that a connection was opened."""
        with self._lock:
            self._answered = True
            if self._away_since is None:
                return
            self._away_since = None
        for _, back in self._watchers:
            back()

    def wait(self, error: psycopg.Error, number: int) -> None:
        """Wait a little after an attempt to connect that failed, or raise why it is not worth it.

        A server that never answered this process is waited for only while it starts: its address may be wrong.
        """
        if not self._answered:
            state = PGconn.ping(self.conninfo.encode())
            if state == Ping.OK:
                refuse(error)
            if state != Ping.REJECT or number > WAIT_SECONDS / _MAX_PAUSE:
                raise unreachable() from error
            sleep(_MAX_PAUSE)
            return
        self.note_lost()
        since = self._away_since
        if since is not None and monotonic() > since + WAIT_SECONDS:
            raise unreachable() from error
        sleep(pause_after(number))


def pause_after(number: int) -> float:
    """Return the seconds to wait after this many failures; not quite the same for everyone who waits."""
    longest: float = min(_MAX_PAUSE, _FIRST_PAUSE * 2 ** min(number, 20))
    return longest * random.uniform(0.7, 1.0)


class Pool:
    """Connections to one database in one role, shared by the stores of all users in this process."""

    def __init__(self, server: _Server, role: str) -> None:
        self.server = server
        self._role = role
        self._idle: list[PooledConnection] = []
        self._lock = threading.Lock()
        self.users = 0

    @contextmanager
    def connection(self) -> Iterator[PooledConnection]:
        """Lend a connection to one caller; a broken one is not kept. `DatabaseUnreachable` when the server stays away."""
        connection = self._take_idle() or self._open()
        try:
            yield connection
        finally:
            self._put_back(connection)

    def _take_idle(self) -> PooledConnection | None:
        """Return a connection that is probably alive. If it is not, its first statement fails, before anything was done."""
        with self._lock:
            while self._idle:
                connection = self._idle.pop()
                if not self.server.is_old(connection) and not connection.closed:
                    return connection
                connection.close()
        return None

    def _open(self) -> PooledConnection:
        for number in count():
            try:
                connection = PooledConnection.connect(self.server.conninfo, autocommit=True)
            except psycopg.OperationalError as error:
                self.server.wait(error, number)
                continue
            try:
                connection.execute(f"SET search_path = {SCHEMA}")
                adapt(connection)
                connection.execute(f"SET ROLE {self._role}")
            except psycopg.Error as error:
                lost = is_lost(error, connection)
                connection.close()
                if not lost:
                    raise
                self.server.wait(error, number)
                continue
            self.server.note_answer()
            return connection
        raise AssertionError("the loop has no end")

    def _put_back(self, connection: PooledConnection) -> None:
        idle = connection.info.transaction_status is TransactionStatus.IDLE
        with self._lock:
            if idle and not connection.closed and self.users and len(self._idle) < _MAX_IDLE:
                self._idle.append(connection)
                return
        connection.close()

    def close(self) -> None:
        """Close the unused connections."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()


_servers: dict[str, _Server] = {}
_pools: dict[tuple[str, str], Pool] = {}
_pools_lock = threading.Lock()


def open_pool(dsn: str, role: str) -> Pool:
    """Return the pool of this database and role, for one more store."""
    with _pools_lock:
        server = _servers.get(dsn) or _servers.setdefault(dsn, _Server(dsn))
        pool = _pools.setdefault((dsn, role), Pool(server, role))
        pool.users += 1
        return pool


def close_pool(dsn: str, role: str) -> None:
    """Close the connections when this was the last store that used them."""
    with _pools_lock:
        pool = _pools[dsn, role]
        pool.users -= 1
        if pool.users == 0:
            del _pools[dsn, role]
            pool.close()
