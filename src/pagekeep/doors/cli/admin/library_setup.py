"""`pagekeep library`: a library on a PostgreSQL server, made or brought up to date by whoever owns the database."""

from __future__ import annotations

import click

from pagekeep.doors.cli.open_library import EXIT_CODES, examples
from pagekeep.doors.cli.output import errors_shown, write, write_json


@click.group(epilog=EXIT_CODES)
def library() -> None:
    """Make a library on a PostgreSQL server; a library in a file makes itself."""


@library.command(
    epilog=examples(
        "library install postgresql://owner@db.example.org/pages --for pagekeep",
        "library install",
    )
)
@click.argument("address", metavar="[URL]", required=False)
@click.option(
    "--for", "sign_in", metavar="ROLE", help="Let this role, under which the server signs in, use the library."
)
@click.option("--json", "as_json", is_flag=True, help="Answer as JSON.")
def install(address: str | None, sign_in: str | None, as_json: bool) -> None:
    """Make the library's tables, roles and policies, or bring them up to date; as the owner, at the address URL or
    that of the setting `library`.

    What is there stays. Run it once, and again after every update of Pagekeep.
    """
    with errors_shown(as_json=as_json):
        from pagekeep import config
        from pagekeep.store import install_library

        install_library(config.load({"library": address}).library or "", sign_in)
        if as_json:
            write_json({"installed": True, "for": sign_in})
            return
        write("The library is installed.")
        if sign_in:
            write(f"{sign_in} may use it.")
