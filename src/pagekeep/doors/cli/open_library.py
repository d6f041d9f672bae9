"""Open what a command needs: the library, the rules and a worker room."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import cached_property, wraps
from pathlib import Path
from typing import Any, Self, overload

import click

from pagekeep.doors.cli.lazy import lazily
from pagekeep.doors.cli.options import library_options
from pagekeep.doors.cli.output import report_errors, show_table, write, write_json
from pagekeep.errors import NotFound

with lazily():
    from pagekeep.capture.active_rules import load_active
    from pagekeep.library.open import library_path
    from pagekeep.text import printable
    from pagekeep.workers import Room

with lazily():
    from pagekeep import config
    from pagekeep.config import Settings
    from pagekeep.identity.accounts import Accounts, open_accounts
    from pagekeep.library.items.change import remember_action
    from pagekeep.library.open import Store
    from pagekeep.library.open import open_library as open_store
    from pagekeep.model import Item, RuleFault
    from pagekeep.present.json_shapes import items_shape
    from pagekeep.rules import Rulebook
    from pagekeep.workers import Room


class OpenLibrary:
    """What a command works with: the settings in force, the library, and whether to print JSON."""

    def __init__(self, flags: dict[str, Any], as_json: bool, *, create: bool = False) -> None:
        self.as_json = as_json
        self.flags, self.create = flags, create
        self._closing = ExitStack()

    @cached_property
    def settings(self) -> Settings:
        """The settings, with the flags of the command in place of those in the file."""
        return config.load(self.flags)

    @cached_property
    def store(self) -> Store:
        """The library, opened when it is first used; a missing one is only created where the command creates libraries."""
        if not self.create:
            _check_exists(self.settings)
        return self._closing.enter_context(closing(open_store(self.settings)))

    @cached_property
    def accounts(self) -> Accounts:
        """The users and tokens, opened when they are first used."""
        return self._closing.enter_context(closing(open_accounts(self.settings)))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.close()

    def show(self, shape: Mapping[str, object], text: str) -> None:
        """Print a result: as JSON, or as text for people."""
        write_json(shape) if self.as_json else write(text)

    def show_table(self, shape: Mapping[str, object], header: list[str], rows: list[list[str]]) -> None:
        """Print a list of results: as JSON, or as a table for people."""
        write_json(shape) if self.as_json else show_table([header, *rows])

    def show_items(self, items: Sequence[Item], line: Callable[[Item], str]) -> None:
        """Print items: as JSON, or one line each."""
        if self.as_json:
            write_json(items_shape(items, None))
        elif items:
            write("\n".join(map(line, items)))

    def remember(self, command: str, action: str) -> None:
        """Let `pagekeep undo` take back this action of a command."""
        remember_action(self.settings, command, action)


Command = Callable[..., None]


@overload
def library_command(function: Command, /) -> Command: ...
@overload
def library_command(*, create: bool = False, open_late: bool = False) -> Callable[[Command], Command]: ...
def library_command(
    function: Command | None = None, /, *, create: bool = False, open_late: bool = False
) -> Command | Callable[[Command], Command]:
    """Make a function a command on the library: with its options, opened, with errors reported, and closed at the end.

    The function gets an `OpenLibrary`, and its own options and arguments. With `create`, a missing library is created; with
    `open_late`, the library is opened when the function first uses it, as when the function checks its options before.
    """

    def decorate(function: Command) -> Command:
        @wraps(function)
        def command(*, library: str | None, user: str | None, as_json: bool, **parameters: Any) -> None:
            if click.get_current_context().invoked_subcommand is not None:
                return  # the group of a subcommand, which opens the library itself
            flags = {"library": library, "user": user}
            with report_errors(as_json=as_json), OpenLibrary(flags, as_json, create=create) as opened:
                _ = open_late or opened.store
                function(opened, **parameters)

        return library_options(command)

    return decorate if function is None else decorate(function)


def _check_exists(settings: Settings) -> None:
    """Refuse a named library that does not exist, as it is probably a typo; the default one is created when first used."""
    location = library_location(settings)
    if settings.library is not None and isinstance(location, Path) and not location.exists():
        raise NotFound(
            f"No library at {location}.", suggestions=("Check the path. `pagekeep save` creates a library.",)
        )


def library_location(settings: Settings) -> Path | str:
    """Return the library's file, or its server URL without the password."""
    path = library_path(settings)
    if path is not None:
        return path
    scheme, _, rest = (settings.library or "").partition("://")
    return f"{scheme}://{rest.rpartition('@')[2].partition('?')[0]}"


def load_rules(settings: Settings) -> Rulebook:
    """Load the built-in rules and the user's own; faulty rules are reported and left out."""
    book = load_active(settings)
    report_faults(book.faults)
    return book


def report_faults(faults: Iterable[RuleFault]) -> None:
    """Print to stderr what is wrong with the rules that were left out."""
    for fault in faults:
        click.echo(f"Skipped a faulty rule: {printable(str(fault))}", err=True)


@contextmanager
def open_room(settings: Settings, processes: int = 1, *, report: bool = True) -> Iterator[Room]:
    """Open a room whose processes are forked where possible: a new process would take longer than most pages.

    Rules are loaded before, so that the forked processes have them too; faulty ones are reported.
    """
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
