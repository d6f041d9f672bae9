"""Results to stdout, errors to stderr, and the exit code that goes with them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from pagekeep import text as words
from pagekeep.errors import BlockedAddress, PagekeepError

BAD_INPUT = 2
INTERRUPTED = 130
_CONTROLS = {code: None for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"}


def write(text: str) -> None:
    """Text to stdout as UTF-8 whatever the locale, so that a file made by redirection is the same on every machine."""
    if not text.endswith("\n"):
        text += "\n"
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))
    sys.stdout.buffer.flush()


def write_json(value: dict[str, Any]) -> None:
    """A JSON object to stdout, indented, in the order of its keys."""
    write(json.dumps(value, ensure_ascii=False, indent=2))


def on_terminal() -> bool:
    """Whether a person looks at stdout."""
    return sys.stdout.isatty()


def error_lines(error: PagekeepError) -> str:
    """An error for people, what to do next below it."""
    return "\n  ".join([f"Error: {error.message}", *_next_steps(error)])


def _next_steps(error: PagekeepError) -> tuple[str, ...]:
    """What is suggested; here, where the person owns the machine, with the places to write it to."""
    if not isinstance(error, BlockedAddress) or error.host is None:
        return error.suggestions
    from pagekeep import config

    variable = f"{config.PREFIX}ALLOW_HOSTS={error.host}"
    return (f"If this host is yours: {variable}, or `allow_hosts` in {config.settings_path()}",)


def counted(number: int, thing: str) -> str:
    """So many of a thing, as people say it: "1 page", "2 pages"."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def printable(text: str) -> str:
    """One line without control characters: titles are the page's, and could steer the terminal."""
    return words.printable(text)


def without_controls(text: str) -> str:
    """Text of several lines that cannot steer the terminal."""
    return text.translate(_CONTROLS)


def show_table(rows: list[list[str]]) -> None:
    """Print rows under their header row: a table on a terminal, tab-separated in a pipe."""
    cells = [[printable(cell) for cell in row] for row in rows]
    if not on_terminal():
        write("\n".join("\t".join(row) for row in cells))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text  # not markup: a title may hold [brackets]

    table = Table(*cells[0], box=None, pad_edge=False)
    for row in cells[1:]:
        table.add_row(*map(Text, row))
    Console().print(table)


@contextmanager
def errors_shown(*, as_json: bool = False) -> Iterator[None]:
    """Show an error of our tree to the person (stderr) or the program (JSON on stdout), and leave with exit code 2."""
    try:
        yield
    except PagekeepError as error:
        if as_json:
            write_json(error.to_json())
        else:
            click.echo(error_lines(error), err=True)
        raise click.exceptions.Exit(BAD_INPUT) from error
    except KeyboardInterrupt as interrupt:
        raise click.exceptions.Exit(INTERRUPTED) from interrupt


@contextmanager
def stages_shown() -> Iterator[Callable[[str], None]]:
    """A spinner on the terminal that names the stage at work; silent when nobody looks."""
    if not sys.stderr.isatty():
        yield lambda _stage: None
        return
    from rich.console import Console

    with Console(stderr=True).status("Starting") as status:
        yield lambda stage: status.update(stage)
