"""`pagekeep verify`: derive the texts of saved pages again, and compare all hashes."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from pagekeep import extras
from pagekeep.doors.cli.item_output import short_id
from pagekeep.doors.cli.open_library import load_rules, open_library
from pagekeep.doors.cli.options import examples, library_options
from pagekeep.doors.cli.output import format_count, show_bar, write, write_json
from pagekeep.text import printable

if TYPE_CHECKING:
    from pagekeep.library.receipts.verdict import Verdict
    from pagekeep.rules import Rulebook

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
@library_options
def verify(
    keys: tuple[str, ...],
    key: str | None,
    processes: int | None,
    library: str | None,
    user: str | None,
    as_json: bool,
) -> None:
    """Prove that saved pages are intact: derive each text again from its raw page, and compare all hashes.

    A FILE is a WACZ or WARC: its own hashes and the texts of its items are checked. Without names, all pages are checked,
    deleted ones too. Nothing is changed. The exit code is 1 when something is damaged or differs. What cannot be proven
    (edited texts, texts of an older parser, data of an import) is counted separately.

    Receipts may be signed (setting `sign_receipts`); the public keys are shown. With --key, every page must be signed by that
    one. Learn it where the pages were saved, not from the file that is checked.
    """
    with open_library(library, user, as_json) as opened:
        from pagekeep.library.receipts import verify as receipts
        from pagekeep.library.receipts.signatures import read_key

        if key is not None:
            extras.require("signatures", "Checking signatures")
        pinned = None if key is None else read_key(key)
        rules, report = load_rules(opened.settings), Report(pinned, as_json=as_json)
        files, keys = _split(keys)
        for path in files:
            report.add_archive(path, rules, processes)
        if files and not keys:
            report.finish()
            return
        total = sum(1 for _ in receipts.select(opened.store, keys)) if sys.stderr.isatty() else None
        with show_bar("Verifying") as progress:
            for verdict in receipts.verify(
                opened.store, receipts.select(opened.store, keys), rules, processes=processes
            ):
                report.add(verdict)
                progress(report.count, total)
        report.finish()


def _split(keys: tuple[str, ...]) -> tuple[list[Path], tuple[str, ...]]:
    """Return the names that are web archives, and the others."""
    from pagekeep.library.receipts.web_archive import is_web_archive

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
        from pagekeep.library.receipts.web_archive import ArchiveCheck, verify_archive

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
