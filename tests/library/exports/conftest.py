"""Two libraries: one to leave, one to enter."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from pagekeep.store import Store, open_store


@pytest.fixture
def new_library(tmp_path: Path) -> Iterator[Callable[[str], Store]]:
    with ExitStack() as stack:
        yield lambda name: stack.enter_context(closing(open_store(tmp_path / f"{name}.db", name)))


@pytest.fixture
def library(new_library: Callable[[str], Store]) -> Store:
    return new_library("old")
