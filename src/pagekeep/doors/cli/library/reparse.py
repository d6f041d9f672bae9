"""`pagekeep reparse`: saved pages read again by the parser of today."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from pagekeep.doors.cli.active_rules import rules_in_force
from pagekeep.doors.cli.open_library import Open, examples, library_options, opened, short
from pagekeep.doors.cli.output import on_terminal, printable, without_controls, write, write_json

if TYPE_CHECKING:
    from pagekeep.library.reparse.reparse import Reparsed
    from pagekeep.rules import Rulebook

    _Take = Callable[[Reparsed], None]

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


@click.command(
    epilog=examples(
        "reparse --dry-run --limit 5",
        "reparse",
        "reparse 3f2a --force",
        "reparse --domain example.com",
        "reparse --query 'tide clock'",
        "reparse --refetch --limit 100",
    )
)
@click.argument("keys", nargs=-1, metavar="[ID|URL]...")
@click.option("--dry-run", is_flag=True, help="Write nothing; show what would change as a diff of the Markdown.")
@click.option("--limit", type=click.IntRange(min=1), help="Only so many pages, the oldest first.")
@click.option("--force", is_flag=True, help="Let a worse reading replace a better one.")
@click.option("--domain", metavar="NAME", help="The pages of this domain, whatever version has read them.")
@click.option("--query", metavar="WORDS", help="The pages that a search finds, whatever version has read them.")
@click.option("--refetch", is_flag=True, help="Fetch the pages anew, all but the deleted ones.")
@click.option("--processes", type=click.IntRange(1, 256), help="Processes that read; one a core without it.")
@library_options
def reparse(keys: tuple[str, ...], library: str | None, user: str | None, as_json: bool, **asked: Any) -> None:
    """Read saved pages again, offline: those that an older version of Pagekeep or other rules have read, or the ones given."""
    if asked["refetch"] and asked["dry_run"]:
        raise click.UsageError("--dry-run works on stored pages alone; leave out --refetch.")
    if sum(map(bool, (keys, asked["domain"], asked["query"]))) > 1:
        raise click.UsageError("Name pages, or give --domain, or --query.")
    with opened(library, user, as_json) as library_open:
        report = _Report(as_json=as_json, dry_run=asked["dry_run"])
        rules = rules_in_force(library_open.settings)
        ids = _ids(library_open, keys, rules, asked)
        with _progress(lambda: sum(1 for _ in _ids(library_open, keys, rules, asked))) as step:
            _run(library_open, ids, rules, asked, report.take, step)
        report.finish(nothing="Nothing found." if _chosen(keys, asked) else "Everything is up to date.")


def _chosen(keys: tuple[str, ...], asked: dict[str, Any]) -> bool:
    """Whether pages were named, rather than all that are out of date."""
    return any((keys, asked["domain"], asked["query"], asked["refetch"]))


def _ids(library: Open, keys: tuple[str, ...], rules: Rulebook, asked: dict[str, Any]) -> Iterator[str]:
    from pagekeep.library.reparse.many import Choice, chosen_ids
    from pagekeep.library.reparse.refetch import living_ids

    choice = Choice(keys or None, asked["domain"], asked["query"], asked["limit"])
    if asked["refetch"] and choice == Choice(limit=asked["limit"]):
        return living_ids(library.store, asked["limit"])
    return chosen_ids(library.store, rules, choice)


def _run(
    library: Open,
    ids: Iterator[str],
    rules: Rulebook,
    asked: dict[str, Any],
    take: _Take,
    step: Callable[[], None],
) -> None:
    from pagekeep.library.reparse.reparse import reparse as run

    if asked["refetch"]:
        asyncio.run(_refetch(library, ids, rules, asked["force"], take, step))
        return
    results = run(
        library.store,
        ids,
        rules,
        force=asked["force"],
        dry_run=asked["dry_run"],
        processes=asked["processes"],
        max_bytes=library.settings.max_bytes,
    )
    for result in results:
        take(result)
        step()


async def _refetch(
    library: Open, ids: Iterator[str], rules: Rulebook, force: bool, take: _Take, step: Callable[[], None]
) -> None:
    from pagekeep.capture.from_url import Retrieval
    from pagekeep.library.reparse.refetch import refetch

    async with Retrieval(library.settings, rules) as retrieval:
        async for result in refetch(library.store, ids, retrieval, force=force):
            take(result)
            step()


class _Report:
    """Counts outcomes, and keeps what must be told: failures and readings that were worse."""

    def __init__(self, *, as_json: bool, dry_run: bool) -> None:
        self._as_json = as_json
        self._dry_run = dry_run
        self._counts: Counter[str] = Counter()
        self._told: list[dict[str, Any]] = []

    def take(self, result: Reparsed) -> None:
        """Count one, and show its diff on a dry run."""
        self._counts[result.outcome] += 1
        if result.note:
            item = result.item
            self._told.append({"id": item.id, "url": item.url, "outcome": result.outcome, "note": result.note})
        if self._dry_run and not self._as_json and result.content is not None and result.outcome == "updated":
            write("\n".join(diff_lines(result)))

    def finish(self, *, nothing: str) -> None:
        """Tell the whole, or `nothing` where there was none."""
        counts = {outcome: self._counts[outcome] for outcome in ("updated", "unchanged", "kept", "failed")}
        if self._as_json:
            write_json({"dry_run": self._dry_run, **counts, "notes": self._told})
            return
        for told in self._told:
            line = f"{told['outcome']}  {short(told['id'])}  {told['url']}: {told['note']}"
            click.echo(printable(line), err=True)
        if not self._counts:
            write(nothing)
            return
        begin = "Nothing was written. Would be: " if self._dry_run else ""
        write(begin + ", ".join(f"{count} {outcome}" for outcome, count in counts.items()) + ".")


def diff_lines(result: Reparsed) -> Iterator[str]:
    """The change of one item, coloured on a terminal."""
    from pagekeep.present.diff import difference

    item = result.item
    yield f"{short(item.id)}  {printable(item.title)}  {item.url}"
    for line in difference(item.content, result.content or ""):
        clean = without_controls(line)
        colour = _COLOURS.get(line[:1])
        yield click.style(clean, fg=colour) if colour and on_terminal() else clean


@contextmanager
def _progress(total: Callable[[], int]) -> Iterator[Callable[[], None]]:
    """A bar on the terminal; nothing, and nothing counted, when nobody looks."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Reading", total=total())
        yield lambda: bar.advance(task)
