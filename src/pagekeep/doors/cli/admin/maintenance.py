"""`pagekeep backup` and `pagekeep doctor`: keeping the library and the installation well."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pagekeep.doors.cli.open_library import examples, library_options, library_place, opened
from pagekeep.doors.cli.output import errors_shown, write, write_json


@click.command(epilog=examples("backup library-2025-03-19.db", "backup copy.db --library /srv/pagekeep.db"))
@click.argument("path", metavar="FILE")
@library_options
def backup(path: str, library: str | None, user: str | None, as_json: bool) -> None:
    """Copy the whole library to FILE, consistent even while others write."""
    with opened(library, user, as_json) as (_, store):
        store.backup(path)
        if as_json:
            write_json({"backup": path})
        else:
            write(f"The library is copied to {path}.")


@click.command(epilog=examples("doctor", "doctor --json"))
@library_options
def doctor(library: str | None, user: str | None, as_json: bool) -> None:
    """Tell what is installed, what is missing and how to get it, and whether the library is sound."""
    with errors_shown(as_json=as_json):
        from pagekeep import config
        from pagekeep.doors.cli.admin import doctor as examination

        settings = config.load({"library": library, "user": user})
        findings = [*examination.run(settings), *_library(settings)]
        if as_json:
            write_json(examination.to_json(findings))
        else:
            write(examination.render(findings))


def _library(settings: Any) -> list[Any]:
    from contextlib import closing

    from pagekeep.doors.cli.admin.doctor import Finding
    from pagekeep.errors import PagekeepError
    from pagekeep.library.items import open_library

    where = library_place(settings)
    if isinstance(where, Path) and not where.exists():
        return [Finding("library", "ok", f"{where} (not there: `pagekeep save` makes it)")]
    try:
        with closing(open_library(settings)) as store:
            faults = store.check()
    except PagekeepError as error:
        return [Finding("library", "missing", f"{where}: {error.message}", error.suggestions)]
    if faults:
        return [Finding("library", "missing", f"{where} is damaged", tuple(faults))]
    return [Finding("library", "ok", f"{where} opens, and no faults were found")]
