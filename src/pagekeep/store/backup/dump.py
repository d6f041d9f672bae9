"""A user's library as one file: lines of JSON in zstd frames with checksums; the last line holds the number of rows."""

from __future__ import annotations

import base64
import json
import mmap
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from pagekeep.errors import StoreError
from pagekeep.private_files import private
from pagekeep.store.backup.damage import (
    BackupReport,
    DamagedText,
    GoodText,
    check_text,
    find_damaged_texts,
    refuse_worse,
    text_columns,
)
from pagekeep.store.backup.restoring import Restoring
from pagekeep.store.blob_files import is_intact, sync_folder
from pagekeep.store.engine import Row, Transaction
from pagekeep.store.storable import NO_ID, is_row_sound
from pagekeep.store.tables.blobs import COLUMNS as ITEM_BLOB
from pagekeep.store.tables.crawls import RESULT as CRAWL_RESULT
from pagekeep.store.tables.item_rows import COLUMNS
from pagekeep.store.tables.reading import ANNOTATION_COLUMNS as ANNOTATION
from pagekeep.store.tables.reading import STATE_COLUMNS as READING_STATE

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

FORMAT: Final = 1
BODIES: Final = ("raw_bodies", "blobs")
"""Tables of raw pages and kept files, which are named by the hash of their content."""
_FRAME_BYTES: Final = 64_000
"""Bytes of lines after which a compressed frame ends: damage to the file loses one frame."""
_FRAME_MARK: Final = b"\x28\xb5\x2f\xfd"
_PACKED: Final[dict[int, int]] = {
    zstd.CompressionParameter.checksum_flag: True,
    zstd.CompressionParameter.compression_level: zstd.COMPRESSION_LEVEL_DEFAULT,
}
_BATCH: Final = 100
"""Rows read at a time: a raw page may have several megabytes."""
_BLOB_BATCH: Final = 4
"""Kept files read at a time: they may be larger still."""
_PAGE: Final = "encoding content_type final_url status rendered fetched_at etag last_modified".split()
_JOB: Final = (
    "url_hash url url_full options state attempts error run_after due_at leased_by leased_until created_at".split()
)
_SCHEDULE: Final = "task subject address every attempts next_at last_run_at created_at state".split()
_CHANGE: Final = "item_id before after added removed excerpt found_at seen_at".split()
_FEED: Final = (
    "kind address_hash status attempts next_at polled_at created_at updated_at folder settings state address site title"
).split()
_ENTRY: Final = (
    "feed_id guid_hash url_hash fingerprint sorted_at found_at updated_at published_at read_at kept_at dropped_at item_id "
    "extra guid url title author words content"
).split()
_ENTRY_PAGE: Final = "encoding content_type final_url status rendered fetched_at page".split()
_LIST: Final = "name_key kind created_at updated_at name query".split()
_SAVE_RULE: Final = "position enabled created_at updated_at name query actions".split()
_CRAWL: Final = (
    "name_hash url state reason run admitted settled kept size created_at started_at finished_at options counts".split()
)
_FRONTIER: Final = (
    "url_hash page_hash content_hash kind via depth parent hops chain state outcome attempts due_at leased_by leased_until "
    "host url lastmod".split()
)
_SINK: Final = (
    "kind name address options secret state takes_items hidden error sent sent_at created_at due_at leased_by leased_until"
).split()
_DELIVERY: Final = "sink_id item_id event body state attempts error created_at tried_at".split()
_OF_RUN: Final = ("user_id", "crawl_id", "run")
_CHECK: Final = "checked_at next_at state failures first_failed_at reason".split()
_FIRST_KEYS: Final = {
    **dict.fromkeys(("id", "item_id", "entry_id", "crawl_id", "list_id", "sink_id"), NO_ID),
    "seq": 0,
    "number": 0,
    "run": 0,
    "position": -1,
}
"""What comes before every key."""
TABLES: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "items": ("seq", (*COLUMNS, "url_hash", "domain_key", "title_key", "tags")),
    "item_numbers": ("number", ("user_id", "item_id", "number")),
    "raw_bodies": ("hash", ("user_id", "hash", "size", "packed", "body")),
    "raw_pages": ("item_id", ("user_id", "item_id", "hash", *_PAGE, "headers")),
    "snapshots": (
        "item_id, number",
        ("user_id", "item_id", "number", "hash", *_PAGE, "headers", "source", "pinned"),
    ),
    "jobs": ("seq", ("user_id", "id", *_JOB)),
    "annotations": ("id", ("user_id", *ANNOTATION)),
    "reading_states": ("item_id", ("user_id", *READING_STATE)),
    "blobs": ("hash", ("user_id", "hash", "size", "stored", "encoding", "unused_at", "body")),
    "item_blobs": ("seq", ("user_id", *ITEM_BLOB)),
    "domain_memory": ("domain", ("user_id", "domain", "memory", "updated_at")),
    "schedules": ("id", ("user_id", "id", *_SCHEDULE)),
    "changes": ("id", ("user_id", "id", *_CHANGE)),
    "page_checks": ("item_id", ("user_id", "item_id", *_CHECK)),
    "feeds": ("id", ("user_id", "id", *_FEED)),
    "feed_entries": ("id", ("user_id", "id", *_ENTRY)),
    "entry_pages": ("entry_id", ("user_id", "entry_id", *_ENTRY_PAGE)),
    "published_feeds": ("id", ("user_id", "id", "title", "query", "created_at")),
    "lists": ("id", ("user_id", "id", *_LIST)),
    "list_items": ("list_id, item_id", ("user_id", "list_id", "item_id", "position", "added_at")),
    "save_rules": ("id", ("user_id", "id", *_SAVE_RULE)),
    "crawls": ("id", ("user_id", "id", *_CRAWL)),
    "crawl_pages": ("crawl_id, run, position", (*_OF_RUN, "position", *_FRONTIER)),
    "crawl_results": ("crawl_id, run, position", (*_OF_RUN, "position", *CRAWL_RESULT)),
    "crawl_counts": ("crawl_id, run, name", (*_OF_RUN, "name", "number")),
    "crawl_hosts": ("host", ("user_id", "host", "next_at", "delay", "streak")),
    "sinks": ("id", ("user_id", "id", *_SINK)),  # after the items: restoring those changes nothing for sinks
    "changed_items": ("number", ("user_id", "item_id")),
    "outbox": ("position", ("user_id", *_DELIVERY)),
    "sent_items": ("sink_id, item_id", ("user_id", "sink_id", "item_id", "version", "remote_id", "sent_at")),
}
"""Table to the key it is read by and its columns, in an order in which rows refer to earlier ones only."""


