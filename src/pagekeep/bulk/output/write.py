"""Parts filled one after another, while a thread of its own packs and writes what has come together."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any, Final

from pagekeep.bulk.duplicates import Signature
from pagekeep.bulk.output.parts import Part, Parts
from pagekeep.bulk.row import Cells
from pagekeep.bulk.tally import Account

_GROUP: Final = 8_000_000
"""Bytes of rows that are written together, as a group of the table. They alone decide, so that a part is always the same."""
_STEPS: Final = 3
"""Steps that are waiting or under way."""


class Writing:
    """The part that is being filled. A context manager: what is not finished at its end is a draft, and counts for nothing."""

    def __init__(self, parts: Parts) -> None:
        self.account = Account()
        self.new: list[Signature] = []
        self._parts = parts
        self._number = -1
        self._part: Part | None = None
        self._rows: list[Cells] = []
        self._size = 0
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="pagekeep-writer")
        self._waiting: deque[Future[None]] = deque()

    def __enter__(self) -> Writing:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._thread.shutdown()
        if self._part is not None:
            self._part.abandon()

    def turn_to(self, number: int) -> None:
        """Rows that follow belong to this part."""
        if number != self._number:
            self.finish()
            self._number, self._part = number, self._parts.open(number)

    def add(self, row: Cells) -> None:
        """A row behind those that are there."""
        self._rows.append(row)
        self._size += _bytes(row)
        if self._size >= _GROUP:
            self._flush()

    def finish(self) -> None:
        """The part is whole."""
        if self._part is None:
            return
        if self._rows:
            self._flush()
        self._later(self._part.close, self.account, self.new)
        self._part, self.account, self.new = None, Account(), []

    def wait(self) -> None:
        """Until everything is on the disk."""
        while self._waiting:
            self._waiting.popleft().result()

    def _flush(self) -> None:
        assert self._part is not None  # rows come after `turn_to`
        self._later(self._part.add, self._rows)
        self._rows, self._size = [], 0

    def _later(self, step: Callable[..., None], *arguments: Any) -> None:
        """Few steps wait: a slow disk holds the workers back instead of filling memory."""
        if len(self._waiting) >= _STEPS:
            self._waiting.popleft().result()
        self._waiting.append(self._thread.submit(step, *arguments))


def _bytes(row: Cells) -> int:
    return len(row) if isinstance(row, bytes) else sum(len(cell) for cell in row if isinstance(cell, bytes))
