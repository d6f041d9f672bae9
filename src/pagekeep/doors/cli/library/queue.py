"""`pagekeep work` and `pagekeep jobs`: saves that wait in the queue."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import uuid
from contextlib import closing, suppress
from typing import TYPE_CHECKING

import click

from pagekeep.doors.cli.active_rules import rules_in_force
from pagekeep.doors.cli.open_library import examples, library_options, opened, short
from pagekeep.doors.cli.output import counted, errors_shown, printable, show_table, write, write_json
from pagekeep.doors.cli.pages.save import saved_lines

if TYPE_CHECKING:
    from pagekeep.config import Settings
    from pagekeep.library.queue.jobs import Worked
    from pagekeep.store import Store

STATES = ("queued", "running", "done", "dead")


@click.command(epilog=examples("work", "work --until-empty", "work --at-a-time 8"))
@click.option("--until-empty", is_flag=True, help="Stop when no job is due.")
@click.option("--at-a-time", type=click.IntRange(1, 64), default=4, show_default=True, help="Pages at the same time.")
@library_options
def work(until_empty: bool, at_a_time: int, library: str | None, user: str | None, as_json: bool) -> None:
    """Save the pages that wait in the queue, until interrupted. Any number of workers can run."""
    with errors_shown(as_json=as_json):
        from pagekeep import config

        settings = config.load({"library": library, "user": user})
        with suppress(asyncio.CancelledError):  # SIGTERM; Ctrl-C comes as KeyboardInterrupt
            asyncio.run(_work(settings, until_empty, at_a_time, as_json))


async def _work(settings: Settings, until_empty: bool, at_a_time: int, as_json: bool) -> None:
    from pagekeep.capture.from_url import Retrieval
    from pagekeep.library.items import open_library
    from pagekeep.library.queue.jobs import Worker

    _stop_on_terminate()
    name = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
    with closing(open_library(settings, workers=True)) as queue:
        async with Retrieval(settings, rules_in_force(settings)) as retrieval:
            shown = _Shown(queue, as_json)
            worker = Worker(
                name=name,
                queue=queue,
                open_library=lambda user: open_library(settings, user),
                retrieval=retrieval,
                tell=shown.tell,
                idle=shown.idle,
            )
            await worker.run(at_a_time=at_a_time, until_empty=until_empty)


def _stop_on_terminate() -> None:
    """A service manager's SIGTERM ends the work as Ctrl-C does: jobs under way go back to the queue."""
    task = asyncio.current_task()
    if task is not None and hasattr(signal, "SIGTERM"):
        with suppress(NotImplementedError):  # Windows has no signal handlers in its loop
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)


class _Shown:
    """What a person or a program sees of the work; a person also when there is none, once each time."""

    def __init__(self, queue: Store, as_json: bool) -> None:
        self._queue = queue
        self._tell = _tell_json if as_json else _tell
        self._quiet = as_json or not sys.stderr.isatty()
        self._idle = False

    def tell(self, worked: Worked) -> None:
        """What became of a job."""
        self._idle = False
        self._tell(worked)

    def idle(self) -> None:
        """Nothing to do."""
        if self._quiet or self._idle:
            return
        self._idle = True
        later = self._queue.job_counts()["queued"]
        said = f"{counted(later, 'page')} to be tried again later" if later else "The queue is empty"
        click.echo(f"{said}; waiting for more. Ctrl-C ends.", err=True)


def _tell(worked: Worked) -> None:
    if worked.saved is not None:
        write("\n".join(saved_lines(worked.saved)))
        return
    if worked.error is None:
        told = ", ".join(f"{count} {name}" for name, count in (worked.report or {}).items() if name != "notes")
        write(f"{worked.job.url_full}: {told}.")
        return
    then = f"again at {worked.retry_at}" if worked.retry_at else "given up, see `pagekeep jobs --state dead`"
    click.echo(f"{printable(worked.job.url_full)}\n  Error: {(worked.error or {}).get('message')} ({then})", err=True)


def _tell_json(worked: Worked) -> None:
    import json

    from pagekeep.present.json_shapes import item_shape, job_shape

    told = {
        "job": job_shape(worked.job),
        "item": item_shape(worked.saved.item) if worked.saved else None,
        "error": worked.error,
        "retry_at": worked.retry_at,
    }
    write(json.dumps(told, ensure_ascii=False))


@click.command(epilog=examples("jobs", "jobs --state dead", "jobs --revive 3f2a"))
@click.option("--state", type=click.Choice(STATES), help="Only jobs in this state; `dead` is the dead-letter list.")
@click.option("--revive", metavar="ID", help="Put a dead job back into the queue.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True, help="So many.")
@library_options
def jobs(
    state: str | None, revive: str | None, limit: int, library: str | None, user: str | None, as_json: bool
) -> None:
    """List the saves in the queue."""
    with opened(library, user, as_json) as (_, store):
        from pagekeep.library.queue.jobs import revive as put_back
        from pagekeep.present.json_shapes import job_shape

        found = (put_back(store, revive),) if revive else store.jobs(state, limit)
        if as_json:
            write_json({"jobs": [job_shape(job) for job in found]})
            return
        rows = [
            [short(job.id), job.state, str(job.attempts), job.url_full, str((job.error or {}).get("message", ""))]
            for job in found
        ]
        show_table([["id", "state", "attempts", "address", "last error"], *rows])
