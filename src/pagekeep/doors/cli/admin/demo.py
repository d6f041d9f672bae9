"""`pagekeep demo`: fill a library with the demo pages, or remove them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import click

from pagekeep.doors.cli.open_library import OpenLibrary, open_library
from pagekeep.doors.cli.open_room import open_room
from pagekeep.doors.cli.options import examples, library_options
from pagekeep.doors.cli.output import format_count, show_progress, write, write_json

if TYPE_CHECKING:
    from pagekeep.capture.from_url import Progress
    from pagekeep.model import Item
    from pagekeep.workers import Room


@click.command(epilog=examples("demo --library demo.db", "serve --library demo.db", "demo --library demo.db --remove"))
@click.option("--remove", is_flag=True, help="Remove the demo pages again; other pages stay.")
@library_options
def demo(remove: bool, library: str | None, user: str | None, as_json: bool) -> None:
    """Fill a library with demo pages in seven kinds and five languages, to try Pagekeep or to show it.

    The pages are our own writing and come with Pagekeep: nothing is fetched. They have pictures, tags, highlights and notes;
    some are pinned, archived or read. A library that has other pages is left alone.
    """
    with open_library(library, user, as_json, create=not remove) as opened:
        if remove:
            from pagekeep.library.demo.fill import remove_demo

            removed = remove_demo(opened.store)
            _report(as_json, f"Removed {format_count(removed, 'demo page')}.", removed=removed)
            return
        with open_room(opened.settings) as room, show_progress() as progress:
            added = asyncio.run(_fill(opened, room, progress))
        if not added:
            _report(as_json, "The demo pages are in the library already.", added=0)
            return
        named = f" --library {library}" if library else ""
        text = f"Added {format_count(len(added), 'demo page')}. To look at them: pagekeep serve{named}"
        _report(as_json, text, added=len(added))


async def _fill(opened: OpenLibrary, room: Room, progress: Progress) -> tuple[Item, ...]:
    from pagekeep.capture.from_url import Retrieval
    from pagekeep.library.demo.fill import fill_library

    async with Retrieval(opened.settings, room=room) as retrieval:
        return await fill_library(opened.store, retrieval, progress)


def _report(as_json: bool, text: str, **counts: int) -> None:
    if as_json:
        write_json(counts)
    else:
        write(text)
