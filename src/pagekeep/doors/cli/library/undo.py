"""`pagekeep undo`: undo the last change."""

from __future__ import annotations

import click

from pagekeep.doors.cli.item_output import short_id, state_words
from pagekeep.doors.cli.open_library import open_library
from pagekeep.doors.cli.options import examples, library_options
from pagekeep.doors.cli.output import format_count, write, write_json
from pagekeep.text import printable


@click.command(epilog=examples("undo", "undo --json"))
@library_options
def undo(library: str | None, user: str | None, as_json: bool) -> None:
    """Undo the last change made on this command line: pin, archive, tag, edit, keep, delete and their opposites,
    and `save` of a folder.

    What was changed again since, for example in the reader, stays as it is. `purge` cannot be undone.
    """
    with open_library(library, user, as_json) as (settings, store):
        from pagekeep.library.undo import undo_last
        from pagekeep.present.json_shapes import items_shape

        undone = undo_last(store, settings)
        if as_json:
            count = {"count": undone.count, "kept": undone.kept}
            write_json({"undone": undone.action, **items_shape(undone.items, None), **count})
            return
        if undone.kept or len(undone.items) != 1:
            kept = f"; {format_count(undone.kept, 'page')} changed again since stay as they are" if undone.kept else ""
            write(f"Undid {undone.action}: {format_count(undone.count, 'page')}{kept}")
            return
        for item in undone.items:
            write(f"Undid {undone.action}  {short_id(item.id)}  {printable(item.title)}  ({state_words(item)})")
