"""A library, the folder it is mirrored in, and a hand that edits files."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pagekeep.library.mirror.run import MirrorReport, run_pass
from pagekeep.store import Store, open_store
from tests.library.exports.making import fill


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Store]:
    with closing(open_store(tmp_path / "library.db", "keeper")) as store:
        yield store


class Vault:
    """A folder that mirrors a library."""

    def __init__(self, store: Store, folder: Path) -> None:
        self.store, self.folder = store, folder

    def sync(self, profile: str = "pagekeep") -> MirrorReport:
        """Run a pass for which every file is old enough."""
        return run_pass(self.store, self.folder, profile, now=self.now)  # type: ignore[arg-type]

    @staticmethod
    def now() -> int:
        """Return a time at which no file is being written any more."""
        return time.time_ns() + 10_000_000_000

    @property
    def names(self) -> list[str]:
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*.md"))

    def file(self, item_id: str) -> Path:
        (path,) = [path for path in self.folder.rglob("*.md") if f"id: {item_id}" in path.read_text().replace('"', "")]
        return path

    def edit(self, item_id: str, change: Callable[[str], str]) -> Path:
        """Change a file so that its time shows it."""
        path = self.file(item_id)
        new = change(path.read_text())
        assert new != path.read_text()
        path.write_text(new)
        os.utime(path)
        return path

    def age(self) -> None:
        """As if all files had been written long ago."""
        for path in self.folder.rglob("*.md"):
            os.utime(path, (1_000_000_000, 1_000_000_000))


@pytest.fixture
def vault(library: Store, tmp_path: Path) -> Vault:
    fill(library, 8)
    made = Vault(library, tmp_path / "vault")
    made.sync()
    return made
