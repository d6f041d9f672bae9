"""`pagekeep pictures`: the kept pictures of a page, those that were left out, and trying again."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import click

from pagekeep.doors.cli.open_library import OpenLibrary, open_library
from pagekeep.doors.cli.open_room import open_room
from pagekeep.doors.cli.options import examples, library_options
from pagekeep.doors.cli.output import format_bytes, format_count, show_progress, show_table, write, write_json

if TYPE_CHECKING:
    from pagekeep.capture.from_url import Progress
    from pagekeep.model import Item
    from pagekeep.workers import Room


@click.command(epilog=examples("pictures 3f2a", "pictures 3f2a --retry", "pictures --missing"))
@click.argument("key", metavar="[ID|URL]", required=False)
@click.option("--retry", is_flag=True, help="Download the pictures that were left out again.")
@click.option("--missing", is_flag=True, help="Download the pictures of all pages that were saved without them.")
@library_options
def pictures(key: str | None, retry: bool, missing: bool, library: str | None, user: str | None, as_json: bool) -> None:
    """Show the pictures that are kept with a page, and which were left out and why."""
    if (key is None) != missing:
        raise click.UsageError("Name a page, or use --missing for all pages.")
    with open_library(library, user, as_json) as opened:
        from pagekeep.library.items import get_item, walk_items

        if key is None:
            counts = _fetch(opened, list(walk_items(opened.store)), again=retry)
            if as_json:
                write_json(counts)
            else:
                kept, left_out = counts["kept"], counts["left_out"]
                write(f"{format_count(kept, 'picture')} kept, {left_out:,} left out.")
            return
        item = get_item(opened.store, key)
        if retry:
            _fetch(opened, [item], again=True)
        _show(opened, item, as_json)


def _fetch(opened: OpenLibrary, items: list[Item], *, again: bool) -> dict[str, int]:
    with open_room(opened.settings, report=False) as room, show_progress() as progress:
        return asyncio.run(_fetch_all(opened, items, room, progress, again))


async def _fetch_all(
    opened: OpenLibrary, items: list[Item], room: Room, progress: Progress, again: bool
) -> dict[str, int]:
    from pagekeep.capture.from_url import Retrieval
    from pagekeep.library.pictures.job import request_pictures, run_now

    counts = {"pages": 0, "kept": 0, "left_out": 0}
    async with Retrieval(opened.settings, room=room) as retrieval:
        for item in items:
            job = request_pictures(opened.store, item, opened.settings, again=again)
            if job is None:
                continue
            report = await run_now(job.id, opened.store, retrieval, progress)
            counts["pages"] += 1
            for name in ("kept", "left_out"):
                counts[name] += int(report.get(name, 0))
    return counts


def _show(opened: OpenLibrary, item: Item, as_json: bool) -> None:
    from pagekeep.library.pictures.kept import show_pictures

    shown = show_pictures(opened.store, item)
    if as_json:
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
