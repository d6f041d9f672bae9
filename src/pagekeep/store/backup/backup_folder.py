"""A backup as a folder: every backup adds a state, and only what no earlier one has.

`objects/` holds raw pages, kept files, rows and settings, each named by the SHA-256 of its content. `states/` holds one JSON
file per backup, which names its objects. Rows are written in chunks that end at fixed rows: a changed item costs one chunk.
Nothing that exists is changed, and a state gets its name last: a backup that is killed leaves the earlier ones as they were.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pagekeep.errors import NotFound, StoreError
from pagekeep.store.backup import dump
from pagekeep.store.blobs.folder import BlobFolder
from pagekeep.store.engine import Engine, Transaction
from pagekeep.store.packing import pack, unpack
from pagekeep.store.reindex import reindex
from pagekeep.store.storable import parse_json

FORMAT: Final = 1
MARKER: Final = "pagekeep-backup.json"
"""Marks a folder as a backup."""
_STATES: Final = "states"
_CHUNK_SHARE: Final = 16
"""Rows in a chunk on average: a chunk ends after a row whose key has a hash that this number divides."""
_BODIES: Final = frozenset({"raw_bodies", "blobs"})
_JSON: Final = {
    "items": ("metadata",),
    "jobs": ("options", "error"),
    "domain_memory": ("memory",),
    "raw_pages": ("headers",),
    "snapshots": ("headers",),
    "schedules": ("state",),
    "feeds": ("settings", "state"),
    "feed_entries": ("extra",),
    "crawls": ("options", "counts"),
    "crawl_results": ("headers",),
    "sinks": ("options",),
    "outbox": ("body", "error"),
}
"""Columns with JSON, which SQLite has as text."""
_FLAGS: Final = {
    "raw_pages": ("rendered",),
    "snapshots": ("rendered", "pinned"),
    "entry_pages": ("rendered",),
    "crawl_results": ("rendered",),
    "sinks": ("takes_items", "hidden"),
}
"""Columns that PostgreSQL has as boolean, and SQLite as a number."""
_REFERRING: Final = ("raw_bodies", "raw_pages", "snapshots", "blobs", "item_blobs")
"""Tables whose rows name a raw page or a kept file by its hash."""


@dataclass(slots=True)
class BackupReport:
    """What a backup wrote."""

    state: str
    """Its name."""
    items: int = 0
    objects: int = 0
    """Objects that the state uses."""
    added: int = 0
    """Those that no earlier backup had."""
    added_bytes: int = 0
    damaged: list[str] = field(default_factory=list)
    """Raw pages and kept files that are missing or damaged in the library, by their hashes."""


def columns_of(table: str) -> tuple[str, ...]:
    """Return the columns of a table that are in its rows; bodies are objects."""
    return tuple(name for name in dump.TABLES[table][1] if name != "body")


def write(engine: Engine, folder: Path, now: str, files: Mapping[str, bytes]) -> BackupReport:
    """Add the user's library as it is now, with these files of the settings, to a backup folder."""
    faults = list(engine.faults())
    if faults:
        raise StoreError(
            f"The library is damaged, so it was not backed up. The first fault: {faults[0]}",
            suggestions=(
                "Run `pagekeep repair LIBRARY` to save what can be read.",
                "Earlier backups were not changed.",
            ),
        )
    try:
        _prepare(folder)
        writing = _Writing(engine, BlobFolder(folder / "objects"), BackupReport(_state_name(now)))
        tables = engine.read(writing.write_tables)
        named = {name: writing.add(data) for name, data in sorted(files.items())}
        writing.check()
        state = {
            "pagekeep_backup": FORMAT,
            "created": now,
            "user": engine.user_id,
            "tables": tables,
            "files": named,
            "damaged": writing.report.damaged,
        }
        _write_state(folder, writing.report.state, state)
    except OSError as error:
        raise StoreError(
            f"The backup cannot be written to {folder}: {error.strerror or 'disk error'}.",
            suggestions=("Check the folder and the free disk space. Earlier backups were not changed.",),
        ) from error
    return writing.report


