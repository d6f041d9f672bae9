"""`pagekeep copy` and `pagekeep pictures`: copies of whole pages, and the pictures that are kept with a page."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any, cast

import click

from pagekeep.doors.cli.item_output import short_id
from pagekeep.doors.cli.lazy import lazily
from pagekeep.doors.cli.open_library import OpenLibrary, library_command, open_room
from pagekeep.doors.cli.options import examples
from pagekeep.doors.cli.output import format_bytes, format_count, show_progress, show_table, write, write_json

with lazily():
    from pagekeep.capture.from_url import Progress, Retrieval
    from pagekeep.library.archive.copies import CopyReport, make_copies, read_copy
    from pagekeep.library.archive.keep_pictures import request_pictures, run_pictures_job
    from pagekeep.library.archive.pictures import show_pictures
    from pagekeep.library.items.find import get_item, walk_items
    from pagekeep.model import Item
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
@library_command(open_late=True)
def copy(opened: OpenLibrary, keys: tuple[str, ...], kinds: tuple[str, ...], out: str | None) -> None:
    """Keep copies of whole pages: a screenshot, a PDF, or one HTML file with pictures and styles and without scripts.

    The browser shows the page as it was saved, and loads its pictures and styles from the web.
    """
    if out is not None and (len(keys) > 1 or len(kinds) > 1):
        raise click.UsageError("--out is for one page and one kind of copy.")
    with open_room(opened.settings, report=False) as room, show_progress() as progress:
        reports = asyncio.run(_make(opened, keys, kinds, room, progress))
    if out is not None:
        _write_file(opened, reports[0], kinds[0], out)
    if opened.as_json and out != "-":
        write_json({"copies": [_shape(report) for report in reports]})
    elif out != "-":
        for report in reports:
            made = ", ".join(f"{kind} ({format_bytes(size)})" for kind, size in report.made.items())
            missing = f"; {format_count(len(report.missing), 'part')} missing" if report.missing else ""
            write(f"{short_id(report.item_id)}  {made}{missing}")


async def _make(
    opened: OpenLibrary, keys: tuple[str, ...], kinds: tuple[str, ...], room: Room, progress: Progress
) -> list[CopyReport]:
    async with Retrieval(opened.settings, room=room) as retrieval:
        return [await make_copies(key, cast("Any", kinds), opened.store, retrieval, progress) for key in keys]


def _write_file(opened: OpenLibrary, report: CopyReport, kind: str, out: str) -> None:
    data = read_copy(opened.store, report.item_id, cast("Any", kind))
    if out == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    else:
        Path(out).write_bytes(data)


def _shape(report: CopyReport) -> dict[str, Any]:
    return {"id": report.item_id, "made": report.made, "missing": list(report.missing)}


@click.command(epilog=examples("pictures 3f2a", "pictures 3f2a --retry", "pictures --missing"))
@click.argument("key", metavar="[ID|URL]", required=False)
@click.option("--retry", is_flag=True, help="Download the pictures that were left out again.")
@click.option("--missing", is_flag=True, help="Download the pictures of all pages that were saved without them.")
@library_command(open_late=True)
def pictures(opened: OpenLibrary, key: str | None, retry: bool, missing: bool) -> None:
    """Show the pictures that are kept with a page, and which were left out and why."""
    if (key is None) != missing:
        raise click.UsageError("Name a page, or use --missing for all pages.")

    if key is None:
        counts = _fetch(opened, list(walk_items(opened.store)), again=retry)
        if opened.as_json:
            write_json(counts)
        else:
            kept, left_out = counts["kept"], counts["left_out"]
            write(f"{format_count(kept, 'picture')} kept, {left_out:,} left out.")
        return
    item = get_item(opened.store, key)
    if retry:
        _fetch(opened, [item], again=True)
    _show(opened, item)


def _fetch(opened: OpenLibrary, items: list[Item], *, again: bool) -> dict[str, int]:
    with open_room(opened.settings, report=False) as room, show_progress() as progress:
        return asyncio.run(_fetch_all(opened, items, room, progress, again))


async def _fetch_all(
    opened: OpenLibrary, items: list[Item], room: Room, progress: Progress, again: bool
) -> dict[str, int]:
    counts = {"pages": 0, "kept": 0, "left_out": 0}
    async with Retrieval(opened.settings, room=room) as retrieval:
        for item in items:
            job = request_pictures(opened.store, item, opened.settings, again=again)
            if job is None:
                continue
            report = await run_pictures_job(job.id, opened.store, retrieval, progress)
            counts["pages"] += 1
            for name in ("kept", "left_out"):
                counts[name] += int(report.get(name, 0))
    return counts


def _show(opened: OpenLibrary, item: Item) -> None:
    shown = show_pictures(opened.store, item)
    if opened.as_json:
        write_json({"pictures": shown})
        return
    rows = [
        [
            picture["state"].replace("_", " "),
            f"{picture['width']}×{picture['height']}" if picture["width"] else "",
            format_bytes(picture["bytes"]) if picture["bytes"] is not None else "",
            picture["url"],
            picture["message"] or "",
        ]
        for picture in shown
    ]
    if rows:
        show_table([["state", "size", "bytes", "url", "note"], *rows])
    else:
        click.echo("The page has no pictures, or they are not kept (setting `keep_pictures`).", err=True)
