"""`pagekeep crawl`, `map` and `pack`: from one page to a whole site, and the packs that crawls write."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import Any, Final

import click

from pagekeep.doors.cli.item_output import short_id
from pagekeep.doors.cli.lazy import lazily
from pagekeep.doors.cli.open_library import OpenLibrary, library_command, open_room
from pagekeep.doors.cli.options import examples, log_option
from pagekeep.doors.cli.output import (
    INTERRUPTED,
    format_bytes,
    format_count,
    report_back,
    report_errors,
    report_lost,
    write,
    write_json,
)
from pagekeep.text import printable

with lazily():
    from pagekeep import config
    from pagekeep.capture.from_url import Retrieval
    from pagekeep.config import Settings
    from pagekeep.library.crawl.addresses import CrawlOptions
    from pagekeep.library.crawl.crawls import (
        cancel_crawl,
        find_crawl,
        list_problems,
        remove_crawl,
        resume_crawl,
        save_pages,
        start_crawl,
    )
    from pagekeep.library.crawl.map_site import map_site
    from pagekeep.library.crawl.outputs import write_output
    from pagekeep.library.crawl.worker import CrawlWorker, drop_earlier_runs
    from pagekeep.library.open import Store, outlast
    from pagekeep.library.packs.folder import OpenPack, compare_packs
    from pagekeep.library.packs.write import write_pack
    from pagekeep.model.crawl import Crawl
    from pagekeep.model.tags import clean_tags
    from pagekeep.present import crawl_shapes
    from pagekeep.present.crawl_shapes import report_lines
    from pagekeep.present.diff import difference
    from pagekeep.present.json_shapes import to_json


_START: Final = "start"


class _CrawlGroup(click.Group):
    """A group whose first argument may be a URL: then the crawl is started."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ("-h", "--help"):
            args = [_START, *args]
        return super().parse_args(ctx, args)


@click.group(
    cls=_CrawlGroup,
    epilog=examples(
        "crawl https://example.org/docs/ --out folder docs",
        "crawl https://example.org/docs/ --out epub docs.epub --out llms docs-for-models",
        "crawl https://example.org/ --pages 500 --exclude '/tag/*'",
        "crawl https://example.org/blog/ --save --tag blog",
        "crawl https://example.org/ --queue && pagekeep work",
        "crawl list",
        "crawl resume 3f2a --pages 5000",
    ),
)
def crawl() -> None:
    """Crawl a site: its pages below the folder of URL, by sitemaps and links. `crawl URL --help` lists the options.

    robots.txt is respected, and each host is asked one page at a time. The pages are kept apart from the library, unless you
    use --save. Ctrl-C stops a crawl, and the same command lets it go on; a crawl that is finished is updated.
    """


def _limit_options(command: Any) -> Any:
    for option in (
        click.option("--minutes", type=click.FloatRange(min=0.01), help="Stop after this time. Default: a day."),
        click.option(
            "--bytes", "bytes_", type=click.IntRange(min=1), help="Stop after this many bytes. Default: 10 GB."
        ),
        click.option("--depth", type=click.IntRange(0, 100), help="Follow this many links from URL. Default: 20."),
        click.option("--pages", type=click.IntRange(1, 10_000_000), help="Keep this many pages. Default: 10,000."),
    ):
        command = option(command)
    return command


_include_option = click.option(
    "--include",
    multiple=True,
    metavar="GLOB",
    help="Follow addresses that match, instead of those below the folder of URL: `/docs/*` of the path, or of the whole URL.",
)
_exclude_option = click.option("--exclude", multiple=True, metavar="GLOB", help="Do not follow addresses that match.")
_out_option = click.option(
    "--out",
    "outs",
    nargs=2,
    multiple=True,
    type=(click.Choice(("jsonl", "warc", "folder", "llms", "epub")), click.Path(path_type=Path)),
    metavar="FORMAT PATH",
    help="Write the pages at the end: jsonl (one page per line), warc (responses, for `pagekeep bulk`), folder (of Markdown), "
    "llms (a folder with llms.txt and llms-full.txt) or epub.",
)
_at_a_time_option = click.option(
    "--at-a-time", type=click.IntRange(1, 64), default=4, show_default=True, help="Pages read in parallel."
)


