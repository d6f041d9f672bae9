"""PostgreSQL: for many users and many processes.

`install` is run once by the owner, and again after an update. The application signs in as a member of `pagekeep_app`
(for jobs of all users: `pagekeep_worker`) and acts as that role, which row-level security limits to one user's rows. The
sign-in of a shared server is also a member of `pagekeep_door`, the only role that can read the accounts.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from time import sleep
from typing import Any, Final, TypeVar, cast

import psycopg
from psycopg import errors
from psycopg.sql import SQL, Identifier
from psycopg.types.json import Jsonb

from pagekeep.errors import StoreError
from pagekeep.model import ItemQuery, Term
from pagekeep.store.backup import dump
from pagekeep.store.blobs.folder import BlobFolder
from pagekeep.store.engine import Row
from pagekeep.store.migrations import Migration, migrations
from pagekeep.store.postgres_errors import APP_ROLE, DOOR_ROLE, WORKER_ROLE, refuse
from pagekeep.store.postgres_types import BEFORE_ALL_TIMES, adapt
from pagekeep.store.reindex import refuse_upgrade, reindex
from pagekeep.store.search import word_matches
from pagekeep.store.search.filters import Where

T = TypeVar("T")
Connection = psycopg.Connection[Row]

SCHEMA: Final = "pagekeep"
_MAX_ATTEMPTS: Final = 10
"""Attempts at a transaction that conflicts with others; pauses between them add up to a quarter of a second."""
_MAX_IDLE: Final = 8
"""Unused connections kept open per process and role."""
_PARAMETER: Final = re.compile(r":([a-z_]\w*)")
_CONFLICTS: Final = (
    errors.SerializationFailure,
    errors.DeadlockDetected,
    errors.UniqueViolation,
    errors.ForeignKeyViolation,
)
"""Another transaction was faster; the same work sees its result when run again."""


def install(dsn_owner: str, steps: tuple[Migration, ...] | None = None) -> None:
    """Create or upgrade the library's tables, roles and policies, wholly or not at all."""
    steps = migrations("postgres") if steps is None else steps
    try:
        with psycopg.connect(dsn_owner, autocommit=True) as connection:
            connection.execute("SET client_min_messages = warning")
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
            connection.execute(f"SET search_path = {SCHEMA}")
            connection.execute("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL)")
            _upgrade(connection, steps)
            connection.execute(f"GRANT SELECT ON schema_version TO {APP_ROLE}, {DOOR_ROLE}")
            _let_owner_act(connection)
    except errors.InsufficientPrivilege as error:
        raise StoreError(
            "This database role may not install the library.",
            suggestions=("Let it create schemas, and roles unless ours exist.",),
        ) from error
    except psycopg.Error as error:
        refuse(error)


def let_use(dsn_owner: str, sign_in: str) -> None:
    """Let an existing role use the library, for all its users and all jobs."""
    roles = SQL(", ").join(map(Identifier, (APP_ROLE, WORKER_ROLE, DOOR_ROLE)))
    granted = SQL("GRANT {} TO {}").format(roles, Identifier(sign_in))
    try:
        with psycopg.connect(dsn_owner, autocommit=True) as connection:
            connection.execute(granted)
    except (errors.UndefinedObject, errors.SyntaxError):
        raise StoreError(
            f"The database has no role {sign_in:.64}.",
            suggestions=("As the owner, run: CREATE ROLE ... LOGIN PASSWORD ...",),
        ) from None
    except psycopg.Error as error:
        refuse(error)


def _let_owner_act(connection: Connection) -> None:
    """Let the owner use the library, as the application does."""
    for role in (APP_ROLE, WORKER_ROLE, DOOR_ROLE):
        row = connection.execute("SELECT pg_has_role(current_user, %s, 'MEMBER')", (role,)).fetchone()
        if row != (True,):
            connection.execute(f"GRANT {role} TO CURRENT_USER")


