"""`pagekeep import`: what other programs have exported, into the library."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, TextIO, cast

import click

from pagekeep.doors.cli.active_rules import rules_in_force
from pagekeep.doors.cli.open_library import Open, examples, library_options, opened
from pagekeep.doors.cli.output import BAD_INPUT, counted, printable, write, write_json

if TYPE_CHECKING:
    from pagekeep.library.imports.report import Report
    from pagekeep.library.imports.run import Plan
    from pagekeep.model import Item

_SHOWN: Final = 20
"""Failures told on the terminal; the file has them all."""
_SUFFIX: Final = ".failed.jsonl"

FORMATS: Final = (
    *("auto", "failed", "goodlinks", "instapaper", "karakeep", "linkwarden", "list", "matter", "netscape", "omnivore"),
    *("markdown", "pagekeep", "pinboard", "pocket", "raindrop", "readwise", "wallabag"),
)


@click.command(
    "import",
    epilog=examples(
        "import bookmarks.html --dry-run",
        "import pocket.zip --fetch queue",
        "import wallabag.json --fetch never",
        "import omnivore/ --fetch now",
        "import pocket.zip.failed.jsonl",
    ),
)
@click.argument(
    "paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path), metavar="FILE|FOLDER..."
)
@click.option(
    "--format", "format_", type=click.Choice(FORMATS), default="auto", show_default=True, help="Whose export."
)
@click.option(
    "--fetch",
    type=click.Choice(("now", "queue", "never")),
    default="queue",
    show_default=True,
    help="Get the live pages at once, by `pagekeep work`, or not at all.",
)
@click.option("--dry-run", is_flag=True, help="Write nothing; tell what would be imported.")
@click.option(
    "--failed", type=click.Path(path_type=Path), help="Where rows that fail are written, to be imported again."
)
@library_options
def import_(paths: tuple[Path, ...], library: str | None, user: str | None, as_json: bool, **asked: Any) -> None:
    """Import bookmarks and articles from other programs, with dates, tags, notes, highlights and the pages they carry.

    The format is recognised by the content. Running the same import again changes nothing, so one that was interrupted is
    simply run again.
    """
    from pagekeep.library.imports.report import Report

    with opened(library, user, as_json, make=True) as library_open:
        report = Report()
        with _failed_rows(paths[0], asked["failed"], asked["dry_run"]) as failed, _progress(as_json) as progress:
            plan = _plan(library_open, asked, cast("TextIO", failed), progress)
            asyncio.run(_import_all(paths, library_open, plan, report, asked["fetch"] == "now"))
    if as_json:
        write_json({"dry_run": asked["dry_run"], **report.to_json(), "failed_rows": failed.told})
    else:
        _tell(report, failed.told, asked["dry_run"])
    if report.failed:
        raise click.exceptions.Exit(BAD_INPUT)


def _plan(library: Open, asked: dict[str, Any], failed: TextIO, progress: Callable[[Report], None]) -> Plan:
    from pagekeep.library.imports.run import Plan

    return Plan(
        rules_in_force(library.settings),
        format=None if asked["format_"] == "auto" else asked["format_"],
        queue=asked["fetch"] == "queue",
        dry_run=asked["dry_run"],
        failed=None if asked["dry_run"] else failed,
        progress=progress,
    )


async def _import_all(paths: tuple[Path, ...], library: Open, plan: Plan, report: Report, now: bool) -> None:
    if not now or plan.dry_run:
        for path in paths:
            for _ in _batches(path, library, plan, report):
                pass
        return
    from pagekeep.capture.from_url import Retrieval
    from pagekeep.library.imports.fetch import fetch_all

    async with Retrieval(library.settings, plan.rules) as retrieval:
        for path in paths:
            for waiting in _batches(path, library, plan, report):
                await fetch_all(waiting, library.store, retrieval, report)
                plan.progress(report)


def _batches(path: Path, library: Open, plan: Plan, report: Report) -> Iterator[list[Item]]:
    from pagekeep.errors import UnsupportedContent
    from pagekeep.library.imports.run import import_batches, import_folder

    if path.is_dir():
        yield from import_folder(path, library.store, plan, report)
        return
    with _readable(path) as file:
        try:
            yield from import_batches(file, path.name, library.store, plan, report)
        except UnsupportedContent as error:
            error.suggestions = ("Name its format with --format.", *error.suggestions)
            raise


@contextmanager
def _readable(path: Path) -> Iterator[BinaryIO]:
    from pagekeep.errors import NotFound

    try:
        file = path.open("rb")
    except OSError as error:
        raise NotFound("The file cannot be read.", suggestions=("Check who may read it.",)) from error
    with file:
        yield file


class _FailedRows:
    """A file that is made when the first row fails, and is there under its name when all is done."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._part = path.with_name(f"{path.name}.part")
        self._file: TextIO | None = None

    def write(self, line: str) -> int:
        """One row more."""
        if self._file is None:
            self._file = self._part.open("w", encoding="utf-8", errors="replace")
        return self._file.write(line)

    def finish(self) -> None:
        """Nothing comes after. The file may stand in for the one that was just imported."""
        if self._file is not None:
            self._file.close()
            os.replace(self._part, self._path)

    @property
    def told(self) -> str | None:
        """Where the rows are, if any failed."""
        return None if self._file is None else str(self._path)


