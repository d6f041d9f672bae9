"""`pagekeep mirror`: keep the library and a folder of Markdown in sync."""

from __future__ import annotations

from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

import click

from pagekeep.doors.cli.open_library import open_library
from pagekeep.doors.cli.options import examples, frontmatter_option, library_options
from pagekeep.doors.cli.output import write, write_json
from pagekeep.text import printable

if TYPE_CHECKING:
    from pagekeep.library.mirror.run import MirrorReport

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
@library_options
def mirror(folder: Path, library: str | None, user: str | None, as_json: bool, **options: Any) -> None:
    """Sync the library with a folder of Markdown files.

    You can change tags, `pinned` and `archived` in the frontmatter. If you change the text, the file stays as your own
    version. You can rename and move files. To delete a page, use `pagekeep delete`.
    """
    with open_library(library, user, as_json) as (_, store):
        from pagekeep.library.mirror.run import mirror as sync
        from pagekeep.library.mirror.run import watch

        if options["watch"]:
            watch(store, folder, options["profile"], _report, seconds=options["every"], wait=Event().wait)
            return
        result = sync(store, folder, options["profile"])
        if as_json:
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
