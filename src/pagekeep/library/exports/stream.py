"""Stream exports of users' libraries: each is written by a child process, and no faster than the client reads it."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from pagekeep import errors
from pagekeep.config import Settings
from pagekeep.errors import PagekeepError, StoreError, TooManyRequests
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
