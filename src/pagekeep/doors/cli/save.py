"""`pagekeep save` and `pagekeep retry`: pages from their addresses into the library."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from pagekeep.doors.cli.extract import read
from pagekeep.doors.cli.in_force import rules_in_force
from pagekeep.doors.cli.library import Open, examples, library_options, opened, quality_line, short
from pagekeep.doors.cli.show import BAD_INPUT, counted, error_lines, printable, stages_shown, write, write_json
from pagekeep.errors import InvalidUrl, PagekeepError

if TYPE_CHECKING:
    from pagekeep.app.capture import Progress, RenderMode, Request, Retrieval
    from pagekeep.app.save import Saved
    from pagekeep.model import Item

LIST_BYTES = 50_000_000
"""Largest list of addresses."""

rendering = click.option(
    "--render", is_flag=True, help="Open the page in a browser, whether or not it seems to need it."
)


@click.command(
    epilog=examples(
        "save https://example.com/post",
        "save https://example.com/a https://example.com/b --tag harbour --tag history",
        "save --file urls.txt --queue && pagekeep work --until-empty",
    )
)
@click.argument("urls", nargs=-1, metavar="URL...")
@click.option(
    "--file", "file", metavar="FILE|-", help="Addresses, one a line; lines that start with # are passed over."
)
@click.option("--tag", "tags", multiple=True, help="Put this tag on; can be repeated.")
@rendering
@click.option("--force", is_flag=True, help="Replace what is stored even by a worse reading.")
@click.option("--queue", "queued", is_flag=True, help="Only queue the pages, for `pagekeep work`.")
@library_options
def save(urls: tuple[str, ...], file: str | None, queued: bool, **asked: Any) -> None:
    """Save pages into the library; a page that is there is updated, and what you set on it stays."""
    where = {name: asked.pop(name) for name in ("library", "user", "as_json")}
    with opened(**where, make=True) as library:
        wanted = tuple(dict.fromkeys((*urls, *_listed(file))))
        if not wanted:
            raise click.UsageError("Give an address, or a list of them with --file.")
        if queued:
            _queue(wanted, library, where["as_json"], **asked)
            return
        with stages_shown() as progress:
            tally = asyncio.run(_save_all(wanted, library, progress, **asked))
        if len(wanted) == 1 and tally.failures:
            raise tally.failures[0][1]
        _show(tally, where["as_json"])


@click.command(epilog=examples("retry 3f2a", "retry https://example.com/post --render"))
@click.argument("key", metavar="ID|URL")
@rendering
@library_options
def retry(key: str, library: str | None, user: str | None, as_json: bool, render: bool) -> None:
    """Fetch a saved page anew and run the whole extraction again; three times at most until it succeeds."""
    with opened(library, user, as_json) as library_open:
        with stages_shown() as progress:
            saved = asyncio.run(_retry(key, library_open, progress, render))
        tally = Tally()
        tally.saved.append(saved)
        _show(tally, as_json)


@dataclass
class Tally:
    """What became of several saves."""

    saved: list[Saved] = field(default_factory=list)
    failures: list[tuple[str, PagekeepError]] = field(default_factory=list)


async def _retry(key: str, library: Open, progress: Progress, render: bool) -> Saved:
    from pagekeep.app.capture import Retrieval
    from pagekeep.app.library import find
    from pagekeep.app.save import retry as run

    item = find(library.store, key)
    async with Retrieval(library.settings, rules_in_force(library.settings)) as retrieval:
        return await run(item.id, library.store, retrieval, request=_request(item.url_full, render), progress=progress)


async def _save_all(
    urls: tuple[str, ...], library: Open, progress: Progress, tags: tuple[str, ...], render: bool, force: bool
) -> Tally:
    """All pages, some at a time; the client keeps each host's pace."""
    from pagekeep.app.capture import Retrieval
    from pagekeep.app.library import clean_tag
    from pagekeep.app.save import save as run

    tally, waiting = Tally(), iter(urls)
    wanted_tags = tuple(filter(None, map(clean_tag, tags)))

    async def lane(retrieval: Retrieval) -> None:
        for url in waiting:
            try:
                saved = await run(
                    _request(url, render), library.store, retrieval, tags=wanted_tags, force=force, progress=progress
                )
                tally.saved.append(saved)
            except PagekeepError as error:
                tally.failures.append((url, error))

    async with Retrieval(library.settings, rules_in_force(library.settings)) as retrieval, asyncio.TaskGroup() as lanes:
        for _ in range(min(8, len(urls))):
            lanes.create_task(lane(retrieval))
    return tally


