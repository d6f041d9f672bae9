"""`pagekeep library`: create or update a library on a PostgreSQL server."""

from __future__ import annotations

import click

from pagekeep.doors.cli.options import EXIT_CODES, examples, json_option
from pagekeep.doors.cli.output import report_errors, write, write_json


@click.group(epilog=EXIT_CODES)
def library() -> None:
    """Set up a library on a PostgreSQL server. A library in a file needs no setup."""


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