def _upgrade(connection: Connection, steps: tuple[Migration, ...]) -> None:
    """Run the migrations that are missing, in one transaction."""
    version = _version(connection)
    try:
        with connection.transaction():
            connection.execute("LOCK TABLE schema_version IN EXCLUSIVE MODE")
            version = _version(connection)
            missing = [step for step in steps if step.version > version]
            for step in missing:
                connection.execute(step.sql.encode())
                if step.changes_rows:
                    _for_each_user(connection, step.change_rows)
            if any(step.reindexes for step in missing):
                adapt(connection)
                _for_each_user(connection, reindex)
            if missing:
                connection.execute("DELETE FROM schema_version")
                connection.execute("INSERT INTO schema_version VALUES (%s)", (missing[-1].version,))
    except errors.InsufficientPrivilege:
        raise
    except (psycopg.Error, StoreError, ValueError, TypeError, LookupError) as error:
        if not version:
            raise
        refuse_upgrade(version, steps[-1].version, error)


def _for_each_user(connection: Connection, work: Callable[[PostgresTransaction], None]) -> None:
    """Run the work as each user who has items. What is deferred is done as that user too: row security looks at each row."""
    for (user,) in connection.execute("SELECT DISTINCT user_id FROM item_words").fetchall():
        connection.execute("SELECT set_config('app.user_id', %s, true)", (user,))
        work(PostgresTransaction(connection, user))
        connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
        connection.execute("SET CONSTRAINTS ALL DEFERRED")
    connection.execute("SELECT set_config('app.user_id', '', true)")


def _version(connection: Connection) -> int:
    return int(connection.execute("SELECT COALESCE(MAX(version), 0) FROM schema_version").fetchall()[0][0])


class Pool:
    """Connections to one database in one role, shared by the stores of all users in this process."""

    def __init__(self, dsn: str, role: str) -> None:
        self._dsn = dsn
        self._role = role
        self._idle: list[Connection] = []
        self._lock = threading.Lock()
        self.users = 0

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """Lend a connection to one caller; a broken one is not kept."""
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        if connection is None or not _is_alive(connection):
            connection = self._open()
        try:
            yield connection
        finally:
            self._put_back(connection)

    def _open(self) -> Connection:
        connection = psycopg.connect(self._dsn, autocommit=True)
        try:
            connection.execute(f"SET search_path = {SCHEMA}")
            adapt(connection)
            connection.execute(f"SET ROLE {self._role}")
        except psycopg.Error:
            connection.close()
            raise
        return connection

    def _put_back(self, connection: Connection) -> None:
        idle = connection.info.transaction_status is psycopg.pq.TransactionStatus.IDLE
        with self._lock:
            if idle and not connection.closed and self.users and len(self._idle) < _MAX_IDLE:
                self._idle.append(connection)
                return
        connection.close()

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()


def _is_alive(connection: Connection) -> bool:
    """Return whether the connection still works: the server may have restarted since it was last used."""
    try:
        connection.execute("SELECT 1")
    except psycopg.Error:
        connection.close()
        return False
    return True


_pools: dict[tuple[str, str], Pool] = {}
_pools_lock = threading.Lock()


def _pool(dsn: str, role: str) -> Pool:
    with _pools_lock:
        pool = _pools.setdefault((dsn, role), Pool(dsn, role))
        pool.users += 1
        return pool


@lru_cache(maxsize=512)
def _with_parameters(sql: str) -> bytes:
    """Return the SQL with `:name` in the form of psycopg, `%(name)s`."""
    return _PARAMETER.sub(r"%(\1)s", sql).encode()


