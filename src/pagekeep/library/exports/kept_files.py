"""Exports and backups that are written to the server's disk with progress, to be downloaded when they are complete.

Each has two files in a folder of its user: the state as JSON, which any process of the server can read, and the content. They
are removed after a day.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import secrets
import shutil
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final, Literal

from pagekeep import clock
from pagekeep.errors import Conflict, NotFound, PagekeepError
from pagekeep.library.exports.run import ExportOptions
from pagekeep.library.exports.stream import Exports

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
