"""`pagekeep bulk`: extract a corpus of pages into tables of Markdown, text and metadata, and show the progress."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Final

import click

from pagekeep.doors.cli.lazy import lazily
from pagekeep.doors.cli.options import examples, json_command
from pagekeep.doors.cli.output import format_count, write, write_json

with lazily():
    from pagekeep import config
    from pagekeep.bulk import Plan, Progress, Report, find_files, run
    from pagekeep.bulk.progress import ignore_progress


@click.command(
    epilog=examples(
        "bulk crawl.warc.gz out/",
        "bulk 'crawl/*.warc.gz' out/ --resume",
        "bulk pages.parquet out/ --html-column raw --columns url,markdown,words --format jsonl",
        "bulk crawl/ out/ --language en --min-score 60 --duplicates near",
        "bulk crawl/ out/ --engine ray --address auto",
    )
)
@click.argument("sources", nargs=-1, required=True, metavar="IN...")
@click.argument("out", type=click.Path(path_type=Path), metavar="OUT")
@click.option(
    "--engine",
    type=click.Choice(("local", "ray")),
    default="local",
    show_default=True,
    help="Run on this machine or on Ray.",
)
@click.option("--address", help="Ray cluster to use. Default: start a local one.")
@click.option("--columns", help="Columns to write, separated by commas. Default: all except the time.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(("parquet", "jsonl")),
    default="parquet",
    show_default=True,
    help="Format of the output files.",
)
@click.option("--html-column", help="Column with the HTML, in Parquet and JSONL input.")
@click.option("--url-column", help="Column with the URL.")
@click.option("--workers", type=click.IntRange(1, 1024), help="Number of processes. Default: one per core.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Read at most N records.")
@click.option(
    "--sample",
    type=click.FloatRange(0, 1, min_open=True),
    default=1.0,
    help="Read only this share of the records, such as 0.1.",
)
@click.option("--language", "languages", multiple=True, help="Only pages in this language. Can be repeated.")
@click.option(
    "--min-score", type=click.IntRange(0, 100), default=0, help="Only pages with at least this quality score."
)
@click.option(
    "--duplicates",
    type=click.Choice(("keep", "exact", "near")),
    default="keep",
    show_default=True,
    help="Drop pages whose text equals an earlier one exactly, or nearly.",
)
@click.option("--resume", is_flag=True, help="Continue an interrupted run in OUT.")
@json_command
def bulk(sources: tuple[str, ...], as_json: bool, resume: bool, **options: Any) -> None:
    """Extract pages from WARC, Parquet, JSONL or HTML files into one row per page: Markdown, text and metadata, or an error."""
    engine, address = options.pop("engine"), options.pop("address")
    plan = _plan(sources, options)
    try:
        with _show_progress(as_json) as progress:
            report = run(plan, engine=engine, address=address, resume=resume, progress=progress)
    except KeyboardInterrupt:
        click.echo("Interrupted. To continue, run it again with --resume.", err=True)
        raise
    if as_json:
        write_json(report.to_json())
    else:
        write("\n".join(_summary(report, plan.out)))


def _plan(sources: tuple[str, ...], options: dict[str, Any]) -> Plan:
    columns, workers, format_ = options.pop("columns"), options.pop("workers"), options.pop("format_")
    settings = config.load()
    folder = config.rules_folder(settings)
    fields: dict[str, Any] = {"rules": str(folder) if folder.is_dir() else None, "max_bytes": settings.max_bytes}
    if columns:
        fields["columns"] = tuple(name.strip() for name in columns.split(",") if name.strip())
    if workers:
        fields["workers"] = workers
    return Plan(find_files(sources), format=format_, **options, **fields)


def _show_progress(as_json: bool) -> AbstractContextManager[Callable[[Progress], None]]:
    if as_json:
        return nullcontext(ignore_progress)
    return bar() if sys.stderr.isatty() else lines()


def _summary(report: Report, out: Path) -> Iterator[str]:
    total = report.counts
    rows, records = format_count(total.rows, "row"), format_count(total.records, "record")
    yield f"{rows} of {records}, {format_count(total.words, 'word')}, in {out}"
    yield f"{format_count(report.new_records, 'record')} in {report.seconds:,.1f} s: {report.rate:,.1f} per second"
    for heading, counts in (("failed", total.errors), ("dropped", total.left_out), ("not a page", report.skipped)):
        for name, number in counts.items():
            yield f"  {heading}: {number:,} {name}"


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