class PostgresTransaction:
    """See `engine.Transaction`."""

    for_update = "FOR UPDATE"
    no_time = BEFORE_ALL_TIMES
    word_matches = word_matches.POSTGRES
    skip_locked = "FOR UPDATE SKIP LOCKED"
    facets = "item_facets()"

    def __init__(self, connection: Connection, user_id: str) -> None:
        self._connection = connection
        self.user_id = user_id

    def all(self, sql: str, **values: Any) -> list[Row]:
        return self._connection.execute(_with_parameters(sql), values).fetchall()

    def run(self, sql: str, **values: Any) -> int:
        return self._connection.execute(_with_parameters(sql), values).rowcount

    def many(self, sql: str, rows: Sequence[Mapping[str, Any]]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(_with_parameters(sql), rows)

    def limit_time(self, seconds: float) -> None:
        self._connection.execute(f"SET LOCAL statement_timeout = {int(seconds * 1_000)}")

    def lock(self, name: str) -> None:
        self._connection.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (f"pagekeep {self.user_id} {name}",)
        )

    def json(self, value: Mapping[str, Any]) -> Jsonb:
        return Jsonb(value)

    def put_words(self, seq: int, head: str, body: str, count: int) -> None:
        self.run(
            "INSERT INTO item_words (seq, user_id, words, head, body) VALUES (:seq, :user, :count, :head, :body) "
            "ON CONFLICT (seq) DO UPDATE SET words = excluded.words, head = excluded.head, body = excluded.body",
            seq=seq,
            user=self.user_id,
            count=count,
            head=head,
            body=body,
        )

    def add_words(self, rows: Sequence[tuple[int, str, str, int]]) -> None:
        self.many(
            "INSERT INTO item_words (seq, user_id, words, head, body) VALUES (:seq, :user, :count, :head, :body)",
            [
                {"seq": seq, "user": self.user_id, "count": count, "head": head, "body": body}
                for seq, head, body, count in rows
            ],
        )

    def drop_words(self, seq: int) -> None:
        self.run("DELETE FROM item_words WHERE seq = :seq", seq=seq)

    def candidates(
        self, query: ItemQuery, where: Where, *, head: bool, top: int, bottom: int, limit: int
    ) -> list[tuple[int, str, str]]:
        values = {**where.values, "top": top, "bottom": bottom, "limit": limit}
        source, order, parts = "items i", "i.seq", [str(where), "i.seq < :top", "i.seq >= :bottom"]
        if query.terms:
            function = "head_matches" if head else "matches"
            # Sorted before the join, which then stops at the limit, however many match.
            found = (
                f"SELECT f.seq FROM {function}(CAST(:wanted AS tsquery), :top, :bottom) AS f (seq) ORDER BY f.seq DESC"
            )
            source, order = f"({found}) m JOIN items i ON i.seq = m.seq", "m.seq"
            values["wanted"] = " & ".join(map(_lexemes, query.terms))
            in_head = _contains(query.terms, values, "h", ("head",))
            phrases = tuple(term for term in query.terms if len(term.words) > 1)
            parts += [in_head] if head else [_contains(phrases, values, "b", ("head", "body")), f"NOT {in_head}"]
        parts += [
            f"i.seq NOT IN ({_select_matches(term, values, f'x{number}')})"
            for number, term in enumerate(query.excluded)
        ]
        rows = self.all(
            f"SELECT i.seq, w.head, w.body FROM {source} JOIN item_words w ON w.seq = i.seq "
            f"WHERE {' AND '.join(parts)} ORDER BY {order} DESC LIMIT :limit",
            **values,
        )
        return cast("list[tuple[int, str, str]]", rows)


def _lexemes(term: Term) -> str:
    """Return the words as a `tsquery`. They contain only letters and digits, so none can end the quotation."""
    *first, last = (f"'{word}'" for word in term.words)
    return "(" + " & ".join([*first, last + ":*" if term.prefix else last]) + ")"


def _select_matches(term: Term, values: dict[str, Any], name: str) -> str:
    """Return a query for the numbers of items with the term."""
    values[name] = _lexemes(term)
    found = f"SELECT x.seq FROM matches(CAST(:{name} AS tsquery), :top, :bottom) AS x (seq)"
    if len(term.words) == 1:
        return found
    return f"{found} JOIN item_words w ON w.seq = x.seq WHERE {_contains((term,), values, name, ('head', 'body'))}"


