"""Saving what can be read of a damaged library file into a new library, row by row."""

from __future__ import annotations

import mmap
import os
import re
import shutil
import sqlite3
import struct
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from pagekeep.errors import Conflict, NotFound, StoreError
from pagekeep.model import Item
from pagekeep.private_files import make_folder
from pagekeep.store import sqlite
from pagekeep.store.backup.library_file import find_broken_rows, find_damage
from pagekeep.store.backup.restoring import drop_unused_bodies, end_incomplete_crawls
from pagekeep.store.blob_files import BlobFolder, blob_root, is_intact
from pagekeep.store.storable import ITEM_TIMES, clean_id, clean_item, clean_time, is_text_sound, metadata_from_json
from pagekeep.store.tables.item_rows import COLUMNS as ITEM
from pagekeep.store.tables.item_rows import WRITTEN, column_values, give_missing_numbers, index_item, read_metadata
from pagekeep.store.tables.reading import index_all_words

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
                give_missing_numbers(tx)
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
        index_item(tx, item, row.rowid)
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


Value = int | float | bytes | None | str
TABLE_LEAF: Final = 0x0D
INDEX_LEAF: Final = 0x0A
INDEX_INTERIOR: Final = 0x02
_MAGIC: Final = b"SQLite format 3\x00"
_FILE_HEADER: Final = 100
"""Bytes of the file header, at the beginning of page 1."""
_DEFAULT_PAGE: Final = 2048
"""The page size of every library, for a file whose header is damaged."""
_INTEGER_BYTES: Final = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 7: 8, 8: 0, 9: 0}


class Row(NamedTuple):
    """A row of a table or an entry of an index."""

    rowid: int
    """0 in an index, where it is the last value."""
    values: list[Value]
    """Texts are bytes here."""
    texts: list[bool]
    """Which values are texts."""
    missing: int
    """Bytes that could not be read, at the end of the last value."""


