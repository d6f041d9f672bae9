"""The output folder: numbered parts, each complete or absent, and a file with the counts of each.

A part is done when the file with its counts exists, which is written last. So an interrupted run can be resumed, and the
result is the same, byte for byte. A background thread compresses and writes.
Arrow arrays are built from buffers: pyarrow's own conversion from lists is slower, and imports pandas where that is
installed, which takes 0.2 s and 45 MB."""

from __future__ import annotations

import json
import os
from array import array
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final

from pagekeep.bulk.counts import Counts
from pagekeep.bulk.duplicates import Signature, pack_signatures, unpack_signatures
from pagekeep.bulk.read_records import require_pyarrow
from pagekeep.bulk.row import COLUMNS_BY_NAME, LONG_COLUMNS, Cells, OutputFormat
from pagekeep.errors import StoreError

_COUNTS_FOLDER: Final = "_accounts"
_MANIFEST: Final = "_run.json"
REPORT_FILE: Final = "report.json"
"""Written at the end of a run."""


class Parts:
    """The folder a run writes to."""

    def __init__(self, folder: Path, columns: Sequence[str], format: OutputFormat) -> None:
        self.folder = folder
        self._columns = tuple(columns)
        self._format = format

    def begin(self, manifest: dict[str, Any], *, resume: bool) -> None:
        """Create the folder, or resume the run in it. Incomplete files of an interrupted run are removed."""
        with _translate_disk_errors():
            self._check(manifest, resume=resume)
            (self.folder / _COUNTS_FOLDER).mkdir(parents=True, exist_ok=True)
            for draft in self.folder.rglob("*.draft"):
                draft.unlink()
        _write_atomically(self.folder / _MANIFEST, json.dumps(manifest, indent=1, sort_keys=True).encode())

    def _check(self, manifest: dict[str, Any], *, resume: bool) -> None:
        """Raise `StoreError` unless this run may write to the folder."""
        path = self.folder / _MANIFEST
        if self.folder.exists() and not self.folder.is_dir():
            raise StoreError(f"{self.folder} is a file.", suggestions=("Name a folder for the output.",))
        if path.is_file():
            if not resume:
                raise self._in_use()
            self._check_same_run(json.loads(path.read_text("utf-8")), manifest)
        elif self.folder.is_dir() and not self._is_empty():
            raise StoreError("The folder is not empty.", suggestions=("Name a new folder.",))

    def _in_use(self) -> StoreError:
        if (self.folder / REPORT_FILE).is_file():  # written last
            return StoreError("The folder contains a finished run.", suggestions=("Name another folder.",))
        return StoreError(
            "The folder contains an unfinished run.",
            suggestions=("Continue it with --resume, or name another folder.",),
        )

    def _is_empty(self) -> bool:
        """Return whether the folder has no output: at most what a run leaves that was stopped before its first record."""
        counts, draft = self.folder / _COUNTS_FOLDER, _draft_path(self.folder / _MANIFEST)
        if any(entry not in (counts, draft) for entry in self.folder.iterdir()):
            return False
        return not counts.is_dir() or not any(counts.iterdir())

    def _check_same_run(self, stored: dict[str, Any], manifest: dict[str, Any]) -> None:
        differing = sorted(name for name in {*stored, *manifest} if stored.get(name) != manifest.get(name))
        if differing:
            raise StoreError(
                f"The run in the folder has other options: {', '.join(differing)} differ.",
                suggestions=("Give the same input and options, or name another folder.",),
            )

    def is_done(self, number: int) -> bool:
        """Return whether the part is complete."""
        return self._counts_path(number).is_file()

    def _counts_path(self, number: int) -> Path:
        return self.folder / _COUNTS_FOLDER / f"{number:06}.json"

    def open(self, number: int) -> Part:
        """Return a new part, which appears in the folder when it is closed."""
        return Part(self.folder / f"part-{number:06}.{self._format}", self._counts_path(number), self._columns)

    def counts(self) -> Iterator[Counts]:
        """Yield the counts of all complete parts in order."""
        for file in sorted((self.folder / _COUNTS_FOLDER).glob("*.json")):
            yield Counts.from_json(json.loads(file.read_text("utf-8")))

    def signatures(self) -> Iterator[Signature]:
        """Yield the signatures of the pages in all complete parts."""
        for counts in sorted((self.folder / _COUNTS_FOLDER).glob("*.json")):
            # Not by listing `*.seen`: one without counts belongs to an incomplete part, whose pages come again.
            if (file := counts.with_suffix(".seen")).is_file():
                yield from unpack_signatures(file.read_bytes())


class Part:
    """A part that is being written as a draft, a group of rows at a time."""

    def __init__(self, path: Path, counts_path: Path, columns: tuple[str, ...]) -> None:
        self._path = path
        self._draft = _draft_path(path)
        self._counts_path = counts_path
        self._columns = columns
        self._file: IO[bytes] | None = None
        self._table: Any = None

    def add(self, rows: Sequence[Cells]) -> None:
        """Append rows."""
        with _translate_disk_errors():
            if self._file is None:
                self._file = self._draft.open("wb")
            if self._path.suffix == ".jsonl":
                self._file.writelines(map(_line, rows))
                return
            if self._table is None:
                self._table = _open_parquet_writer(self._file, self._columns)
            self._table.write_table(build_table(rows, self._columns))

    def close(self, counts: Counts, signatures: Sequence[Signature]) -> None:
        """Publish the part, then its counts. `signatures` are of its pages, for finding later duplicates."""
        if self._file is None or (self._table is None and self._path.suffix == ".parquet"):
            self.add([])
        with _translate_disk_errors():
            self.abandon()
            _publish(self._draft, self._path)
        if signatures:
            _write_atomically(self._counts_path.with_suffix(".seen"), pack_signatures(signatures))
        _write_atomically(self._counts_path, json.dumps(counts.to_json()).encode())

    def abandon(self) -> None:
        """Close the file without publishing it."""
        if self._table is not None:
            self._table.close()
        if self._file is not None:
            self._file.close()


