"""`pagekeep annotations`: list or export the highlights and notes of the whole library."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, cast

import click

from pagekeep.doors.cli.lazy import lazily
from pagekeep.doors.cli.open_library import OpenLibrary, library_command
from pagekeep.doors.cli.options import examples
from pagekeep.doors.cli.output import show_table, write_json
from pagekeep.text import one_line

with lazily():
    from pagekeep.library.exports.run import open_atomically
    from pagekeep.library.items.annotations import write_annotations
    from pagekeep.library.open import Store
    from pagekeep.present.reading_shapes import found_annotation_shape


_MAX_CELL_CHARS = 100


@click.command(
    "annotations",
    epilog=examples(
        "annotations",
        'annotations "harbour wall"',
        "annotations --format markdown highlights.md",
        "annotations --format readwise - > highlights.csv",
        "annotations --json | jq -r '.annotations[].quote'",
    ),
)
@click.argument("words", metavar="[WORDS]", default="")
@click.argument("out", metavar="[OUT]", type=click.Path(path_type=Path), required=False)
@click.option(
    "--format",
    "format_",
    type=click.Choice(("markdown", "csv", "readwise")),
    help="Write them to the file OUT (`-` for stdout): to read, as a table, or as Readwise imports them.",
)
@click.option("--limit", type=click.IntRange(1, 500), default=50, show_default=True, help="List at most this many.")
@click.option("--after", metavar="KEY", help="Continue after this key, as printed by the last call.")
@library_command(open_late=True)
def list_annotations(opened: OpenLibrary, words: str, out: Path | None, format_: str | None, **page: Any) -> None:
    """List highlights and notes of all pages, newest first, or those with all WORDS; with --format, export them."""
    if format_ and out is None:
        words, out = "", Path(words) if words else None
    if format_ is None and out is not None:
        raise click.UsageError("Quote several words, or add --format to write a file.")
    if format_ and out is None:
        raise click.UsageError("Name a file to write, or - for stdout.")
    if format_ and out:
        _export(opened.store, format_, words, out)
    else:
        _list(opened.store, words, page, opened.as_json)


def _export(store: Store, format_: str, words: str, out: Path) -> None:
    target = sys.stdout.buffer if str(out) == "-" else out
    with open_atomically(target) as stream:
        for part in write_annotations(store, cast("Any", format_), words):
            stream.write(part.encode("utf-8", "replace"))


def _list(store: Store, words: str, page: dict[str, Any], as_json: bool) -> None:
    found = store.annotations.find(words, **page)
    if as_json:
        shapes = [found_annotation_shape(one, found.items[one.item_id]) for one in found.annotations]
        write_json({"annotations": shapes, "next": found.next})
        return
    if found.annotations:
        rows = [
            [one.created_at[:10], _cell(one.quote), _cell(one.note), _cell(found.items[one.item_id].title)]
            for one in found.annotations
        ]
        show_table([["date", "highlight", "note", "page"], *rows])
    elif sys.stderr.isatty():
        click.echo("No highlights or notes." if not words else "No matches.", err=True)
    if found.next:
        click.echo(f"There are more. To continue: --after {found.next}", err=True)


def _cell(text: str) -> str:
    line = one_line(text)
    return f"{line[:_MAX_CELL_CHARS]}…" if len(line) > _MAX_CELL_CHARS else line