def _prepare(folder: Path) -> None:
    marker = folder / MARKER
    if folder.exists() and not marker.exists() and any(folder.iterdir()):
        raise StoreError(
            f"{folder} is not a backup, and not empty.", suggestions=("Name a new folder, or one with a backup.",)
        )
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # settings may hold secrets
    (folder / _STATES).mkdir(exist_ok=True)
    if not marker.exists():
        marker.write_text(json.dumps({"pagekeep_backup": FORMAT}) + "\n", encoding="utf-8")


def _state_name(now: str) -> str:
    return f"{now.replace(':', '').replace('-', '')[:15]}-{secrets.token_hex(3)}"


def _write_state(folder: Path, name: str, state: Mapping[str, Any]) -> None:
    text = json.dumps(state, sort_keys=True)
    document = {"digest": hashlib.sha256(text.encode()).hexdigest(), "state": state}
    path = folder / _STATES / f"{name}.json"
    draft = path.with_name(f".{path.name}.part")
    with draft.open("w", encoding="utf-8") as file:
        json.dump(document, file, sort_keys=True)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


@dataclass(slots=True)
class _Writing:
    """A backup that is being written."""

    engine: Engine
    objects: BlobFolder
    report: BackupReport
    _new: list[tuple[str, str | None]] = field(default_factory=list)
    """Objects that were added: their hashes and encodings."""

    def write_tables(self, tx: Transaction) -> dict[str, list[str]]:
        """Write all rows and bodies of one state of the library; return the chunks of every table."""
        self.report.items = self.report.objects = 0
        self.report.damaged.clear()  # the transaction may run again
        return {table: list(self._write_table(tx, table)) for table in dump.TABLES}

    def _write_table(self, tx: Transaction, table: str) -> Iterator[str]:
        columns, lines = columns_of(table), list[str]()
        for key, row in dump.rows(tx, table, columns):
            values = dict(zip(columns, row, strict=True))
            for name in _JSON.get(table, ()):
                values[name] = parse_json(values[name])
            if table in _BODIES:
                self._write_body(tx, table, values)
            lines.append(json.dumps(values, ensure_ascii=False, sort_keys=True))
            self.report.items += table == "items"
            if hashlib.sha256(repr(key).encode()).digest()[0] % _CHUNK_SHARE == 0:
                yield self._write_chunk(lines)
        if lines:
            yield self._write_chunk(lines)

    def _write_chunk(self, lines: list[str]) -> str:
        name = self.add("\n".join(lines).encode())
        lines.clear()
        return name

    def add(self, data: bytes) -> str:
        """Add an object unless it is there, and return its hash."""
        name = hashlib.sha256(data).hexdigest()
        self._put(name, "zstd", lambda: pack(data))
        return name

    def _write_body(self, tx: Transaction, table: str, values: Mapping[str, Any]) -> None:
        """Add a raw page or kept file, as it is stored; one that does not have its hash is reported instead."""
        name = values["hash"]
        encoding = "zstd" if table == "raw_bodies" else values["encoding"]
        try:
            self._put(name, encoding, lambda: self._read_body(tx, table, name, encoding))
        except (StoreError, NotFound):
            self.report.damaged.append(name)

    def _read_body(self, tx: Transaction, table: str, name: str, encoding: str | None) -> bytes:
        if table == "blobs" and self.engine.blobs is not None:
            data = self.engine.blobs.read(name, encoding)
        else:
            sql = f"SELECT body FROM {table} WHERE user_id = :user AND hash = :hash"
            data = bytes(tx.all(sql, user=tx.user_id, hash=name)[0][0])
        _check(name, encoding, data)
        return data

    def _put(self, name: str, encoding: str | None, read: Any) -> None:
        self.report.objects += 1
        if not self.objects.path(name, encoding).is_file():
            data = read()
            self.objects.write(name, encoding, data)
            self._new.append((name, encoding))
            self.report.added += 1
            self.report.added_bytes += len(data)

    def check(self) -> None:
        """Read every new object again; `StoreError` when one is not what was written."""
        for name, encoding in self._new:
            _check(name, encoding, self.objects.read(name, encoding))


