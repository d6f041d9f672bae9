"""Show the progress of a crawl on stderr: a table on a terminal, a line every 10 seconds elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

import click

from pagekeep.doors.cli.output import format_bytes

if TYPE_CHECKING:
    from pagekeep.model.crawl import Crawl

_LOG_SECONDS: Final = 10.0
"""Time between two lines of a log."""
_SHOW_SECONDS: Final = 0.25
"""Time between two drawings of the table."""

Watcher = Callable[["Crawl"], None]


@contextmanager
def show_crawl_progress(quiet: bool) -> Iterator[Watcher]:
    """Yield a function that shows a crawl as it is now."""
    if sys.stderr.isatty() and not quiet:
        with _show_table() as watch:
            yield watch
    else:
        yield _lines()


def _lines() -> Watcher:
    started = due = monotonic()

    def watch(crawl: Crawl) -> None:
        nonlocal due
        if monotonic() >= due:
            due = monotonic() + _LOG_SECONDS
            click.echo(_line(crawl, monotonic() - started), err=True)

    return watch


def _line(crawl: Crawl, seconds: float) -> str:
    rate = crawl.kept / seconds if seconds > 1 else 0.0
    return (
        f"{crawl.kept:,} pages, {format_bytes(crawl.size)}, {crawl.settled:,} of {crawl.admitted:,} addresses visited, "
        f"{rate:,.1f} pages per second"
    )


@contextmanager
def _show_table() -> Iterator[Watcher]:
    from rich.console import Console
    from rich.live import Live

    started, due = monotonic(), 0.0
    with Live(console=Console(stderr=True), auto_refresh=False, transient=True) as live:

        def watch(crawl: Crawl) -> None:
            nonlocal due
            if monotonic() >= due:
                due = monotonic() + _SHOW_SECONDS
                live.update(_table(crawl, monotonic() - started), refresh=True)

        yield watch


def _table(crawl: Crawl, seconds: float) -> Any:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_row("Crawl", crawl.url[:100])
    table.add_row("Progress", _line(crawl, seconds))
    for name, label in (("outcomes", "Addresses"), ("left_out", "Left out"), ("traps", "Traps")):
        counts = sorted(crawl.counts.get(name, {}).items(), key=lambda entry: -entry[1])[:6]
        if counts:
            table.add_row(label, ", ".join(f"{number:,} {reason.replace('_', ' ')}" for reason, number in counts))
    return table
