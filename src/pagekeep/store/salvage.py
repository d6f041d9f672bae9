"""Saving what can be read of a damaged library file into a new library, row by row."""

from __future__ import annotations

import mmap
import os
import re
import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pagekeep.errors import Conflict, NotFound, StoreError
from pagekeep.model import Item
from pagekeep.private_files import make_folder
from pagekeep.store import sqlite
from pagekeep.store.backup.restoring import drop_unused_bodies, end_incomplete_crawls
from pagekeep.store.backup.salvaged_tables import ADDED_COLUMNS, SALVAGED_TABLES
from pagekeep.store.blobs.folder import BlobFolder, blob_root
from pagekeep.store.metadata_json import metadata_from_json
from pagekeep.store.packing import is_intact
from pagekeep.store.sqlite_check import find_broken_rows, find_damage
from pagekeep.store.sqlite_pages import INDEX_INTERIOR, INDEX_LEAF, TABLE_LEAF, Pages, Row
from pagekeep.store.storable import ITEM_TIMES, clean_id, clean_item, clean_time
from pagekeep.store.tables.items import COLUMNS as ITEM
from pagekeep.store.tables.items import WRITTEN, column_values, index, read_metadata
from pagekeep.store.tables.numbers import give_missing
from pagekeep.store.tables.reading.annotation_words import index_all_words
from pagekeep.store.text_stamp import is_text_sound

_NO_TIME: Final = "1970-01-01T00:00:00.000000Z"
"""Written in place of a time that cannot be read."""
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z?")
_LISTED: Final = {
    "annotations": "annotation",
    "raw_pages": "raw page",
    "snapshots": "version",
    "raw_bodies": "raw page",
}


@dataclass(slots=True)
class Salvage:
    """What was saved from a damaged library, and what was not."""

    saved: Counter[str] = field(default_factory=Counter)
    """Rows in the new library, by table."""
    lost_items: dict[int, dict[str, str | None]] = field(default_factory=dict)
    """Items that the indexes name but that cannot be read: id, title (as it is sorted) and URL where known."""
    notes: list[str] = field(default_factory=list)
    """Everything else that is lost or incomplete."""

    @property
    def complete(self) -> bool:
        """Return whether nothing is lost."""
        return not self.lost_items and not self.notes


def salvage(source: Path, target: Path) -> Salvage:
    """Write everything that can be read of the library `source`, of all users, to the new library `target`.

    The damaged file is only read. `NotFound` when there is none, `Conflict` when the target exists, `StoreError` when no
    item can be read.
    """
    if not source.is_file():
        raise NotFound(f"No library at {source}.", suggestions=("Check the path.",))
    if target.exists():
        raise Conflict(f"{target} exists already.", suggestions=("Choose another name for the new library.",))
    try:
        with tempfile.TemporaryDirectory(prefix=".repair-", dir=target.parent) as folder:
            pages = Pages(_read(source, Path(folder)))
            draft = Path(folder) / "new.db"
            report = _Salvager(pages, draft).run()
            report.notes += _note_damage(Path(folder) / "copy.db")
            _copy_blobs(source, target, draft, report)
            with draft.open("rb+") as file:
                os.fsync(file.fileno())
            draft.replace(target)
    except OSError as error:
        raise StoreError(
            f"The library could not be copied to {target}.", suggestions=("Check the path and the free disk space.",)
        ) from error
    return report


def _copy_blobs(source: Path, target: Path, draft: Path, report: Salvage) -> None:
    """Put the kept files of the new library beside it; as links to the old files where the disk can do that.

    Those that are missing or damaged are noted, and the new library does not name them.
    """
    old, new = BlobFolder(blob_root(source)), BlobFolder(blob_root(target))
    with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        for name, encoding in connection.execute("SELECT DISTINCT hash, encoding FROM blobs").fetchall():
            here, there = old.path(name, encoding), new.path(name, encoding)
            if not old.has_intact(name, encoding):
                rows = connection.execute("DELETE FROM item_blobs WHERE hash = ? RETURNING source", (name,)).fetchall()
                report.saved["item_blobs"] -= len(rows)
                report.saved["blobs"] -= connection.execute("DELETE FROM blobs WHERE hash = ?", (name,)).rowcount
                report.notes += [f"A kept file is missing or damaged: {name} ({url:.200})" for (url,) in rows]
            elif not there.exists():
                make_folder(there.parent)
                try:
                    os.link(here, there)
                except OSError:
                    shutil.copyfile(here, there)
        connection.execute("COMMIT")


