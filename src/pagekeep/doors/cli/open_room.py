"""Open a worker room for one command: pages are processed within limits, also where no server is. And end it in order."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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


def stop_on_sigterm() -> None:
    """Let SIGTERM end the running command as Ctrl-C does: pages that are being saved stay in the queue."""
    import asyncio  # commands without a loop start faster

    task = asyncio.current_task()
    if task is not None and hasattr(signal, "SIGTERM"):
        with suppress(NotImplementedError):  # Windows has no signal handlers in its loop
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
