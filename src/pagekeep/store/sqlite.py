"""SQLite: one file, nothing to install, for one machine with any number of processes."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final, NoReturn, TypeVar

from pagekeep.errors import StoreError
from pagekeep.model import ItemQuery, Term
from pagekeep.private_files import create_file, make_folder
from pagekeep.store import filters
from pagekeep.store.backup import library_file
from pagekeep.store.backup.damage import BackupReport
from pagekeep.store.backup.library_file import REPAIR, find_broken_rows, find_damage, has_broken_structure
from pagekeep.store.backup.restoring import refuse_upgrade, reindex
from pagekeep.store.blob_files import BlobFolder, blob_root, pack, packer, unpack
from pagekeep.store.engine import Row
from pagekeep.store.filters import Where
from pagekeep.store.migrations import Migration, migrations
from pagekeep.store.query import padded, took_too_long
from pagekeep.store.storable import Sign

T = TypeVar("T")

BUSY_TIMEOUT = 5.0
"""Seconds that SQLite itself waits for a lock before we try again."""
MAX_WAIT = 120.0
"""Seconds that a writer waits for others. A write takes milliseconds: only a stuck process can take this long."""
_FIRST_PAUSE, _MAX_PAUSE = 0.002, 0.1
"""Seconds between attempts: a write takes milliseconds, and many waiting processes must not spin."""
_PRAGMAS: Final = ("page_size = 2048", "journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON")
"""The page size applies to a new file. Long values fill separate pages, of which half the last one is lost on average: with
2 KB instead of 4 KB a library is 6 % smaller."""
_PROGRESS_STEPS: Final = 10_000  # of SQLite's virtual machine between two looks at the clock: under a millisecond
TAGS_STEP: Final = 32
"""Bytes, a multiple of which an item's list of tags has: a row that keeps its length is changed in place, which takes a third
of the time."""
MIN_FREE_BYTES: Final = 1_000_000
"""Free bytes below which the disk counts as full: one saved page with its raw page can take this much."""


def retry_while_busy(work: Callable[[], T]) -> T:
    """Run the work, again while other connections hold a lock."""
    deadline, pause = monotonic() + MAX_WAIT, _FIRST_PAUSE
    while True:
        try:
            return work()
        except sqlite3.Error as error:
            if not is_busy(error) or monotonic() > deadline:
                refuse(error)
            sleep(pause)
            pause = min(pause * 1.5, _MAX_PAUSE)
        except UnicodeDecodeError as error:  # of a text, or of SQLite's own message about a damaged schema
            refuse_code(sqlite3.SQLITE_CORRUPT, error)


def connect(path: Path) -> sqlite3.Connection:
    """Open a connection with our settings; create the file and its folder if missing."""
    try:
        make_folder(path.parent)
    except OSError as error:
        raise StoreError(
            f"The folder {path.parent} cannot be created.", suggestions=("Check its permissions.",)
        ) from error
    return retry_while_busy(lambda: _connect(path))


def is_writable(path: Path) -> bool:
    """Return whether the library can be written, or created: SQLite writes other files beside it."""
    folder = path.parent
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return os.access(folder, os.W_OK) and (not path.exists() or os.access(path, os.W_OK))


def _connect(path: Path) -> sqlite3.Connection:
    try:
        return _connect_to(path, _PRAGMAS)
    except sqlite3.OperationalError:
        log = path.with_name(f"{path.name}-wal")
        if is_writable(path) or not path.exists() or (log.exists() and log.stat().st_size):
            raise
    # A read-only disk cannot hold a new write-ahead log, and there is no old one, so the file alone is the whole library.
    return _connect_to(f"{path.absolute().as_uri()}?immutable=1", ())


def _connect_to(path: Path | str, pragmas: tuple[str, ...]) -> sqlite3.Connection:
    if isinstance(path, Path):
        create_file(path)  # SQLite would create it for everyone; its log has the rights of the file
    connection = sqlite3.connect(
        path, timeout=BUSY_TIMEOUT, isolation_level=None, check_same_thread=False, uri=isinstance(path, str)
    )
    try:
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}").fetchall()
    except BaseException:
        connection.close()
        raise
    return connection


def migrate(connection: sqlite3.Connection, path: Path, steps: tuple[Migration, ...] | None = None) -> None:
    """Upgrade an older library, wholly or not at all, after making a copy of it."""
    steps = migrations("sqlite") if steps is None else steps
    version = _version(connection)
    if version > steps[-1].version:
        raise StoreError("The library was created by a newer version of Pagekeep.", suggestions=("Update Pagekeep.",))
    if version == steps[-1].version:
        return
    if version:
        copy(connection, path.with_name(f"{path.name}.v{version}.backup"))
    try:
        retry_while_busy(lambda: _upgrade(connection, steps))
    except (StoreError, ValueError, TypeError, LookupError) as error:
        refuse_upgrade(version, steps[-1].version, error)


def _version(connection: sqlite3.Connection) -> int:
    return int(retry_while_busy(lambda: connection.execute("PRAGMA user_version").fetchone())[0])


def _upgrade(connection: sqlite3.Connection, steps: tuple[Migration, ...]) -> None:
    """Run the migrations that are missing when the lock is ours: another process may have run them while we waited."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        missing = [step for step in steps if step.version > version]
        for step in missing:
            for statement in step.statements():
                connection.execute(statement)
            if step.changes_rows:
                for user in _users(connection):
                    step.change_rows(SqliteTransaction(connection, user))
        if any(step.reindexes for step in missing):
            for user in _users(connection):
                reindex(SqliteTransaction(connection, user))
        if missing:
            connection.execute(f"PRAGMA user_version = {missing[-1].version}")
        connection.execute("COMMIT")
    except BaseException:
        _roll_back(connection)
        raise


