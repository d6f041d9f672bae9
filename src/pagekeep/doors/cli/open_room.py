"""Open a worker room for one command: pages are processed within limits, also where no server is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pagekeep.doors.cli.open_library import load_rules

if TYPE_CHECKING:
    from pagekeep.config import Settings
    from pagekeep.workers import Room


@contextmanager
def open_room(settings: Settings, processes: int = 1, *, report: bool = True) -> Iterator[Room]:
    """Open a room whose processes are forked where possible: a new process would take longer than most pages.

    Rules are loaded before, so that the forked processes have them too; faulty ones are reported.
    """
    from pagekeep.workers import Room

    if report:
        load_rules(settings)
    room = Room(processes)
    room.fork()
    try:
        yield room
    finally:
        room.close()
