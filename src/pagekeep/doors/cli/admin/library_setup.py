"""`pagekeep library`: create or update a library on a PostgreSQL server, and restore a backup."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from pagekeep.doors.cli.options import EXIT_CODES, examples, json_option, library_options
from pagekeep.doors.cli.output import format_count, report_errors, write, write_json
from pagekeep.text import printable

INCOMPLETE = 1
"""Exit code when parts of a backup could not be restored."""


@click.group(epilog=EXIT_CODES)
def library() -> None:
    """Set up a library on a PostgreSQL server, or restore a backup. A library in a file needs no setup."""


@library.command(
    epilog=examples(
        "library install postgresql://owner@db.example.org/pages --for pagekeep",
        "library install",
    )
)
@click.argument("address", metavar="[URL]", required=False)
@click.option("--for", "role", metavar="ROLE", help="Allow this database role to use the library.")
@json_option
def install(address: str | None, role: str | None, as_json: bool) -> None:
    """Create or update the tables, roles and policies of the library.

    Run it as the owner of the database: once, and again after every update of Pagekeep. Stored data stays. Without a URL,
    the setting `library` is used.
    """
    with report_errors(as_json=as_json):
        from pagekeep import config
        from pagekeep.library.open import install_library

        install_library(config.load({"library": address}).library or "", role)
        if as_json:
            write_json({"installed": True, "for": role})
            return
        write("The library is installed.")
        if role:
            write(f"The role {role} can use it.")


@library.command(
    epilog=examples(
        "library restore /mnt/disk/pagekeep --library new.db",
        "library restore library-2025-03-19.db",
        "library restore damaged.db --what-can-be --library new.db",
        "library restore /mnt/disk/pagekeep --library postgresql://pagekeep@db.example.org/pages --user ada",
    )
)
@click.argument("backup", metavar="BACKUP", type=click.Path(path_type=Path))
@click.option("--state", metavar="NAME", help="State of a backup folder. Default: the newest.")
@click.option("--what-can-be", is_flag=True, help="Restore everything that is sound, and list the rest.")
@library_options
def restore(
    backup: Path, state: str | None, what_can_be: bool, library: str | None, user: str | None, as_json: bool
) -> None:
    """Restore a backup into a new or empty library.

    The backup is checked first: one that is damaged or incomplete restores nothing, and what it lacks is listed. With
    `--what-can-be` everything else is restored; the exit code is then 1.

    A backup folder fits both kinds of libraries, files and database servers. Its settings and rules are written where there are
    none yet; settings that run commands, open paths or addresses, or let others in are switched off until you confirm them.
    """
    with report_errors(as_json=as_json):
        from pagekeep import config
        from pagekeep.config import settings_path
        from pagekeep.library.backup import restore as run

        done = run(config.load({"library": library, "user": user}), backup, state, what_can_be=what_can_be)
        if as_json:
            write_json({"success": not done.left_out, **asdict(done)})
        else:
            write(f"Restored {format_count(done.items, 'page')} from {backup}.")
            for name in done.settings:
                write(f"Restored {name}.")
            for name in done.unconfirmed:
                write(f"Switched off until you confirm it in {settings_path()}: {printable(name)}")
            for name in done.different:
                write(f"Left as it is, though the backup has another version: {name}")
            for what in done.left_out:
                click.echo(f"Not restored as it was: {printable(what)}", err=True)
        if done.left_out:
            raise click.exceptions.Exit(INCOMPLETE)
