"""Print results to stdout and errors to stderr, and end with the right exit code."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from pagekeep.errors import BlockedAddress, PagekeepError, StoreError

if TYPE_CHECKING:
    from rich.status import Status

BAD_INPUT = 2
"""Exit code, as click uses it."""
INTERRUPTED = 130
"""Exit code of Ctrl-C: 128 and the number of the signal."""
_DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO)
_CONTROL_CHARS = {code: None for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"}


def write(text: str) -> None:
    """Write text to stdout as UTF-8 whatever the locale, so that a redirected file is the same on every machine."""
    if not text.endswith("\n"):
        text += "\n"
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))
    sys.stdout.buffer.flush()


def write_json(value: Mapping[str, object]) -> None:
    """Write a JSON object to stdout, indented, its keys in the order given, after `success`.

    Every `--json` has this shape: `success`, and what the command found or did; or `success` false and `error`.
    """
    import json

    write(json.dumps({"success": True, **value}, ensure_ascii=False, indent=2))


def is_terminal() -> bool:
    """Return whether stdout is a terminal."""
    return sys.stdout.isatty()


def format_error(error: PagekeepError) -> str:
    """Return an error for people, with one suggestion per line below it."""
    return "\n  ".join([f"Error: {error.message}", *_suggestions(error)])


def _suggestions(error: PagekeepError) -> tuple[str, ...]:
    """Return what to do next; the user of the command line owns the machine, so settings and paths may be named."""
    again = (f"To try again: pagekeep retry {error.item_id[:8]}",) if error.item_id else ()
    if not isinstance(error, BlockedAddress) or error.host is None:
        return (*error.suggestions, *again)
    from pagekeep import config

    variable = f"{config.PREFIX}ALLOW_HOSTS={error.host}"
    return (f"To allow it, set {variable}, or add it to `allow_hosts` in {config.settings_path()}", *again)


def format_count(number: int, noun: str, plural: str | None = None) -> str:
    """Return a count with its noun, such as "1 page" or "2 pages"."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def format_bytes(size: int) -> str:
    """Return a size such as "4.2 MB"."""
    for unit in ("bytes", "KB", "MB"):
        if size < 1_000:
            return f"{size:,} bytes" if unit == "bytes" else f"{size:.3g} {unit}"
        size /= 1_000  # type: ignore[assignment]
    return f"{size:,.3g} GB" if size < 1_000 else f"{size:,.0f} GB"


def remove_control_chars(text: str) -> str:
    """Return text of several lines without the characters that control a terminal."""
    return text.translate(_CONTROL_CHARS)


def show_table(rows: list[list[str]]) -> None:
    """Print rows under their header row: a table on a terminal, tab-separated in a pipe."""
    from pagekeep.text import printable

    cells = [[printable(cell) for cell in row] for row in rows]
    if not is_terminal():
        write("\n".join("\t".join(row) for row in cells))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text  # not markup: a title may contain [brackets]

    table = Table(*cells[0], box=None, pad_edge=False)
    for row in cells[1:]:
        table.add_row(*map(Text, row))
    Console().print(table)


@contextmanager
def report_errors(*, as_json: bool = False) -> Iterator[None]:
    """Print a `PagekeepError` to stderr, or as JSON to stdout, and exit with code 2."""
    try:
        yield
    except PagekeepError as error:
        _show_error(error, as_json=as_json)
        raise click.exceptions.Exit(BAD_INPUT) from error
    except OSError as error:
        if error.errno not in _DISK_ERRORS:
            raise
        reason = f"A file cannot be written: {error.strerror}."
        _show_error(StoreError(reason, suggestions=("Free some space, and run the command again.",)), as_json=as_json)
        raise click.exceptions.Exit(BAD_INPUT) from error
    except KeyboardInterrupt as interrupt:
        raise click.exceptions.Exit(INTERRUPTED) from interrupt


def report_lost() -> None:
    """Print that the connection to the database is lost."""
    click.echo("The connection to the database was lost. Everything waits until it answers.", err=True)


def report_back() -> None:
    """Print that the database can be reached again."""
    click.echo("The database answers again.", err=True)


def _show_error(error: PagekeepError, *, as_json: bool) -> None:
    if _can_write() and as_json:
        write_json(error.to_json())
    else:
        click.echo(format_error(error), err=True)


def _can_write() -> bool:
    """Return whether stdout can be written; what a full disk did not take is dropped, or Python would fail at its end."""
    try:
        sys.stdout.buffer.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False
    return True


class Stage:
    """Shows what a command does at the moment; called with the name of the stage."""

    def __init__(self, status: Status | None = None) -> None:
        self._status = status

    def __call__(self, stage: str) -> None:
        """Show the stage."""
        if self._status is not None:
            self._status.update(stage)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Hide the spinner meanwhile, so that what is printed has its own lines."""
        if self._status is None:
            yield
            return
        self._status.stop()
        try:
            yield
        finally:
            self._status.start()


@contextmanager
def show_progress(label: str = "Starting") -> Iterator[Stage]:
    """Show a spinner with the current stage on a terminal, and nothing elsewhere."""
    if not sys.stderr.isatty():
        yield Stage()
        return
    from rich.console import Console

    with Console(stderr=True).status(label) as status:
        yield Stage(status)


@contextmanager
def show_bar(label: str) -> Iterator[Callable[[int, int | None], None]]:
    """Show a progress bar on a terminal, moved by calls with (done, total), and nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
