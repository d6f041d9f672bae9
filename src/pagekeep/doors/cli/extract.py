"""`pagekeep extract`: a page from a file or a pipe, as Markdown."""

from __future__ import annotations

import os
import sys
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from pagekeep.doors.cli.show import errors_shown, on_terminal, write, write_json
from pagekeep.errors import NotFound

if TYPE_CHECKING:
    from pagekeep.model import Page

FORMATS = ("document", "markdown", "html", "text", "json")


@click.command(
    epilog="""\b
Examples:
  pagekeep extract page.html > page.md
  curl -s https://example.com/post | pagekeep extract - --url https://example.com/post
  pagekeep extract page.html --format json | jq .metadata
  pagekeep extract page.html --explain

Exit codes: 0 done; 1 unexpected failure; 2 bad input (no such file, not a page, empty, over 10 MB).""",
)
@click.argument("file")
@click.option("--url", help="Address of the page: makes its links absolute and is named as the source.")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="document",
    show_default=True,
    help="What to print; a document is frontmatter and Markdown.",
)
@click.option("--explain", "explained", is_flag=True, help="Tell how the content was found, and what was removed.")
def extract(file: str, url: str | None, form: str, explained: bool) -> None:
    """Print the content of the HTML page FILE (- is stdin)."""
    with errors_shown(as_json=form == "json" and not explained):
        from pagekeep import Options
        from pagekeep import extract as run

        options = Options(
            saved_at=saving_moment() if form == "document" else None,
            timer=time.perf_counter if explained else None,
        )
        page = run(read(file, options.max_bytes + 1), url, options=options)
        show_explanation(page) if explained else show(page, form)


def read(file: str, limit: int) -> bytes:
    """At most `limit` bytes of the file or of stdin; `NotFound` when there is nothing to read from."""
    if file == "-":
        return sys.stdin.buffer.read(limit)
    try:
        with open(file, "rb") as stream:
            return stream.read(limit)
    except FileNotFoundError as error:
        raise NotFound(f"There is no file {file!r}.", suggestions=["Check the name, or use - for stdin."]) from error
    except IsADirectoryError as error:
        raise NotFound(f"{file!r} is a folder, not a page.", suggestions=["Name a file in it."]) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a file name"
        raise NotFound(f"The file {file!r} cannot be read: {reason}.") from error


def saving_moment() -> str:
    """Now, in UTC, to the second; `SOURCE_DATE_EPOCH` sets it, for output that can be reproduced."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        moment = datetime.fromtimestamp(int(epoch), UTC) if epoch else datetime.now(UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise click.UsageError("SOURCE_DATE_EPOCH is not a number of seconds.") from error
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def show(page: Page, form: str) -> None:
    """Print the page in one of the formats."""
    if form == "json":
        write_json(page.to_json())
    else:
        write({"document": page.document, "markdown": page.markdown, "html": page.html, "text": page.text}[form])


def show_explanation(page: Page) -> None:
    """Print the explanation, its headings bold on a terminal."""
    from pagekeep.doors.cli.explain import explain

    explanation = explain(page)
    if not on_terminal():
        write(explanation)
        return
    from rich.console import Console
    from rich.text import Text

    shown = Text(explanation)
    shown.highlight_regex(r"(?m)^\S.*$", "bold")
    Console().print(shown, end="")
