"""`pagekeep backup`, `library`, `repair`, `storage`, `doctor` and `completion`: look after library and installation."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Final

import click
from click.shell_completion import get_completion_class

from pagekeep.doors.cli.lazy import lazily
from pagekeep.doors.cli.open_library import OpenLibrary, library_command, library_location
from pagekeep.doors.cli.options import EXIT_CODES, examples, json_command, json_option
from pagekeep.doors.cli.output import format_bytes, format_count, show_table, write, write_json
from pagekeep.errors import PagekeepError
from pagekeep.text import printable

with lazily():
    from pagekeep import config
    from pagekeep.config import Settings, settings_path
    from pagekeep.doors.cli import doctor as checks
    from pagekeep.doors.cli.doctor import Finding
    from pagekeep.doors.cli.main import cli
    from pagekeep.library.backup import BackupReport, back_up_file, back_up_folder
    from pagekeep.library.backup import restore as run
    from pagekeep.library.open import Salvage, install_library, is_writable, remove_unused
    from pagekeep.library.open import check as check_library
    from pagekeep.library.open import open_library as open_store
    from pagekeep.library.open import repair as salvage
    from pagekeep.present import archive_shapes
    from pagekeep.present.json_shapes import to_json


CHECK_FAILED = 1
"""Exit code when the library is not as it should be."""


@click.command(epilog=examples("backup /mnt/disk/pagekeep", "backup --single-file library-2025-03-19.db"))
@click.argument("path", metavar="FOLDER|FILE")
@click.option("--single-file", is_flag=True, help="Write one FILE instead, in place of an earlier one.")
@library_command
def backup(opened: OpenLibrary, path: str, single_file: bool) -> None:
    """Back up the library with its kept files. It is safe while the library is in use.

    To a FOLDER, with settings and rules: every backup adds a state, and writes only what is new. With `--single-file`, to a
    FILE: a library in a file becomes a library that can be opened, with kept files in FILE.blobs and its digest in FILE.sha256.
    `pagekeep library restore` restores both.

    Everything is compared with its hash, in the library and in the backup. What is damaged in the backup is written again; what
    is damaged in the library is taken from the earlier backup, if that has it, and listed. The exit code is then 1.
    """
    target, report = Path(path), None
    if single_file or _means_file(path):
        if not single_file:
            click.echo(_DEPRECATED.format(path=path), err=True)
        report = back_up_file(opened.store, target)
        summary = f"{format_count(report.items, 'page')} backed up to {path}."
    else:
        added = report = back_up_folder(opened.store, opened.settings, target)
        new = f"{added.added:,} new ({added.added_bytes / 1e6:,.1f} MB)"
        mended = f", {added.mended:,} damaged ones written again" if added.mended else ""
        summary = f"{format_count(report.items, 'page')} backed up to {path}: {added.objects:,} objects, {new}{mended}."
    if opened.as_json:
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
@library_command(open_late=True)
def doctor(opened: OpenLibrary) -> None:
    """Show what is installed, what is missing and how to install it, and check the library.

    The exit code is 1 when the library is damaged, missing or read-only.
    """
    library_finding = _check_library(opened.settings)
    findings = [*checks.run(opened.settings), library_finding]
    healthy = library_finding.state == "ok"
    opened.show({**checks.to_json(findings), "success": healthy}, checks.render(findings))
    if not healthy:
        raise click.exceptions.Exit(CHECK_FAILED)


def _check_library(settings: Settings) -> Finding:
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
@json_command
def install(address: str | None, role: str | None, as_json: bool) -> None:
    """Create or update the tables, roles and policies of the library.

    Run it as the owner of the database: once, and again after every update of Pagekeep. Stored data stays. Without a URL,
    the setting `library` is used.
    """
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
@library_command(open_late=True)
def restore(opened: OpenLibrary, backup: Path, state: str | None, what_can_be: bool) -> None:
    """Restore a backup into a new or empty library.

    The backup is checked first: one that is damaged or incomplete restores nothing, and what it lacks is listed. With
    `--what-can-be` everything else is restored; the exit code is then 1.

    A backup folder fits both kinds of libraries, files and database servers. Its settings and rules are written where there are
    none yet; settings that run commands, open paths or addresses, or let others in are switched off until you confirm them.
    """
    done = run(opened.settings, backup, state, what_can_be=what_can_be)
    if opened.as_json:
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


LOST = 1
"""Exit code when something is lost."""


@click.command(epilog=examples("repair library.db", "repair library.db --out saved.db"))
@click.argument("library", metavar="LIBRARY", type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="NEW", help="The new library. Default: LIBRARY with `.repaired`."
)
@json_command
def repair(library: Path, out: Path | None, as_json: bool) -> None:
    """Save everything that can be read of a damaged library file into a new library, and list what is lost.

    The damaged file is not changed. Stop servers and workers that use it first. The exit code is 0 when nothing is lost,
    1 when something is, and 2 when no item can be read.
    """
    target = out or library.with_name(f"{library.stem}.repaired{library.suffix}")
    report = salvage(library, target)
    if as_json:
        write_json(_to_json(report, target))
    else:
        write(_render(report, target))
    if not report.complete:
        raise click.exceptions.Exit(LOST)


def _to_json(report: Salvage, target: Path) -> dict[str, object]:
    return {
        "success": report.complete,
        "library": str(target),
        "saved": dict(report.saved),
        "lost_items": list(report.lost_items.values()),
        "notes": report.notes,
    }


def _render(report: Salvage, target: Path) -> str:
    lines = [f"Saved {format_count(report.saved['items'], 'item')} to {target}."]
    if report.complete:
        return "\n".join([*lines, "Nothing is lost."])
    if report.lost_items:
        lines.append(f"Lost {format_count(len(report.lost_items), 'item')}; save those with a URL again:")
        lines += [_render_lost(entry) for entry in report.lost_items.values()]
    if report.notes:
        lines += ["Also lost or incomplete:", *(f"  {printable(note)}" for note in report.notes)]
    return "\n".join(lines)


def _render_lost(entry: dict[str, str | None]) -> str:
    return "  " + "  ".join(printable(text) for text in (entry["id"], entry["title"], entry["url"]) if text)


_SITES_SHOWN = 10


@click.command(epilog=examples("storage", "storage --json | jq .storage.files", "storage --clean"))
@click.option("--clean", is_flag=True, help="Remove files that no page uses now, instead of after a week.")
@library_command
def storage(opened: OpenLibrary, clean: bool) -> None:
    """Show what pages, pictures and other kept files take on the disk, and which sites take most."""
    removed = remove_unused(opened.store, at_once=True) if clean else None
    found = opened.store.blobs.storage()
    if opened.as_json:
        done = {"removed": removed.count, "bytes": removed.bytes} if removed else {}
        write_json({"storage": to_json(archive_shapes.StorageUse, found), **done})
        return
    if removed:
        write(f"Removed {format_count(removed.count, 'file')} ({format_bytes(removed.bytes)}).")
    rows = [
        ["text", "", format_bytes(found.text)],
        ["saved HTML", f"{found.raw_pages.count:,}", format_bytes(found.raw_pages.bytes)],
        ["- of earlier versions", f"{found.snapshots.count:,}", format_bytes(found.snapshots.bytes)],
        *([role, f"{use.count:,}", format_bytes(use.bytes)] for role, use in found.roles.items()),
        ["all kept files", f"{found.blobs.count:,}", format_bytes(found.blobs.bytes)],
        ["unused", f"{found.unused.count:,}", format_bytes(found.unused.bytes)],
    ]
    show_table([["what", "count", "size"], *rows])
    sites = [[domain, format_bytes(size)] for domain, size in found.sites[:_SITES_SHOWN]]
    if sites:
        write("")
        show_table([["site", "size"], *sites])


SHELLS: Final = ("bash", "zsh", "fish")
_VARIABLE: Final = "_PAGEKEEP_COMPLETE"
"""The variable in which the shell asks the program for completions, by click's convention."""


@click.command(
    epilog=examples(
        "completion bash >> ~/.bashrc",
        "completion zsh >> ~/.zshrc",
        "completion fish > ~/.config/fish/completions/pagekeep.fish",
    )
)
@click.argument("shell", type=click.Choice(SHELLS))
@json_option
def completion(shell: str, as_json: bool) -> None:
    """Print the script that lets a shell complete commands and options with the Tab key."""
    kind = get_completion_class(shell)
    assert kind is not None
    # Not `source()`, which starts the shell to check its version: the script may be for another machine.
    completer = kind(cli, {}, "pagekeep", _VARIABLE)
    script = completer.source_template % completer.source_vars()
    if as_json:
        write_json({"shell": shell, "script": script})
    else:
        write(script)
