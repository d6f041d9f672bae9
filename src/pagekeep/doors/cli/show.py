"""Results to stdout, errors to stderr, and the exit code that goes with them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from pagekeep.errors import PagekeepError

BAD_INPUT = 2


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


@contextmanager
def errors_shown(*, as_json: bool = False) -> Iterator[None]:
    """Show an error of our tree to the person (stderr) or the program (JSON on stdout), and leave with exit code 2."""
    try:
        yield
    except PagekeepError as error:
        if as_json:
            write_json(error.to_json())
        else:
            click.echo("\n  ".join([f"Error: {error.message}", *error.suggestions]), err=True)
        raise click.exceptions.Exit(BAD_INPUT) from error