class EarlierFile:
    """The backup file that is about to be replaced: the good copies that it has of what is damaged in the library."""

    def __init__(self, path: Path, texts: Iterable[DamagedText], bodies: Iterable[str]) -> None:
        """Read them; a file that is missing, damaged or of another kind has those that come before its first fault."""
        self.texts: dict[str, GoodText] = {}
        self.bodies: dict[str, bytes] = {}
        self.older_texts: set[str] = set()
        """Items of which it has a good text that is older than the one that was damaged."""
        wanted, names = {text.item.id: text for text in texts}, set(bodies)
        with suppress(OSError, EOFError, zstd.ZstdError, ValueError), zstd.ZstdFile(path, "r") as file:
            for line in map(json.loads, file):
                if isinstance(line, list) and line[0] in ("items", *BODIES):
                    self._take(line[0], _values(*line), wanted, names)

    def _take(self, table: str, values: Mapping[str, Any], wanted: Mapping[str, DamagedText], names: set[str]) -> None:
        if table == "items" and (text := wanted.get(values["id"])) is not None:
            copy = text.good_copy(values)
            if copy is not None:
                self.texts[text.item.id] = copy
            elif is_row_sound(values):
                self.older_texts.add(text.item.id)
        elif table != "items" and values["hash"] in names and is_intact(*_stored(table, values)):
            self.bodies[values["hash"]] = values["body"]