def _users(connection: sqlite3.Connection) -> list[str]:
    return [user for (user,) in connection.execute("SELECT DISTINCT user_id FROM items").fetchall()]


def copy(connection: sqlite3.Connection, path: Path) -> None:
    """Copy one state of the library.

    The copy replaces the file `path` only when it is complete, free of damage and on the disk; otherwise that file stays.
    """
    _refuse_damage(connection, "The library is damaged, so it was not copied.", (REPAIR,), path)
    draft = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        create_file(draft)
        with closing(sqlite3.connect(draft, isolation_level=None)) as target:
            retry_while_busy(lambda: connection.backup(target))
            target.execute("PRAGMA journal_mode = DELETE").fetchall()
        with closing(sqlite3.connect(draft, isolation_level=None)) as target:  # opened again: nothing is cached
            _refuse_damage(target, "The copy is damaged.", ("Check the disk, or copy to another one.", REPAIR), path)
        with draft.open("rb+") as file:
            os.fsync(file.fileno())
        draft.replace(path)
    except sqlite3.Error as error:
        refuse(error)
    except OSError as error:
        raise StoreError(
            f"The copy could not be written to {path}.", suggestions=("Check the path and the free disk space.",)
        ) from error
    finally:
        draft.unlink(missing_ok=True)


def _refuse_damage(connection: sqlite3.Connection, message: str, next_steps: tuple[str, ...], path: Path) -> None:
    faults = retry_while_busy(lambda: find_damage(connection))
    if faults:
        kept = (f"The earlier copy {path} was not changed.",) if path.exists() else ()
        raise StoreError(f"{message} The first fault: {faults[0]}", suggestions=(*next_steps, *kept))


def _copy_pages(connection: sqlite3.Connection, draft: Path) -> None:
    """Copy one state of the library to a new file; it stays in WAL mode, so that opening it later does not change it."""
    try:
        create_file(draft)
        with closing(sqlite3.connect(draft, isolation_level=None)) as target:
            retry_while_busy(lambda: connection.backup(target))
    except sqlite3.Error as error:
        refuse(error)


def _refuse_broken(connection: sqlite3.Connection, draft: Path, target: Path) -> None:
    """Raise `StoreError` when a copy cannot be used; the check of the copy is the check of the library."""
    with closing(sqlite3.connect(draft, isolation_level=None)) as copied:
        faults = find_broken_rows(copied)
    if faults:
        in_library = retry_while_busy(lambda: find_broken_rows(connection))
        message = "The library is damaged, so it was not copied." if in_library else "The copy is damaged."
        next_steps = (REPAIR,) if in_library else ("Check the disk, or copy to another one.",)
        kept = (f"The earlier backup {target} was not changed.",) if target.exists() else ()
        raise StoreError(f"{message} The first fault: {faults[0]}", suggestions=(*next_steps, *kept))


def _roll_back(connection: sqlite3.Connection) -> None:
    """Roll back, unless the failure (such as a full disk) has ended the transaction already."""
    if connection.in_transaction:
        connection.execute("ROLLBACK")


