"""Imports into a real library."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pagekeep.library.imports.input.source import Source
from pagekeep.library.imports.run import ImportPlan, ImportReport, import_stream
from pagekeep.model import Item, ItemQuery
from pagekeep.rules import Rulebook
from pagekeep.store import Store, open_store

Bring = Callable[..., ImportReport]


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Store]:
    with closing(open_store(tmp_path / "library.db", "keeper")) as store:
        yield store


@pytest.fixture
def bring(library: Store) -> Bring:
    """Imports bytes or text under a file's name."""

    def one(data: bytes | str, name: str = "export", **how: Any) -> ImportReport:
        file = io.BytesIO(data.encode() if isinstance(data, str) else data)
        return import_stream(file, name, library, ImportPlan(Rulebook(), **how))

    return one


def everything(library: Store) -> dict[str, Item]:
    """All items by their address."""
    found: dict[str, Item] = {}
    after = None
    while True:
        listed = library.search.find(ItemQuery(limit=500, after=after))
        found |= {item.url: item for item in listed.items}
        after = listed.next
        if after is None:
            return found


def source(text: str | bytes, name: str = "export") -> Source:
    """A file that is at hand."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return Source(name, lambda: io.BytesIO(data))
