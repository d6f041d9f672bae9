"""Read an import file in a worker process, which hands over its rows in batches.

A file of others can loop in a parser or fill the memory: that ends the worker and the import, not the server. The rows that
were handed over before stay.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import IO, Final

from pagekeep.errors import NotFound, ParseError
from pagekeep.library.imports.input.row import Fault
from pagekeep.library.imports.rows import CheckedRow, NamedRow, ReadyRow, read_folder, read_stream
from pagekeep.workers import NICE, Limits, Worker, wire
from pagekeep.workers.child import out_of_memory, was_killed
from pagekeep.workers.worker import unreadable

READING: Final = Limits(cpu_seconds=60.0, wall_seconds=300.0, megabytes=2_000)
"""For one batch. It ends after `_BATCH_SECONDS`, so that in fact these are the limits for a single row."""
BATCH_ROWS: Final = 200
_BATCH_BYTES: Final = 4_000_000
_BATCH_SECONDS: Final = 2.0
MAX_ROW_BYTES: Final = 50_000_000
"""Size of a row when it is handed over."""
_TOO_LONG: Final = f"it has more than {MAX_ROW_BYTES // 1_000_000} MB."


@dataclass(frozen=True, slots=True)
class _Opening:
    """Which file to read, and how many of its rows to leave out."""

    path: Path
    filename: str
    format: str | None
    skip: int


class RowReader:
    """A worker process that reads import files, one at a time. For one thread at a time, except `interrupt`."""

    def __init__(self, limits: Limits = READING) -> None:
        self._worker = Worker(f"{__name__}:{read_on.__name__}", limits, nice=NICE, subject="file")

    def __enter__(self) -> RowReader:
        return self

    def __exit__(self, *_: object) -> None:
        self._worker.close()

    def fork(self) -> None:
        """Start the process as a fork of this one, if that is safe: for commands, before they start threads."""
        self._worker.fork()

    def interrupt(self) -> None:
        """End the process, from any thread."""
        self._worker.interrupt()

    def read(
        self, path: Path, filename: str, format: str | None, *, skip: int = 0, is_copy: bool = False
    ) -> Iterator[NamedRow]:
        """Yield the rows of a file or folder, without the first `skip`; raise `ParseError` when the process takes too much.

        A copy is deleted as soon as it is open, where the system allows that: so a server that is killed leaves none.
        """
        rows, finished = self._run(_Opening(path, filename, format, skip))
        if is_copy and os.name == "posix":
            path.unlink()
        while not finished:
            rows, finished = self._run(None)
            for row in rows:
                yield _unpack(row)

    def _run(self, job: _Opening | None) -> tuple[list[bytes], bool]:
        try:
            ((answer, error),) = self._worker.run([job])
        except RuntimeError as closed:  # it was interrupted
            raise ParseError("Reading the file was interrupted.", suggestions=("Try again.",)) from closed
        if error is not None:
            raise error
        rows, finished = answer
        return rows, finished


@contextmanager
def copied(copy: Callable[[IO[bytes]], object]) -> Iterator[Path]:
    """Let `copy` write a temporary file, and return its path."""
    with TemporaryDirectory(prefix="pagekeep-import-") as folder:
        path = Path(folder) / "upload"
        with path.open("wb") as file:
            copy(file)
        yield path


def copied_stream(source: IO[bytes]) -> Callable[[IO[bytes]], object]:
    """Return a function for `copied` that copies an open file."""

    def copy(file: IO[bytes]) -> None:
        source.seek(0)
        shutil.copyfileobj(source, file, 1_000_000)

    return copy


# In the worker process:

_reading: Reading | None = None
"""The file that this process reads."""


class Reading:
    """An open file, and how far it was read."""

    def __init__(self, opening: _Opening) -> None:
        self._file: IO[bytes] | None = None
        self._is_full = False
        self._left_out = opening.skip
        if opening.path.is_dir():
            self._rows = read_folder(opening.path, opening.format)
            return
        try:
            self._file = opening.path.open("rb")
        except OSError as error:
            hint = "Check the file's permissions."
            raise NotFound(f"Cannot read the file {str(opening.path)!r}.", suggestions=(hint,)) from error
        self._rows = read_stream(self._file, opening.filename, opening.format)

    def next_batch(self) -> tuple[list[bytes], bool]:
        """Return some rows as they are sent, and whether they are the last ones."""
        if self._is_full:
            raise out_of_memory("file")
        batch: list[bytes] = []
        try:
            return batch, self._fill(batch)
        except MemoryError:  # the rows before it are handed over first
            self._is_full = True
        return batch, False

    def _fill(self, batch: list[bytes]) -> bool:
        """Add rows until there are enough; return whether they are the last ones."""
        size, until = 0, monotonic() + _BATCH_SECONDS
        for named_row in self._rows:
            if self._left_out:
                self._left_out -= 1
            else:
                batch.append(_pack(*named_row))
                size += len(batch[-1])
            if len(batch) >= BATCH_ROWS or size > _BATCH_BYTES or monotonic() > until:
                return False
        self.close()
        return True

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()


def read_on(job: _Opening | None) -> tuple[list[bytes], bool]:
    """Open a file, or return the next rows of the open one and whether they are the last."""
    global _reading
    if job is not None:
        if _reading is not None:
            _reading.close()
        _reading = Reading(job)
        return [], False
    if _reading is None:  # a new process: the one that had opened the file was killed meanwhile
        raise was_killed()
    return _reading.next_batch()


def _unpack(data: bytes) -> NamedRow:
    try:
        row: NamedRow = wire.loads(data, wire.codec_of(NamedRow))
    except wire.Malformed as fault:
        raise unreadable(fault) from None
    return row


def _pack(name: str, row: ReadyRow) -> bytes:
    """Return the row as it is sent; one that is too long without its content, or as a fault."""
    with suppress(RecursionError):
        data = b"".join(wire.dumps((name, row), wire.codec_of(NamedRow)))
        if len(data) <= MAX_ROW_BYTES:
            return data
        if isinstance(row, CheckedRow) and (row.row.content or row.row.page):
            remarks = (*row.row.remarks, f"The content in the export could not be used: {_TOO_LONG}")
            return _pack(name, replace(row, row=replace(row.row, content="", page=None, remarks=remarks)))
        place = row.row.place if isinstance(row, CheckedRow) else row.place
        return _pack(name, Fault(place, f"The entry is too long: {_TOO_LONG}"))
    place = row.row.place if isinstance(row, CheckedRow) else row.place
    return _pack(name, Fault(place, "The entry is nested too deep."))
