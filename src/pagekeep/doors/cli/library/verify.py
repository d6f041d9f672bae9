"""`pagekeep verify`: derive the texts of saved pages again, and compare all hashes."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import click

from pagekeep.doors.cli.item_output import short_id
from pagekeep.doors.cli.open_library import load_rules, open_library
from pagekeep.doors.cli.options import examples, library_options
from pagekeep.doors.cli.output import format_count, show_bar, write, write_json
from pagekeep.text import printable

if TYPE_CHECKING:
    from pagekeep.library.receipts.verdict import Verdict

CHECK_FAILED: Final = 1
"""Exit code when something is damaged or differs."""
_STATES: Final = ("verified", "unproven", "damaged", "differs", "failed")
_UNPROVEN: Final = {
    "edited": "edited by you",
    "no_raw_page": "without a stored raw page",
    "older_parser": "extracted by an older parser: `pagekeep reparse` reads them again",
    "newer_parser": "extracted by a newer version of Pagekeep",
    "other_rules": "extracted with other rules, which now give another text: `pagekeep reparse` reads them again",
}


@click.command(epilog=examples("verify", "verify 3f2a", "verify --json"))
@click.argument("keys", nargs=-1, metavar="[ID|URL]...")
@click.option("--processes", type=click.IntRange(1, 256), help="Number of processes. Default: one per core.")
@library_options
def verify(keys: tuple[str, ...], processes: int | None, library: str | None, user: str | None, as_json: bool) -> None:
    """Prove that saved pages are intact: derive each text again from its raw page, and compare all hashes.

    Without names, all pages are checked, deleted ones too. Nothing is changed. The exit code is 1 when something is damaged
    or differs. What cannot be derived again (edited texts, texts of an older parser) is counted separately.
    """
    with open_library(library, user, as_json) as opened:
        from pagekeep.library.receipts import verify as receipts

        rules, report = load_rules(opened.settings), Report(as_json=as_json)
        total = sum(1 for _ in receipts.select(opened.store, keys)) if sys.stderr.isatty() else None
        with show_bar("Verifying") as progress:
            for verdict in receipts.verify(
                opened.store, receipts.select(opened.store, keys), rules, processes=processes
            ):
                report.add(verdict)
                progress(report.count, total)
        report.finish()


class Report:
    """Counts verdicts, and collects those that are not plain."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._states: Counter[str] = Counter()
        self._reasons: Counter[str] = Counter()
        self._notes: list[dict[str, Any]] = []

    @property
    def count(self) -> int:
        """Items checked so far."""
        return self._states.total()

    def add(self, verdict: Verdict) -> None:
        """Count one verdict."""
        self._states[verdict.state] += 1
        if verdict.state == "unproven" and verdict.reason:
            self._reasons[verdict.reason] += 1
        if verdict.message:
            self._notes.append(verdict.to_json())

    def finish(self) -> None:
        """Print the counts; exit with 1 when something is wrong."""
        faults = sum(self._states[state] for state in ("damaged", "differs", "failed"))
        if self._as_json:
            counts = {state: self._states[state] for state in _STATES}
            write_json({"success": not faults, **counts, "reasons": dict(self._reasons), "notes": self._notes})
        else:
            self._print(faults)
        if faults:
            raise click.exceptions.Exit(CHECK_FAILED)

    def _print(self, faults: int) -> None:
        for note in self._notes:
            if note["state"] in ("damaged", "differs", "failed"):
                line = f"{note['state']}  {short_id(note['id'])}  {note['url']}: {note['message']}"
                click.echo(printable(line), err=True)
        write(f"{format_count(self._states['verified'], 'page')} verified: the raw page gives the stored text again.")
        for reason, count in sorted(self._reasons.items()):
            write(f"{format_count(count, 'page')} not derived again: {_UNPROVEN[reason]}.")
        if faults:
            write(f"{format_count(faults, 'page')} damaged or different.")
