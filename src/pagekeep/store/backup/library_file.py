"""The file of an SQLite library: damage in it, and its backup as one file, which is a library itself."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from time import monotonic
from typing import Any, Final

from pagekeep.errors import Conflict, StoreError
from pagekeep.private_files import private
from pagekeep.store.backup import dump
from pagekeep.store.backup.damage import (
    TEXT_COLUMNS,
    BackupReport,
    DamagedText,
    find_damaged_texts,
    read_text,
    refuse_worse,
    text_columns,
)
from pagekeep.store.backup.restoring import describe_body, describe_text
from pagekeep.store.blob_files import BlobFolder, blob_root, is_intact, sync_folder
from pagekeep.store.storable import is_row_sound

_UNUSED_SECONDS: Final = 3_600.0
"""Age at which kept files that the copy does not name are removed: younger ones may be those of a backup that runs now."""
_ABANDONED_SECONDS: Final = 86_400.0
"""Age at which a draft is certainly one of a backup that was killed."""


@contextmanager
def draft_of(target: Path) -> Iterator[Path]:
    """Give the path for a draft of the backup, which is removed at the end unless it got the name of the backup."""
    for old in target.parent.glob(f"{target.name}.*.part*"):
        if old.stat().st_mtime < time.time() - _ABANDONED_SECONDS:
            old.unlink(missing_ok=True)
    draft = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        yield draft
    except OSError as error:
        raise StoreError(
            f"The copy could not be written to {target}.", suggestions=("Check the path and the free disk space.",)
        ) from error
    finally:
        for suffix in ("", "-wal", "-shm"):
            draft.with_name(f"{draft.name}{suffix}").unlink(missing_ok=True)


def require_free(target: Path, library: Path) -> None:
    """Raise `Conflict` when a backup must not replace the file: it is the library itself, or in use as a library."""
    if target.exists() and target.samefile(library):
        raise Conflict(f"{target} is the library itself.", suggestions=("Name another file for the backup.",))
    log = target.with_name(f"{target.name}-wal")
    if log.exists() and log.stat().st_size:
        raise Conflict(
            f"{target} is in use as a library, and was not replaced.",
            suggestions=("Stop the programs that use it, or name another file for the backup.",),
        )


def replace_backup(draft: Path, target: Path, library: BlobFolder) -> BackupReport:
    """Mend a copy of a library, copy its kept files, and replace the earlier backup by it; return what is damaged.

    `StoreError`, and the earlier backup stays, when that has something good that the new one would not have.
    """
    report = BackupReport()
    with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
        report.items = connection.execute("SELECT COUNT(*) FROM items").fetchone()[0]
        _mend(connection, target, report)
        kept = _kept_files(connection)
        missing = [file for file in kept if not _copy_file(library, BlobFolder(blob_root(target)), *file, report)]
        _drop_unused(connection, missing, report)
    with draft.open("rb+") as file:
        os.fsync(file.fileno())
    new, old = _digest(draft), _read_digests(target)
    if not old and target.exists():  # an earlier version, which noted none, wrote it
        old = [_digest(target)]
    _write_digests(target, [*old, new])  # until the file is replaced, both are right
    draft.replace(target)
    sync_folder(target.absolute().parent)
    _write_digests(target, [new])
    names = {name for name, _ in kept}
    BlobFolder(blob_root(target)).remove_unused(names.__contains__, _UNUSED_SECONDS)
    return report


def _mend(connection: sqlite3.Connection, earlier: Path, report: BackupReport) -> None:
    """Take damaged texts and raw pages from the earlier backup, where it has them; report the others."""
    texts, bodies = _damaged_texts(connection), _damaged_bodies(connection)
    if not texts and not bodies:
        return
    older = []
    connection.execute("BEGIN IMMEDIATE")
    # What keeps counts goes on; a mended text is not a change that is sent on.
    triggers = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND name = 'item_changed'"
    )
    definitions = triggers.fetchall()
    for name, _ in definitions:
        connection.execute(f"DROP TRIGGER {name}")
    for text in texts:
        row = _read_earlier(
            earlier,
            f"SELECT {', '.join(text_columns('CAST({} AS BLOB)'))} FROM items WHERE user_id = ? AND id = ?",
            (text.item.user_id, text.item.id),
        )
        copy = None
        if row is not None:
            values = dict(zip(TEXT_COLUMNS, row, strict=True))
            copy = text.good_copy(values)
            if copy is None and is_row_sound({**values, "content": read_text(values["content"])}):
                older.append(text)
        if copy is None:
            report.damaged_texts.append(text.item.id)
            continue
        report.recovered_texts.append(text.item.id)
        stored = connection.execute(
            "SELECT metadata FROM items WHERE user_id = ? AND id = ?", (text.item.user_id, text.item.id)
        ).fetchone()[0]
        metadata = json.dumps(copy.with_hashes(json.loads(stored)), ensure_ascii=False, separators=(",", ":"))
        connection.execute(
            "UPDATE items SET content = ?, metadata = ? WHERE user_id = ? AND id = ?",
            (copy.content, metadata if copy.hashes else stored, text.item.user_id, text.item.id),
        )
    refuse_worse(earlier, older)
    for user, name in bodies:
        row = _read_earlier(earlier, "SELECT body FROM raw_bodies WHERE user_id = ? AND hash = ?", (user, name))
        if row is None or not is_intact(name, "zstd", row[0]):
            report.damaged.append(name)
            continue
        report.recovered.append(name)
        connection.execute(
            "UPDATE raw_bodies SET body = ?, packed = ? WHERE user_id = ? AND hash = ?",
            (row[0], len(row[0]), user, name),
        )
    for _, definition in definitions:
        connection.execute(definition)
    connection.execute("COMMIT")


def _damaged_texts(connection: sqlite3.Connection) -> list[DamagedText]:
    if not has_table(connection, "items"):
        return []
    return find_damaged_texts(
        connection.execute(f"SELECT {', '.join(text_columns('CAST({} AS BLOB)'))} FROM items ORDER BY seq")
    )


def _damaged_bodies(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    if not has_table(connection, "raw_bodies"):
        return []
    rows = connection.execute("SELECT user_id, hash, body FROM raw_bodies")
    return [(user, name) for user, name, body in rows if not is_intact(name, "zstd", body)]


def _read_earlier(earlier: Path, sql: str, values: Sequence[Any]) -> tuple[Any, ...] | None:
    """Return a row of the earlier backup; None when there is none, or when it cannot be read."""
    try:
        with closing(_open_unchanged(earlier)) as connection:
            row: tuple[Any, ...] | None = connection.execute(sql, values).fetchone()
            return row
    except (sqlite3.Error, UnicodeDecodeError):
        return None


def _open_unchanged(path: Path) -> sqlite3.Connection:
    """Open a file that no program writes to; nothing is created beside it."""
    return sqlite3.connect(f"{path.absolute().as_uri()}?immutable=1", uri=True)


def _kept_files(connection: sqlite3.Connection) -> list[tuple[str, str | None]]:
    if not has_table(connection, "blobs"):
        return []
    return connection.execute("SELECT DISTINCT hash, encoding FROM blobs ORDER BY hash").fetchall()


def _copy_file(library: BlobFolder, target: BlobFolder, name: str, encoding: str | None, report: BackupReport) -> bool:
    """Copy a kept file, unless the backup has it; return whether the backup has it then, with the right content."""
    try:
        data = library.read_intact(name, encoding)
    except StoreError:
        has_copy = target.has_intact(name, encoding)
        if has_copy:
            report.recovered.append(name)
        return has_copy
    if not target.has_intact(name, encoding):
        target.write(name, encoding, data)
        if not target.has_intact(name, encoding):
            raise StoreError(
                f"The kept file {name:.12} was written to the backup, and is damaged there.",
                suggestions=("Check the disk of the backup. The earlier backup was not changed.",),
            )
    return True


def _drop_unused(
    connection: sqlite3.Connection, missing: Sequence[tuple[str, str | None]], report: BackupReport
) -> None:
    """Forget missing files that no item uses: a program has removed them meanwhile. The others are damage."""
    for name, _ in missing:
        if connection.execute("SELECT 1 FROM item_blobs WHERE hash = ? LIMIT 1", (name,)).fetchone():
            report.damaged.append(name)
        else:
            connection.execute("DELETE FROM blobs WHERE hash = ?", (name,))


def _digest_file(backup: Path) -> Path:
    return backup.with_name(f"{backup.name}.sha256")


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read_digests(backup: Path) -> list[str]:
    """Return the digests that the backup may have; none when they were not noted."""
    try:
        lines = _digest_file(backup).read_text("utf-8", "replace").splitlines()
    except OSError:
        return []
    return [line.partition(" ")[0] for line in lines]


def _write_digests(backup: Path, digests: Sequence[str]) -> None:
    path = _digest_file(backup)
    draft = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with open(draft, "w", encoding="utf-8", opener=private) as file:
            file.writelines(f"{digest}  {backup.name}\n" for digest in digests)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        sync_folder(path.absolute().parent)
    finally:
        draft.unlink(missing_ok=True)


def check(backup: Path) -> list[str]:
    """Return what is missing or damaged in a backup file and its kept files, or was when the backup was made."""
    digests = _read_digests(backup)
    faults = []
    if digests and _digest(backup) not in digests:
        faults.append(
            f"{backup.name} is not as it was written: it is damaged, or was changed as a library since (then back it up)."
        )
    with closing(_open_unchanged(backup)) as connection:
        broken = find_broken_rows(connection)
        if broken:
            return [*faults, *broken]
        faults += [describe_text(text.item.id, text.item.title) for text in _damaged_texts(connection)]
        faults += [describe_body("raw_bodies", name) for _, name in _damaged_bodies(connection)]
        folder = BlobFolder(blob_root(backup))
        faults += [
            describe_body("blobs", name)
            for name, encoding in _kept_files(connection)
            if not folder.has_intact(name, encoding)
        ]
    return faults


def restore(backup: Path, target: Path) -> None:
    """Copy a backup that was checked, with its kept files, to a new library, which gets its name last."""
    draft = target.with_name(f".{target.name}.part")
    try:
        shutil.copyfile(backup, draft)
        with draft.open("rb+") as file:
            os.fsync(file.fileno())
        if _digest(draft) != _digest(backup):
            raise StoreError("The copy is damaged.", suggestions=("Check the disk of the new library.",))
        old, new = BlobFolder(blob_root(backup)), BlobFolder(blob_root(target))
        with closing(_open_unchanged(draft)) as connection:
            for name, encoding in _kept_files(connection):
                new.write(name, encoding, old.read_intact(name, encoding))
        draft.replace(target)
        sync_folder(target.absolute().parent)
    finally:
        draft.unlink(missing_ok=True)


MAX_FAULTS: Final = 20
"""Faults that are listed: one damaged page often causes hundreds."""
MAX_QUICK_SECONDS: Final = 2.0
"""Time for the check of a running server: enough for about 200 MB."""
REPAIR: Final = "Run `pagekeep repair LIBRARY` to save everything that can still be read into a new library."
_TEXTS: Final = "SELECT id, url, url_full, title, author, content, metadata FROM items"


def find_damage(connection: sqlite3.Connection) -> list[str]:
    """Return what is damaged in the file: its structure, texts that cannot be decoded, and raw pages whose hash is wrong."""
    return _find(connection, _structure, _texts, _raw_pages)


def find_broken_rows(connection: sqlite3.Connection) -> list[str]:
    """Return what is damaged in the file such that it cannot be used: its structure, and values that cannot be decoded.

    The texts of items are left out: their hashes are compared, and they can be taken from a backup.
    """
    return _find(connection, _structure, _values)


def _find(connection: sqlite3.Connection, *checks: Callable[[sqlite3.Connection], Iterator[str]]) -> list[str]:
    faults: list[str] = []
    for check in checks:
        try:
            for fault in check(connection):
                faults.append(fault)
                if len(faults) >= MAX_FAULTS:
                    return faults
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # also of SQLite's own message
            if (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise  # the caller tries again
            faults.append(str(error))
    return faults


def has_broken_structure(connection: sqlite3.Connection, seconds: float = MAX_QUICK_SECONDS) -> bool:
    """Return whether a quick check finds a fault; it ends after some time, with those parts checked that it reached."""
    deadline = monotonic() + seconds
    connection.set_progress_handler(lambda: int(monotonic() > deadline), 10_000)
    try:
        return bool(connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",))
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
            return False
        raise
    finally:
        connection.set_progress_handler(None, 0)


def _structure(connection: sqlite3.Connection) -> Iterator[str]:
    for (text,) in connection.execute(f"PRAGMA integrity_check({MAX_FAULTS})"):
        if text != "ok":
            yield from str(text).splitlines()


def _texts(connection: sqlite3.Connection) -> Iterator[str]:
    """Read all texts of items: decoding raises an error at the first that is not UTF-8."""
    if has_table(connection, "items"):
        for row in connection.execute(_TEXTS):
            if not row[0]:
                yield f"The item {row[0]} is damaged."


def _values(connection: sqlite3.Connection) -> Iterator[str]:
    """Read all rows that are part of a backup: decoding raises an error at the first text that is not UTF-8."""
    for table, (_, columns) in dump.TABLES.items():
        found = {name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")} - {"body", "content"}
        names = [name for name in columns if name in found]  # old libraries lack some
        if names:
            for row in connection.execute(f"SELECT {', '.join(names)} FROM {table}"):
                if row[0] is None:
                    yield f"A row of `{table}` has no owner."


def _raw_pages(connection: sqlite3.Connection) -> Iterator[str]:
    if not has_table(connection, "raw_bodies"):
        return
    for name, packed in connection.execute("SELECT hash, body FROM raw_bodies"):
        if not is_intact(name, "zstd", packed):
            yield f"The raw page {name:.12} is damaged."


def has_table(connection: sqlite3.Connection, name: str) -> bool:
    """Return whether a table exists: old libraries lack some."""
    rows = connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (name,))
    return rows.fetchone() is not None
