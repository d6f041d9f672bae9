"""A site with one page that a test changes, and a library on either engine."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

import pytest

from pagekeep.capture.from_url import Retrieval
from pagekeep.config import Settings
from pagekeep.library import watch
from pagekeep.rules import Rulebook
from pagekeep.store import Store, open_store

T = TypeVar("T")
Run = Callable[..., Any]


@pytest.fixture(params=["sqlite", "postgres"])
def any_library(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """A library on both engines."""
    place = str(tmp_path / "library.db") if request.param == "sqlite" else request.getfixturevalue("postgres").app
    with closing(open_store(place, f"user-{tmp_path.name}")) as store:
        yield store


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Visits that confirm a change follow each other without a pause."""
    monkeypatch.setattr(watch, "CONFIRM_SECONDS", 0.0)


@pytest.fixture
def run(settings: Settings) -> Run:
    """Runs a function that takes a retrieval as its last argument."""

    def call(
        function: Callable[..., Awaitable[T]],
        *args: Any,
        rules: Rulebook | None = None,
        own: Settings | None = None,
        **how: Any,
    ) -> T:
        async def inside() -> T:
            async with Retrieval(own or settings, rules) as retrieval:
                return await function(*args, retrieval, **how)

        return asyncio.run(inside())

    return call