def _line(cells: Cells) -> bytes:
    assert isinstance(cells, bytes)  # `RowOptions.format` is "jsonl"
    return cells


def _open_parquet_writer(file: IO[bytes], columns: tuple[str, ...]) -> Any:
    """Open a writer without dictionaries and statistics for long texts, which never repeat."""
    short = [name for name in columns if name not in LONG_COLUMNS]
    return require_pyarrow().parquet.ParquetWriter(
        file, build_schema(columns), compression="zstd", use_dictionary=short, write_statistics=short
    )


def _draft_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.draft")


def _write_atomically(path: Path, content: bytes) -> None:
    """Write a file that appears under its name only when it is complete and on the disk."""
    with _translate_disk_errors():
        draft = _draft_path(path)
        draft.write_bytes(content)
        _publish(draft, path)


def _publish(draft: Path, path: Path) -> None:
    with draft.open("rb+") as file:
        os.fsync(file.fileno())
    draft.replace(path)


@contextmanager
def _translate_disk_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError("The output could not be written.", suggestions=("Check the folder and the disk.",)) from error


_GROUP_BYTES: Final = 8_000_000
"""Rows are written in groups of this size. Nothing else decides where a group ends, so that a part is always the same."""
_MAX_PENDING: Final = 3
"""How many writes may wait or run: with a slow disk the workers wait, instead of filling the memory."""


class PartWriter:
    """Writes rows into parts. A context manager: a part that is not finished at its end is discarded."""

    def __init__(self, parts: Parts) -> None:
        self.counts = Counts()
        """Of the current part."""
        self.signatures: list[Signature] = []
        """Of the current part's pages."""
        self._parts = parts
        self._number = -1
        self._part: Part | None = None
        self._rows: list[Cells] = []
        self._size = 0
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="pagekeep-writer")
        self._waiting: deque[Future[None]] = deque()

    def __enter__(self) -> PartWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._thread.shutdown()
        if self._part is not None:
            self._part.abandon()

    def start_part(self, number: int) -> None:
        """Finish the part before, unless the rows that follow belong to it."""
        if number != self._number:
            self.finish()
            self._number, self._part = number, self._parts.open(number)

    def add(self, row: Cells) -> None:
        """Append a row to the current part."""
        self._rows.append(row)
        self._size += len(row) if isinstance(row, bytes) else sum(len(cell) for cell in row if isinstance(cell, bytes))
        if self._size >= _GROUP_BYTES:
            self._flush()

    def finish(self) -> None:
        """Complete the current part."""
        if self._part is None:
            return
        if self._rows:
            self._flush()
        self._submit(self._part.close, self.counts, self.signatures)
        self._part, self.counts, self.signatures = None, Counts(), []

    def wait(self) -> None:
        """Wait until everything is on the disk."""
        while self._waiting:
            self._waiting.popleft().result()

    def _flush(self) -> None:
        assert self._part is not None  # `start_part` comes before rows
        self._submit(self._part.add, self._rows)
        self._rows, self._size = [], 0

    def _submit(self, write: Callable[..., None], *arguments: Any) -> None:
        if len(self._waiting) >= _MAX_PENDING:
            self._waiting.popleft().result()
        self._waiting.append(self._thread.submit(write, *arguments))


_ARRAY_CODES: Final = {"integer": "i", "number": "f"}


def build_schema(columns: Sequence[str]) -> Any:
    """Return the schema of these columns."""
    pyarrow = require_pyarrow()
    types = {"text": pyarrow.string(), "integer": pyarrow.int32(), "number": pyarrow.float32()}
    return pyarrow.schema([(name, types[COLUMNS_BY_NAME[name].type]) for name in columns])


def build_table(rows: Sequence[Cells], columns: Sequence[str]) -> Any:
    """Return the rows as a table of the documented schema."""
    pyarrow = require_pyarrow()
    schema = build_schema(columns)
    values = zip(*rows, strict=True) if rows else [()] * len(columns)
    arrays = [
        pyarrow.Array.from_buffers(
            kind, len(rows), list(map(pyarrow.py_buffer, _buffers(COLUMNS_BY_NAME[name].type, cells)))
        )
        for name, kind, cells in zip(columns, schema.types, values, strict=True)
    ]
    return pyarrow.Table.from_arrays(arrays, schema=schema)


def _buffers(kind: str, cells: Sequence[Any]) -> list[Any]:
    """Return Arrow's buffers: validity, offsets and text for texts, validity and values for numbers."""
    if kind == "text":
        texts = [cell or b"" for cell in cells]
        return [_validity_bitmap(cells), array("i", accumulate(map(len, texts), initial=0)), b"".join(texts)]
    return [_validity_bitmap(cells), array(_ARRAY_CODES[kind], [cell or 0 for cell in cells])]


def _validity_bitmap(cells: Sequence[Any]) -> bytes:
    """Return a bit for each cell that has a value, the first cell in the lowest bit."""
    bits = "".join("0" if cell is None else "1" for cell in reversed(cells))
    return int(bits or "0", 2).to_bytes((len(cells) + 7) // 8, "little")
