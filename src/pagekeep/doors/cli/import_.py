"""`pagekeep import` and `pagekeep demo`: fill the library from other programs' exports, or with demo pages."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TextIO, cast

import click

from pagekeep.doors.cli.lazy import lazily
from pagekeep.doors.cli.open_library import OpenLibrary, library_command, open_room
from pagekeep.doors.cli.options import examples, log_option
from pagekeep.doors.cli.output import BAD_INPUT, format_count, show_progress, write, write_json
from pagekeep.errors import UnsupportedContent
from pagekeep.text import printable

with lazily():
    from pagekeep.capture.active_rules import load_active
    from pagekeep.capture.extract import extract_in_room
    from pagekeep.capture.from_url import Progress, Retrieval
    from pagekeep.library.imports.reader import RowReader
    from pagekeep.library.imports.run import ImportPlan, ImportReport, fetch_items, import_rows
    from pagekeep.model import Item
    from pagekeep.workers import Room
    from pagekeep_demo.fill import fill_library, remove_demo


_MAX_SHOWN: Final = 20
"""Failures and remarks printed; the file of failed rows has them all."""
_FAILED_SUFFIX: Final = ".failed.jsonl"

FORMATS: Final = tuple(
    "auto document failed goodlinks instapaper karakeep linkwarden list mail matter netscape omnivore "
    "markdown pagekeep pinboard pocket raindrop readwise wacz wallabag warc".split()
)


@click.command(
    "import",
    epilog=examples(
        "import bookmarks.html --dry-run",
        "import pocket.zip --fetch queue",
        "import wallabag.json --fetch never",
        "import omnivore/ --fetch now",
        "import mail.mbox",
        "import pocket.zip.failed.jsonl",
    ),
)
@click.argument(
    "paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path), metavar="FILE|FOLDER..."
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    default="auto",
    show_default=True,
    help="Program or format of the export.",
)
@click.option(
    "--fetch",
    type=click.Choice(("now", "queue", "never")),
    default="queue",
    show_default=True,
    help="When to download the pages: now, later by `pagekeep work`, or never.",
)
@click.option("--dry-run", is_flag=True, help="Change nothing; show what would be imported.")
@click.option(
    "--failed",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write rows that fail to this file, to fix and import.",
)
@log_option
@library_command(create=True)
def import_(opened: OpenLibrary, paths: tuple[Path, ...], **options: Any) -> None:
    """Import bookmarks and articles from other programs, with dates, tags, notes, highlights and stored pages.

    The format is detected automatically. You can run an import again after an interruption: nothing is imported twice.
    """
    report = ImportReport()
    with (
        open_room(opened.settings) as room,
        _open_reader() as reader,
        _failed_rows(paths[0], options["failed"], options["dry_run"]) as failed,
        _progress(opened.as_json) as progress,
    ):
        plan = _plan(opened, options, room, cast("TextIO", failed), progress)
        room_to_fetch = room if options["fetch"] == "now" else None
        asyncio.run(_import_all(paths, opened, plan, report, reader, room_to_fetch))
    if opened.as_json:
        write_json(
            {
                "success": not report.failed,
                "dry_run": options["dry_run"],
                **report.to_json(),
                "failed_rows": failed.location,
            }
        )
    else:
        _show(report, failed.location, options["dry_run"])
    if report.failed:
        raise click.exceptions.Exit(BAD_INPUT)


def _plan(
    opened: OpenLibrary, options: dict[str, Any], room: Room, failed: TextIO, progress: Callable[[ImportReport], None]
) -> ImportPlan:
    settings = opened.settings
    return ImportPlan(
        load_active(settings),
        format=None if options["format_"] == "auto" else options["format_"],
        queue=options["fetch"] == "queue",
        dry_run=options["dry_run"],
        max_bytes=opened.settings.max_bytes,
        auto_tags=opened.settings.auto_tags,
        pictures=opened.settings,
        failed=None if options["dry_run"] else failed,
        read=lambda fetched, options: extract_in_room(room, fetched, options, settings),
        progress=progress,
    )


async def _import_all(
    paths: tuple[Path, ...],
    opened: OpenLibrary,
    plan: ImportPlan,
    report: ImportReport,
    reader: RowReader,
    room: Room | None,
) -> None:
    """Import the files; with a room, fetch the pages too."""
    if room is None or plan.dry_run:
        for path in paths:
            for _ in _batches(path, opened, plan, report, reader):
                pass
        return

    async with Retrieval(opened.settings, room=room) as retrieval:
        for path in paths:
            for waiting in _batches(path, opened, plan, report, reader):
                await fetch_items(waiting, opened.store, retrieval, report)
                plan.progress(report)


@contextmanager
def _open_reader() -> Iterator[RowReader]:
    """Open the process that reads the files, as a fork where possible."""
    with RowReader() as reader:
        reader.fork()
        yield reader


def _batches(
    path: Path, opened: OpenLibrary, plan: ImportPlan, report: ImportReport, reader: RowReader
) -> Iterator[list[Item]]:
    try:
        yield from import_rows(reader.read(path, path.name, plan.format), opened.store, plan, report)
    except UnsupportedContent as error:
        if not path.is_dir():
            error.suggestions = ("Name its format with --format.", *error.suggestions)
        raise


class _FailedRows:
    """The file of failed rows: created with the first failed row, and renamed into place at the end.

    It may have the name of the file that is being imported.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._part = path.with_name(f"{path.name}.part")
        self._file: TextIO | None = None

    def write(self, line: str) -> int:
        """Add one row."""
        if self._file is None:
            self._file = self._part.open("w", encoding="utf-8", errors="replace")
        return self._file.write(line)

    def finish(self) -> None:
        """Close the file and give it its name."""
        if self._file is not None:
            self._file.close()
            os.replace(self._part, self._path)

    @property
    def location(self) -> str | None:
        """Path of the file; `None` when no row failed."""
        return None if self._file is None else str(self._path)