def _check(name: str, encoding: str | None, data: bytes) -> None:
    body = unpack(data) if encoding else data
    if hashlib.sha256(body).hexdigest() != name:
        raise StoreError(f"The object {name:.12} is damaged.", suggestions=("Check the disk.",))


def states(folder: Path) -> list[str]:
    """Return the names of the states in a backup, oldest first; `NotFound` when the folder is not a backup."""
    if not (folder / MARKER).is_file():
        raise NotFound(f"{folder} is not a backup.", suggestions=("Name the folder that a backup was written to.",))
    return sorted(path.stem for path in (folder / _STATES).glob("[0-9]*.json"))


def read_state(folder: Path, name: str | None = None) -> dict[str, Any]:
    """Return a state, by default the newest; `NotFound` when there is none, `StoreError` when it is damaged."""
    found = states(folder)
    if not found or (name is not None and name not in found):
        raise NotFound(f"{folder} has no state {name or ''}.", suggestions=(f"States: {', '.join(found) or 'none'}.",))
    path = folder / _STATES / f"{name or found[-1]}.json"
    try:
        document = json.loads(path.read_bytes())
        state: dict[str, Any] = document["state"]
        text = json.dumps(state, sort_keys=True)
        if hashlib.sha256(text.encode()).hexdigest() != document["digest"] or state["pagekeep_backup"] != FORMAT:
            raise ValueError
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(f"The state {path.stem} is damaged.", suggestions=("Use another one.",)) from error
    return state


def read_object(folder: Path, name: str, encoding: str | None = "zstd") -> bytes:
    """Return the content of an object, compared with its hash."""
    data = BlobFolder(folder / "objects").read(name, encoding)
    _check(name, encoding, data)
    return unpack(data) if encoding else data


def check(folder: Path, state: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with the objects of a state: missing or damaged ones."""
    faults: list[str] = []
    for name, encoding in _objects(folder, state):
        try:
            _check(name, encoding, BlobFolder(folder / "objects").read(name, encoding))
        except StoreError as error:
            faults.append(error.message)
    return faults


def _objects(folder: Path, state: Mapping[str, Any]) -> Iterator[tuple[str, str | None]]:
    """Yield all objects of a state, after those that name others."""
    yield from ((name, "zstd") for name in state["files"].values())
    for table, chunks in state["tables"].items():
        for chunk in chunks:
            yield chunk, "zstd"
            if table in _BODIES:
                try:
                    rows = [json.loads(line) for line in read_object(folder, chunk).splitlines()]
                except StoreError:  # reported for the chunk itself
                    continue
                for row in rows:
                    if row["hash"] not in state["damaged"]:
                        yield row["hash"], "zstd" if table == "raw_bodies" else row["encoding"]


def restore(engine: Engine, folder: Path, state: Mapping[str, Any]) -> int:
    """Restore a state into the user's empty library, wholly or not at all; return the number of items."""
    return engine.write(lambda tx: _restore(tx, engine, folder, state))


def _restore(tx: Transaction, engine: Engine, folder: Path, state: Mapping[str, Any]) -> int:
    dump.require_empty(tx)
    damaged, objects, items = set(state["damaged"]), BlobFolder(folder / "objects"), 0
    for table in dump.TABLES:
        for chunk in state["tables"].get(table, ()):
            for line in read_object(folder, chunk).decode().split("\n"):
                values = json.loads(line)
                if table in _REFERRING and values["hash"] in damaged:
                    continue
                if table == "crawl_results" and values["body_hash"] in damaged:
                    values["body_hash"] = None
                if table in _BODIES:
                    _restore_body(engine, objects, table, values)
                for name in _FLAGS.get(table, ()):
                    values[name] = bool(values[name])
                dump.put(tx, table, values)
                items += table == "items"
    reindex(tx)
    return items


def _restore_body(engine: Engine, objects: BlobFolder, table: str, values: dict[str, Any]) -> None:
    encoding = "zstd" if table == "raw_bodies" else values["encoding"]
    data = objects.read(values["hash"], encoding)
    _check(values["hash"], encoding, data)
    if table == "blobs" and engine.blobs is not None:
        engine.blobs.write(values["hash"], encoding, data)
    else:
        values["body"] = data
