"""`pagekeep bulk`: corpora of pages in, tables of Markdown and text out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pagekeep.doors.cli.lab import bulk_progress
from pagekeep.doors.cli.open_library import examples
from pagekeep.doors.cli.output import counted, errors_shown, write, write_json

if TYPE_CHECKING:
    from pagekeep.bulk import Plan, Progress, Report


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
@click.option("--engine", type=click.Choice(("local", "ray")), default="local", show_default=True, help="What runs it.")
@click.option("--address", help="The Ray cluster; a local one is started without it.")
@click.option("--columns", help="Columns to write, separated by commas; all but the time without it.")
@click.option("--format", "format_", type=click.Choice(("parquet", "jsonl")), default="parquet", show_default=True)
@click.option("--html-column", help="The column that holds the HTML, in tables and JSONL.")
@click.option("--url-column", help="The column that holds the address.")
@click.option("--workers", type=click.IntRange(1, 1024), help="Processes that read; one a core without it.")
@click.option("--limit", type=click.IntRange(min=1), help="Only so many records.")
@click.option(
    "--sample", type=click.FloatRange(0, 1, min_open=True), default=1.0, help="Only this share of the records."
)
@click.option("--language", "languages", multiple=True, help="Only pages in this language; can be repeated.")
@click.option("--min-score", type=click.IntRange(0, 100), default=0, help="Only pages of at least this quality.")
@click.option(
    "--duplicates",
    type=click.Choice(("keep", "exact", "near")),
    default="keep",
    show_default=True,
    help="Leave out pages that say the same as an earlier one, or nearly the same.",
)
@click.option("--resume", is_flag=True, help="Go on with the run that was begun in OUT.")
@click.option("--json", "as_json", is_flag=True, help="The report as JSON.")
def bulk(sources: tuple[str, ...], as_json: bool, resume: bool, **asked: Any) -> None:
    """Read WARC, Parquet, JSONL or HTML files, and write a row a page: Markdown, text and metadata, or why there is none."""
    with errors_shown(as_json=as_json):
        from pagekeep.bulk import run

        engine, address = asked.pop("engine"), asked.pop("address")
        plan = _plan(sources, asked)
        try:
            with _watched(as_json) as progress:
                done = run(plan, engine=engine, address=address, resume=resume, progress=progress)
        except KeyboardInterrupt:
            click.echo("Interrupted. Go on with --resume.", err=True)
            raise
    if as_json:
        write_json(done.to_json())
    else:
        write("\n".join(_lines(done, plan.out)))


def _plan(sources: tuple[str, ...], asked: dict[str, Any]) -> Plan:
    from pagekeep import config
    from pagekeep.bulk import Plan, find

    columns, workers, format_ = asked.pop("columns"), asked.pop("workers"), asked.pop("format_")
    settings = config.load()
    own = config.rules_folder(settings)
    chosen: dict[str, Any] = {"rules": str(own) if own.is_dir() else None, "max_bytes": settings.max_bytes}
    if columns:
        chosen["columns"] = tuple(name.strip() for name in columns.split(",") if name.strip())
    if workers:
        chosen["workers"] = workers
    return Plan(find(sources), format=format_, **asked, **chosen)


def _watched(as_json: bool) -> AbstractContextManager[Callable[[Progress], None]]:
    from pagekeep.bulk.progress import unwatched

    if as_json:
        return nullcontext(unwatched)
    return bulk_progress.bar() if sys.stderr.isatty() else bulk_progress.lines()


def _lines(report: Report, out: Path) -> Iterator[str]:
    account = report.account
    rows, records = counted(account.rows, "row"), counted(account.records, "record")
    yield f"{rows} of {records}, {counted(account.words, 'word')}, in {out}"
    yield f"{counted(report.new_records, 'record')} in {report.seconds:,.1f} s: {report.rate:,.1f} a second"
    for heading, counts in (("failed", account.errors), ("left out", account.left_out), ("no pages", report.skipped)):
        for name, number in counts.items():
            yield f"  {heading}: {number:,} {name}"