def _stored(table: str, values: Mapping[str, Any]) -> tuple[str, str | None, bytes]:
    """Return name, encoding and bytes of a raw page or kept file."""
    return values["hash"], "zstd" if table == "raw_bodies" else values["encoding"], values["body"]


def write(tx: Transaction, path: Path) -> BackupReport:
    """Write the user's library to a file, which gets its name only when it is complete and on the disk.

    What is damaged in the library is taken from the earlier file, if that has it. It stays when it has a good text of an item
    that is damaged in the library, but an older one: then `StoreError`.
    """
    draft = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        writing = _Writing(tx, path)
        with open(draft, "wb", opener=private) as file:
            for frame in writing.frames():
                file.write(frame)
            file.flush()
            os.fsync(file.fileno())
        _verify(draft)
        draft.replace(path)
        sync_folder(path.absolute().parent)
    except OSError as error:
        raise StoreError(
            f"The backup could not be written to {path}.", suggestions=("Check the path and the free disk space.",)
        ) from error
    finally:
        draft.unlink(missing_ok=True)
    return writing.report


class _Writing:
    """A file that is being written."""

    def __init__(self, tx: Transaction, path: Path) -> None:
        self._tx = tx
        self._path = path
        self._earlier: EarlierFile | None = None
        self.report = BackupReport()

    def frames(self) -> Iterator[bytes]:
        """Yield the file: frames of whole lines, each with a checksum, so that damage to one loses no other."""
        lines, size = list[bytes](), 0
        for line in self._lines():
            lines.append(json.dumps(line, ensure_ascii=False).encode() + b"\n")
            size += len(lines[-1])
            if size > _FRAME_BYTES:
                yield zstd.compress(b"".join(lines), options=_PACKED)
                lines.clear()
                size = 0
        yield zstd.compress(b"".join(lines), options=_PACKED)

    def _lines(self) -> Iterator[Any]:
        yield {"pagekeep": FORMAT}
        count = 0
        for table, (_, columns) in TABLES.items():
            for _, row in rows(self._tx, table, columns):
                count += 1
                self.report.items += table == "items"
                values = dict(zip(columns, row, strict=True))
                if table == "items" or table in BODIES:
                    self._mend(table, values)
                yield [
                    table,
                    [
                        base64.b64encode(value).decode() if isinstance(value, bytes) else value
                        for value in values.values()
                    ],
                ]
        yield {"rows": count}

    def _mend(self, table: str, values: dict[str, Any]) -> None:
        """Take what is damaged in a row from the earlier file, or report it."""
        report = self.report
        if table == "items" and not check_text(values)[1]:
            copy = self._find_earlier().texts.get(values["id"])
            (report.damaged_texts if copy is None else report.recovered_texts).append(values["id"])
            if copy is not None:
                values |= {"content": copy.content, "metadata": copy.with_hashes(values["metadata"])}
        elif table != "items" and not is_intact(*_stored(table, values)):
            body = self._find_earlier().bodies.get(values["hash"])
            (report.damaged if body is None else report.recovered).append(values["hash"])
            values["body"] = values["body"] if body is None else body

    def _find_earlier(self) -> EarlierFile:
        """Return the earlier file, read once for everything that is damaged; only a damaged library pays for it."""
        if self._earlier is None:
            texts = find_damaged_texts(row for _, row in rows(self._tx, "items", text_columns(self._tx.stored_text)))
            bodies = [name for table in BODIES for name in _damaged_bodies(self._tx, table)]
            self._earlier = EarlierFile(self._path, texts, bodies)
            older = self._earlier.older_texts - self._earlier.texts.keys()
            refuse_worse(self._path, [text for text in texts if text.item.id in older])
        return self._earlier


