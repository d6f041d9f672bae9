"""PostgreSQL: for many users and many processes.

`install` is run once by the owner, and again after an update. The application signs in as a member of `pagekeep_app`
(for jobs of all users: `pagekeep_worker`) and acts as that role, which row-level security limits to one user's rows. The
sign-in of a shared server is also a member of `pagekeep_door`, the only role that can read the accounts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final, TypeVar, cast

import psycopg
from psycopg import errors
from psycopg.sql import SQL, Identifier
from psycopg.types.json import Jsonb

from pagekeep.errors import DatabaseUnreachable, StoreError
from pagekeep.model import ItemQuery, Term
from pagekeep.store import filters
from pagekeep.store.backup import dump
from pagekeep.store.backup.damage import BackupReport
from pagekeep.store.backup.restoring import Restoring, refuse_upgrade, reindex
from pagekeep.store.blob_files import BlobFolder
from pagekeep.store.engine import Row
from pagekeep.store.filters import Where
from pagekeep.store.migrations import Migration, migrations
from pagekeep.store.postgres_pool import (
    APP_ROLE,
    BEFORE_ALL_TIMES,
    DOOR_ROLE,
    SCHEMA,
    WORKER_ROLE,
    Pool,
    PooledConnection,
    adapt_types,
    close_pool,
    is_lost,
    open_pool,
    pause_after,
    refuse,
    unreachable,
)
from pagekeep.store.query import padded
from pagekeep.store.storable import Sign

T = TypeVar("T")
Connection = psycopg.Connection[Row]
_MAX_ATTEMPTS: Final = 10
"""Attempts at a transaction that conflicts with others; pauses between them add up to a quarter of a second."""
_MAX_LOSSES: Final = 5
"""Connections that one transaction may lose. It is then perhaps what makes the server fail, and is not run again."""
_RESOLVE_SECONDS: Final = 10
"""How long to wait for the end of a transaction whose connection was lost during its commit."""
_UPGRADE_MEMORY: Final = "SET LOCAL maintenance_work_mem = '256MB'"
"""With the usual 64 MB, the search index of a million items takes three times as long to make."""
_PLANS: Final = b"; SET LOCAL plan_cache_mode = force_custom_plan"
"""A plan for any values, which a statement gets when it is run often, walks along all items for the page of a rare tag: 170 ms
instead of 1 in a million items. Changes are for single rows, and keep their plans."""
_FIRST_RANGE, _LAST_RANGE, _GROWTH = 2**14, 2**20, 64
"""Numbers that a search looks at first, at most before it looks at all that are left, and how many times as many it looks at
next: in a million items, two common words take 18 ms with these, 29 with 2,048 at first and 8 times as many next."""
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
            connection.execute(_UPGRADE_MEMORY)
            for step in missing:
                connection.execute(step.sql.encode())
                if step.changes_rows:
                    _for_each_user(connection, step.change_rows)
            if any(step.reindexes for step in missing):
                adapt_types(connection)
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


@lru_cache(maxsize=512)
def _with_parameters(sql: str) -> bytes:
    """Return the SQL with `:name` in the form of psycopg, `%(name)s`."""
    return _PARAMETER.sub(r"%(\1)s", sql).encode()


class PostgresTransaction:
    """See `engine.Transaction`."""

    for_update = "FOR UPDATE"
    no_time = BEFORE_ALL_TIMES
    word_matches = filters.POSTGRES_MATCHES
    skip_locked = "FOR UPDATE SKIP LOCKED"
    stored_text = "{}"
    facets = "item_facets() UNION ALL SELECT user_id, kind, key, count FROM stored_facets()"

    def __init__(self, connection: Connection, user_id: str, sign: Sign | None = None) -> None:
        self._connection = connection
        self._deadline: float | None = None
        self.user_id = user_id
        self.sign = sign

    def all(self, sql: str, **values: Any) -> list[Row]:
        return self._connection.execute(_with_parameters(sql), {"user": self.user_id, **values}).fetchall()

    def run(self, sql: str, **values: Any) -> int:
        return self._connection.execute(_with_parameters(sql), {"user": self.user_id, **values}).rowcount

    def many(self, sql: str, rows: Sequence[Mapping[str, Any]]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(_with_parameters(sql), [{"user": self.user_id, **row} for row in rows])

    def limit_time(self, seconds: float) -> None:
        self._deadline = monotonic() + seconds
        self._limit_statement()

    def _limit_statement(self) -> None:
        """Leave the next statement what is left of the time of the transaction, if that is limited."""
        if self._deadline is not None:
            left = max(1, int((self._deadline - monotonic()) * 1_000))
            self._connection.execute(f"SET LOCAL statement_timeout = {left}")

    def lock(self, name: str) -> None:
        self._connection.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (f"pagekeep {self.user_id} {name}",)
        )

    def json(self, value: Mapping[str, Any] | Sequence[Any]) -> Jsonb:
        return Jsonb(value)

    def tag_list(self, tags: Sequence[str]) -> Jsonb:
        return Jsonb(list(tags))

    def put_tags(self, rows: Sequence[tuple[int, Sequence[str]]], now: str) -> None:
        self.run(
            "UPDATE items SET tags = CAST(n.tags AS JSONB), updated_at = :now "
            "FROM unnest(CAST(:seqs AS BIGINT[]), CAST(:lists AS TEXT[])) AS n (seq, tags) WHERE items.seq = n.seq",
            seqs=[seq for seq, _ in rows],
            lists=[json.dumps(list(tags), ensure_ascii=False) for _, tags in rows],
            now=now,
        )

    def add_changes(self, action_id: str, records: Sequence[tuple[str, str]]) -> None:
        self.run(
            "INSERT INTO action_items (user_id, action_id, item_id, change) SELECT :user, :action, n.item, "
            "CAST(n.change AS JSONB) FROM unnest(CAST(:items AS UUID[]), CAST(:changes AS TEXT[])) AS n (item, change) "
            "ON CONFLICT (user_id, action_id, item_id) DO UPDATE SET change = excluded.change",
            action=action_id,
            items=[item_id for item_id, _ in records],
            changes=[change for _, change in records],
        )

    def add_count(self, kind: str, key: str, number: int) -> None:
        # Counted just before the commit, as what the triggers note.
        self.run(
            "INSERT INTO item_count_changes (transaction, user_id, kind, key, change) "
            "VALUES (txid_current(), :user, :kind, :key, :number)",
            kind=kind,
            key=key,
            number=number,
        )
        self.run("INSERT INTO item_count_transactions VALUES (txid_current(), :user) ON CONFLICT DO NOTHING")

    def put_words(self, seq: int, head: str, body: str, count: int) -> None:
        self.run(
            "INSERT INTO item_words (seq, user_id, words, head, body) VALUES (:seq, :user, :count, :head, :body) "
            "ON CONFLICT (seq) DO UPDATE SET words = excluded.words, head = excluded.head, body = excluded.body",
            seq=seq,
            count=count,
            head=head,
            body=body,
        )

    def add_words(self, rows: Sequence[tuple[int, str, str, int]]) -> None:
        self.many(
            "INSERT INTO item_words (seq, user_id, words, head, body) VALUES (:seq, :user, :count, :head, :body)",
            [{"seq": seq, "count": count, "head": head, "body": body} for seq, head, body, count in rows],
        )

    def drop_words(self, seq: int) -> None:
        self.run("DELETE FROM item_words WHERE seq = :seq", seq=seq)

    def select_term(self, term: Term, values: dict[str, Any], name: str) -> str:
        values[name] = _lexemes(ItemQuery(terms=(term,)), mark="")
        found = f"SELECT x.seq FROM matches(CAST(:{name} AS tsquery), :top, :bottom) AS x (seq)"
        if len(term.words) == 1:
            return found
        return f"{found} JOIN item_words w ON w.seq = x.seq WHERE {_contains((term,), values, name, ('head', 'body'))}"

    def candidates(
        self, query: ItemQuery, where: Where, *, head: bool, top: int, bottom: int, limit: int
    ) -> list[tuple[int, str, str]]:
        values = {**where.values, "top": top, "bottom": bottom, "limit": limit}
        parts = [str(where)]
        if query.terms:
            in_head = _contains(query.terms, values, "h", ("head",))
            parts.append(in_head if head else f"NOT {in_head}")
        if where.few or not (query.terms or query.excluded):
            # Few enough that their texts are read.
            parts += ["i.seq < :top", "i.seq >= :bottom", _contains(query.terms, values, "t", ("head", "body"))]
            parts += _exclude(query.excluded, values)
            return self._select_words("items i JOIN item_words w ON w.seq = i.seq", "i.seq", parts, values)
        phrases = [term for term in query.terms if len(term.words) > 1]
        parts += [_contains(phrases, values, "t", ("head", "body"))]
        parts += _exclude([term for term in query.excluded if len(term.words) > 1], values)
        # A lookup with its own limit: only so are items looked up one by one, until there are enough.
        source = (
            "(SELECT f.seq FROM matches(CAST(:wanted AS tsquery), :top, :bottom) AS f (seq) ORDER BY f.seq DESC) m "
            "CROSS JOIN LATERAL (SELECT w.head, w.body FROM items i JOIN item_words w ON w.seq = i.seq "
            f"WHERE i.seq = m.seq AND {' AND '.join(parts)} LIMIT 1) w"
        )
        values["wanted"] = _lexemes(query, mark="^" if head else "")
        found: list[tuple[int, str, str]] = []
        for end, begin in _ranges(query, top, bottom):
            self._limit_statement()
            values |= {"top": end, "bottom": begin, "limit": limit - len(found)}
            found += self._select_words(source, "m.seq", ["TRUE"], values)
            if len(found) >= limit:
                break
        return found

    def _select_words(
        self, source: str, seq: str, parts: Sequence[str], values: Mapping[str, Any]
    ) -> list[tuple[int, str, str]]:
        rows = self.all(
            f"SELECT {seq}, w.head, w.body FROM {source} WHERE {' AND '.join(parts)} ORDER BY {seq} DESC LIMIT :limit",
            **values,
        )
        return cast("list[tuple[int, str, str]]", rows)


def _ranges(query: ItemQuery, top: int, bottom: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of numbers to search one after the other, the newest first: the end of each, and where it begins.

    Each is longer than the one before: common words are found in the first, rare ones after a few. With the
    beginning of a word there is one range: the index collects all words that continue it again for each.
    """
    reach = _FIRST_RANGE
    if any(term.prefix for term in (*query.terms, *query.excluded)):
        reach = _LAST_RANGE * 2
    while top > bottom:
        # It begins where a block of the index does, see `search_blocks`.
        begin = bottom if reach > _LAST_RANGE else max(bottom, (top - reach) // (reach // 2) * (reach // 2))
        yield top, begin
        top, reach = begin, reach * _GROWTH


def _lexemes(query: ItemQuery, mark: str) -> str:
    """Return the words as a `tsquery`. They contain only letters and digits, so none can end the quotation."""
    parts = []
    for term in query.terms:
        *first, last = (f"'{mark}{word}'" for word in term.words)
        parts += [*first, last + ":*" if term.prefix else last]
    parts += [f"!'{term.words[0]}'" + (":*" if term.prefix else "") for term in query.excluded if len(term.words) == 1]
    return " & ".join(parts)


def _contains(terms: Sequence[Term], values: dict[str, Any], name: str, columns: tuple[str, ...]) -> str:
    """Return the condition that each term occurs, word after word, in one of the columns."""
    parts = ["TRUE"]
    for number, term in enumerate(terms):
        values[f"{name}_{number}"] = padded(term)
        found = (f"STRPOS(' ' || w.{column} || ' ', :{name}_{number}) > 0" for column in columns)
        parts.append(f"({' OR '.join(found)})")
    return f"({' AND '.join(parts)})"


def _exclude(terms: Sequence[Term], values: dict[str, Any]) -> list[str]:
    return [f"NOT {_contains((term,), values, f'x{at}', ('head', 'body'))}" for at, term in enumerate(terms)]


def _begin(connection: Connection, mode: str, user_id: str) -> bytes:
    """Return the statements that begin a transaction of a user, to be sent at once."""
    begin = SQL("BEGIN ISOLATION LEVEL {}; SELECT set_config('app.user_id', {}, true)").format(SQL(mode), user_id)
    return begin.as_bytes(connection) + (_PLANS if "READ ONLY" in mode else b"")


def _commit_unknown() -> DatabaseUnreachable:
    return unreachable("The database server stopped answering during a change, which may have been stored or not.")


class PostgresEngine:
    """See `engine.Engine`."""

    def __init__(
        self, dsn: str, user_id: str, *, everyone: bool = False, role: str | None = None, sign: Sign | None = None
    ) -> None:
        self.user_id = user_id
        self.everyone = everyone
        self.sign = sign
        self.blobs: BlobFolder | None = None
        self._key = (dsn, role or (WORKER_ROLE if everyone else APP_ROLE))
        self._pool: Pool | None = None
        try:
            self._pool = open_pool(*self._key)
            self._check_version()
        except psycopg.Error as error:  # the address cannot be read
            refuse(error)
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
        return self._do("REPEATABLE READ, READ ONLY", work, writes=False)

    def write(self, work: Callable[[PostgresTransaction], T]) -> T:
        return self._do("READ COMMITTED", work, writes=True)

    def _do(self, mode: str, work: Callable[[PostgresTransaction], T], *, writes: bool) -> T:
        """Run the work in a transaction, again after a conflict, or when the connection was lost before the commit."""
        pool, conflicts, losses = self._get_pool(), 0, 0
        while True:
            try:
                with pool.connection() as connection:
                    try:
                        return self._run(connection, mode, work, writes=writes)
                    except psycopg.Error as error:
                        if is_lost(error, connection):
                            pool.server.note_lost(connection)
                            losses += 1
                            pause = pause_after(losses)
                            if losses > _MAX_LOSSES:
                                raise unreachable("The connection to the database is lost again and again.") from error
                        else:
                            conflicts += 1
                            pause = 0.005 * conflicts
                            if not isinstance(error, _CONFLICTS) or conflicts == _MAX_ATTEMPTS:
                                raise
            except psycopg.Error as error:
                refuse(error)
            sleep(pause)

    def _run(
        self, connection: PooledConnection, mode: str, work: Callable[[PostgresTransaction], T], *, writes: bool
    ) -> T:
        """Run the work and commit it. A `psycopg.Error` means that nothing was committed."""
        connection.execute(_begin(connection, mode, self.user_id), prepare=False)
        try:
            result = work(PostgresTransaction(connection, self.user_id, self.sign))
            number = self._sign(connection) if writes else None
        except BaseException:
            with suppress(psycopg.Error):
                connection.execute("ROLLBACK")
            raise
        try:
            connection.execute("COMMIT")
        except psycopg.Error as error:
            if not is_lost(error, connection):
                raise
            if number is not None and not self._was_committed(connection, number):
                raise
        return result

    def _sign(self, connection: PooledConnection) -> int | None:
        """Store the number of this commit under the connection's name, with what it commits; `None` if that is nothing.

        When the connection is lost during the commit, the number shows whether it happened. The number of the transaction
        (`pg_xact_status`) would not: after a crash, the server gives the numbers of lost transactions to others.
        """
        connection.commits += 1
        values = {"user": self.user_id, "writer": connection.writer, "number": connection.commits}
        signed = connection.execute(
            "INSERT INTO commits (user_id, writer, number, written_at) SELECT %(user)s, %(writer)s, %(number)s, now() "
            "WHERE pg_current_xact_id_if_assigned() IS NOT NULL "
            "ON CONFLICT (user_id, writer) DO UPDATE SET number = excluded.number, written_at = excluded.written_at",
            values,
        ).rowcount
        if not signed:
            return None
        if self.user_id not in connection.committed_for:
            connection.committed_for.add(self.user_id)
            connection.execute(
                "DELETE FROM commits WHERE writer IN (SELECT writer FROM commits WHERE user_id = %(user)s "
                "AND written_at < now() - interval '1 day' FOR UPDATE SKIP LOCKED) AND user_id = %(user)s",
                values,
            )
        return connection.commits

    def _was_committed(self, lost: PooledConnection, number: int) -> bool:
        """Return whether a commit happened whose connection was lost. `DatabaseUnreachable` if that cannot be found out."""
        pool = self._get_pool()
        pool.server.note_lost(lost)
        for losses in range(1, _MAX_LOSSES + 1):
            try:
                with pool.connection() as connection:
                    try:
                        return self._last_commit(connection, lost) == number
                    except psycopg.Error as error:
                        if not is_lost(error, connection):
                            raise
            except (psycopg.Error, DatabaseUnreachable) as error:
                raise _commit_unknown() from error
            sleep(pause_after(losses))
        raise _commit_unknown()

    def _last_commit(self, connection: PooledConnection, lost: PooledConnection) -> int:
        """Return the number of the last commit of a lost connection, after the end of its last transaction."""
        connection.execute(_begin(connection, "READ COMMITTED", self.user_id), prepare=False)
        connection.execute(f"SET LOCAL lock_timeout = {_RESOLVE_SECONDS * 1_000}")
        # To change the row is to wait for the transaction that has changed it, if the server still works on that.
        rows = connection.execute(
            "INSERT INTO commits (user_id, writer, number, written_at) VALUES (%s, %s, 0, now()) "
            "ON CONFLICT (user_id, writer) DO UPDATE SET written_at = excluded.written_at RETURNING number",
            (self.user_id, lost.writer),
        ).fetchall()
        connection.execute("ROLLBACK")
        return int(rows[0][0])

    def _get_pool(self) -> Pool:
        if self._pool is None:
            raise StoreError("The library is closed.")
        return self._pool

    def watch(self, lost: Callable[[], None], back: Callable[[], None]) -> None:
        self._get_pool().server.watch(lost, back)

    def close(self) -> None:
        """Close the connections when this was the last store that used them."""
        pool, self._pool = self._pool, None
        if pool is not None:
            close_pool(*self._key)

    def backup(self, path: str) -> BackupReport:
        """Write the user's rows to a file that `restore` reads."""
        return self.read(lambda tx: dump.write(tx, Path(path)))

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


def restore(dsn: str, path: str, user_id: str, *, what_can_be: bool = False) -> Restoring:
    """Restore a backup into a user's empty library; with `what_can_be`, everything in it that is sound."""
    engine = PostgresEngine(dsn, user_id)
    try:
        return engine.write(lambda tx: dump.read(tx, Path(path), what_can_be=what_can_be))
    finally:
        engine.close()