def _request(url: str, render: bool) -> Request:
    from pagekeep.app.capture import Request

    mode: RenderMode | None = "force" if render else None
    return Request(url, render=mode)


def _queue(
    urls: tuple[str, ...], library: Open, as_json: bool, tags: tuple[str, ...], render: bool, force: bool
) -> None:
    from pagekeep.app.library import clean_tag
    from pagekeep.app.queue import enqueue
    from pagekeep.app.shape import job_shape

    wanted_tags = tuple(filter(None, map(clean_tag, tags)))
    jobs, failures = [], []
    for url in urls:
        try:
            jobs.append(enqueue(_request(url, render), library.store, tags=wanted_tags, force=force))
        except InvalidUrl as error:
            failures.append((url, error))
    if as_json:
        write_json({"jobs": [job_shape(job) for job in jobs], "errors": _errors(failures)})
    else:
        them = "it" if len(jobs) == 1 else "them"
        write(f"Queued {counted(len(jobs), 'page')}. `pagekeep work --until-empty` saves {them}.")
    _leave(failures, as_json)


def _listed(file: str | None) -> Iterator[str]:
    """The addresses in a file: the first word of every line, as lists from elsewhere have more behind it."""
    if file is None:
        return
    for line in read(file, LIST_BYTES).decode("utf-8-sig", "replace").splitlines():
        words = line.split()
        if words and not words[0].startswith("#"):
            yield words[0]


def _show(tally: Tally, as_json: bool) -> None:
    if as_json:
        from pagekeep.app.shape import saved_shape

        write_json(
            {"items": [saved_shape(saved) for saved in tally.saved], "next": None, "errors": _errors(tally.failures)}
        )
    else:
        for saved in tally.saved:
            write("\n".join(saved_lines(saved)))
    _leave(tally.failures, as_json)


def saved_lines(saved: Saved) -> Iterator[str]:
    """What a person is told about a save: the level, and the next step when there is no content."""
    item = saved.item
    yield f"{quality_line(item)}  {short(item.id)}  {printable(item.title)}"
    if saved.outcome == "kept":
        yield f"  What is stored stays: {saved.note}. Use --force to replace it."
    elif item.metadata.get("quality") == "bookmark":
        yield from _next_steps(item)
    yield from (f"  Note: {printable(warning)}" for warning in saved.warnings)


def _next_steps(item: Item) -> Iterator[str]:
    from pagekeep.app.save import MOST_RETRIES

    reason = item.metadata.get("reason")
    if reason:
        yield f"  {printable(str(reason))}"
    if item.metadata.get("retry_count", 0) < MOST_RETRIES:
        yield f"  Retry extraction: pagekeep retry {short(item.id)} [--render]"


def _errors(failures: list[tuple[str, Any]]) -> list[dict[str, Any]]:
    return [{"url": url, **error.to_json()["error"]} for url, error in failures]


def _leave(failures: list[tuple[str, Any]], as_json: bool) -> None:
    """Tell the failures and leave with their exit code, if there are any."""
    if not failures:
        return
    if not as_json:
        for url, error in failures:
            click.echo(f"{printable(url)}\n  {error_lines(error)}", err=True)
    raise click.exceptions.Exit(BAD_INPUT)
