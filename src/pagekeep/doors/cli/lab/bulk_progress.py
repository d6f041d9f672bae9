"""Show the progress of a bulk run on stderr: a bar on a terminal, a line every 30 seconds in a log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from pagekeep.bulk import Progress

_LOG_SECONDS: Final = 30.0
"""Time between two lines of a log."""
_FIRST_LOG_SECONDS: Final = 5.0
"""Time until the first line, which shows early that the run works."""

Watcher = Callable[["Progress"], None]


@contextmanager
def bar() -> Iterator[Watcher]:
    """Show a bar with the share done, the rate, the time left and the failures."""
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (SpinnerColumn(), BarColumn(24), TextColumn("{task.description}", markup=False))
    with Bar(*columns, console=Console(stderr=True)) as bar_display:
        task = bar_display.add_task("Starting", total=None)

        def step(progress: Progress) -> None:
            total = None if progress.share is None else 1.0
            bar_display.update(
                task, total=total, completed=progress.share or 0.0, description=format_progress(progress)
            )

        yield step


@contextmanager
def lines() -> Iterator[Watcher]:
    """Print the same as plain lines, for a log."""
    due = _FIRST_LOG_SECONDS

    def step(progress: Progress) -> None:
        nonlocal due
        if progress.seconds >= due:
            due = progress.seconds + _LOG_SECONDS
            click.echo(format_progress(progress), err=True)

    yield step


def format_progress(progress: Progress) -> str:
    """Return the state of the run as one line."""
    share = "" if progress.share is None else f"{int(100 * progress.share)} %, "
    records = f"{progress.records:,} record{'' if progress.records == 1 else 's'}"
    line = f"{share}{records}, {progress.rate:,.0f} per second"
    if progress.seconds_left is not None and progress.share != 1:
        line += f", {format_duration(progress.seconds_left)} left"
    failures = ", ".join(f"{number:,} {kind}" for kind, number in progress.errors.most_common(3))
    return f"{line}; failed: {failures}" if failures else line


def format_duration(seconds: float) -> str:
    """Return a rough duration, such as "45 s", "12 min" or "2 h 05 min"."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02} min"
