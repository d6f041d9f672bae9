"""`pagekeep compare`: two extractors over the same pages."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from pagekeep.doors.cli.open_library import examples
from pagekeep.doors.cli.output import errors_shown, show_table, write, write_json


@click.command(
    epilog="\b\nA and B are one of:\n"
    "  pagekeep        this version\n"
    "  pagekeep:bare   this version without site rules\n"
    "  rules:FOLDER    this version with other rules\n"
    "  git:REF         Pagekeep at a commit, tag or branch (from a checkout)\n"
    "  trafilatura, readability   if they are installed\n"
    "  remote          the reader that the setting remote_url names; it is sent the pages\n\n"
    + examples(
        "compare git:v0.1.0 pagekeep tests/corpus",
        "compare remote pagekeep saved-pages/ --out build/compare",
        "compare pagekeep rules:my-rules tests/corpus --limit 100",
    )
)
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.argument("corpus", metavar="CORPUS", type=click.Path(path_type=Path))
@click.option("--limit", type=click.IntRange(min=1), help="Only so many pages.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for summary.csv, history.csv and report.html.")
@click.option("--json", "as_json", is_flag=True, help="Answer as JSON.")
def compare(a: str, b: str, corpus: Path, limit: int | None, out: Path | None, as_json: bool) -> None:
    """Measure how B's reading of the pages in CORPUS differs from A's: a corpus of `evaluate`, or a folder of HTML."""
    with errors_shown(as_json=as_json), _progress() as step:
        from pagekeep import config
        from pagekeep.lab.compare import compare as run
        from pagekeep.lab.compare import numbers_of, table_of

        done = run(a, b, corpus, settings=config.load(), limit=limit, out=out, progress=step)
    if as_json:
        write_json(numbers_of(done))
        return
    show_table(table_of(done))
    if out:
        write(f"Report: {out / 'report.html'}")


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None]]:
    """A bar on the terminal; nothing when nobody looks."""
    if not sys.stderr.isatty():
        yield lambda _done, _all: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Comparing", total=None)
        yield lambda done, count: bar.update(task, completed=done, total=count)
