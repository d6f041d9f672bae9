"""`pagekeep backup` and `pagekeep doctor`: back up the library, and check the installation."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pagekeep.doors.cli.open_library import library_location, open_library
from pagekeep.doors.cli.options import examples, library_options
from pagekeep.doors.cli.output import format_count, report_errors, write, write_json

if TYPE_CHECKING:
    from pagekeep.config import Settings
    from pagekeep.doors.cli.admin.doctor import Finding
    from pagekeep.library.backup import BackupReport

CHECK_FAILED = 1
"""Exit code when the library is not as it should be."""


@click.command(epilog=examples("backup /mnt/disk/pagekeep", "backup --single-file library-2025-03-19.db"))
@click.argument("path", metavar="FOLDER|FILE")
@click.option("--single-file", is_flag=True, help="Write one FILE instead, in place of an earlier one.")
@library_options
def backup(path: str, single_file: bool, library: str | None, user: str | None, as_json: bool) -> None:
    """Back up the library with its kept files. It is safe while the library is in use.

    To a FOLDER, with settings and rules: every backup adds a state, and writes only what is new. With `--single-file`, to a
    FILE: a library in a file becomes a library that can be opened, with kept files in FILE.blobs and its digest in FILE.sha256.
    `pagekeep library restore` restores both.

    Everything is compared with its hash, in the library and in the backup. What is damaged in the backup is written again; what
    is damaged in the library is taken from the earlier backup, if that has it, and listed. The exit code is then 1.
    """
    with open_library(library, user, as_json) as (settings, store):
        from pagekeep.library.backup import back_up_file, back_up_folder

        target, report = Path(path), None
        if single_file or _means_file(path):
            if not single_file:
                click.echo(_DEPRECATED.format(path=path), err=True)
            report = back_up_file(store, target)
            summary = f"{format_count(report.items, 'page')} backed up to {path}."
        else:
            added = report = back_up_folder(store, settings, target)
            new = f"{added.added:,} new ({added.added_bytes / 1e6:,.1f} MB)"
            mended = f", {added.mended:,} damaged ones written again" if added.mended else ""
            summary = (
                f"{format_count(report.items, 'page')} backed up to {path}: {added.objects:,} objects, {new}{mended}."
            )
        if as_json:
            write_json({"success": report.library_intact, "backup": path, **asdict(report)})
        else:
            write(summary)
            for line in _describe_damage(report):
                click.echo(line, err=True)
        if not report.library_intact:
            raise click.exceptions.Exit(CHECK_FAILED)


_DEPRECATED = (
    "Deprecated: a backup to one file needs `--single-file`, and later versions make a folder without it. "
    "Write: pagekeep backup --single-file {path}"
)
_FILE_NAMES = (".db", ".sqlite", ".sqlite3", ".dump", ".backup", ".zst")


def _means_file(path: str) -> bool:
    """Return whether a path without `--single-file` named a file in earlier versions, and hardly names a folder."""
    target = Path(path)
    return not path.endswith(("/", os.sep)) and (
        target.is_file() or (target.suffix in _FILE_NAMES and not target.is_dir())
    )


def _describe_damage(report: BackupReport) -> Iterator[str]:
    """Yield a line for everything that is damaged in the library."""
    for item_id in report.recovered_texts:
        yield f"The text of {item_id} is damaged in the library. The backup has it from an earlier one."
    for name in report.recovered:
        yield f"Missing or damaged in the library, but good in the backup: {name}"
    for item_id in report.damaged_texts:
        yield f"The text of {item_id} is damaged in the library, and in the backup. `pagekeep reparse {item_id}` may mend it."
    for name in report.damaged:
        yield f"Missing or damaged in the library, so not in the backup: {name}"
    if not report.library_intact:
        yield "`pagekeep verify` lists the pages that this belongs to."


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
