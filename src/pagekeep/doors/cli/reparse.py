"""`pagekeep reparse` and `pagekeep verify`: extract saved pages again, to renew their texts or to compare all hashes."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import click

from pagekeep import extras
from pagekeep.doors.cli.item_output import short_id
from pagekeep.doors.cli.lazy import lazily
from pagekeep.doors.cli.open_library import OpenLibrary, library_command, load_rules, open_room
from pagekeep.doors.cli.options import examples
from pagekeep.doors.cli.output import (
    BAD_INPUT,
    format_count,
    is_terminal,
    remove_control_chars,
    show_bar,
    write,
    write_json,
)
from pagekeep.text import printable

with lazily():
    from pagekeep.capture.from_url import Retrieval
    from pagekeep.library import verify as receipts
    from pagekeep.library.archive.receipts import Verdict
    from pagekeep.library.items.find import walk_items
    from pagekeep.library.saving.reparse import ReparseResult, Selection, select_ids
    from pagekeep.library.saving.reparse import reparse as run
    from pagekeep.library.saving.save import refetch
    from pagekeep.library.signatures import read_key
    from pagekeep.library.verify import ArchiveCheck, is_web_archive, verify_archive
    from pagekeep.present.diff import difference
    from pagekeep.rules import Rulebook
    from pagekeep.workers import Room


_COLORS = {"+": "green", "-": "red", "@": "cyan"}


@click.command(
    epilog=examples(
        "reparse --dry-run --limit 5",
        "reparse",
        "reparse 3f2a --force",
        "reparse --domain example.com",
        "reparse --query 'tide clock'",
        "reparse --refetch --dry-run --limit 5",
        "reparse --refetch --limit 100",
    )
)
@click.argument("keys", nargs=-1, metavar="[ID|URL]...")
@click.option("--dry-run", is_flag=True, help="Change nothing; show the differences in the Markdown.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="At most N pages, oldest first.")
@click.option("--force", is_flag=True, help="Replace the stored version even if the new one has lower quality.")
@click.option("--domain", metavar="NAME", help="All pages of this domain, also those that are up to date.")
@click.option("--query", metavar="WORDS", help="All pages that a search finds, also those that are up to date.")
@click.option("--refetch", is_flag=True, help="Download the pages again, all except deleted ones.")
@click.option("--processes", type=click.IntRange(1, 256), help="Number of processes. Default: one per core.")
@library_command(open_late=True)
def reparse(opened: OpenLibrary, keys: tuple[str, ...], **options: Any) -> None:
    """Extract saved pages again, offline: the ones named, or all that an older version or other rules extracted.

    Pages that fail are listed and stay as they are; the exit code is then 2.
    """
    if sum(map(bool, (keys, options["domain"], options["query"]))) > 1:
        raise click.UsageError("Use only one of: ids or URLs, --domain, --query.")
    report = _Report(as_json=opened.as_json, dry_run=options["dry_run"])
    rules = load_rules(opened.settings)
    total = sum(1 for _ in _find_ids(opened, keys, rules, options)) if sys.stderr.isatty() else None
    with show_bar("Extracting") as progress:

        def add(result: ReparseResult) -> None:
            report.add(result)
            progress(report.count, total)

        _run(opened, _find_ids(opened, keys, rules, options), rules, options, add)
    selected = any((keys, options["domain"], options["query"], options["refetch"]))
    report.finish(if_empty="No matches." if selected else "Everything is up to date.")


def _find_ids(opened: OpenLibrary, keys: tuple[str, ...], rules: Rulebook, options: dict[str, Any]) -> Iterator[str]:
    choice = Selection(keys or None, options["domain"], options["query"], options["limit"])
    if options["refetch"] and choice == Selection(limit=options["limit"]):
        return (item.id for item in walk_items(opened.store, limit=options["limit"]))
    return select_ids(opened.store, rules, choice)


def _run(
    opened: OpenLibrary,
    ids: Iterator[str],
    rules: Rulebook,
    options: dict[str, Any],
    add: Callable[[ReparseResult], None],
) -> None:
    if options["refetch"]:
        with open_room(opened.settings, report=False) as room:
            asyncio.run(_refetch(opened, ids, room, options, add))
        return
    results = run(
        opened.store,
        ids,
        rules,
        force=options["force"],
        dry_run=options["dry_run"],
        processes=options["processes"],
        max_bytes=opened.settings.max_bytes,
    )
    for result in results:
        add(result)


async def _refetch(
    opened: OpenLibrary,
    ids: Iterator[str],
    room: Room,
    options: dict[str, Any],
    add: Callable[[ReparseResult], None],
) -> None:
    async with Retrieval(opened.settings, room=room) as retrieval:
        dry_run, force = options["dry_run"], options["force"]
        async for result in refetch(opened.store, ids, retrieval, force=force, dry_run=dry_run):
            add(result)


class _Report:
    """Counts outcomes, and collects the failures and the results that had lower quality."""

    def __init__(self, *, as_json: bool, dry_run: bool) -> None:
        self._as_json = as_json
        self._dry_run = dry_run
        self._counts: Counter[str] = Counter()
        self._notes: list[dict[str, Any]] = []

    @property
    def count(self) -> int:
        """Pages done so far."""
        return self._counts.total()

    def add(self, result: ReparseResult) -> None:
        """Count one result; on a dry run, print its diff."""
        self._counts[result.outcome] += 1
        if result.note:
            item = result.item
            self._notes.append({"id": item.id, "url": item.url, "outcome": result.outcome, "note": result.note})
        if self._dry_run and not self._as_json and result.content is not None and result.outcome == "updated":
            write("\n".join(_diff_lines(result)))

    def finish(self, *, if_empty: str) -> None:
        """Print the counts, or `if_empty` when there were no pages; exit with 2 when a page failed."""
        counts = {outcome: self._counts[outcome] for outcome in ("updated", "unchanged", "kept", "failed")}
        if self._as_json:
            success = not counts["failed"]
            write_json({"success": success, "dry_run": self._dry_run, **counts, "notes": self._notes})
        else:
            self._print(counts, if_empty)
        if counts["failed"]:
            raise click.exceptions.Exit(BAD_INPUT)

    def _print(self, counts: dict[str, int], if_empty: str) -> None:
        for note in self._notes:
            line = f"{note['outcome']}  {short_id(note['id'])}  {note['url']}: {note['note']}"
            click.echo(printable(line), err=True)
        if not self._counts:
            write(if_empty)
            return
        prefix = "Dry run, nothing was changed: " if self._dry_run else ""
        write(prefix + ", ".join(f"{count} {outcome}" for outcome, count in counts.items()) + ".")


def _diff_lines(result: ReparseResult) -> Iterator[str]:
    """Yield the change of one item as a diff, coloured on a terminal."""
    item = result.item
    yield f"{short_id(item.id)}  {printable(item.title)}  {item.url}"
    for line in difference(item.content, result.content or ""):
        clean = remove_control_chars(line)
        color = _COLORS.get(line[:1])
        yield click.style(clean, fg=color) if color and is_terminal() else clean


CHECK_FAILED: Final = 1
"""Exit code when something is damaged or differs."""
FAULTS: Final = ("damaged", "differs", "failed")
_STATES: Final = ("verified", "unproven", "damaged", "differs", "failed")
_UNPROVEN: Final = {
    "edited": "edited by you",
    "no_raw_page": "without a stored raw page",
    "older_parser": "extracted by an older parser: `pagekeep reparse` reads them again",
    "newer_parser": "extracted by a newer version of Pagekeep",
    "other_rules": "extracted with other rules, which now give another text: `pagekeep reparse` reads them again",
    "incomplete_receipt": "saved before receipts were complete: `pagekeep reparse` reads them again",
    "not_from_page": "with a title, author, date or time that is not from the raw page; their Markdown is",
}


@click.command(epilog=examples("verify", "verify 3f2a", "verify --json", "verify archive.wacz --key PUBLIC_KEY"))
@click.argument("keys", nargs=-1, metavar="[ID|URL|FILE]...")
@click.option("--key", help="Public key that must have signed every page; the exit code is 1 where it has not.")
@click.option("--processes", type=click.IntRange(1, 256), help="Number of processes. Default: one per core.")
@library_command
def verify(opened: OpenLibrary, keys: tuple[str, ...], key: str | None, processes: int | None) -> None:
    """Prove that saved pages are intact: derive each text again from its raw page, and compare all hashes.

    A FILE is a WACZ or WARC: its own hashes and the texts of its items are checked. Without names, all pages are checked,
    deleted ones too. Nothing is changed. The exit code is 1 when something is damaged or differs. What cannot be proven
    (edited texts, texts of an older parser, data of an import) is counted separately.

    Receipts may be signed (setting `sign_receipts`); the public keys are shown. With --key, every page must be signed by that
    one. Learn it where the pages were saved, not from the file that is checked.
    """
    if key is not None:
        extras.require("signatures", "Checking signatures")
    pinned = None if key is None else read_key(key)
    rules, report = load_rules(opened.settings), Report(pinned, as_json=opened.as_json)
    files, keys = _split(keys)
    for path in files:
        report.add_archive(path, rules, processes)
    if files and not keys:
        report.finish()
        return
    total = sum(1 for _ in receipts.select(opened.store, keys)) if sys.stderr.isatty() else None
    with show_bar("Verifying") as progress:
        for verdict in receipts.verify(opened.store, receipts.select(opened.store, keys), rules, processes=processes):
            report.add(verdict)
            progress(report.count, total)
    report.finish()


def _split(keys: tuple[str, ...]) -> tuple[list[Path], tuple[str, ...]]:
    """Return the names that are web archives, and the others."""
    files = [Path(key) for key in keys if is_web_archive(Path(key))]
    return files, tuple(key for key in keys if Path(key) not in files)


class Report:
    """Counts verdicts, and collects those that are not plain."""

    def __init__(self, key: str | None, *, as_json: bool) -> None:
        self._key = key
        self._as_json = as_json
        self._signed: Counter[str] = Counter()
        self._unsigned: list[dict[str, Any]] = []
        self._stamped: Counter[str] = Counter()
        self._states: Counter[str] = Counter()
        self._reasons: Counter[str] = Counter()
        self._notes: list[dict[str, Any]] = []
        self._archives: list[dict[str, Any]] = []

    @property
    def count(self) -> int:
        """Items checked so far."""
        return self._states.total()

    def add(self, verdict: Verdict) -> None:
        """Count one verdict."""
        self._states[verdict.state] += 1
        if verdict.state == "unproven" and verdict.reason:
            self._reasons[verdict.reason] += 1
        if verdict.signed_by is not None:
            self._signed[verdict.signed_by] += 1
        if verdict.timestamp is not None:
            self._stamped[f"{verdict.timestamp.authority} (certificate {verdict.timestamp.certificate})"] += 1
        if self._key is not None and verdict.signed_by != self._key and not verdict.is_fault:
            self._unsigned.append(verdict.to_json())
        if verdict.message:
            self._notes.append(verdict.to_json())

    def add_archive(self, path: Path, rules: Rulebook, processes: int | None) -> None:
        """Check a web archive."""
        check = ArchiveCheck()
        for verdict in verify_archive(path, rules, check, processes=processes):
            self.add(verdict)
        if self._key is not None and check.pages:
            check.faults.append(
                f"{format_count(check.pages, 'page')} without a receipt that the key could have signed."
            )
        self._archives.append({"file": str(path), "files": check.files, "pages": check.pages, "faults": check.faults})

    def finish(self) -> None:
        """Print the counts; exit with 1 when something is wrong."""
        faults = sum(len(archive["faults"]) for archive in self._archives)
        faults += sum(self._states[state] for state in FAULTS)
        if self._as_json:
            counts = {state: self._states[state] for state in _STATES}
            signed = {"signed": dict(self._signed), "unsigned": self._unsigned if self._key else None}
            signed |= {"stamped": dict(self._stamped)}
            shown = {"success": not (faults or self._unsigned), **counts, "reasons": dict(self._reasons)}
            shown |= {**signed, "notes": self._notes}
            write_json({**shown, "archives": self._archives} if self._archives else shown)
        else:
            self._print(faults)
        if faults or self._unsigned:
            raise click.exceptions.Exit(CHECK_FAILED)

    def _print(self, faults: int) -> None:
        for note in self._notes:
            if note["state"] in FAULTS:
                line = f"{note['state']}  {short_id(note['id'])}  {note['url']}: {note['message']}"
                click.echo(printable(line), err=True)
        for archive in self._archives:
            for fault in archive["faults"]:
                click.echo(printable(f"damaged  {archive['file']}: {fault}"), err=True)
            if archive["pages"]:
                write(
                    f"{format_count(archive['pages'], 'page')} of other programs: only the hashes of files were compared."
                )
        write(f"{format_count(self._states['verified'], 'page')} verified: the raw page gives the stored text again.")
        for reason, count in sorted(self._reasons.items()):
            write(f"{format_count(count, 'page')} cannot be proven: {_UNPROVEN[reason]}.")
        for key, count in sorted(self._signed.items()):
            write(
                f"{format_count(count, 'page')} signed by {key}{'' if key == self._key else ' (not compared with --key)'}."
            )
        for authority, count in sorted(self._stamped.items()):
            write(printable(f"{format_count(count, 'page')} with a time stamp by {authority}."))
        for note in self._unsigned:
            click.echo(printable(f"unsigned  {short_id(note['id'])}  {note['url']}: not signed by this key."), err=True)
        if self._unsigned:
            write(f"{format_count(len(self._unsigned), 'page')} not signed by this key.")
        if faults:
            write(f"{format_count(faults, 'fault')}: damaged or different.")
