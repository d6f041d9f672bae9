"""`pagekeep copy`: copies of whole pages."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from pagekeep.doors.cli.item_output import short_id
from pagekeep.doors.cli.open_library import OpenLibrary, open_library
from pagekeep.doors.cli.open_room import open_room
from pagekeep.doors.cli.options import examples, library_options
from pagekeep.doors.cli.output import format_bytes, format_count, show_progress, write, write_json

if TYPE_CHECKING:
    from pagekeep.capture.from_url import Progress
    from pagekeep.library.copies.make import CopyReport
    from pagekeep.workers import Room


@click.command(
    epilog=examples(
        "copy 3f2a",
        "copy 3f2a --as pdf --as screenshot",
        "copy 3f2a --as pdf --out page.pdf",
        "copy 3f2a --as html --out - > page.html",
    )
)
@click.argument("keys", nargs=-1, required=True, metavar="ID|URL...")
@click.option(
    "--as",
    "kinds",
    type=click.Choice(("screenshot", "pdf", "html")),
    multiple=True,
    default=("html",),
    show_default=True,
    help="Kind of copy; can be repeated.",
)
@click.option(
    "--out", metavar="FILE", help="Also write the copy to this file (`-` for stdout); for one page and one kind."
)
@library_options
def copy(
    keys: tuple[str, ...], kinds: tuple[str, ...], out: str | None, library: str | None, user: str | None, as_json: bool
) -> None:
    """Keep copies of whole pages: a screenshot, a PDF, or one HTML file with pictures and styles and without scripts.

    The browser shows the page as it was saved, and loads its pictures and styles from the web.
    """
    if out is not None and (len(keys) > 1 or len(kinds) > 1):
        raise click.UsageError("--out is for one page and one kind of copy.")
    with open_library(library, user, as_json) as opened:
        with open_room(opened.settings, report=False) as room, show_progress() as progress:
            reports = asyncio.run(_make(opened, keys, kinds, room, progress))
        if out is not None:
            _write_file(opened, reports[0], kinds[0], out)
        if as_json and out != "-":
            write_json({"copies": [_shape(report) for report in reports]})
        elif out != "-":
            for report in reports:
                made = ", ".join(f"{kind} ({format_bytes(size)})" for kind, size in report.made.items())
                missing = f"; {format_count(len(report.missing), 'part')} missing" if report.missing else ""
                write(f"{short_id(report.item_id)}  {made}{missing}")


async def _make(
    opened: OpenLibrary, keys: tuple[str, ...], kinds: tuple[str, ...], room: Room, progress: Progress
) -> list[CopyReport]:
    from pagekeep.capture.from_url import Retrieval
    from pagekeep.library.copies.make import make_copies

    async with Retrieval(opened.settings, room=room) as retrieval:
        return [await make_copies(key, cast("Any", kinds), opened.store, retrieval, progress) for key in keys]


def _write_file(opened: OpenLibrary, report: CopyReport, kind: str, out: str) -> None:
    from pagekeep.library.copies.make import read_copy

    data = read_copy(opened.store, report.item_id, cast("Any", kind))
    if out == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    else:
        Path(out).write_bytes(data)


def _shape(report: CopyReport) -> dict[str, Any]:
    return {"id": report.item_id, "made": report.made, "missing": list(report.missing)}
