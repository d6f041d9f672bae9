"""`pagekeep work` and `pagekeep jobs`: work off the queue of pages to save."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Coroutine
from contextlib import closing, suppress
from typing import Any

import click

from pagekeep.doors.cli.item_output import short_id
from pagekeep.doors.cli.lazy import lazily
from pagekeep.doors.cli.open_library import OpenLibrary, library_command, open_room, stop_on_sigterm
from pagekeep.doors.cli.options import examples, log_option
from pagekeep.doors.cli.output import (
    format_count,
    format_error,
    report_back,
    report_lost,
    write,
)
from pagekeep.doors.cli.save import result_lines
from pagekeep.errors import DatabaseUnreachable
from pagekeep.text import printable

with lazily():
    from pagekeep.capture.from_url import Retrieval
    from pagekeep.config import Settings
    from pagekeep.errors import StoreError
    from pagekeep.library.crawl.worker import CrawlRunner
    from pagekeep.library.open import Store, outlast
    from pagekeep.library.open import open_library as open_store
    from pagekeep.library.queue import count_jobs, revive_by_prefix, revive_waiting, run_until, worker_name
    from pagekeep.library.run_jobs import JobResult, JobRunner, schedule_checks
    from pagekeep.library.sinks.runner import SinkRunner
    from pagekeep.model.crawl import Crawl
    from pagekeep.present import crawl_shapes, json_shapes
    from pagekeep.present.json_shapes import to_json
    from pagekeep.workers import Room


_ALL = "all"
"""The value of `--revive` without an id; no id starts like this."""
STATES = ("queued", "running", "done", "dead")


@click.command(epilog=examples("work", "work --until-empty", "work --at-a-time 8"))
@click.option("--until-empty", is_flag=True, help="Stop when no job is due.")
@click.option("--at-a-time", type=click.IntRange(1, 64), default=4, show_default=True, help="Pages saved in parallel.")
@log_option
@library_command(open_late=True)
def work(opened: OpenLibrary, until_empty: bool, at_a_time: int) -> None:
    """Save the pages in the queue, work on running crawls and deliver to sinks, until interrupted. You can run several at the
    same time."""
    # CancelledError is SIGTERM; Ctrl-C comes as KeyboardInterrupt
    with open_room(opened.settings, min(at_a_time, os.cpu_count() or 1)) as room, suppress(asyncio.CancelledError):
        asyncio.run(_work(opened.settings, room, until_empty, at_a_time, opened.as_json))


async def _work(settings: Settings, room: Room, until_empty: bool, at_a_time: int, as_json: bool) -> None:
    stop_on_sigterm()
    schedule_checks(settings)
    name = worker_name()
    with closing(open_store(settings, workers=True)) as queue:
        async with Retrieval(settings, room=room) as retrieval:
            reporter = _Reporter(queue, as_json)
            queue.watch_connection(report_lost, report_back)
            runner = JobRunner(
                name=name,
                queue=queue,
                open_library=lambda user: open_store(settings, user),
                retrieval=retrieval,
                report=reporter.report,
                idle=reporter.report_idle,
            )
            crawls = CrawlRunner(
                queue, lambda user: open_store(settings, user), retrieval, at_a_time, reporter.report_crawl
            )
            sinks = SinkRunner(name, queue, lambda user: open_store(settings, user), retrieval)
            jobs = (
                runner.run(at_a_time=at_a_time, until_empty=True)
                if until_empty
                else runner.run_on(reporter.report_failure, at_a_time=at_a_time)
            )
            if not until_empty:
                await _run_together(jobs, run_until(crawls.stopping, crawls.run), run_until(sinks.stopping, sinks.run))
                return
            await _run_together(jobs, crawls.run(until_empty=True))
            await runner.run(
                at_a_time=at_a_time, until_empty=True
            )  # a crawl may be followed by jobs that save its pages
            await outlast(lambda: sinks.run(until_empty=True), sinks.stopping)  # what was saved is sent on


async def _run_together(*work: Coroutine[Any, Any, None]) -> None:
    """Run all until they end; a failure of one ends the others."""
    try:
        async with asyncio.TaskGroup() as group:
            for one in work:
                group.create_task(one)
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None


class _Reporter:
    """Prints each finished job and, on a terminal, once when the queue runs empty."""

    def __init__(self, queue: Store, as_json: bool) -> None:
        self._queue = queue
        self._print = _print_json if as_json else _print
        self._quiet = as_json or not sys.stderr.isatty()
        self._idle = False
        self._failure = ""

    def report(self, result: JobResult) -> None:
        """Print the result of a job."""
        self._idle, self._failure = False, ""
        self._print(result)

    def report_crawl(self, crawl: Crawl) -> None:
        """Print that a crawl is done."""
        self._idle = False
        if self._print is _print_json:
            write(json.dumps({"success": True, "crawl": to_json(crawl_shapes.Crawl, crawl)}, ensure_ascii=False))
        else:
            write(f"{printable(crawl.url)}: crawled, {format_count(crawl.kept, 'page')}.")

    def report_failure(self, error: StoreError) -> None:
        """Print that the library fails, unless that was the last thing printed."""
        if self._failure != error.message:
            click.echo(f"{format_error(error)}\n  Jobs wait until it works again.", err=True)
        self._failure = error.message

    def report_idle(self) -> None:
        """Print that no job is due, unless that was the last thing printed."""
        if self._quiet or self._idle:
            return
        self._idle = True

        try:
            counts = count_jobs(self._queue)
        except DatabaseUnreachable:  # which is reported
            self._idle = False
            return
        parts = [f"Another worker runs {format_count(counts['running'], 'job')}"] if counts["running"] else []
        parts += [f"{format_count(counts['queued'], 'page')} will be retried later"] if counts["queued"] else []
        click.echo(f"{', '.join(parts) or 'The queue is empty'}. Waiting for more; press Ctrl-C to stop.", err=True)


def _print(result: JobResult) -> None:
    if result.saved is not None:
        write("\n".join(result_lines(result.saved)))
        return
    if result.error is None:
        counts = ", ".join(f"{count} {name}" for name, count in (result.report or {}).items() if isinstance(count, int))
        write(f"{result.job.url_full}: {counts}.")
        return
    item_id = result.error.get("item_id")
    last = f"to try again: pagekeep retry {short_id(str(item_id))}" if item_id else "see `pagekeep jobs --state dead`"
    then = f"next try at {result.retry_at}" if result.retry_at else f"no more tries; {last}"
    click.echo(f"{printable(result.job.url_full)}\n  Error: {(result.error or {}).get('message')} ({then})", err=True)


def _print_json(result: JobResult) -> None:
    shape = {
        "success": result.error is None,
        "job": to_json(json_shapes.Job, result.job),
        "item": to_json(json_shapes.Item, result.saved.item) if result.saved else None,
        "error": result.error,
        "retry_at": result.retry_at,
    }
    write(json.dumps(shape, ensure_ascii=False))


@click.command(epilog=examples("jobs", "jobs --state dead", "jobs --revive 3f2a", "jobs --revive"))
@click.option("--state", type=click.Choice(STATES), help="Only jobs in this state. `dead`: failed too often.")
@click.option(
    "--revive",
    metavar="[ID]",
    is_flag=False,
    flag_value=_ALL,
    help="Put a dead job back into the queue, or run a waiting one now. Without ID: run all waiting jobs now, and those "
    "that a wrong clock blocked.",
)
@click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True, help="Show at most this many.")
@library_command
def jobs(opened: OpenLibrary, state: str | None, revive: str | None, limit: int) -> None:
    """List the jobs in the queue."""
    if revive == _ALL:
        listed = revive_waiting(opened.store)
    else:
        listed = (revive_by_prefix(opened.store, revive),) if revive else opened.store.jobs.list(state, limit)
    rows = [
        [short_id(job.id), job.state, str(job.attempts), job.url_full, str((job.error or {}).get("message", ""))]
        for job in listed
    ]
    opened.show_table(
        {"jobs": [to_json(json_shapes.Job, job) for job in listed]},
        ["id", "state", "attempts", "url", "last error"],
        rows,
    )
