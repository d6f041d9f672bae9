"""How a bulk run goes, on stderr: a bar on a terminal, a line now and then in a log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from pagekeep.bulk import Progress

_EVERY: Final = 30.0
"""Seconds between two lines of a log."""

Watcher = Callable[["Progress"], None]


@contextmanager
def bar() -> Iterator[Watcher]:
    """How much has been read, the rate, the time left and what failed."""
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (SpinnerColumn(), BarColumn(24), TextColumn("{task.description}", markup=False))
    with Bar(*columns, console=Console(stderr=True)) as shown:
        task = shown.add_task("Starting", total=None)

        def step(progress: Progress) -> None:
            total = None if progress.share is None else 1.0
            shown.update(task, total=total, completed=progress.share or 0.0, description=state(progress))

        yield step


@contextmanager
def lines() -> Iterator[Watcher]:
    """The same as plain lines, the first one soon and the others far apart."""
    due = _EVERY / 6

    def step(progress: Progress) -> None:
        nonlocal due
        if progress.seconds >= due:
            due = progress.seconds + _EVERY
            click.echo(state(progress), err=True)

    yield step


def state(progress: Progress) -> str:
    """Where the run is, in a line."""
    share = "" if progress.share is None else f"{int(100 * progress.share)} %, "
    records = f"{progress.records:,} record{'' if progress.records == 1 else 's'}"
    said = f"{share}{records}, {progress.rate:,.0f} a second"
    if progress.seconds_left is not None and progress.share != 1:
        said += f", {duration(progress.seconds_left)} left"
    failures = ", ".join(f"{number:,} {kind}" for kind, number in progress.errors.most_common(3))
    return f"{said}; failed: {failures}" if failures else said


def duration(seconds: float) -> str:
    """About how long, as people say it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02} min"
