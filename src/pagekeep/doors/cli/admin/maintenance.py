"""`pagekeep backup` and `pagekeep doctor`: back up the library, and check the installation."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pagekeep.doors.cli.open_library import library_location, open_library
from pagekeep.doors.cli.options import examples, library_options
from pagekeep.doors.cli.output import report_errors, write, write_json

if TYPE_CHECKING:
    from pagekeep.config import Settings
    from pagekeep.doors.cli.admin.doctor import Finding


@click.command(epilog=examples("backup library-2025-03-19.db", "backup copy.db --library /srv/pagekeep.db"))
@click.argument("path", metavar="FILE")
@library_options
def backup(path: str, library: str | None, user: str | None, as_json: bool) -> None:
    """Copy the whole library to a file. It is safe while the library is in use."""
    with open_library(library, user, as_json) as (_, store):
        from pagekeep.library.open import back_up

        back_up(store, path)
        if as_json:
            write_json({"backup": path})
        else:
            write(f"Backed up the library to {path}.")


@click.command(epilog=examples("doctor", "doctor --json"))
@library_options
def doctor(library: str | None, user: str | None, as_json: bool) -> None:
    """Show what is installed, what is missing and how to install it, and check the library."""
    with report_errors(as_json=as_json):
        from pagekeep import config
        from pagekeep.doors.cli.admin import doctor as checks

        settings = config.load({"library": library, "user": user})
        findings = [*checks.run(settings), _check_library(settings)]
        if as_json:
            write_json(checks.to_json(findings))
        else:
            write(checks.render(findings))


def _check_library(settings: Settings) -> Finding:
    from pagekeep.doors.cli.admin.doctor import Finding
    from pagekeep.errors import PagekeepError
    from pagekeep.library.open import check as check_library
    from pagekeep.library.open import open_library as open_store

    location = library_location(settings)
    if isinstance(location, Path) and not location.exists():
        return Finding("library", "ok", f"{location} (not created yet: `pagekeep save` creates it)")
    try:
        with closing(open_store(settings)) as store:
            faults = check_library(store)
    except PagekeepError as error:
        return Finding("library", "missing", f"{location}: {error.message}", error.suggestions)
    if faults:
        return Finding("library", "missing", f"{location} is damaged", tuple(faults))
    return Finding("library", "ok", f"{location} (no faults found)")
