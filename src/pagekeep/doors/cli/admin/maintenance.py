"""`pagekeep backup` and `pagekeep doctor`: back up the library, and check the installation."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pagekeep.doors.cli.open_library import library_location, open_library
from pagekeep.doors.cli.options import examples, library_options
from pagekeep.doors.cli.output import format_count, report_errors, write, write_json
from pagekeep.errors import NotFound

if TYPE_CHECKING:
    from pagekeep.config import Settings
    from pagekeep.doors.cli.admin.doctor import Finding
    from pagekeep.library.open import Store

CHECK_FAILED = 1
"""Exit code when the library is not as it should be."""


@click.command(epilog=examples("backup /mnt/disk/pagekeep/", "backup library-2025-03-19.db"))
@click.argument("path", metavar="FOLDER|FILE")
@library_options
def backup(path: str, library: str | None, user: str | None, as_json: bool) -> None:
    """Back up the library with its kept files. It is safe while the library is in use.

    To a FOLDER (one that exists, or a name that ends in /), with settings and rules: every backup adds a state, and writes only
    what is new. To a FILE, replaced when the new copy is complete: a library in a file becomes a library that can be opened,
    with FILE.blobs for kept files. `pagekeep library restore` restores both. The exit code is 1 when parts of the library are
    damaged, which are then listed.
    """
    with open_library(library, user, as_json) as (settings, store):
        target = Path(path)
        if target.is_dir() or path.endswith(("/", os.sep)):
            _back_up_folder(store, settings, target, as_json)
            return
        from pagekeep.library.open import back_up

        folder = target.absolute().parent
        if not folder.is_dir():
            raise NotFound(f"There is no folder {folder} for the backup.", suggestions=("Create it first.",))
        back_up(store, path)
        if as_json:
            write_json({"backup": path})
        else:
            write(f"Backed up the library to {path}.")


def _back_up_folder(store: Store, settings: Settings, folder: Path, as_json: bool) -> None:
    from pagekeep.library.backup import back_up_folder

    report = back_up_folder(store, settings, folder)
    if as_json:
        write_json({"success": not report.damaged, "backup": str(folder), **asdict(report)})
    else:
        new = f"{report.added:,} new ({report.added_bytes / 1e6:,.1f} MB)"
        write(f"{format_count(report.items, 'page')} backed up to {folder}: {report.objects:,} objects, {new}.")
        for name in report.damaged:
            click.echo(f"Damaged in the library, so not in the backup: {name}", err=True)
    if report.damaged:
        raise click.exceptions.Exit(CHECK_FAILED)


@click.command(epilog=examples("doctor", "doctor --json"))
@library_options
def doctor(library: str | None, user: str | None, as_json: bool) -> None:
    """Show what is installed, what is missing and how to install it, and check the library.

    The exit code is 1 when the library is damaged, missing or read-only.
    """
    with report_errors(as_json=as_json):
        from pagekeep import config
        from pagekeep.doors.cli.admin import doctor as checks

        settings = config.load({"library": library, "user": user})
        library_finding = _check_library(settings)
        findings = [*checks.run(settings), library_finding]
        healthy = library_finding.state == "ok"
        if as_json:
            write_json({**checks.to_json(findings), "success": healthy})
        else:
            write(checks.render(findings))
        if not healthy:
            raise click.exceptions.Exit(CHECK_FAILED)


def _check_library(settings: Settings) -> Finding:
    from pagekeep.doors.cli.admin.doctor import Finding
    from pagekeep.errors import PagekeepError
    from pagekeep.library.open import check as check_library
    from pagekeep.library.open import is_writable
    from pagekeep.library.open import open_library as open_store

    location = library_location(settings)
    if isinstance(location, Path) and not location.exists():
        detail = f"{location} (not created yet: `pagekeep save` creates it)"
        if settings.library is None:
            return Finding("library", "ok", detail)
        return Finding("library", "missing", detail, ("Check the path, or restore a backup.",))
    try:
        with closing(open_store(settings)) as store:
            faults = check_library(store)
            writable = is_writable(store)
    except PagekeepError as error:
        return Finding("library", "missing", f"{location}: {error.message}", error.suggestions)
    if faults:
        hint = f"To save what can be read: pagekeep repair {location}"
        return Finding("library", "missing", f"{location} is damaged", (hint, *faults))
    if not writable:
        hint = "It can be read, but not changed. Check the permissions of the file and its folder."
        return Finding("library", "missing", f"{location} is read-only", (hint,))
    return Finding("library", "ok", f"{location} (no faults found)")