def _read(source: Path, folder: Path) -> bytes | mmap.mmap:
    """Return the file with the changes of its write-ahead log, which SQLite puts into a copy if it can."""
    copy = folder / "copy.db"
    shutil.copyfile(source, copy)
    log = source.with_name(f"{source.name}-wal")
    if log.exists():
        shutil.copyfile(log, copy.with_name("copy.db-wal"))
        with suppress(sqlite3.Error, UnicodeDecodeError), closing(sqlite3.connect(copy)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    if not copy.stat().st_size:
        return b""
    with copy.open("rb") as file:  # mapped, not read: a library may be larger than the memory
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _note_damage(copy: Path) -> list[str]:
    """Return a note when the file is damaged, as rows may be lost that nothing else names, such as jobs."""
    with closing(sqlite3.connect(copy)) as connection:
        faults = find_damage(connection) or find_broken_rows(connection)
    return [f"Other rows on damaged pages cannot be listed. The first fault: {faults[0]}"] if faults else []


class _Salvager:
    """Copies the rows of the pages into a new library."""

    def __init__(self, pages: Pages, draft: Path) -> None:
        self._pages = pages
        self._draft = draft
        self._report = Salvage()
        self._leaves: dict[int, list[int]] = {}
        """Numbers of the pages with rows, by the number of columns of their first row."""
        for number in pages.leaves(TABLE_LEAF):
            first = next(pages.rows(number), None)
            if first is not None:
                self._leaves.setdefault(len(first.values), []).append(number)

    def run(self) -> Salvage:
        with closing(sqlite.connect(self._draft)) as connection:
            sqlite.migrate(connection, self._draft)
            connection.execute("BEGIN IMMEDIATE")
            for table in SALVAGED_TABLES:
                for row, values in self._rows(table):
                    self._keep(connection, table, row, values)
            if not self._report.saved["items"]:
                raise StoreError("No item can be read in this file.", suggestions=("Restore a backup.",))
            unused = 0
            for (user,) in connection.execute(
                "SELECT user_id FROM items UNION SELECT user_id FROM raw_bodies UNION SELECT user_id FROM crawls"
            ).fetchall():
                tx = sqlite.SqliteTransaction(connection, user)
                unused += drop_unused_bodies(tx)
                self._report.notes += end_incomplete_crawls(tx)
                give_missing(tx)
                index_all_words(tx)
            self._report.saved["raw_bodies"] -= unused
            if unused:
                self._report.notes.append(f"Raw pages without their item: {unused}.")
            self._list_lost(connection)
            connection.execute("COMMIT")
            connection.execute("PRAGMA journal_mode = DELETE").fetchall()
        if not self._pages.free_intact:
            self._report.notes.append(
                "The list of free pages is damaged: items that were deleted permanently may be back."
            )
        return self._report

    def _rows(self, table: str) -> Iterator[tuple[Row, dict[str, Any]]]:
        """Yield the rows of a table. If free pages are unknown, it may have old copies: the newest comes first."""
        names = SALVAGED_TABLES[table][0].split()
        rows = self._table_rows(table, names)
        if self._pages.free_intact or "updated_at" not in names:
            return rows
        return iter(sorted(rows, key=lambda pair: str(pair[1]["updated_at"]), reverse=True))

    def _table_rows(self, table: str, names: list[str]) -> Iterator[tuple[Row, dict[str, Any]]]:
        kinds = SALVAGED_TABLES[table][1]
        counts = range(len(names) - ADDED_COLUMNS.get(table, 0), len(names) + 1)
        for number in (number for count in counts for number in self._leaves.get(count, ())):
            for row in self._pages.rows(number):
                if len(row.values) in counts and all(map(_fits, kinds, row.values, row.texts)):
                    values = {
                        name: value.decode("utf-8", "replace") if isinstance(value, bytes) and text else value
                        for name, value, text in zip(names, row.values, row.texts, strict=False)
                    }
                    yield row, values

    def _keep(self, connection: sqlite3.Connection, table: str, row: Row, values: dict[str, Any]) -> None:
        """Put a row into the new library, or note why not."""
        if "seq" in values:
            values["seq"] = row.rowid
        cut = bool(row.missing) and table != "items"
        if cut or (table == "raw_bodies" and not is_intact(values["hash"], "zstd", values["body"])):
            self._lose(table, values, "is damaged")
            return
        connection.execute("SAVEPOINT one")
        try:
            if table == "items":
                self._keep_item(connection, row, values)
            else:
                names = ", ".join(values)
                marks = ", ".join(f":{name}" for name in values)
                connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", values)
            self._report.saved[table] += 1
        except (sqlite3.IntegrityError, sqlite3.DataError, StoreError, ValueError, TypeError) as error:
            connection.execute("ROLLBACK TO one")
            if not (isinstance(error, sqlite3.IntegrityError) and "UNIQUE" in str(error)):  # an older copy of a row
                self._lose(table, values, "has lost what it belongs to")
        connection.execute("RELEASE one")

    def _keep_item(self, connection: sqlite3.Connection, row: Row, values: dict[str, Any]) -> None:
        faults = ["the end of its text is missing"] if row.missing else []
        if any("\ufffd" in str(values[name]) and not _is_utf8(value) for name, value in _texts(row)):
            faults.append("some characters are damaged")
        try:
            metadata = read_metadata(values["metadata"], None if row.missing else values.get("tags"))
        except (StoreError, ValueError, TypeError, AttributeError):
            metadata = metadata_from_json({})
            faults.append("its tags and notes are lost")
        fields = {name: values[name] for name in ITEM} | {"metadata": metadata}
        for name in ITEM_TIMES:
            try:
                clean_time(fields[name] or _NO_TIME)
            except StoreError:
                fields[name] = _NO_TIME
                faults.append(f"its {name.replace('_', ' ')} is lost")
        if not faults and not is_text_sound(Item(**fields)):
            faults.append("its text does not have the hash that was recorded with it")
        item = clean_item(Item(**fields))
        tx = sqlite.SqliteTransaction(connection, item.user_id)
        names = ("seq", *WRITTEN)
        tx.run(
            f"INSERT INTO items ({', '.join(names)}) VALUES ({', '.join(f':{name}' for name in names)})",
            **column_values(tx, item),
            seq=row.rowid,
        )
        index(tx, item, row.rowid)
        if faults:
            self._report.notes.append(f"Item {item.id} ({item.title:.60}): {', '.join(faults)}.")

    def _lose(self, table: str, values: dict[str, Any], why: str) -> None:
        kind = _LISTED.get(table, f"row of {table}")
        name = values.get("final_url") or values.get("quote") or values.get("url") or values.get("hash") or ""
        note = f", note: {values['note']}" if values.get("note") else ""
        self._report.notes.append(f"A {kind} {why}: {name:.200}{note}")

    def _list_lost(self, connection: sqlite3.Connection) -> None:
        """List the items that indexes, which have the form (user, something, item id, row number), name."""
        saved = {row[0] for row in connection.execute("SELECT id FROM items")}
        urls = {
            values["item_id"]: values["final_url"]
            for _, values in self._table_rows("raw_pages", SALVAGED_TABLES["raw_pages"][0].split())
        }
        for number in self._pages.leaves(INDEX_LEAF, INDEX_INTERIOR):
            for row in self._pages.rows(number):
                if row.texts != [True, True, True, False] or not isinstance(row.values[3], int):
                    continue
                key, item_id = (bytes(value).decode("utf-8", "replace") for value in row.values[1:3])  # type: ignore[arg-type]
                if item_id in saved or clean_id(item_id) != item_id:
                    continue
                lost = self._report.lost_items.setdefault(
                    row.values[3], {"id": item_id, "title": None, "url": urls.get(item_id)}
                )
                if key and not _TIME.match(key):
                    lost["title"] = key


def _fits(kind: str, value: Any, text: bool) -> bool:
    """Return whether a value has the type of its column."""
    if value is None:
        return kind in "-td%"
    if kind in "Dd":
        return text and _TIME.match(bytes(value).decode("latin-1")) is not None
    if kind == "J":
        return text and bytes(value).startswith(b"{")
    if kind == "B":
        return not text and isinstance(value, bytes)
    return isinstance(value, int) if kind in "#%" else text


def _texts(row: Row) -> Iterator[tuple[str, bytes]]:
    names = SALVAGED_TABLES["items"][0].split()
    return (
        (name, value)
        for name, value, text in zip(names, row.values, row.texts, strict=True)
        if text and isinstance(value, bytes)
    )


def _is_utf8(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True