def _damaged_bodies(tx: Transaction, table: str) -> Iterator[str]:
    columns = TABLES[table][1]
    for _, row in rows(tx, table, columns):
        values = dict(zip(columns, row, strict=True))
        if not is_intact(*_stored(table, values)):
            yield values["hash"]


def _verify(path: Path) -> None:
    """Read a new file to its end; `OSError` when it is not what was written, so that it replaces no earlier backup."""
    count, line = -1, b""
    try:
        with zstd.ZstdFile(path, "r") as file:
            for count, line in enumerate(file):  # noqa: B007
                pass
        if json.loads(line) != {"rows": count - 1}:
            raise ValueError
    except (EOFError, zstd.ZstdError, ValueError) as error:
        raise OSError("The file is damaged.") from error


def rows(tx: Transaction, table: str, columns: tuple[str, ...]) -> Iterator[tuple[Row, Row]]:
    """Yield the key and these columns of every row of a table, in the order of keys."""
    key, size = TABLES[table][0], _BLOB_BATCH if table == "blobs" else _BATCH
    names = key.split(", ")
    last = {name: _FIRST_KEYS.get(name, "") for name in names}
    while True:
        batch = tx.all(
            f"SELECT {key}, {', '.join(columns)} FROM {table} WHERE user_id = :user "
            f"AND ({key}) > ({', '.join(f':{name}' for name in names)}) ORDER BY {key} LIMIT {size}",
            **last,
        )
        for row in batch:
            yield row[: len(names)], row[len(names) :]
        if len(batch) < size:
            return
        last = dict(zip(names, batch[-1], strict=False))


def read(tx: Transaction, path: Path, *, what_can_be: bool = False) -> Restoring:
    """Restore a file into the user's empty library, wholly or not at all; with `what_can_be`, everything that is sound."""
    restoring = Restoring(tx, None, what_can_be=what_can_be)
    count, total = 0, None
    try:
        for line in _sound_lines(path) if what_can_be else _all_lines(path):
            if isinstance(line, list):
                restoring.put(line[0], _values(*line))
                count += 1
            total = line["rows"] if isinstance(line, dict) and "rows" in line else total
        if total != count and not (what_can_be and count):
            raise ValueError
    except (OSError, EOFError, zstd.ZstdError, ValueError, KeyError, TypeError) as error:
        hint = () if what_can_be else ("Use `--what-can-be` to restore what can be read of it.",)
        raise StoreError(
            f"{path} is not a complete backup.", suggestions=("Use another backup file.", *hint)
        ) from error
    if total != count:
        lost = "An unknown number of" if total is None else f"{total - count:,}"
        restoring.leave_out(f"{lost} rows in damaged parts of the file.")
    restoring.finish()
    return restoring


def _all_lines(path: Path) -> Iterator[Any]:
    with zstd.ZstdFile(path, "r") as file:
        lines = map(json.loads, file)
        if next(lines, None) != {"pagekeep": FORMAT}:
            raise ValueError("not a backup")
        yield from lines


def _sound_lines(path: Path) -> Iterator[Any]:
    """Yield the lines of all frames that are sound, wherever they are in the file."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        place = data.find(_FRAME_MARK)
        while place >= 0:
            size, lines = 1, list[Any]()
            with memoryview(data) as view, view[place:] as rest, suppress(zstd.ZstdError, ValueError):
                lines = [json.loads(line) for line in zstd.decompress(rest[: zstd.get_frame_size(rest)]).splitlines()]
                size = zstd.get_frame_size(rest)
            yield from lines
            place = data.find(_FRAME_MARK, place + size)


def _values(table: str, row: list[Any]) -> dict[str, Any]:
    """Return a row of the file by the names of its columns."""
    columns = TABLES[table][1][: len(row)]  # older backups lack the last ones
    values = dict(zip(columns, row, strict=True))
    if table == "raw_pages":  # older backups have a number
        values["rendered"] = bool(values["rendered"])
    if table in BODIES:
        values["body"] = base64.b64decode(values["body"])
    return values