@crawl.command(
    _START,
    hidden=True,
    epilog=examples("crawl https://example.org/docs/ --out jsonl docs.jsonl", "crawl https://example.org/ --save"),
)
@click.argument("urls", nargs=-1, required=True, metavar="URL...")
@_include_option
@_exclude_option
@_limit_options
@_out_option
@click.option("--save", "save", is_flag=True, help="Also save the pages into the library.")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="Tag of the saved pages.")
@click.option("--queue", "queued", is_flag=True, help="Only start the crawl, for `pagekeep work` or a server.")
@click.option("--render", type=click.Choice(("auto", "force", "never")), help="When to use a browser.")
@_at_a_time_option
@log_option
@library_command(create=True)
def start(opened: OpenLibrary, urls: tuple[str, ...], **options: Any) -> None:
    """Crawl a site, or several together: everything below the folder of each URL."""
    found = start_crawl(opened.store, _crawl_options(urls, options))
    if options["queued"]:
        _show_crawl(found, opened.as_json)
        return
    _run(found, opened.settings, opened.store, opened.as_json, **options)


@crawl.command(epilog=examples("crawl resume 3f2a", "crawl resume 3f2a --pages 5000 --out jsonl site.jsonl"))
@click.argument("crawl_id", metavar="ID")
@_limit_options
@_out_option
@_at_a_time_option
@log_option
@library_command
def resume(opened: OpenLibrary, crawl_id: str, **options: Any) -> None:
    """Go on with a crawl that was stopped or cancelled, or that reached a limit."""
    found = resume_crawl(opened.store, find_crawl(opened.store, crawl_id).id, **_limits(options))
    _run(found, opened.settings, opened.store, opened.as_json, save=False, tags=(), **options)


@crawl.command("list", epilog=examples("crawl list"))
@library_command
def list_(opened: OpenLibrary) -> None:
    """List crawls, the one that was started last first."""
    crawls = opened.store.crawls.list()
    rows = [[short_id(one.id), one.state, one.reason or "", f"{one.kept:,}", one.url] for one in crawls]
    opened.show_table(
        {"crawls": [to_json(crawl_shapes.Crawl, one) for one in crawls]},
        ["id", "state", "reason", "pages", "url"],
        rows,
    )


@crawl.command(epilog=examples("crawl status 3f2a", "crawl status 3f2a --out warc site.warc.gz"))
@click.argument("crawl_id", metavar="ID")
@_out_option
@click.option("--problems", type=click.IntRange(0, 1000), default=10, show_default=True, help="Problems to list.")
@library_command
def status(opened: OpenLibrary, crawl_id: str, outs: Any, problems: int) -> None:
    """Show how far a crawl is, what it left out and why, and write its pages."""
    found = find_crawl(opened.store, crawl_id)
    _write_outputs(opened.store, found, outs, opened.settings)
    _show_crawl(found, opened.as_json, opened.store, problems)


@crawl.command(epilog=examples("crawl cancel 3f2a"))
@click.argument("crawl_id", metavar="ID")
@library_command
def cancel(opened: OpenLibrary, crawl_id: str) -> None:
    """End a running crawl, wherever it runs. Its pages stay, and it can be resumed."""
    _show_crawl(cancel_crawl(opened.store, find_crawl(opened.store, crawl_id).id), opened.as_json)


@crawl.command(epilog=examples("crawl remove 3f2a"))
@click.argument("crawl_id", metavar="ID")
@library_command
def remove(opened: OpenLibrary, crawl_id: str) -> None:
    """Delete a crawl with its pages. Pages that were saved into the library stay."""
    found = find_crawl(opened.store, crawl_id)
    remove_crawl(opened.store, found.id)
    opened.show({"removed": found.id}, f"Removed the crawl of {found.url} with {format_count(found.kept, 'page')}.")


@click.command("map", epilog=examples("map https://example.org/docs/", "map https://example.org/ --limit 100 --json"))
@click.argument("url", metavar="URL")
@click.option(
    "--limit", type=click.IntRange(1, 100_000), default=5_000, show_default=True, help="List at most this many."
)
@_include_option
@_exclude_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def map_(url: str, limit: int, include: tuple[str, ...], exclude: tuple[str, ...], as_json: bool) -> None:
    """List the addresses of a site: those in its sitemaps, and the links of URL. Nothing is stored."""
    with report_errors(as_json=as_json):
        settings = config.load()
        options = CrawlOptions((url,), include=include, exclude=exclude)

        async def run() -> Any:
            async with Retrieval(settings, room=room) as retrieval:
                return await map_site(options, retrieval, limit=limit)

        with open_room(settings) as room:
            found = asyncio.run(run())
        if as_json:
            entries = [{"url": one.url, "via": one.via, "lastmod": one.lastmod} for one in found.entries]
            write_json({"links": entries, "left_out": found.left_out})
        else:
            write("\n".join(printable(one.url) for one in found.entries))


