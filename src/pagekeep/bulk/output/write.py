"""Fill parts one after another, while a background thread compresses and writes them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any, Final

from pagekeep.bulk.counts import Counts
from pagekeep.bulk.duplicates import Signature
from pagekeep.bulk.output.parts import Part, Parts
from pagekeep.bulk.row import Cells

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
        self._size += _row_bytes(row)
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


def _row_bytes(row: Cells) -> int:
    return len(row) if isinstance(row, bytes) else sum(len(cell) for cell in row if isinstance(cell, bytes))
