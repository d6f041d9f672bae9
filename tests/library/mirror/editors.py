"""Editors that save in the gaps of a replacement, and file systems that cannot do everything."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO, Any, Final
from unittest import mock

from pagekeep.library.mirror import folder, writing

KINDS: Final = ("atomic", "at once", "slow", "backup")
"""How an editor saves: by a temporary file and a rename, in place, in place with a pause, with a backup as vim does."""


def later() -> int:
    """Return a time at which every file is old enough to be read."""
    return time.time_ns() + 10_000_000_000


@contextmanager
def no_exchange() -> Iterator[None]:
    """Run as on a file system that cannot exchange two files."""
    with mock.patch.object(folder, "exchange", return_value=False):
        yield


@contextmanager
def no_flags() -> Iterator[None]:
    """Run as on a file system that has no renames with flags: two files are not exchanged, a free name is taken by a link."""
    with mock.patch.object(folder, "_rename_with", return_value=False):
        yield


@contextmanager
def no_links() -> Iterator[None]:
    """Run as on a file system that has neither: a free name is taken by a new file."""
    with (
        no_flags(),
        mock.patch.object(os, "link", mock.Mock(side_effect=PermissionError(1, "Operation not permitted"))),
    ):
        yield


SYSTEMS: Final = {"exchange": nullcontext, "no exchange": no_exchange, "links": no_flags, "no links": no_links}
"""What a file system can do, as a context."""


@contextmanager
def in_every_gap(act: Callable[[str], None]) -> Iterator[None]:
    """Call `act` with the name of the step before and after each step in which the mirror replaces or removes a file."""

    def between(name: str, step: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any, **options: Any) -> Any:
            act(f"before {name}")
            result = step(*arguments, **options)
            act(f"after {name}")
            return result

        return run

    steps = [(folder, "exchange"), (folder, "move_to_free_name"), (writing, "swap"), (os, "rename")]
    patches = [mock.patch.object(where, name, between(name, getattr(where, name))) for where, name in steps]
    for patch in patches:
        patch.start()
    try:
        yield
    finally:
        for patch in reversed(patches):
            patch.stop()


class Editor:
    """A program with one file open that saves its buffer with another line each time."""

    def __init__(self, path: Path, name: str, kind: str) -> None:
        self.path, self.name, self.kind = path, name, kind
        self.buffer = path.read_text("utf-8")
        self.saves = 0
        self._open: list[tuple[IO[str], str]] = []

    @property
    def line(self) -> str:
        """The line of the last save."""
        return f"edit {self.name}-{self.saves}"

    def save(self) -> None:
        self.finish()
        self.saves += 1
        text = f"{self.buffer.rstrip()}\n\n{self.line}\n"
        if self.kind == "atomic":
            draft = self.path.with_name(f".{self.path.name}.saving")
            draft.write_text(text, "utf-8")
            os.replace(draft, self.path)
        elif self.kind == "backup":
            backup = self.path.with_name(f"{self.path.name}~")
            if self.path.exists():
                os.replace(self.path, backup)
            self.path.write_text(text, "utf-8")
            backup.unlink(missing_ok=True)
        elif self.kind == "slow":
            self._open.append((self.path.open("w", encoding="utf-8"), text))
        else:
            self.path.write_text(text, "utf-8")

    def finish(self) -> None:
        """Write what a slow save has not written yet."""
        while self._open:
            file, text = self._open.pop(0)
            with file:
                file.write(text)
