"""A saved page on a terminal: a header, and the article in the pager when it is longer than the screen."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from io import StringIO
from typing import TYPE_CHECKING, Final

import click

from pagekeep.doors.cli.item_output import quality_line
from pagekeep.doors.cli.output import remove_control_chars, write
from pagekeep.text import printable

if TYPE_CHECKING:
    from pagekeep.model import Item

_MAX_COLUMNS: Final = 100
"""Longer lines of text are tiring to read."""


def show_article(item: Item) -> None:
    """Show the page; in the pager (the variable PAGER, else `less`) when it does not fit the screen."""
    columns, rows = shutil.get_terminal_size()
    text = _render(item, min(_MAX_COLUMNS, columns))
    if text.count("\n") < rows:
        write(text)
    else:
        click.echo_via_pager(text, color=True)


def _render(item: Item, columns: int) -> str:
    from rich.console import Console
    from rich.markdown import Markdown

    content = item.content
    _, _, body = (
        content.partition("---\n")[2].partition("\n---\n") if content.startswith("---\n") else ("", "", content)
    )
    out = StringIO()
    console = Console(file=out, width=columns, force_terminal=True)
    console.print(Markdown(remove_control_chars(body or content)))
    return "\n".join([*_header(item), "", out.getvalue()])


def _header(item: Item) -> Iterator[str]:
    """Yield what is known about the page: title, author and dates, address, quality, tags."""
    about = item.metadata
    facts = (item.author, about.site_name or item.domain, (item.published_at or "")[:10], about.reading_time)
    yield click.style(printable(item.title), bold=True)
    yield " · ".join(printable(fact) for fact in facts if fact)
    yield click.style(printable(item.url_full), underline=True)
    yield f"{quality_line(item)}, saved {item.saved_at[:10]}"
    if about.tags:
        yield f"Tags: {', '.join(map(printable, about.tags))}"
