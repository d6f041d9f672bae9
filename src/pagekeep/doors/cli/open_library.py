"""Open what a command needs: the library, the rules and a worker room."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from pagekeep.doors.cli.output import report_errors
from pagekeep.errors import NotFound

if TYPE_CHECKING:
    from pagekeep.config import Settings
    from pagekeep.library.open import Store
    from pagekeep.model import RuleFault
    from pagekeep.rules import Rulebook
    from pagekeep.workers import Room


class OpenLibrary(NamedTuple):
    """An open library and the settings in force."""

    settings: Settings
    store: Store


@contextmanager
def open_library(
    library: str | None, user: str | None, as_json: bool, *, create: bool = False, **flags: object
) -> Iterator[OpenLibrary]:
    """Open the library for one command and report errors; with `create`, a missing library is created."""
    with report_errors(as_json=as_json):
        from pagekeep import config
        from pagekeep.library.open import open_library as open_store

        settings = config.load({"library": library, "user": user, **flags})
        if not create:
            _check_exists(settings)
        with closing(open_store(settings)) as store:
            yield OpenLibrary(settings, store)


def _check_exists(settings: Settings) -> None:
    """Refuse a named library that does not exist, as it is probably a typo; the default one is created when first used."""
    location = library_location(settings)
    if settings.library is not None and isinstance(location, Path) and not location.exists():
        raise NotFound(
            f"No library at {location}.", suggestions=("Check the path. `pagekeep save` creates a library.",)
        )


def library_location(settings: Settings) -> Path | str:
    """Return the library's file, or its server URL without the password."""
    from pagekeep.library.open import library_path

    path = library_path(settings)
    if path is not None:
        return path
    scheme, _, rest = (settings.library or "").partition("://")
    return f"{scheme}://{rest.rpartition('@')[2].partition('?')[0]}"


def load_rules(settings: Settings) -> Rulebook:
    """Load the built-in rules and the user's own; faulty rules are reported and left out."""
    from pagekeep.capture.active_rules import load_active

    book = load_active(settings)
    report_faults(book.faults)
    return book


def report_faults(faults: Iterable[RuleFault]) -> None:
    """Print to stderr what is wrong with the rules that were left out."""
    from pagekeep.text import printable

    for fault in faults:
        click.echo(f"Skipped a faulty rule: {printable(str(fault))}", err=True)


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