def _contains(terms: tuple[Term, ...], values: dict[str, Any], name: str, columns: tuple[str, ...]) -> str:
    """Return the condition that each term occurs, word after word, in one of the columns."""
    parts = ["TRUE"]
    for number, term in enumerate(terms):
        values[f"{name}_{number}"] = f"% {' '.join(term.words)}" + ("%" if term.prefix else " %")
        found = (f"' ' || w.{column} || ' ' LIKE :{name}_{number}" for column in columns)
        parts.append(f"({' OR '.join(found)})")
    return f"({' AND '.join(parts)})"


class PostgresEngine:
    """See `engine.Engine`."""

    def __init__(self, dsn: str, user_id: str, *, everyone: bool = False, role: str | None = None) -> None:
        self.user_id = user_id
        self.everyone = everyone
        self.blobs: BlobFolder | None = None
        self._key = (dsn, role or (WORKER_ROLE if everyone else APP_ROLE))
        self._pool: Pool | None = _pool(*self._key)
        try:
            self._check_version()
        except BaseException:
            self.close()
            raise

    def _check_version(self) -> None:
        rows = self.read(lambda tx: tx.all("SELECT COALESCE(MAX(version), 0) FROM schema_version"))
        newest = migrations("postgres")[-1].version
        if rows[0][0] < newest:
            raise StoreError(
                "The library is from an older version of Pagekeep.",
                suggestions=("As the owner, run: pagekeep library install URL",),
            )
        if rows[0][0] > newest:
            raise StoreError(
                "The library was created by a newer version of Pagekeep.", suggestions=("Update Pagekeep.",)
            )

    def read(self, work: Callable[[PostgresTransaction], T]) -> T:
        return self._do("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY", work)

    def write(self, work: Callable[[PostgresTransaction], T]) -> T:
        return self._do("SET TRANSACTION ISOLATION LEVEL READ COMMITTED", work)

    def _do(self, begin: str, work: Callable[[PostgresTransaction], T]) -> T:
        if self._pool is None:
            raise StoreError("The library is closed.")
        for number in range(1, _MAX_ATTEMPTS + 1):
            try:
                with self._pool.connection() as connection, connection.transaction():
                    connection.execute(begin)
                    connection.execute("SELECT set_config('app.user_id', %s, true)", (self.user_id,))
                    return work(PostgresTransaction(connection, self.user_id))
            except psycopg.Error as error:
                if not isinstance(error, _CONFLICTS) or number == _MAX_ATTEMPTS:
                    refuse(error)
                sleep(0.005 * number)
        raise AssertionError("the last attempt returns or raises")

    def close(self) -> None:
        """Close the connections when this was the last store that used them."""
        pool, self._pool = self._pool, None
        if pool is None:
            return
        with _pools_lock:
            pool.users -= 1
            if pool.users == 0:
                _pools.pop(self._key, None)
                pool.close()

    def backup(self, path: str) -> None:
        """Write the user's rows to a file that `restore` reads."""
        self.read(lambda tx: dump.write(tx, Path(path)))

    @property
    def writable(self) -> bool:
        """Whether the library can be changed, and not only read."""
        return bool(self.read(lambda tx: tx.all("SELECT NOT pg_is_in_recovery()"))[0][0])

    def probe(self) -> None:
        """Raise `StoreError` when the server does not answer or accepts no changes."""
        if not self.writable:
            raise StoreError("The library is read-only.", suggestions=("Connect to the primary database server.",))

    def faults(self) -> Iterator[str]:
        """Return none: the server checks its own files."""
        return iter(())


def restore(dsn: str, path: str, user_id: str) -> None:
    """Restore a backup into a user's empty library."""
    engine = PostgresEngine(dsn, user_id)
    try:
        engine.write(lambda tx: dump.read(tx, Path(path)))
    finally:
        engine.close()
