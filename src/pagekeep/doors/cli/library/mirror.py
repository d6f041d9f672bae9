"""`pagekeep mirror`: the library as a folder of Markdown that is kept up to date, both ways."""

from __future__ import annotations

from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

import click

from pagekeep.doors.cli.open_library import examples, library_options, opened
from pagekeep.doors.cli.output import printable, write, write_json

if TYPE_CHECKING:
    from pagekeep.library.mirror.run import Pass

KINDS = ("written", "removed", "taken", "renamed", "kept_aside")


@click.command(epilog=examples("mirror notes/", "mirror --watch --profile obsidian vault/Clippings"))
@click.argument("folder", metavar="FOLDER", type=click.Path(path_type=Path, file_okay=False))
@click.option("--watch", is_flag=True, help="Go on until interrupted, and follow both sides live.")
@click.option(
    "--profile",
    type=click.Choice(("pagekeep", "obsidian")),
    default="pagekeep",
    show_default=True,
    help="Whose frontmatter the files have.",
)
@click.option(
    "--every", type=click.FloatRange(min=0.1), default=2.0, show_default=True, help="Seconds between two looks."
)
@library_options
def mirror(folder: Path, library: str | None, user: str | None, as_json: bool, **asked: Any) -> None:
    """Keep the library in FOLDER as Markdown. Tags, `pinned` and `archived` may be changed in the frontmatter; a text that is
    changed stays as your own version. Files may be renamed and moved; deleting is done in the library."""
    with opened(library, user, as_json) as (_, store):
        from pagekeep.library.mirror.run import mirror as once
        from pagekeep.library.mirror.run import watch

        if asked["watch"]:
            watch(store, folder, asked["profile"], _tell, seconds=asked["every"], wait=Event().wait)
            return
        done = once(store, folder, asked["profile"])
        if as_json:
            write_json({**{kind: getattr(done, kind) for kind in KINDS}, "problems": [list(p) for p in done.problems]})
            return
        _tell_problems(done)
        write(", ".join(f"{len(getattr(done, kind)):,} {kind.replace('_', ' ')}" for kind in KINDS) + ".")


def _tell(done: Pass) -> None:
    for kind in KINDS:
        for path in getattr(done, kind):
            write(f"{kind.replace('_', ' ')}  {printable(path)}")
    if done.changed:
        _tell_problems(done)


def _tell_problems(done: Pass) -> None:
    for path, fault in done.problems:
        click.echo(printable(f"Left alone: {path}: {fault}"), err=True)