def _limits(options: dict[str, Any]) -> dict[str, Any]:
    """Return the limits that the user set, and take them out of the options."""
    named = {"pages": "pages", "depth": "depth", "bytes_": "bytes", "minutes": "minutes"}
    limits = {name: options.pop(option, None) for option, name in named.items()}
    return {name: value for name, value in limits.items() if value is not None}


def _crawl_options(urls: tuple[str, ...], options: dict[str, Any]) -> Any:
    options["tags"] = clean_tags(options["tags"])
    return CrawlOptions(
        urls,
        include=options.pop("include"),
        exclude=options.pop("exclude"),
        render=options.pop("render"),
        save=options["save"] and options["queued"],
        tags=options["tags"],
        **_limits(options),
    )


def _run(
    found: Crawl,
    settings: Settings,
    store: Store,
    as_json: bool,
    *,
    outs: Any,
    save: bool,
    tags: tuple[str, ...],
    at_a_time: int,
    queued: bool = False,
) -> None:
    """Work on the crawl until it ends, then write what was asked for."""
    with open_room(settings, min(at_a_time, os.cpu_count() or 1)) as room, show_crawl_progress(as_json) as progress:
        ended = asyncio.run(_work(found.id, settings, store, room, at_a_time, progress, save, tags))
    if ended.state == "running":
        click.echo(f"Stopped. To go on: pagekeep crawl resume {short_id(ended.id)}", err=True)
        raise click.exceptions.Exit(INTERRUPTED)
    _write_outputs(store, ended, outs, settings)
    _show_crawl(ended, as_json, store)


async def _work(
    crawl_id: str,
    settings: Settings,
    store: Store,
    room: Any,
    at_a_time: int,
    progress: Any,
    save: bool,
    tags: tuple[str, ...],
) -> Crawl:
    store.watch_connection(report_lost, report_back)
    async with Retrieval(settings, room=room) as retrieval:
        worker = CrawlWorker(crawl_id, store, retrieval, at_a_time, clients=2, report=progress)
        _stop_politely(worker.stopping)
        ended = await worker.run()
        if ended.state == "done":
            await outlast(lambda: asyncio.to_thread(drop_earlier_runs, store, crawl_id), worker.stopping)
            if save:
                await outlast(lambda: save_pages(store, crawl_id, retrieval, tags=tags), worker.stopping)
        return ended