_write_json: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class SqliteTransaction:
    """See `engine.Transaction`."""

    for_update = ""
    no_time = ""
    word_matches = filters.SQLITE_MATCHES
    skip_locked = ""
    stored_text = "CAST({} AS BLOB)"
    facets = "item_facets UNION ALL SELECT user_id, kind, key, count FROM stored_facets"

    def __init__(self, connection: sqlite3.Connection, user_id: str, sign: Sign | None = None) -> None:
        self._connection = connection
        self.user_id = user_id
        self.sign = sign

    def all(self, sql: str, **values: Any) -> list[Row]:
        return self._connection.execute(sql, {"user": self.user_id, **values}).fetchall()

    def run(self, sql: str, **values: Any) -> int:
        return self._connection.execute(sql, {"user": self.user_id, **values}).rowcount

    def many(self, sql: str, rows: Sequence[Mapping[str, Any]]) -> None:
        self._connection.executemany(sql, [{"user": self.user_id, **row} for row in rows])

    def limit_time(self, seconds: float) -> None:
        deadline = monotonic() + seconds
        self._connection.set_progress_handler(lambda: int(monotonic() > deadline), _PROGRESS_STEPS)

    def lock(self, name: str) -> None:
        """Do nothing: there is one writer at a time anyway."""

    def json(self, value: Mapping[str, Any] | Sequence[Any]) -> str:
        return _write_json(value)

    def tag_list(self, tags: Sequence[str]) -> str:
        text = _write_json(list(tags))
        return text + " " * (-len(text.encode()) % TAGS_STEP)

    def put_tags(self, rows: Sequence[tuple[int, Sequence[str]]], now: str) -> None:
        self._connection.executemany(
            "UPDATE items SET tags = ?, updated_at = ? WHERE seq = ?",
            ((self.tag_list(tags), now, seq) for seq, tags in rows),
        )

    def add_changes(self, action_id: str, records: Sequence[tuple[str, str]]) -> None:
        self._connection.executemany(
            "INSERT OR REPLACE INTO action_items (user_id, action_id, item_id, change) VALUES (?, ?, ?, ?)",
            ((self.user_id, action_id, *record) for record in records),
        )

    def add_count(self, kind: str, key: str, number: int) -> None:
        if number:
            self.run(
                "INSERT INTO item_counts (user_id, kind, key, count) VALUES (:user, :kind, :key, :number) "
                "ON CONFLICT (user_id, kind, key) DO UPDATE SET count = item_counts.count + excluded.count",
                kind=kind,
                key=key,
                number=number,
            )

    def put_words(self, seq: int, head: str, body: str, count: int) -> None:
        packed = pack(body.encode())
        if self.all(
            "SELECT 1 FROM item_words WHERE seq = :seq AND head = :head AND body = :body",
            seq=seq,
            head=head,
            body=packed,
        ):
            return
        self.drop_words(seq)
        self.run(
            "INSERT INTO item_search (rowid, head, body) VALUES (:seq, :head, :body)", seq=seq, head=head, body=body
        )
        self.run(
            "INSERT INTO item_words (seq, words, head, body) VALUES (:seq, :count, :head, :body)",
            seq=seq,
            count=count,
            head=head,
            body=packed,
        )

    def add_words(self, rows: Sequence[tuple[int, str, str, int]]) -> None:
        packed = packer()
        self._connection.executemany(
            "INSERT INTO item_search (rowid, head, body) VALUES (?, ?, ?)", (row[:3] for row in rows)
        )
        self._connection.executemany(
            "INSERT INTO item_words (seq, words, head, body) VALUES (?, ?, ?, ?)",
            ((seq, count, head, packed(body.encode())) for seq, head, body, count in rows),
        )

    def drop_words(self, seq: int) -> None:
        for head, packed in self.all("SELECT head, body FROM item_words WHERE seq = :seq", seq=seq):
            self.run(
                "INSERT INTO item_search (item_search, rowid, head, body) VALUES ('delete', :seq, :head, :body)",
                seq=seq,
                head=head,
                body=unpack(packed).decode(),
            )
            self.run("DELETE FROM item_words WHERE seq = :seq", seq=seq)

    def select_term(self, term: Term, values: dict[str, Any], name: str) -> str:
        values[name] = _phrase(term)
        return f"SELECT rowid FROM item_search WHERE item_search MATCH :{name} AND rowid < :top AND rowid >= :bottom"

    def candidates(
        self, query: ItemQuery, where: Where, *, head: bool, top: int, bottom: int, limit: int
    ) -> list[tuple[int, str, str]]:
        values = {**where.values, "top": top, "bottom": bottom, "limit": limit}
        if query.terms:
            # CROSS JOIN keeps the order of the tables: the index returns rows newest first, and stops at the limit.
            index = "head_search" if head else "item_search"
            source = f"{index} s CROSS JOIN items i ON i.seq = s.rowid"
            found, order = f"s.rowid < :top AND s.rowid >= :bottom AND {index} MATCH :match", "s.rowid"
            values["match"] = " AND ".join(map(_phrase, query.terms))
            if not head:  # not in the syntax of FTS5, which would look for the next item that has them in its head
                found += f" AND NOT ({_in_head(query.terms, values)})"
        else:
            source, found, order = "items i", "i.seq < :top AND i.seq >= :bottom", "i.seq"
        if query.excluded and query.terms and not head:
            values["match"] = f"({values['match']}) NOT ({_any(query.excluded)})"
        elif query.excluded:
            found += " AND i.seq NOT IN (SELECT rowid FROM item_search WHERE item_search MATCH :excluded)"
            values["excluded"] = _any(query.excluded)
        rows = self.all(
            f"SELECT i.seq, w.head, w.body FROM {source} CROSS JOIN item_words w ON w.seq = i.seq "
            f"WHERE {found} AND {where} ORDER BY {order} DESC LIMIT :limit",
            **values,
        )
        return [(seq, found_head, unpack(packed).decode()) for seq, found_head, packed in rows]


