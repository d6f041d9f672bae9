"""A backup as a folder: every backup adds a state, and only what no earlier one has.

`objects/` holds raw pages, kept files, rows and settings, each named by the SHA-256 of its content. `states/` holds one JSON
file per backup, which names its objects. Rows are written in chunks that end at fixed rows: a changed item costs one chunk.
An object that exists is compared with its name before it is used again: a damaged one is written again from the library, one
that the library has lost is kept. A state gets its name last: a backup that is killed leaves the earlier ones as they were.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pagekeep.errors import NotFound, StoreError
from pagekeep.private_files import make_folder, private
from pagekeep.store.backup import dump
from pagekeep.store.backup.damage import (
    BackupReport,
    GoodText,
    check_text,
    find_damaged_texts,
    text_columns,
)
from pagekeep.store.backup.restoring import Restoring, describe_body, describe_text
from pagekeep.store.blob_files import BlobFolder, is_intact, pack, sync_folder, unpack
from pagekeep.store.engine import Engine, Row, Transaction
from pagekeep.store.storable import parse_json

FORMAT: Final = 1
MARKER: Final = "pagekeep-backup.json"
"""Marks a folder as a backup."""
_STATES: Final = "states"
_CHUNK_SHARE: Final = 16
"""Rows in a chunk on average: a chunk ends after a row whose key has a hash that this number divides."""
_ABANDONED_SECONDS: Final = 86_400.0
"""Age at which a file that was never completed is certainly one of a backup that was killed."""
_JSON: Final = {
    "items": ("metadata", "tags"),
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


@dataclass(slots=True)
class FolderReport(BackupReport):
    """What a backup added to a folder."""

    state: str = ""
    """Its name."""
    objects: int = 0
    """Objects that the state uses."""
    added: int = 0
    """Those that were not there."""
    added_bytes: int = 0
    mended: int = 0
    """Those that were damaged in the backup, and were written again from the library."""


def columns_of(table: str) -> tuple[str, ...]:
    """Return the columns of a table that are in its rows; bodies are objects."""
    return tuple(name for name in dump.TABLES[table][1] if name != "body")


def write(engine: Engine, folder: Path, now: str, files: Mapping[str, bytes]) -> FolderReport:
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
        writing = _Writing(engine, folder, FolderReport(state=_state_name(now)))
        tables = engine.read(writing.write_tables)
        named = {name: writing.add(data) for name, data in sorted(files.items())}
        writing.check_new()
        state = {
            "pagekeep_backup": FORMAT,
            "created": now,
            "user": engine.user_id,
            "tables": tables,
            "files": named,
            "damaged": writing.report.damaged,
            "damaged_texts": writing.report.damaged_texts,
        }
        _write_state(folder, writing.report.state, state)
        writing.objects.remove_unused(lambda _: True, _ABANDONED_SECONDS)
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
    make_folder(folder / _STATES)  # settings may hold secrets
    if not marker.exists():
        with open(marker, "w", encoding="utf-8", opener=private) as file:
            file.write(json.dumps({"pagekeep_backup": FORMAT}) + "\n")


def _state_name(now: str) -> str:
    """Return a name that sorts after those of earlier states, also of the same second."""
    return f"{''.join(sign for sign in now if sign.isdigit() or sign == 'T')}-{secrets.token_hex(3)}"


def _write_state(folder: Path, name: str, state: Mapping[str, Any]) -> None:
    text = json.dumps(state, sort_keys=True)
    document = {"digest": hashlib.sha256(text.encode()).hexdigest(), "state": state}
    path = folder / _STATES / f"{name}.json"
    draft = path.with_name(f".{path.name}.part")
    with open(draft, "w", encoding="utf-8", opener=private) as file:
        json.dump(document, file, sort_keys=True)
        file.flush()
        os.fsync(file.fileno())
    _read_state(draft)  # what cannot be read gets no name
    draft.replace(path)
    sync_folder(path.parent)


class _Writing:
    """A backup that is being written."""

    def __init__(self, engine: Engine, folder: Path, report: FolderReport) -> None:
        self._engine = engine
        self._folder = folder
        self.objects = BlobFolder(folder / "objects")
        self.report = report
        self._new: list[tuple[str, str | None]] = []
        """Objects that were written: their hashes and encodings. All others were compared with their hashes."""
        self._good_texts: dict[str, GoodText] | None = None

    def write_tables(self, tx: Transaction) -> dict[str, list[str]]:
        """Write all rows and bodies of one state of the library; return the chunks of every table."""
        report = self.report
        report.items = report.objects = 0  # the transaction may run again
        for found in (report.damaged, report.damaged_texts, report.recovered, report.recovered_texts):
            found.clear()
        self._good_texts = None
        return {table: list(self._write_table(tx, table)) for table in dump.TABLES}

    def _write_table(self, tx: Transaction, table: str) -> Iterator[str]:
        columns, lines = columns_of(table), list[str]()
        selected = tuple(tx.stored_text.format(name) if name == "content" else name for name in columns)
        for key, row in dump.rows(tx, table, selected if table == "items" else columns):
            values = self._read_row(tx, table, key, dict(zip(columns, row, strict=True)))
            if table in dump.BODIES:
                self._write_body(tx, table, values)
            lines.append(json.dumps(values, ensure_ascii=False, sort_keys=True))
            self.report.items += table == "items"
            if hashlib.sha256(repr(key).encode()).digest()[0] % _CHUNK_SHARE == 0:
                yield self._write_chunk(lines)
        if lines:
            yield self._write_chunk(lines)

    def _read_row(self, tx: Transaction, table: str, key: Row, values: dict[str, Any]) -> dict[str, Any]:
        """Return a row with JSON as values, and with the text of its item from an earlier state if it is damaged."""
        if table == "items":
            item, is_sound = check_text(values)
            values["content"] = item.content
            if not is_sound:
                copy = self._find_good_texts(tx).get(item.id)
                (self.report.damaged_texts if copy is None else self.report.recovered_texts).append(item.id)
                if copy is not None:
                    values |= {"content": copy.content, "metadata": copy.with_hashes(parse_json(values["metadata"]))}
        try:
            for name in _JSON.get(table, ()):
                values[name] = parse_json(values[name])
        except ValueError as error:
            raise StoreError(
                f"The library is damaged, so it was not backed up: the row {key} of {table} cannot be read.",
                suggestions=("Run `pagekeep repair LIBRARY` to save what can be read.",),
            ) from error
        return values

    def _find_good_texts(self, tx: Transaction) -> dict[str, GoodText]:
        """Return the texts that are damaged in the library and good in an earlier state, by item."""
        if self._good_texts is None:
            rows = (row for _, row in dump.rows(tx, "items", text_columns(tx.stored_text)))
            wanted = {text.item.id: text for text in find_damaged_texts(rows)}
            self._good_texts = {}
            for row in _earlier_items(self._folder):
                text = wanted.get(row["id"])
                if text is not None and (copy := text.good_copy(row)) is not None:
                    self._good_texts[text.item.id] = copy
                    del wanted[text.item.id]
                if not wanted:
                    break
        return self._good_texts

    def _write_chunk(self, lines: list[str]) -> str:
        name = self.add("\n".join(lines).encode())
        lines.clear()
        return name

    def add(self, data: bytes) -> str:
        """Add an object unless it is there, and return its hash."""
        name = hashlib.sha256(data).hexdigest()
        self.report.objects += 1
        if not self.objects.has_intact(name, "zstd"):
            self._put(name, "zstd", pack(data))
        return name

    def _write_body(self, tx: Transaction, table: str, values: Mapping[str, Any]) -> None:
        """Add a raw page or kept file as it is stored; one that does not have its hash is reported."""
        name = values["hash"]
        encoding = "zstd" if table == "raw_bodies" else values["encoding"]
        data = self._read_body(tx, table, name, encoding)
        self.report.objects += 1
        if self.objects.has_intact(name, encoding):
            if data is None:
                self.report.recovered.append(name)
        elif data is None:
            self.report.damaged.append(name)
        else:
            self._put(name, encoding, data)

    def _read_body(self, tx: Transaction, table: str, name: str, encoding: str | None) -> bytes | None:
        """Return a raw page or kept file of the library; None when it is missing or damaged."""
        if table == "blobs" and self._engine.blobs is not None:
            try:
                return self._engine.blobs.read_intact(name, encoding)
            except StoreError:
                return None
        sql = f"SELECT body FROM {table} WHERE user_id = :user AND hash = :hash"
        data = bytes(tx.all(sql, hash=name)[0][0])
        return data if is_intact(name, encoding, data) else None

    def _put(self, name: str, encoding: str | None, data: bytes) -> None:
        if self.objects.path(name, encoding).is_file():
            self.report.mended += 1
        else:
            self.report.added += 1
            self.report.added_bytes += len(data)
        self.objects.write(name, encoding, data)
        self._new.append((name, encoding))

    def check_new(self) -> None:
        """Read every object that was written again; `StoreError` when one is not what was written."""
        for name, encoding in self._new:
            if not self.objects.has_intact(name, encoding):
                raise StoreError(
                    f"The object {name:.12} was written to the backup, and is damaged there.",
                    suggestions=("Check the disk of the backup. Earlier backups were not changed.",),
                )


def _earlier_items(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the items of all states that can be read, those of newer states first, those of each chunk once."""
    seen = set[str]()
    for name in reversed(states(folder)):
        try:
            chunks = read_state(folder, name)["tables"].get("items", ())
        except StoreError:
            continue
        for chunk in (chunk for chunk in chunks if chunk not in seen):
            seen.add(chunk)
            try:
                lines = read_object(folder, chunk).decode().split("\n")
            except StoreError:
                continue
            yield from map(json.loads, lines)


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
    return _read_state(folder / _STATES / f"{name or found[-1]}.json")


