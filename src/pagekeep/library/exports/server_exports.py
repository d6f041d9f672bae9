"""Exports of servers, by child processes: streamed as fast as the client reads, or kept on the disk to download."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import secrets
import shutil
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final, Literal

from pagekeep import clock, errors
from pagekeep.config import Settings
from pagekeep.errors import Conflict, NotFound, PagekeepError, StoreError, TooManyRequests
from pagekeep.library.exports.run import ExportOptions

MAX_EXPORTS: Final = 3
"""Exports at a time; of one user, one."""
_CHUNK_BYTES: Final = 64_000
_MAX_ERROR_BYTES: Final = 20_000


class Exports:
    """The running exports of a server."""

    def __init__(self, settings: Settings, max_exports: int = MAX_EXPORTS) -> None:
        self._settings = settings
        self._max_exports = max_exports
        self._users: set[str] = set()

    async def start(
        self,
        user_id: str,
        options: ExportOptions,
        *,
        progress_file: Path | None = None,
        backup_folder: Path | None = None,
    ) -> AsyncIterator[bytes]:
        """Start an export and return its parts, when the first is there; a failure before that is raised.

        A failure after that ends the parts with an error, so that the client sees that the file is not complete. The number of
        exported pages is written to `progress_file`. With `backup_folder`, the parts are those of a ZIP archive of a backup,
        which is made in that folder first.
        """
        if user_id in self._users or len(self._users) >= self._max_exports:
            raise TooManyRequests("An export is running.", suggestions=("Try again when it is done.",))
        self._users.add(user_id)
        process: Process | None = None
        try:
            process = await self._start_process(user_id, options, progress_file, backup_folder)
            first = await _read(process)
        except BaseException:
            await self._end(user_id, process)
            raise
        return self._parts(user_id, process, first)

    async def _start_process(
        self, user_id: str, options: ExportOptions, progress_file: Path | None, backup_folder: Path | None
    ) -> Process:
        # The child can import what this process can, wherever it was started from.
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "pagekeep.library.exports.child",
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=environment,
        )
        request = {
            "library": self._settings.library,
            "user": user_id,
            "format": options.format,
            "query": options.query,
            "profile": options.profile,
            "progress_file": str(progress_file) if progress_file else None,
            "backup_folder": str(backup_folder) if backup_folder else None,
            "rules": self._settings.rules,
            "ids": options.ids,
        }
        assert process.stdin is not None
        process.stdin.write(json.dumps(request).encode())
        process.stdin.close()
        return process

    async def _parts(self, user_id: str, process: Process, first: bytes) -> AsyncIterator[bytes]:
        try:
            part = first
            while part:
                yield part
                part = await _read(process)
        finally:
            await self._end(user_id, process)

    async def _end(self, user_id: str, process: Process | None) -> None:
        """End the process, whether or not it is done."""
        self._users.discard(user_id)
        if process is not None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


async def _read(process: Process) -> bytes:
    """Return the next part, empty at the end; raise the error of a process that failed."""
    assert process.stdout is not None
    part = await process.stdout.read(_CHUNK_BYTES)
    if not part and await process.wait():
        raise await _error(process)
    return part


async def _error(process: Process) -> PagekeepError:
    assert process.stderr is not None
    text = await process.stderr.read(_MAX_ERROR_BYTES)
    try:
        shape = json.loads(text)
        kind = getattr(errors, shape["type"], StoreError)
        error: PagekeepError = kind(shape["message"], suggestions=shape["suggestions"])
    except (ValueError, KeyError, TypeError):
        return StoreError("The export failed.", suggestions=("Try again; if it fails again, export fewer pages.",))
    return error


KEEP_SECONDS: Final = 86_400
MAX_KEPT: Final = 3
"""Files of one user; the oldest make room."""
_BEAT_SECONDS: Final = 2.0
_DEAD_SECONDS: Final = 60.0
"""A running export whose process has not written its state for this long was killed with it."""
_KEY: Final = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class KeptExport:
    """The state of an export."""

    key: str
    format: str
    """A format of exports, or `backup`."""
    query: str | None
    state: Literal["running", "done", "failed"]
    started_at: str
    total: int | None = None
    """Pages to export, if known."""
    pages: int = 0
    """Pages exported so far."""
    bytes: int = 0
    reason: str | None = None
    """Why it failed."""


class KeptExports:
    """The exports of all users on the disk of a server."""

    def __init__(self, exports: Exports, folder: Path) -> None:
        self._exports = exports
        self._folder = folder
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self, user_id: str, options: ExportOptions, *, backup: bool, total: int | None) -> KeptExport:
        """Start an export; a failure before its first part is raised."""
        folder = self._user_folder(user_id)
        await asyncio.to_thread(self._make_room, user_id)
        key = secrets.token_hex(16)
        kept = KeptExport(key, "backup" if backup else options.format, options.query, "running", clock.now(), total)
        await asyncio.to_thread(_store, folder, kept)
        task = asyncio.create_task(self._run(user_id, folder, kept, options, backup))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return kept

    def _make_room(self, user_id: str) -> None:
        folder = self._user_folder(user_id)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        kept = self.list(user_id)
        if any(one.state == "running" for one in kept):
            raise Conflict("An export is running.", suggestions=("Wait until it is done.",))
        for one in kept[MAX_KEPT - 1 :]:
            _remove(folder, one.key)

    async def _run(self, user_id: str, folder: Path, kept: KeptExport, options: ExportOptions, backup: bool) -> None:
        beat = asyncio.create_task(_beat(folder, kept))
        try:
            parts = await self._exports.start(
                user_id,
                options,
                progress_file=folder / f"{kept.key}.count",
                backup_folder=folder / f"{kept.key}.parts" if backup else None,
            )
            await _write(folder / f"{kept.key}.data", parts)
            done = replace(kept, state="done", pages=_count(folder, kept.key), bytes=_size(folder, kept.key))
        except PagekeepError as error:
            done = replace(kept, state="failed", reason=error.message)
        except OSError as error:
            done = replace(
                kept, state="failed", reason=f"The file cannot be written: {error.strerror or 'disk error'}."
            )
        except asyncio.CancelledError:
            done = replace(kept, state="failed", reason="The server was stopped.")
        finally:
            beat.cancel()
            with suppress(asyncio.CancelledError):
                await beat
        with suppress(OSError):  # the folder was removed, or the disk is full: then it is seen as dead later
            _finish(folder, done)

    def list(self, user_id: str) -> list[KeptExport]:
        """Return the user's exports, newest first; old ones are removed."""
        folder = self._user_folder(user_id)
        found = []
        for path in folder.glob("*.json") if folder.is_dir() else ():
            kept = _load(path)
            age = time.time() - path.stat().st_mtime if path.exists() else 0.0
            if kept is None or age > KEEP_SECONDS:
                _remove(folder, path.stem)
            elif kept.state == "running" and age > _DEAD_SECONDS:
                found.append(replace(kept, state="failed", reason="The server was stopped."))
            elif kept.state == "running":
                found.append(replace(kept, pages=_count(folder, kept.key), bytes=_size(folder, kept.key)))
            else:
                found.append(kept)
        return sorted(found, key=lambda kept: kept.started_at, reverse=True)

    def file(self, user_id: str, key: str) -> tuple[KeptExport, Path]:
        """Return a complete export and its file; `NotFound` when the user has none with this key."""
        path = self._user_folder(user_id) / f"{key}.data"
        kept = next((one for one in self.list(user_id) if one.key == key and one.state == "done"), None)
        if kept is None or not path.is_file():
            raise NotFound("There is no such export.", suggestions=("Exports are kept for a day: make a new one.",))
        return kept, path

    def remove(self, user_id: str, key: str) -> None:
        """Remove an export that is not running."""
        kept = next((one for one in self.list(user_id) if one.key == key), None)
        if kept is None:
            raise NotFound("There is no such export.")
        if kept.state == "running":
            raise Conflict("The export is running.", suggestions=("Wait until it is done.",))
        _remove(self._user_folder(user_id), key)

    async def close(self) -> None:
        """End running exports with the server."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _user_folder(self, user_id: str) -> Path:
        return self._folder / hashlib.sha256(user_id.encode()).hexdigest()[:32]


async def _write(path: Path, parts: AsyncIterator[bytes]) -> None:
    with path.open("wb") as file:
        path.chmod(0o600)
        async for part in parts:
            await asyncio.to_thread(file.write, part)


async def _beat(folder: Path, kept: KeptExport) -> None:
    """Show other processes that the export is alive."""
    while True:
        await asyncio.sleep(_BEAT_SECONDS)
        with suppress(OSError):
            os.utime(folder / f"{kept.key}.json")


def _finish(folder: Path, kept: KeptExport) -> None:
    if kept.state != "done":
        (folder / f"{kept.key}.data").unlink(missing_ok=True)
    _store(folder, kept)
    (folder / f"{kept.key}.count").unlink(missing_ok=True)
    shutil.rmtree(folder / f"{kept.key}.parts", ignore_errors=True)


def _store(folder: Path, kept: KeptExport) -> None:
    draft = folder / f"{kept.key}.part"
    draft.write_text(json.dumps(asdict(kept)), "utf-8")
    os.replace(draft, folder / f"{kept.key}.json")


def _load(path: Path) -> KeptExport | None:
    try:
        return KeptExport(**json.loads(path.read_text("utf-8"))) if _KEY.fullmatch(path.stem) else None
    except (OSError, ValueError, TypeError):
        return None


def _count(folder: Path, key: str) -> int:
    try:
        return int((folder / f"{key}.count").read_text() or 0)
    except (OSError, ValueError):
        return 0


def _size(folder: Path, key: str) -> int:
    try:
        return (folder / f"{key}.data").stat().st_size
    except OSError:
        return 0


def _remove(folder: Path, key: str) -> None:
    for suffix in ("json", "data", "count", "part"):
        (folder / f"{key}.{suffix}").unlink(missing_ok=True)
    shutil.rmtree(folder / f"{key}.parts", ignore_errors=True)