@contextmanager
def _failed_rows(path: Path, asked: Path | None, dry_run: bool) -> Iterator[_FailedRows]:
    rows = _FailedRows(asked or Path(path.resolve().name.removesuffix(_SUFFIX) + _SUFFIX))
    try:
        yield rows
    finally:
        if not dry_run:
            rows.finish()


@contextmanager
def _progress(as_json: bool) -> Iterator[Callable[[Report], None]]:
    """Rows and their rate on the terminal; silent when nobody looks."""
    if as_json or not sys.stderr.isatty():
        yield lambda _report: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Reading", total=None)
        yield lambda report: bar.update(task, description=_state(report))


def _state(report: Report) -> str:
    fetched = f", {report.fetched:,} fetched" if report.fetched or report.not_fetched else ""
    return f"{counted(report.rows, 'row')}, {report.failed:,} failed{fetched}"


def _tell(report: Report, failed: str | None, dry_run: bool) -> None:
    for place, reason, what in report.failures[:_SHOWN]:
        click.echo(printable(f"{place}: {reason}" + (f" ({what})" if what else "")), err=True)
    if report.failed > _SHOWN:
        click.echo(f"... and {report.failed - _SHOWN:,} more.", err=True)
    for place, said in report.remarks[:_SHOWN]:
        click.echo(printable(f"{place}: {said}"), err=True)
    write("\n".join(_lines(report, failed, dry_run)))


def _lines(report: Report, failed: str | None, dry_run: bool) -> Iterator[str]:
    begin = "Nothing was written. Would be: " if dry_run else ""
    yield (
        f"{begin}{report.added:,} added, {report.updated:,} updated, {report.unchanged:,} unchanged, "
        f"{report.skipped:,} left out, {report.failed:,} failed."
    )
    if report.carried or report.annotations:
        notes = "1 note or highlight" if report.annotations == 1 else f"{report.annotations:,} notes and highlights"
        yield f"{counted(report.carried, 'page')} came with the export, {notes}."
    if report.queued:
        are, them = ("is", "it") if report.queued == 1 else ("are", "them")
        yield f"{counted(report.queued, 'page')} {are} queued. `pagekeep work --until-empty` fetches {them}."
    if report.fetched or report.not_fetched:
        yield f"{counted(report.fetched, 'page')} fetched, {report.not_fetched:,} could not be."
    if failed:
        yield f"Rows that failed are in {failed}; mend them there and import that file."
