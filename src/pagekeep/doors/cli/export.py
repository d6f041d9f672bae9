"""`pagekeep export` and `pagekeep mirror`: write the library to files, or keep it in sync with a folder of Markdown."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from threading import Event
from typing import Any, Final, cast

import click

from pagekeep.doors.cli.lazy import lazily
from pagekeep.doors.cli.open_library import OpenLibrary, library_command
from pagekeep.doors.cli.options import examples, frontmatter_option
from pagekeep.doors.cli.output import format_count, show_progress, write, write_json
from pagekeep.text import printable

with lazily():
    from pagekeep.library.exports import run
    from pagekeep.library.exports.run import ExportReport
    from pagekeep.library.mirror.run import MirrorReport, watch
    from pagekeep.library.mirror.run import mirror as sync


_MAX_FAILURES_SHOWN: Final = 10


@click.command(
    epilog=examples(
        "export notes/",
        "export --profile obsidian --images --query tag:harbour vault/Clippings",
        "export --format jsonl library.jsonl",
        "export --format netscape - > bookmarks.html",
        "export --format epub --query is:pinned pinned.epub",
        "export --format wacz archive.wacz",
    )
)
@click.argument("out", metavar="OUT", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "format_",
    type=click.Choice(("markdown", "jsonl", "netscape", "html", "epub", "warc", "wacz")),
    default="markdown",
    show_default=True,
    help="Markdown goes to a folder, the others to one file (`-` for stdout).",
)
@click.option("--query", metavar="QUERY", help="Only pages that `pagekeep search QUERY` finds.")
@frontmatter_option
@click.option("--images", is_flag=True, help="Download the images too.")
@library_command
def export(opened: OpenLibrary, out: Path, format_: str, **options: Any) -> None:
    """Export the library, or the pages that a query finds. Deleted pages are not exported."""
    with show_progress("Exporting") as progress:

        def count(pages: int) -> None:
            progress(f"Exporting: {format_count(pages, 'page')}")

        request = run.ExportOptions(
            cast("Any", format_), options["query"], options["profile"], options["images"], count
        )
        target = sys.stdout.buffer if str(out) == "-" else out
        result = asyncio.run(run.export(opened.store, target, request, opened.settings))
    if opened.as_json:
        counts = {name: getattr(result, name) for name in ("items", "written", "unchanged", "pictures")}
        write_json({**counts, "failed_pictures": result.failed_pictures})
    elif str(out) != "-":
        write(_summary(result))
    _report_failures(result)


def _summary(result: ExportReport) -> str:
    images = f", {format_count(result.pictures, 'image')}" if result.pictures else ""
    unchanged = f" ({format_count(result.unchanged, 'file')} unchanged)" if result.unchanged else ""
    return f"{format_count(result.items, 'page')} exported{images}{unchanged}."


def _report_failures(result: ExportReport) -> None:
    for url, reason in list(result.failed_pictures.items())[:_MAX_FAILURES_SHOWN]:
        click.echo(printable(f"Image not downloaded, linked instead: {url} ({reason})"), err=True)
    hidden = len(result.failed_pictures) - _MAX_FAILURES_SHOWN
    if hidden > 0:
        click.echo(f"... and {hidden:,} more.", err=True)


CHANGES = {
    "written": "written",
    "removed": "removed",
    "taken": "read back",
    "renamed": "renamed",
    "kept_aside": "conflict copies",
}
"""What can happen to a file, by its key in the JSON output, in words."""


@click.command(epilog=examples("mirror notes/", "mirror --watch --profile obsidian vault/Clippings"))
@click.argument("folder", metavar="FOLDER", type=click.Path(path_type=Path, file_okay=False))
@click.option("--watch", is_flag=True, help="Keep running, and sync changes on both sides as they happen.")
@frontmatter_option
@click.option(
    "--every",
    type=click.FloatRange(min=0.1),
    default=2.0,
    show_default=True,
    help="With --watch, seconds between checks.",
)
@library_command
def mirror(opened: OpenLibrary, folder: Path, **options: Any) -> None:
    """Sync the library with a folder of Markdown files.

    You can change tags, `pinned` and `archived` in the frontmatter. If you change the text, the file stays as your own
    version. You can rename and move files. To delete a page, use `pagekeep delete`.
    """
    if options["watch"]:
        watch(opened.store, folder, options["profile"], _report, seconds=options["every"], wait=Event().wait)
        return
    result = sync(opened.store, folder, options["profile"])
    if opened.as_json:
        changes = {kind: getattr(result, kind) for kind in CHANGES}
        write_json({**changes, "problems": [list(problem) for problem in result.problems]})
        return
    _report_problems(result)
    write(", ".join(f"{len(getattr(result, kind)):,} {label}" for kind, label in CHANGES.items()) + ".")


def _report(result: MirrorReport) -> None:
    for kind, label in CHANGES.items():
        for path in getattr(result, kind):
            write(f"{label}  {printable(path)}")
    if result.changed:
        _report_problems(result)


def _report_problems(result: MirrorReport) -> None:
    for path, problem in result.problems:
        click.echo(printable(f"Skipped {path}: {problem}"), err=True)