def _read_state(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_bytes())
        state: dict[str, Any] = document["state"]
        text = json.dumps(state, sort_keys=True)
        if hashlib.sha256(text.encode()).hexdigest() != document["digest"] or state["pagekeep_backup"] != FORMAT:
            raise ValueError
    except (OSError, ValueError, KeyError, TypeError) as error:
        others = ", ".join(sorted(other.stem for other in path.parent.glob("[0-9]*.json") if other != path)) or "none"
        raise StoreError(
            f"The state {path.stem} of the backup is damaged.", suggestions=(f"Other states (`--state`): {others}.",)
        ) from error
    return state


def read_object(folder: Path, name: str, encoding: str | None = "zstd") -> bytes:
    """Return the content of an object; `StoreError` when it is missing or damaged."""
    try:
        data = BlobFolder(folder / "objects").read_intact(name, encoding)
    except StoreError as error:
        raise StoreError(
            f"The object {name:.12} of the backup is missing or damaged.",
            suggestions=("Back up again, which writes it again, or use another copy of the backup.",),
        ) from error
    return unpack(data) if encoding else data


def check(folder: Path, state: Mapping[str, Any]) -> list[str]:
    """Return what a state lacks: objects that are missing or damaged, and what was damaged when the backup was made."""
    objects, faults = BlobFolder(folder / "objects"), list[str]()
    for name, object_name in state["files"].items():
        if not objects.has_intact(object_name, "zstd"):
            faults.append(f"The file {name} of the settings is missing or damaged.")
    for table, chunks in state["tables"].items():
        for chunk in chunks:
            try:
                lines = read_object(folder, chunk).decode().split("\n")
            except StoreError as error:
                faults.append(f"Rows of `{table}`: {error.message}")
                continue
            for row in map(json.loads, lines if table in dump.BODIES else ()):
                if not objects.has_intact(row["hash"], "zstd" if table == "raw_bodies" else row["encoding"]):
                    faults.append(describe_body(table, row["hash"]))
    return faults + [describe_text(item_id) for item_id in state.get("damaged_texts", ())]