def _stop_politely(stopping: asyncio.Event) -> None:
    """Let the first Ctrl-C, or SIGTERM, end the crawl after the pages that are being read."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()

    def stop() -> None:
        if stopping.is_set() and task is not None:
            task.cancel()
        stopping.set()

    for name in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError):  # Windows has no signal handlers in its loop
            loop.add_signal_handler(name, stop)


def _write_outputs(store: Store, found: Crawl, outs: Any, settings: Settings) -> None:
    for kind, path in outs:
        number = asyncio.run(_write(store, found, kind, path, settings))
        click.echo(f"{format_count(number, 'page')} written to {path}.", err=True)


async def _write(store: Store, found: Crawl, kind: str, path: Path, settings: Settings) -> int:
    from pagekeep.library.crawl.outputs import OUTPUTS

    with open_room(settings) as room:
        async with Retrieval(settings, room=room) as retrieval:
            write = write_output if kind in OUTPUTS else write_pack
            return await outlast(lambda: write(store, found, kind, path, retrieval), asyncio.Event())


def _show_crawl(found: Crawl, as_json: bool, store: Store | None = None, problems: int = 0) -> None:
    listed = list_problems(store, found.id, limit=problems) if store is not None and problems else ()
    if as_json:
        write_json(
            {
                "crawl": to_json(crawl_shapes.Crawl, found),
                "problems": [to_json(crawl_shapes.CrawlProblem, one) for one in listed],
            }
        )
        return
    write(f"{short_id(found.id)}  {found.url}")
    write("\n".join(f"  {line}" for line in report_lines(found, format_bytes(found.size))))
    for one in listed:
        write(printable(f"  {one.outcome}: {one.requested} {one.facts.get('reason') or ''}".rstrip()))


_LOG_SECONDS: Final = 10.0
"""Time between two lines of a log."""
_SHOW_SECONDS: Final = 0.25
"""Time between two drawings of the table."""

Watcher = Callable[["Crawl"], None]


@contextmanager
def show_crawl_progress(quiet: bool) -> Iterator[Watcher]:
    """Yield a function that shows a crawl as it is now."""
    if sys.stderr.isatty() and not quiet:
        with _show_table() as watch:
            yield watch
    else:
        yield _lines()


def _lines() -> Watcher:
    started = due = monotonic()

    def watch(crawl: Crawl) -> None:
        nonlocal due
        if monotonic() >= due:
            due = monotonic() + _LOG_SECONDS
            click.echo(_line(crawl, monotonic() - started), err=True)

    return watch


def _line(crawl: Crawl, seconds: float) -> str:
    rate = crawl.kept / seconds if seconds > 1 else 0.0
    return (
        f"{crawl.kept:,} pages, {format_bytes(crawl.size)}, {crawl.settled:,} of {crawl.admitted:,} addresses visited, "
        f"{rate:,.1f} pages per second"
    )


@contextmanager
def _show_table() -> Iterator[Watcher]:
    from rich.console import Console
    from rich.live import Live

    started, due = monotonic(), 0.0
    with Live(console=Console(stderr=True), auto_refresh=False, transient=True) as live:

        def watch(crawl: Crawl) -> None:
            nonlocal due
            if monotonic() >= due:
                due = monotonic() + _SHOW_SECONDS
                live.update(_table(crawl, monotonic() - started), refresh=True)

        yield watch


def _table(crawl: Crawl, seconds: float) -> Any:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_row("Crawl", crawl.url[:100])
    table.add_row("Progress", _line(crawl, seconds))
    for name, label in (("outcomes", "Addresses"), ("left_out", "Left out"), ("traps", "Traps")):
        counts = sorted(crawl.counts.get(name, {}).items(), key=lambda entry: -entry[1])[:6]
        if counts:
            table.add_row(label, ", ".join(f"{number:,} {reason.replace('_', ' ')}" for reason, number in counts))
    return table


_MARKS = {"added": "+", "removed": "-", "moved": ">", "changed": "~"}


@click.group(epilog=examples("pack diff manual-1 manual-2", "pack search manual 'tie a bowline'"))
def pack() -> None:
    """Work with packs: folders of Markdown that `pagekeep crawl URL --out folder FOLDER` writes."""


@pack.command(epilog=examples("pack diff manual-1 manual-2", "pack diff manual-1 manual-2 --json"))
@click.argument("older", type=click.Path(path_type=Path))
@click.argument("newer", type=click.Path(path_type=Path))
@click.option("--names", is_flag=True, help="Only name the pages, without the lines that changed.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def diff(older: Path, newer: Path, names: bool, as_json: bool) -> None:
    """Show which pages of a site came, went, moved and changed between two packs."""
    with report_errors(as_json=as_json):
        changes = compare_packs(older, newer, lambda before, after: tuple(difference(before, after)))
        if as_json:
            shapes = [
                {
                    "change": one.change,
                    "path": one.path,
                    "title": one.title,
                    "url": one.url,
                    "old_path": one.old_path,
                    "lines": list(one.lines),
                }
                for one in changes
            ]
            write_json({"changes": shapes})
            return
        for one in changes:
            write(f"{_MARKS[one.change]} {one.path}" + (f" (was {one.old_path})" if one.old_path else ""))
            for line in () if names else one.lines:
                write(f"    {line}")


@pack.command(epilog=examples("pack search manual 'tie a bowline'"))
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("query")
@click.option("--limit", type=click.IntRange(1, 100), default=10, show_default=True, help="Sections to show.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def search(folder: Path, query: str, limit: int, as_json: bool) -> None:
    """Search a pack by words, section by section."""
    with report_errors(as_json=as_json):
        opened = OpenPack(folder)
        opened.index(row for task in opened.waiting_tasks() for row in task.run())
        found = opened.search(query, limit)
        if as_json:
            write_json({"sections": [{name: getattr(one, name) for name in type(one).__slots__} for one in found]})
            return
        for one in found:
            write(f"{one.path} {one.number} {one.section or one.title}\n    {one.snippet}")
