"""`pagekeep save` and `pagekeep retry`: pages from their addresses into the library."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from pagekeep.doors.cli.active_rules import rules_in_force
from pagekeep.doors.cli.open_library import Open, examples, library_options, opened, quality_line, short
from pagekeep.doors.cli.output import BAD_INPUT, counted, error_lines, printable, stages_shown, write, write_json
from pagekeep.doors.cli.pages.extract import is_address, meant_address, read
from pagekeep.errors import InvalidProtocol, InvalidUrl, PagekeepError

if TYPE_CHECKING:
    from pagekeep.capture.from_url import Progress, RenderMode, Request, Retrieval
    from pagekeep.model import Fetched, Item, SaveResult

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
        "save page.html",
    )
)
@click.argument("urls", nargs=-1, metavar="URL|FILE...")
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
        tally = Tally()
        try:
            with stages_shown() as progress:
                asyncio.run(_save_all(wanted, tally, library, progress, **asked))
        except KeyboardInterrupt:
            _tell_interrupted(tally, len(wanted), where["as_json"])
            raise
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

    saved: list[SaveResult] = field(default_factory=list)
    failures: list[tuple[str, PagekeepError]] = field(default_factory=list)


async def _retry(key: str, library: Open, progress: Progress, render: bool) -> SaveResult:
    from pagekeep.capture.from_url import Retrieval
    from pagekeep.library.items import find
    from pagekeep.library.save import retry as run

    item = find(library.store, key)
    async with Retrieval(library.settings, rules_in_force(library.settings)) as retrieval:
        return await run(item.id, library.store, retrieval, request=_request(item.url_full, render), progress=progress)


async def _save_all(
    urls: tuple[str, ...],
    tally: Tally,
    library: Open,
    progress: Progress,
    tags: tuple[str, ...],
    render: bool,
    force: bool,
) -> None:
    """All pages, some at a time; the client keeps each host's pace."""
    from pagekeep.capture.from_url import Retrieval
    from pagekeep.library.items import clean_tag
    from pagekeep.library.save import save as run

    waiting = iter(urls)
    wanted_tags = tuple(filter(None, map(clean_tag, tags)))

    async def lane(retrieval: Retrieval) -> None:
        for url in waiting:
            try:
                given = _in_file(url, library)
                request = _request(given.url if given else url, render)
                saved = await run(
                    request,
                    library.store,
                    retrieval,
                    tags=wanted_tags,
                    force=force,
                    given=given,
                    progress=progress,
                )
                tally.saved.append(saved)
            except PagekeepError as error:
                tally.failures.append((url, _explained(url, error)))

    async with Retrieval(library.settings, rules_in_force(library.settings)) as retrieval, asyncio.TaskGroup() as lanes:
        for _ in range(min(8, len(urls))):
            lanes.create_task(lane(retrieval))


def _in_file(source: str, library: Open) -> Fetched | None:
    """The page that someone has as a file; `None` for an address."""
    if is_address(source) or not os.path.isfile(source):
        return None
    from pagekeep.capture.files import page_in_file

    return page_in_file(read(source, library.settings.max_bytes + 1), os.path.basename(source))


def _explained(source: str, error: PagekeepError) -> PagekeepError:
    """The error with what was probably meant."""
    meant = meant_address(source) if isinstance(error, InvalidUrl) else None
    if not is_address(source) and os.path.isfile(source):
        error.suggestions = ("A file is saved at once: leave out --queue.",)
    elif meant:
        error.suggestions = (f"Did you mean {meant}?",)
    return error


def _request(url: str, render: bool) -> Request:
    from pagekeep.capture.from_url import Request

    mode: RenderMode | None = "force" if render else None
    return Request(url, render=mode)


def _queue(
    urls: tuple[str, ...], library: Open, as_json: bool, tags: tuple[str, ...], render: bool, force: bool
) -> None:
    from pagekeep.library.items import clean_tag
    from pagekeep.library.queue.jobs import enqueue
    from pagekeep.present.json_shapes import job_shape

    wanted_tags = tuple(filter(None, map(clean_tag, tags)))
    jobs, failures = [], []
    for url in urls:
        try:
            jobs.append(enqueue(_request(url, render), library.store, tags=wanted_tags, force=force))
        except (InvalidUrl, InvalidProtocol) as error:
            failures.append((url, _explained(url, error)))
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


def _tell_interrupted(tally: Tally, wanted: int, as_json: bool) -> None:
    """What was saved by then, which stays."""
    with suppress(click.exceptions.Exit):  # it ends with the code of an interrupt
        _show(tally, as_json)
    if wanted > 1:
        click.echo(f"Interrupted: {len(tally.saved):,} of {counted(wanted, 'page')} saved.", err=True)


def _show(tally: Tally, as_json: bool) -> None:
    if as_json:
        from pagekeep.present.json_shapes import saved_shape

        write_json(
            {"items": [saved_shape(saved) for saved in tally.saved], "next": None, "errors": _errors(tally.failures)}
        )
    else:
        for saved in tally.saved:
            write("\n".join(saved_lines(saved)))
    _leave(tally.failures, as_json)


def saved_lines(saved: SaveResult) -> Iterator[str]:
    """What a person is told about a save: the level, and the next step when there is no content."""
    item = saved.item
    again = {"updated": ", unchanged" if saved.unchanged else ", updated"}.get(saved.outcome, "")
    yield f"{quality_line(item)}{again}  {short(item.id)}  {printable(item.title)}"
    if saved.outcome == "kept":
        yield f"  What is stored stays: {saved.note}. Use --force to replace it."
    elif item.metadata.quality == "bookmark":
        yield from _next_steps(item)
    yield from (f"  Note: {printable(warning.text)}" for warning in saved.warnings)


def _next_steps(item: Item) -> Iterator[str]:
    from pagekeep.library.save import MOST_RETRIES

    reason = item.metadata.reason
    if reason:
        yield f"  {printable(reason)}"
    if item.metadata.retry_count < MOST_RETRIES:
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
