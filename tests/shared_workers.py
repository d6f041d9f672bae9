"""One room of worker processes for all servers of a test session.

Starting a server in this process takes about 20 ms, starting a worker for it about a second: so each test has its own server
and library, and all of them use the same workers. Tests of the workers themselves start their own.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pagekeep.workers import Room

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