@contextmanager
def _failed_rows(source: Path, path: Path | None, dry_run: bool) -> Iterator[_FailedRows]:
    rows = _FailedRows(path or Path(source.resolve().name.removesuffix(_FAILED_SUFFIX) + _FAILED_SUFFIX))
    try:
        yield rows
    finally:
        if not dry_run:
            rows.finish()


@contextmanager
def _progress(as_json: bool) -> Iterator[Callable[[ImportReport], None]]:
    """Show the number of rows on a terminal, and nothing elsewhere."""
    if as_json or not sys.stderr.isatty():
        yield lambda _report: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Reading", total=None)
        yield lambda report: bar.update(task, description=_state(report))


def _state(report: ImportReport) -> str:
    fetched = f", {report.fetched:,} downloaded" if report.fetched or report.not_fetched else ""
    return f"{format_count(report.rows, 'row')}, {report.failed:,} failed{fetched}"


def _show(report: ImportReport, failed: str | None, dry_run: bool) -> None:
    for place, reason, what in report.failures[:_MAX_SHOWN]:
        click.echo(printable(f"{place}: {reason}" + (f" ({what})" if what else "")), err=True)
    if report.failed > _MAX_SHOWN:
        click.echo(f"... and {report.failed - _MAX_SHOWN:,} more.", err=True)
    for place, remark in report.remarks[:_MAX_SHOWN]:
        click.echo(printable(f"{place}: {remark}"), err=True)
    write("\n".join(_summary(report, failed, dry_run)))


def _summary(report: ImportReport, failed: str | None, dry_run: bool) -> Iterator[str]:
    prefix = "Dry run, nothing was changed: " if dry_run else ""
    yield (
        f"{prefix}{report.added:,} added, {report.updated:,} updated, {report.unchanged:,} unchanged, "
        f"{report.skipped:,} skipped, {report.failed:,} failed."
    )
    if report.carried or report.annotations:
        annotations = format_count(report.annotations, "annotation")
        yield f"The export contained {format_count(report.carried, 'stored page')} and {annotations}."
    if report.queued:
        them = "it" if report.queued == 1 else "them"
        yield f"{format_count(report.queued, 'page')} queued. To download {them}: pagekeep work --until-empty"
    if report.fetched or report.not_fetched:
        yield f"{format_count(report.fetched, 'page')} downloaded, {report.not_fetched:,} failed."
    if failed:
        yield f"The failed rows are in {failed}. Fix them there, then import that file."


@click.command(epilog=examples("demo --library demo.db", "serve --library demo.db", "demo --library demo.db --remove"))
@click.option("--remove", is_flag=True, help="Remove the demo pages again; other pages stay.")
@library_command(create=True, open_late=True)
def demo(opened: OpenLibrary, remove: bool) -> None:
    """Fill a library with demo pages in seven kinds and five languages, to try Pagekeep or to show it.

    The pages are our own writing and come with Pagekeep: nothing is fetched. They have pictures, tags, highlights and notes;
    some are pinned, archived or read. A library that has other pages is left alone.
    """
    opened.create = not remove
    if remove:
        removed = remove_demo(opened.store)
        opened.show({"removed": removed}, f"Removed {format_count(removed, 'demo page')}.")
        return
    with open_room(opened.settings) as room, show_progress() as progress:
        added = asyncio.run(_fill(opened, room, progress))
    if not added:
        opened.show({"added": 0}, "The demo pages are in the library already.")
        return
    library = opened.flags["library"]
    named = f" --library {library}" if library else ""
    text = f"Added {format_count(len(added), 'demo page')}. To look at them: pagekeep serve{named}"
    opened.show({"added": len(added)}, text)


async def _fill(opened: OpenLibrary, room: Room, progress: Progress) -> tuple[Item, ...]:
    async with Retrieval(opened.settings, room=room) as retrieval:
        return await fill_library(opened.store, retrieval, progress)
