"""A user's library as one file: lines of JSON, compressed with zstd; the last line holds the number of rows."""

from __future__ import annotations

import base64
import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from pagekeep.errors import StoreError
from pagekeep.store.engine import Row, Transaction
from pagekeep.store.reindex import reindex
from pagekeep.store.storable import NO_ID
from pagekeep.store.tables.annotations import COLUMNS as ANNOTATION
from pagekeep.store.tables.blobs import COLUMNS as ITEM_BLOB
from pagekeep.store.tables.crawls.rows import RESULT as CRAWL_RESULT
from pagekeep.store.tables.items import COLUMNS
from pagekeep.store.tables.reading.states import COLUMNS as READING_STATE

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

FORMAT: Final = 1
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
    "items": ("seq", (*COLUMNS, "url_hash", "domain_key", "title_key")),
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


def write(tx: Transaction, path: Path) -> None:
    """Write the user's library to a file, which gets its name only when it is complete and on the disk."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with draft.open("wb") as file:
            with zstd.ZstdFile(file, "w") as packed:
                for line in _lines(tx):
                    packed.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        _verify(draft)
        draft.replace(path)
    except OSError as error:
        raise StoreError(
            f"The backup could not be written to {path}.", suggestions=("Check the path and the free disk space.",)
        ) from error
    finally:
        draft.unlink(missing_ok=True)


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


def _lines(tx: Transaction) -> Iterator[Any]:
    yield {"pagekeep": FORMAT}
    count = 0
    for table in TABLES:
        for row in _rows(tx, table):
            count += 1
            yield [table, row]
    yield {"rows": count}


def _rows(tx: Transaction, table: str) -> Iterator[list[Any]]:
    for _, row in rows(tx, table, TABLES[table][1]):
        yield [base64.b64encode(value).decode() if isinstance(value, bytes) else value for value in row]


def rows(tx: Transaction, table: str, columns: tuple[str, ...]) -> Iterator[tuple[Row, Row]]:
    """Yield the key and these columns of every row of a table, in the order of keys."""
    key, size = TABLES[table][0], _BLOB_BATCH if table == "blobs" else _BATCH
    names = key.split(", ")
    last = {name: _FIRST_KEYS.get(name, "") for name in names}
    while True:
        batch = tx.all(
            f"SELECT {key}, {', '.join(columns)} FROM {table} WHERE user_id = :user "
            f"AND ({key}) > ({', '.join(f':{name}' for name in names)}) ORDER BY {key} LIMIT {size}",
            user=tx.user_id,
            **last,
        )
        for row in batch:
            yield row[: len(names)], row[len(names) :]
        if len(batch) < size:
            return
        last = dict(zip(names, batch[-1], strict=False))


def read(tx: Transaction, path: Path) -> None:
    """Restore a file into the user's empty library."""
    require_empty(tx)
    try:
        with zstd.ZstdFile(path, "r") as file:
            _read_lines(tx, map(json.loads, file))
    except (OSError, EOFError, zstd.ZstdError, ValueError) as error:
        raise StoreError(f"{path} is not a complete backup.", suggestions=("Use another backup file.",)) from error
    reindex(tx)


def require_empty(tx: Transaction) -> None:
    """Raise `StoreError` when the user's library has items."""
    if tx.all("SELECT 1 FROM items WHERE user_id = :user LIMIT 1", user=tx.user_id):
        raise StoreError("The library is not empty.", suggestions=("Restore into a new library.",))


def _read_lines(tx: Transaction, lines: Iterator[Any]) -> None:
    if next(lines, None) != {"pagekeep": FORMAT}:
        raise ValueError
    for count, line in enumerate(lines):
        if isinstance(line, dict):
            if line != {"rows": count}:
                raise ValueError
            return
        _put(tx, *line)
    raise ValueError


def _put(tx: Transaction, table: str, row: list[Any]) -> None:
    columns = TABLES[table][1][: len(row)]  # older backups lack the last ones
    values = dict(zip(columns, row, strict=True))
    if table == "raw_pages":  # older backups have a number
        values["rendered"] = bool(values["rendered"])
    if table in ("raw_bodies", "blobs"):
        values["body"] = base64.b64decode(values["body"])
    put(tx, table, values)


def put(tx: Transaction, table: str, row: Mapping[str, Any]) -> None:
    """Insert a row as the user's own."""
    values = {name: tx.json(value) if isinstance(value, dict) else value for name, value in row.items()}
    values["user_id"] = tx.user_id
    marks = ", ".join(f":{name}" for name in values)
    tx.run(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})", **values)
