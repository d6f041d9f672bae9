"""`pagekeep reparse`: extract saved pages again with the current version."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

from pagekeep.doors.cli.item_output import short_id
from pagekeep.doors.cli.open_library import OpenLibrary, load_rules, open_library
from pagekeep.doors.cli.open_room import open_room
from pagekeep.doors.cli.options import examples, library_options
from pagekeep.doors.cli.output import BAD_INPUT, is_terminal, remove_control_chars, show_bar, write, write_json
from pagekeep.text import printable

if TYPE_CHECKING:
    from pagekeep.library.reparse.reparse import ReparseResult
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
@library_options
def reparse(keys: tuple[str, ...], library: str | None, user: str | None, as_json: bool, **options: Any) -> None:
    """Extract saved pages again, offline: the ones named, or all that an older version or other rules extracted.

    Pages that fail are listed and stay as they are; the exit code is then 2.
    """
    if sum(map(bool, (keys, options["domain"], options["query"]))) > 1:
        raise click.UsageError("Use only one of: ids or URLs, --domain, --query.")
    with open_library(library, user, as_json) as opened:
        report = _Report(as_json=as_json, dry_run=options["dry_run"])
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
    from pagekeep.library.items import walk_items
    from pagekeep.library.reparse.many import Selection, select_ids

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
    from pagekeep.library.reparse.reparse import reparse as run

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
    from pagekeep.capture.from_url import Retrieval
    from pagekeep.library.reparse.refetch import refetch

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
    from pagekeep.present.diff import difference

    item = result.item
    yield f"{short_id(item.id)}  {printable(item.title)}  {item.url}"
    for line in difference(item.content, result.content or ""):
        clean = remove_control_chars(line)
        color = _COLORS.get(line[:1])
        yield click.style(clean, fg=color) if color and is_terminal() else clean
