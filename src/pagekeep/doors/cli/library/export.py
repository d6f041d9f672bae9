"""`pagekeep export`: the library as files that other programs read."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import click

from pagekeep.doors.cli.open_library import examples, library_options, opened
from pagekeep.doors.cli.output import counted, printable, write, write_json

if TYPE_CHECKING:
    from pagekeep.library.exports.run import Exported

TOLD = 10


@click.command(
    epilog=examples(
        "export notes/",
        "export --profile obsidian --images --query tag:harbour vault/Clippings",
        "export --format jsonl library.jsonl",
        "export --format netscape - > bookmarks.html",
        "export --format epub --query is:pinned pinned.epub",
    )
)
@click.argument("out", metavar="OUT", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "format_",
    type=click.Choice(("markdown", "jsonl", "netscape", "html", "epub")),
    default="markdown",
    show_default=True,
    help="A folder of Markdown, or one file of another kind (`-` is stdout).",
)
@click.option("--query", metavar="QUERY", help="Only what `pagekeep search QUERY` finds.")
@click.option(
    "--profile",
    type=click.Choice(("pagekeep", "obsidian")),
    default="pagekeep",
    show_default=True,
    help="Whose frontmatter Markdown files have.",
)
@click.option("--images", is_flag=True, help="Fetch the pictures, and put them with the text.")
@library_options
def export(out: Path, format_: str, library: str | None, user: str | None, as_json: bool, **asked: Any) -> None:
    """Write the library, or what a query finds, to OUT; deleted pages stay behind."""
    with opened(library, user, as_json) as (settings, store), _progress() as step:
        from pagekeep.library.exports import run

        wish = run.Wish(cast("Any", format_), asked["query"], asked["profile"], asked["images"], step)
        done = asyncio.run(run.export(store, _place(out), wish, settings))
    if as_json:
        write_json(_shape(done))
    elif str(out) != "-":
        write(_line(done))
    _tell_failures(done)


def _place(out: Path) -> Path | BinaryIO:
    return sys.stdout.buffer if str(out) == "-" else out


def _shape(done: Exported) -> dict[str, Any]:
    counts = {name: getattr(done, name) for name in ("items", "written", "unchanged", "pictures")}
    return {**counts, "failed_pictures": done.failed_pictures}


def _line(done: Exported) -> str:
    pictures = f", {counted(done.pictures, 'picture')}" if done.pictures else ""
    was = "was" if done.unchanged == 1 else "were"
    same = f" ({counted(done.unchanged, 'file')} {was} the same already)" if done.unchanged else ""
    return f"{counted(done.items, 'page')} exported{pictures}{same}."


def _tell_failures(done: Exported) -> None:
    for url, reason in list(done.failed_pictures.items())[:TOLD]:
        click.echo(printable(f"Picture left on the web: {url} ({reason})"), err=True)
    left = len(done.failed_pictures) - TOLD
    if left > 0:
        click.echo(f"... and {left:,} more.", err=True)


@contextmanager
def _progress() -> Iterator[Callable[[int], None]]:
    """A count on the terminal; nothing when nobody looks."""
    if not sys.stderr.isatty():
        yield lambda _count: None
        return
    from rich.console import Console

    with Console(stderr=True).status("Exporting") as status:
        yield lambda count: status.update(f"Exporting: {counted(count, 'page')}")