class Pages:
    """The pages of a file."""

    def __init__(self, data: bytes | mmap.mmap) -> None:
        self._data = data
        self.header_intact = data[:16] == _MAGIC
        size = int.from_bytes(data[16:18])
        size = 65536 if size == 1 else size
        if not self.header_intact or size < 512 or size & (size - 1):
            self.header_intact, size = False, _DEFAULT_PAGE
        self.size = size
        self.count = len(data) // size
        self.free: set[int] = set()
        """Numbers of the free pages."""
        self.free_intact = self.header_intact and self._read_free_list()

    def leaves(self, *kinds: int) -> Iterator[int]:
        """Yield the numbers of the used pages of these kinds, from 1."""
        for number in range(1, self.count + 1):
            start = (number - 1) * self.size + (_FILE_HEADER if number == 1 else 0)
            if self._data[start] in kinds and number not in self.free:
                yield number

    def rows(self, number: int) -> Iterator[Row]:
        """Yield the rows of a page that can be read."""
        page = self._page(number)
        start = _FILE_HEADER if number == 1 else 0
        kind = page[start]
        cells = start + (12 if kind == INDEX_INTERIOR else 8)
        for index in range(int.from_bytes(page[start + 3 : start + 5])):
            pointer = page[cells + 2 * index : cells + 2 * index + 2]
            try:
                yield self._row(page, int.from_bytes(pointer), kind)
            except (IndexError, ValueError, struct.error):
                continue

    def _page(self, number: int) -> bytes:
        return self._data[(number - 1) * self.size : number * self.size]

    def _read_free_list(self) -> bool:
        """Collect the free pages; return False when the list is damaged."""
        trunk, total = int.from_bytes(self._data[32:36]), int.from_bytes(self._data[36:40])
        while trunk:
            if trunk > self.count or trunk in self.free:
                return False
            page = self._page(trunk)
            count = int.from_bytes(page[4:8])
            if count > self.size // 4 - 2:
                return False
            self.free |= {trunk, *struct.unpack_from(f">{count}I", page, 8)}
            trunk = int.from_bytes(page[:4])
        return len(self.free) == total

    def _row(self, page: bytes, at: int, kind: int) -> Row:
        if at < 8 or at >= self.size:
            raise ValueError
        if kind == INDEX_INTERIOR:
            at += 4  # the number of the child page
        length, at = _varint(page, at)
        rowid, most = 0, (self.size - 12) * 64 // 255 - 23
        if kind == TABLE_LEAF:
            rowid, at = _varint(page, at)
            most = self.size - 35
        payload = self._payload(page, at, length, most)
        return _decode(rowid, payload, length)

    def _payload(self, page: bytes, at: int, length: int, most: int) -> bytes:
        """Return the bytes of a row, with those on its overflow pages as far as they can be read."""
        if length > len(self._data):
            raise ValueError
        if length <= most:
            return page[at : at + length]
        least = (self.size - 12) * 32 // 255 - 23
        local = least + (length - least) % (self.size - 4)
        local = local if local <= most else least
        parts, left = [page[at : at + local]], length - local
        following = int.from_bytes(page[at + local : at + local + 4])
        while left > 0:
            if not 1 < following <= self.count or following in self.free:
                return b"".join(parts)
            overflow = self._page(following)
            following = int.from_bytes(overflow[:4])
            part = overflow[4 : 4 + left]
            if not (following == 0 if len(part) == left else 1 < following <= self.count):
                return b"".join(parts)  # this page is damaged: its pointer is wrong, so its content is too
            parts.append(part)
            left -= len(part)
        return b"".join(parts)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of 1 to 9 bytes, and the position after it."""
    value = 0
    for index in range(8):
        byte = data[at + index]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + index + 1
    value = value << 8 | data[at + 8]
    return (value - (1 << 64) if value >> 63 else value), at + 9


def _decode(rowid: int, payload: bytes, length: int) -> Row:
    """Return the values of a row; `ValueError` when it is damaged anywhere but in its last value."""
    end, at = _varint(payload, 0)
    if not 0 < end <= min(length, len(payload)):
        raise ValueError
    types = []
    while at < end:
        serial, at = _varint(payload, at)
        types.append(serial)
    if at != end or not types or min(types) < 0 or {10, 11} & set(types):
        raise ValueError
    sizes = [_INTEGER_BYTES[serial] if serial < 10 else (serial - 12) // 2 for serial in types]
    if end + sum(sizes) != length:
        raise ValueError
    missing = length - len(payload)
    if missing > sizes[-1]:
        raise ValueError
    values: list[Value] = []
    for serial, size in zip(types, sizes, strict=True):
        values.append(_value(serial, payload[at : at + size]))
        at += size
    return Row(rowid, values, [serial >= 13 and serial % 2 == 1 for serial in types], missing)


def _value(serial: int, data: bytes) -> Value:
    if serial == 0:
        return None
    if serial == 7:
        return float(struct.unpack(">d", data)[0])
    if serial in (8, 9):
        return serial - 8
    return int.from_bytes(data, signed=True) if serial < 7 else data


SALVAGED_TABLES: Final[dict[str, tuple[str, str]]] = {
    "users": ("id name password disabled created_at", "TTt#D"),
    "tokens": ("id digest user_id name scopes created_at last_used_at expires_at", "TTTTTDdd"),
    "identities": ("issuer subject user_id created_at", "TTTD"),
    "items": (
        "seq user_id id url_hash domain_key title_key saved_at published_at created_at updated_at last_opened_at deleted_at "
        "metadata source domain url url_full title author content tags",
        "-TTTTTDtDDddTTTTTTtTt",
    ),
    "item_numbers": ("user_id item_id number", "TT#"),
    "raw_bodies": ("user_id hash size packed body", "TT##B"),
    "raw_pages": (
        "user_id item_id hash encoding content_type final_url status rendered fetched_at etag last_modified headers",
        "TTTtTT##Dttt",
    ),
    "snapshots": (
        "user_id item_id number hash encoding content_type final_url status rendered fetched_at etag last_modified headers "
        "source pinned",
        "TT#TtTT##DtttT#",
    ),
    "annotations": ("user_id id item_id quote before after note colour created_at updated_at", "TTTTTTTtDD"),
    "reading_states": (
        "user_id item_id state chosen progress block block_offset updated_at read_at",
        "TTT####Dd",
    ),
    "jobs": (
        "seq user_id id url_hash url url_full options state attempts error run_after due_at leased_by leased_until created_at",
        "-TTTTTJT#tDdtdD",
    ),
    "blobs": ("user_id hash size stored encoding unused_at", "TT##td"),
    "item_blobs": (
        "seq user_id item_id role source_hash variant position state reason hash size width height created_at media_type "
        "source",
        "-TTTTT#Ttt%%%DTT",
    ),
    "domain_memory": ("user_id domain memory updated_at", "TTJD"),
    "schedules": (
        "user_id id task subject address every attempts next_at last_run_at created_at state",
        "TTTTT##DdDJ",
    ),
    "changes": ("user_id id item_id before after added removed excerpt found_at seen_at", "TTT####TDd"),
    "feeds": (
        "user_id id kind address_hash status attempts next_at polled_at created_at updated_at folder settings state address "
        "site title",
        "TTTTT#DdDDTJJTtT",
    ),
    "feed_entries": (
        "user_id id feed_id guid_hash url_hash fingerprint sorted_at found_at updated_at published_at read_at kept_at "
        "dropped_at item_id extra guid url title author words content",
        "TTTTtTDDDddddtJTtTtTT",
    ),
    "entry_pages": (
        "user_id entry_id encoding content_type final_url status rendered fetched_at page",
        "TTtTT##DT",
    ),
    "published_feeds": ("user_id id title query created_at", "TTTTD"),
    "lists": ("user_id id name_key kind created_at updated_at name query", "TTTTDDTT"),
    "list_items": ("user_id list_id item_id position added_at", "TTT#D"),
    "save_rules": ("user_id id position enabled created_at updated_at name query actions", "TT##DDTTJ"),
    "crawls": (
        "user_id id name_hash url state reason run admitted settled kept size created_at started_at finished_at options "
        "counts",
        "TTTTTt#####DDdJJ",
    ),
    "crawl_pages": (
        "user_id crawl_id run position url_hash page_hash content_hash kind via depth parent hops chain state outcome "
        "attempts due_at leased_by leased_until host url lastmod",
        "TT##TttTT#%##Tt#DtdTTt",
    ),
    "crawl_results": (
        "user_id crawl_id run position body_hash status size rendered fetched_at encoding content_type etag last_modified "
        "made_by headers facts links page",
        "TT##t###DtTttTtJTJ",
    ),
    "sinks": (
        "user_id id kind name address options secret state takes_items hidden error sent sent_at created_at due_at leased_by "
        "leased_until",
        "TTTTTJtT##t#dDdtd",
    ),
    "outbox": ("position user_id sink_id item_id event body state attempts error created_at tried_at", "-TTtttT#tDd"),
    "sent_items": ("user_id sink_id item_id version remote_id sent_at", "TTTTtD"),
}
"""Columns as they are in the file, and the type of each: T text, D time, J JSON object, B bytes, # number, - the row's number;
t, d and % (a number) may be missing. Rows refer to earlier tables only. Sessions, idempotency keys, times of checks and the
pace of crawls are not worth saving."""
ADDED_COLUMNS: Final = {"raw_pages": 1, "items": 1}
"""Table to how many of its last columns a newer version added: rows that are older lack them."""