def _in_head(terms: tuple[Term, ...], values: dict[str, Any]) -> str:
    """Return the condition that the head has all terms."""
    values |= {f"h_{number}": padded(term) for number, term in enumerate(terms)}
    return " AND ".join(f"INSTR(' ' || w.head || ' ', :h_{number}) > 0" for number in range(len(terms)))


def _any(terms: tuple[Term, ...]) -> str:
    return " OR ".join(map(_phrase, terms))


def _phrase(term: Term) -> str:
    """Quote the words, which contain only letters and digits, so none can end the quotation."""
    return f'"{" ".join(term.words)}"' + (" *" if term.prefix else "")


class SqliteEngine:
    """See `engine.Engine`. A connection is used by one thread at a time, and never after a fork."""

    def __init__(self, path: Path, user_id: str, *, everyone: bool = False, sign: Sign | None = None) -> None:
        self.user_id = user_id
        self.everyone = everyone
        self.sign = sign
        self.blobs: BlobFolder | None = BlobFolder(blob_root(path))
        self._path = path
        self._process = os.getpid()
        self._idle: list[sqlite3.Connection] = []
        self._inherited: list[sqlite3.Connection] = []
        self._closed = False
        try:
            with self._connection() as connection:
                migrate(connection, path)
        except BaseException:
            self.close()
            raise

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        if self._closed:
            raise StoreError("The library is closed.")
        self._forget_inherited()
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = connect(self._path)
        try:
            yield connection
        finally:
            self._put_back(connection)

    def _put_back(self, connection: sqlite3.Connection) -> None:
        """Keep the connection for the next use, unless the library was closed in the meantime."""
        if self._closed:
            connection.close()
        else:
            self._idle.append(connection)

    def _forget_inherited(self) -> None:
        """After a fork, leave the parent's connections alone: closing them here would release its locks."""
        if self._process != os.getpid():
            self._process, self._inherited, self._idle = os.getpid(), self._idle, []

    def read(self, work: Callable[[SqliteTransaction], T]) -> T:
        return self._do("BEGIN", work)

    def write(self, work: Callable[[SqliteTransaction], T]) -> T:
        return self._do("BEGIN IMMEDIATE", work)

    def _do(self, begin: str, work: Callable[[SqliteTransaction], T]) -> T:
        with self._connection() as connection:
            return retry_while_busy(lambda: _transact(connection, begin, work, self))

    def close(self) -> None:
        self._closed = True
        self._forget_inherited()
        while self._idle:
            self._idle.pop().close()

    def backup(self, path: str) -> BackupReport:
        target = Path(path)
        library_file.require_free(target, self._path)
        with self._connection() as connection, library_file.draft_of(target) as draft:
            _copy_pages(connection, draft)
            _refuse_broken(connection, draft, target)
            try:
                return library_file.replace_backup(draft, target, BlobFolder(blob_root(self._path)))
            except sqlite3.Error as error:
                refuse(error)

    @property
    def writable(self) -> bool:
        """Whether the library can be changed, and not only read."""
        return is_writable(self._path)

    def watch(self, lost: Callable[[], None], back: Callable[[], None]) -> None:
        """Do nothing: a file has no connection that can be lost."""

    def probe(self) -> None:
        """Raise `StoreError` when the library cannot be written, its disk is full, or its file is damaged."""
        if not self._path.exists():
            raise StoreError("The library is missing.", suggestions=("Restore its file, or a backup.",))
        if not self.writable:
            refuse_code(sqlite3.SQLITE_READONLY)
        if shutil.disk_usage(self._path.parent).free < MIN_FREE_BYTES:
            refuse_code(sqlite3.SQLITE_FULL)
        # Writes one page, and waits until it is on the disk.
        self.write(lambda tx: tx.run(f"PRAGMA user_version = {tx.all('PRAGMA user_version')[0][0]}"))
        with closing(retry_while_busy(lambda: _connect(self._path))) as connection:  # a new one: nothing is cached
            if retry_while_busy(lambda: has_broken_structure(connection)):
                refuse_code(sqlite3.SQLITE_CORRUPT)

    def faults(self) -> Iterator[str]:
        """Yield faults of the file, for all users."""
        for sql in ("PRAGMA integrity_check", "PRAGMA foreign_key_check"):
            for row in self.read(lambda tx, sql=sql: tx.all(sql)):  # type: ignore[misc]
                if row != ("ok",):
                    yield " ".join(map(str, row))
        if not self.writable:
            return
        for index in ("item_search", "head_search"):
            try:
                self.write(lambda tx, index=index: tx.run(f"INSERT INTO {index} ({index}) VALUES ('integrity-check')"))  # type: ignore[misc]
            except StoreError as error:
                yield f"The search index: {error.message}"


