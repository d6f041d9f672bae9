"""Connections to a PostgreSQL server: opened, shared, and opened again; its failures in our words, and its types."""

from __future__ import annotations

import random
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from time import monotonic, sleep
from typing import Any, Final, NoReturn

import psycopg
from psycopg import errors
from psycopg.adapt import Loader
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import PGconn, Ping, TransactionStatus
from psycopg.types.string import TextLoader

from pagekeep.errors import DatabaseUnreachable, StoreError
from pagekeep.store.engine import Row
from pagekeep.store.query import took_too_long

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
                adapt_types(connection)
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


APP_ROLE: Final = "pagekeep_app"
WORKER_ROLE: Final = "pagekeep_worker"
DOOR_ROLE: Final = "pagekeep_door"
_LOST: Final = frozenset({"57P01", "57P02", "57P03", "57P05"})
"""What a server that stops, crashes or starts says before it ends a connection."""


def is_lost(error: psycopg.Error, connection: psycopg.Connection[Any]) -> bool:
    """Return whether the connection was lost, so that it is not the statement that failed."""
    state = error.sqlstate
    return connection.closed or (state is not None and (state in _LOST or state.startswith("08")))


def unreachable(message: str = "The database server does not answer.") -> DatabaseUnreachable:
    """Return the error of a lost connection."""
    return DatabaseUnreachable(message)


def refuse(error: psycopg.Error) -> NoReturn:
    """Raise the error as a `StoreError`."""
    message, suggestion = "The library failed unexpectedly.", "Run `pagekeep doctor`, and report the fault."
    if isinstance(error, errors.QueryCanceled):
        raise took_too_long() from error
    if isinstance(error, errors.DiskFull):
        message, suggestion = "The database's disk is full.", "Free some space; nothing that was saved is lost."
    elif isinstance(error, (errors.InsufficientPrivilege, errors.InvalidParameterValue)):
        message = f"This database role may not act as {APP_ROLE}, {WORKER_ROLE} or {DOOR_ROLE}."
        suggestion = "As the owner, run: pagekeep library install URL --for ROLE"
    elif isinstance(error, (errors.UndefinedTable, errors.UndefinedFunction, errors.UndefinedObject)):
        message, suggestion = (
            "The database has no library of this version.",
            "As the owner, run: pagekeep library install URL",
        )
    elif error.sqlstate is None and isinstance(error, psycopg.OperationalError):
        message = "The database cannot be reached."
        suggestion = "Check its address, the name of the user and the password, and that it is running."
    elif error.sqlstate is not None and error.sqlstate.startswith("53"):
        message = "The database server has too little memory, or too many connections."
        suggestion = "Try again later."
    raise StoreError(message, suggestions=(suggestion,)) from error


BEFORE_ALL_TIMES: Final = "-infinity"


class TimeLoader(Loader):
    """Reads a time in the form of the library, `2025-03-19T10:30:00.123456Z`; what is before all times is empty."""

    def load(self, data: Any) -> str:
        """Return the time that the server sends as `2025-03-19 10:30:00.123456+00`."""
        text = bytes(data).decode("ascii")
        if text == BEFORE_ALL_TIMES:
            return ""
        time, _, fraction = text.removesuffix("+00").partition(".")
        return f"{time.replace(' ', 'T')}.{fraction:0<6}Z"


def adapt_types(connection: psycopg.Connection[Any]) -> None:
    """Let a connection give ids and times as text."""
    connection.execute("SET TIME ZONE 'UTC'")
    connection.execute("SET datestyle = ISO")
    connection.adapters.register_loader("uuid", TextLoader)
    connection.adapters.register_loader("timestamptz", TimeLoader)
