"""`pagekeep history`, `diff`, `watch`, `unwatch`, `changes` and `check-links`: pages over time."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from typing import TypeVar

import click

from pagekeep.doors.cli.item_output import short_id
from pagekeep.doors.cli.lazy import lazily
from pagekeep.doors.cli.open_library import OpenLibrary, library_command, open_room
from pagekeep.doors.cli.options import examples, log_option
from pagekeep.doors.cli.output import format_count, is_terminal, remove_control_chars, show_table, write, write_json
from pagekeep.text import printable

with lazily():
    from pagekeep.capture.from_url import Retrieval
    from pagekeep.config import Settings
    from pagekeep.doors.cli.item_output import result_line
    from pagekeep.library import watch as watching
    from pagekeep.library.archive import dead_links
    from pagekeep.library.archive.dead_links import LinkResult
    from pagekeep.library.archive.versions import compare_versions, get_history, pin_version
    from pagekeep.library.items.find import get_item
    from pagekeep.library.queue import format_interval, parse_interval
    from pagekeep.library.watch import list_changes, mark_seen
    from pagekeep.library.watch import unwatch as stop
    from pagekeep.present import history_shapes
    from pagekeep.present.diff import Block, WordDiff
    from pagekeep.present.history_shapes import change_shape, diff_shape, link_shape, watch_shape
    from pagekeep.present.json_shapes import to_json


T = TypeVar("T")
_COLOURS = {"removed": "red", "added": "green"}
_SIGNS = {"removed": ("[-", "-]"), "added": ("{+", "+}")}
"""Around words in a pipe, as `wdiff` writes them."""


def with_retrieval(settings: Settings, function: Callable[[Retrieval], Awaitable[T]]) -> T:
    """Run a function that reads or fetches pages, in its own worker room."""
    with open_room(settings) as room:

        async def run() -> T:
            async with Retrieval(settings, room=room) as retrieval:
                return await function(retrieval)

        return asyncio.run(run())


@click.command(epilog=examples("history 3f2a", "history 3f2a --pin 2", "history https://example.com/post --json"))
@click.argument("key", metavar="ID|URL")
@click.option("--pin", type=click.IntRange(1), metavar="VERSION", help="Keep this version whatever the limits are.")
@click.option("--unpin", type=click.IntRange(1), metavar="VERSION", help="Unpin this version.")
@library_command
def history(opened: OpenLibrary, key: str, pin: int | None, unpin: int | None) -> None:
    """List the versions of a page, oldest first."""
    for number, pinned in ((pin, True), (unpin, False)):
        if number is not None:
            pin_version(opened.store, key, number, pinned=pinned)
    found = get_history(opened.store, key)
    if opened.as_json:
        versions = [to_json(history_shapes.Version, version) for version in found.versions]
        write_json({"item_id": found.item.id, "versions": versions, "checked_at": found.checked_at})
        return
    rows = [
        [
            str(version.number),
            version.fetched_at[:16].replace("T", " "),
            f"{version.size:,}",
            version.source,
            " ".join(name for name, is_set in (("current", version.current), ("pinned", version.pinned)) if is_set),
        ]
        for version in found.versions
    ]
    show_table([["version", "fetched", "bytes", "source", "state"], *rows])
    if found.checked_at:
        click.echo(f"Last checked: {found.checked_at[:16].replace('T', ' ')}", err=True)


@click.command(epilog=examples("diff 3f2a", "diff 3f2a 1", "diff 3f2a 1 3 --json"))
@click.argument("key", metavar="ID|URL")
@click.argument("before", type=click.IntRange(1), required=False, metavar="[A]")
@click.argument("after", type=click.IntRange(1), required=False, metavar="[B]")
@click.option("--everything", is_flag=True, help="Of a watched page, also what changes on every visit.")
@library_command
def diff(opened: OpenLibrary, key: str, before: int | None, after: int | None, everything: bool) -> None:
    """Show what changed between two versions of a page, word by word: the last two, A and the current one, or A and B.

    Both are read by the current parser, so only what the page itself changed is shown.
    """
    found = with_retrieval(
        opened.settings,
        lambda retrieval: compare_versions(opened.store, key, retrieval, before, after, everything=everything),
    )
    if opened.as_json:
        write_json({"diff": diff_shape(found.before, found.after, found.diff, found.lost)})
        return
    old, new = (f"version {side.number} of {side.fetched_at[:10]}" for side in (found.before, found.after))
    counts = f"{format_count(found.diff.added, 'word')} added, {format_count(found.diff.removed, 'word')} removed"
    write(f"{printable(found.item.title)}\n{old} to {new}: {counts}\n\n")
    _show_diff(found.diff)
    for annotation in found.lost:
        click.echo(f"These highlighted words are gone: {printable(annotation.quote)[:200]}", err=True)


def _show_diff(diff: WordDiff) -> None:
    lines = "\n\n".join(_format_block(block, coloured=is_terminal()) for block in diff.blocks)
    if lines and is_terminal() and lines.count("\n") > shutil.get_terminal_size().lines:
        click.echo_via_pager(lines, color=True)
    elif lines:
        write(lines)
    if diff.cut:
        click.echo("The rest is left out.", err=True)


def _format_block(block: Block, *, coloured: bool) -> str:
    if block.kind == "skipped":
        return f"... {format_count(block.count, 'unchanged paragraph')} ..."
    parts = []
    for part in block.parts:
        text = remove_control_chars(part.text)
        if part.operation == "same":
            parts.append(text)
        elif coloured:
            parts.append(click.style(text, fg=_COLOURS[part.operation], strikethrough=part.operation == "removed"))
        else:
            begin, end = _SIGNS[part.operation]
            space = text[: len(text) - len(text.lstrip())]
            parts.append(f"{space}{begin}{text.lstrip()}{end}")
    return "".join(parts)


@click.command(epilog=examples("watch 3f2a", "watch https://example.com/prices --every 6h", "watch"))
@click.argument("keys", nargs=-1, metavar="[ID|URL]...")
@click.option("--every", default="1d", show_default=True, help="Interval: 30m, 6h, 1d, 2w...")
@library_command
def watch(opened: OpenLibrary, keys: tuple[str, ...], every: str) -> None:
    """Watch pages for changes, or list the watched pages. The server and `pagekeep work` visit them."""
    seconds = parse_interval(every)
    ids = [get_item(opened.store, key).id for key in keys]  # all first: a typo must stop before any change
    listed = [watching.watch(opened.store, item_id, seconds) for item_id in ids] or list(
        watching.watched_pages(opened.store)
    )
    if opened.as_json:
        shapes = [watch_shape(one.item, one.schedule, format_interval(one.schedule.every)) for one in listed]
        write_json({"watches": shapes})
        return
    if keys:
        for one in listed:
            write(f"Watching every {format_interval(seconds)}  {short_id(one.item.id)}  {printable(one.item.title)}")
        return
    rows = [
        [
            short_id(one.item.id),
            format_interval(one.schedule.every),
            one.schedule.next_at[:16].replace("T", " "),
            one.item.title,
            one.error or "",
        ]
        for one in listed
    ]
    show_table([["id", "every", "next visit", "title", "last error"], *rows])


@click.command(epilog=examples("unwatch 3f2a"))
@click.argument("keys", nargs=-1, required=True, metavar="ID|URL...")
@library_command
def unwatch(opened: OpenLibrary, keys: tuple[str, ...]) -> None:
    """Watch pages no longer."""
    opened.show_items([stop(opened.store, key) for key in keys], result_line("Not watched"))


@click.command(epilog=examples("changes", "changes --all", "changes --seen", "changes --json"))
@click.option("--all", "everything", is_flag=True, help="Also changes that were seen.")
@click.option("--seen", is_flag=True, help="Mark the listed changes as seen.")
@click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="Show at most this many.")
@library_command
def changes(opened: OpenLibrary, everything: bool, seen: bool, limit: int) -> None:
    """List changes of watched pages, newest first."""
    found = list_changes(opened.store, unseen=not everything, limit=limit)
    if seen and found:
        mark_seen(opened.store, tuple(change.id for change, _ in found))
    rows = [
        [
            change.found_at[:16].replace("T", " "),
            short_id(item.id),
            f"{change.before}-{change.after}",
            f"+{change.added} -{change.removed}",
            item.title,
            change.excerpt,
        ]
        for change, item in found
    ]
    opened.show_table(
        {"changes": [change_shape(change, item) for change, item in found]},
        ["found", "id", "versions", "words", "title", "text"],
        rows,
    )


@click.command("check-links", epilog=examples("check-links", "check-links 3f2a", "check-links --limit 500"))
@click.argument("keys", nargs=-1, metavar="[ID|URL]...")
@click.option(
    "--limit", type=click.IntRange(1, 10_000), default=100, show_default=True, help="Check at most this many."
)
@log_option
@library_command
def check_links(opened: OpenLibrary, keys: tuple[str, ...], limit: int) -> None:
    """Check whether saved pages are still on the web: the ones named, or those that are due.

    A page has gone after three failures over two days or more; `pagekeep search is:gone` lists them.
    """
    results: list[LinkResult] = []

    def report(result: LinkResult) -> None:
        results.append(result)
        if not opened.as_json and result.state != "ok":
            state = (result.item.metadata.link or {}).get("state", result.state)
            write(f"{state}  {short_id(result.item.id)}  {printable(result.item.url_full)}\n  {result.reason}")

    async def run(retrieval: Retrieval) -> None:
        due = keys or dead_links.due_keys(opened.store, retrieval, limit)
        await dead_links.check_links(due, opened.store, retrieval, report)

    with_retrieval(opened.settings, run)
    if opened.as_json:
        write_json({"links": [link_shape(one.item, one.state, one.reason) for one in results]})
    else:
        failed = sum(result.state != "ok" for result in results)
        click.echo(f"Checked {format_count(len(results), 'page')}, {failed:,} without success.", err=True)