def _transact(
    connection: sqlite3.Connection, begin: str, work: Callable[[SqliteTransaction], T], engine: SqliteEngine
) -> T:
    try:
        connection.execute(begin)
        try:
            result = work(SqliteTransaction(connection, engine.user_id, engine.sign))
        finally:
            connection.set_progress_handler(None, 0)
        connection.execute("COMMIT")
    except BaseException:
        _roll_back(connection)
        raise
    return result


_BUSY_CODES: Final = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)
_PRIMARY_CODE: Final = 0xFF
"""Mask for the primary code of an extended result code."""


def is_busy(error: sqlite3.Error) -> bool:
    """Return whether another connection held a lock, so that the same may work later."""
    return (getattr(error, "sqlite_errorcode", None) or 0) & _PRIMARY_CODE in _BUSY_CODES


_UNEXPECTED: Final = ("The library failed unexpectedly.", "Run `pagekeep doctor`, and report the fault.")
_REASONS: Final[dict[int, tuple[str, str]]] = {
    sqlite3.SQLITE_FULL: ("The disk is full.", "Free some space; nothing that was saved is lost."),
    sqlite3.SQLITE_IOERR: ("The disk could not be read or written.", "Check that it has free space and works."),
    sqlite3.SQLITE_READONLY: (
        "The library is read-only: it can be read, but not changed.",
        "Check the permissions of the file and its folder.",
    ),
    sqlite3.SQLITE_CANTOPEN: ("The library cannot be opened.", "Check the path and its permissions."),
    sqlite3.SQLITE_NOTADB: (
        "The file is not a Pagekeep library, or its beginning is damaged.",
        "Choose another file. To save what can be read of a damaged library: `pagekeep repair LIBRARY`.",
    ),
    sqlite3.SQLITE_CORRUPT: ("The library is damaged.", REPAIR),
    sqlite3.SQLITE_TOOBIG: ("The page is too large to store.", "Save only the part you need."),
}


def refuse(error: sqlite3.Error) -> NoReturn:
    """Raise the error as a `StoreError`."""
    code = (getattr(error, "sqlite_errorcode", None) or 0) & _PRIMARY_CODE
    if code in _BUSY_CODES:
        raise StoreError(
            "Another process has been writing to the library for too long.", suggestions=("Stop it and try again.",)
        ) from error
    if code == sqlite3.SQLITE_INTERRUPT:
        raise took_too_long() from error
    if not code and str(error).startswith("Could not decode to UTF-8"):  # the module gives no code for this
        code = sqlite3.SQLITE_CORRUPT
    refuse_code(code, error)


def refuse_code(code: int, error: Exception | None = None) -> NoReturn:
    """Raise the failure that a primary result code means as a `StoreError`."""
    message, suggestion = _REASONS.get(code, _UNEXPECTED)
    raise StoreError(message, suggestions=(suggestion,)) from error