def restore(engine: Engine, folder: Path, state: Mapping[str, Any], *, what_can_be: bool = False) -> Restoring:
    """Restore a state into the user's empty library, wholly or not at all; with `what_can_be`, everything that is sound."""
    return engine.write(lambda tx: _restore(tx, engine, folder, state, what_can_be=what_can_be))


def _restore(
    tx: Transaction, engine: Engine, folder: Path, state: Mapping[str, Any], *, what_can_be: bool
) -> Restoring:
    restoring, objects = Restoring(tx, engine.blobs, what_can_be=what_can_be), BlobFolder(folder / "objects")
    for table in dump.TABLES:
        for chunk in state["tables"].get(table, ()):
            try:
                lines = read_object(folder, chunk).decode().split("\n")
            except StoreError as error:
                restoring.leave_out(f"Rows of `{table}`: {error.message}")
                continue
            for line in lines:
                values = json.loads(line)
                if table in dump.BODIES:
                    values["body"] = _read_stored(objects, table, values)
                for name in _FLAGS.get(table, ()):
                    values[name] = bool(values[name])
                restoring.put(table, values)
    restoring.finish()
    return restoring


def _read_stored(objects: BlobFolder, table: str, values: Mapping[str, Any]) -> bytes | None:
    """Return a raw page or kept file of the backup as it is stored; None when it is missing."""
    try:
        return objects.read(values["hash"], "zstd" if table == "raw_bodies" else values["encoding"])
    except StoreError:
        return None
