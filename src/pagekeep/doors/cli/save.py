"""`pagekeep save` and `pagekeep retry`: save pages into the library."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import click

from pagekeep.doors.cli.item_output import quality_line, short_id
from pagekeep.doors.cli.lazy import lazily
from pagekeep.doors.cli.open_library import OpenLibrary, library_command, open_room, stop_on_sigterm
from pagekeep.doors.cli.options import (
    STDIN,
    check_url,
    examples,
    find_pages,
    find_source,
    log_option,
    read_file,
    type_option,
)
from pagekeep.doors.cli.output import BAD_INPUT, Stage, format_count, format_error, show_progress, write, write_json
from pagekeep.errors import NotFound, PagekeepError, UnsupportedContent
from pagekeep.text import printable

with lazily():
    from pagekeep.capture.from_url import Progress, RenderMode, Request, Retrieval
    from pagekeep.capture.uploads import page_in_file, split_book
    from pagekeep.library.archive.keep_pictures import run_pictures_job
    from pagekeep.library.items.change import begin_action
    from pagekeep.library.items.find import get_item
    from pagekeep.library.queue import SaveRequest, count_jobs, enqueue
    from pagekeep.library.saving.failed_saves import keep_address
    from pagekeep.library.saving.save import retry as retry_page
    from pagekeep.library.saving.save import save as save_page
    from pagekeep.model import Fetched, Item, SaveResult
    from pagekeep.model.tags import clean_tags
    from pagekeep.present import json_shapes
    from pagekeep.present.json_shapes import saved_shape, to_json
    from pagekeep.workers import Room


_MAX_LIST_BYTES: Final = 50_000_000
"""For a file of URLs: about 500,000 of them."""
_MAX_UNASKED: Final = 50
"""Files of folders that are saved without asking: a wrong folder costs little then."""
_MAX_PARALLEL: Final = 8
"""Pages saved at the same time. The client limits the requests per host on its own."""


def capture_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that say how a page is captured; they arrive as `render`, `wait_for` and `timeout`."""
    for option in (
        click.option("--timeout", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS", help=_TIMEOUT_HELP),
        click.option(
            "--wait-for", metavar="CSS", help="In the browser, wait for an element that matches this selector."
        ),
        click.option("--render", type=click.Choice(("auto", "force", "never")), help=_RENDER_HELP),
    ):
        command = option(command)
    return command


_RENDER_HELP: Final = "Open the page in a browser if needed (the default), always, or never."
_TIMEOUT_HELP: Final = "Time limit for fetching the page, and for the browser."


@click.command(
    epilog=examples(
        "save https://example.com/post",
        "save https://example.com/a https://example.com/b --tag harbour --tag history",
        "save --file urls.txt --queue && pagekeep work --until-empty",
        "save page.html saved-pages/",
        "save archive/ --yes",
        "save paper.pdf letter.docx",
        "save book.epub --split",
        "cat paper.pdf | pagekeep save - --url https://example.com/paper.pdf",
        "cat table | pagekeep save - --type csv --url https://example.com/table",
        "curl -s https://example.com/post | pagekeep save - --url https://example.com/post",
    )
)
@click.argument("sources", nargs=-1, metavar="URL|FILE|FOLDER|-...")
@click.option("--url", help="Address of the page in a file or on stdin. Default: the one that the page names itself.")
@click.option(
    "--file", "file", metavar="FILE|-", help="File of URLs, one per line. Lines that start with # are skipped."
)
@type_option
@click.option("--split", is_flag=True, help="Save each chapter of a book (EPUB) as an item.")
@click.option("--tag", "tags", multiple=True, help="Add this tag. Can be repeated.")
@capture_options
@click.option("--force", is_flag=True, help="Replace the stored version even if the new one has lower quality.")
@click.option("--queue", "queued", is_flag=True, help="Only add the pages to the queue, for `pagekeep work`.")
@click.option("--yes", is_flag=True, help=f"Do not ask before more than {_MAX_UNASKED} files of folders are saved.")
@log_option
@library_command(create=True)
def save(
    opened: OpenLibrary,
    sources: tuple[str, ...],
    url: str | None,
    file: str | None,
    queued: bool,
    yes: bool,
    **options: Any,
) -> None:
    """Save pages into the library: from the web, from files and folders, or from stdin (-).

    A page that is already there is updated and keeps its tags and notes. `example.com` means https://example.com. Of a
    folder, every HTML, Markdown and text file is saved, and every PDF and other document, under the address that the page names
    or else its file name; `pagekeep undo` takes that back as one change.
    Pictures are kept too, when the text is saved: Ctrl-C leaves them to `pagekeep work` or the server.
    """
    results = Results()
    inputs = _find_inputs((*sources, *_read_list(file)), check_url(url), results)
    if options["declared"] and not any(one.path for one in inputs):
        raise click.UsageError("--type is for files and stdin.")
    if not inputs and not results.failures:
        raise click.UsageError("Give an address, a file or a folder, or a list of addresses with --file.")
    if queued and options.pop("split"):
        raise click.UsageError("A book that is split cannot be queued: leave out --queue or --split.")
    if queued:
        _queue(inputs, results, opened, opened.as_json, **options)
        return
    in_folders = sum(one.folder is not None for one in inputs)
    if in_folders and not _confirm(inputs, in_folders, yes, opened.as_json):
        return
    action = _begin_action(inputs, in_folders, opened) if in_folders else None
    try:
        with open_room(opened.settings) as room, show_progress() as progress:
            report = _Report(progress, results, len(inputs), as_json=opened.as_json, numbered=in_folders > 1)
            asyncio.run(_save_all(inputs, report, opened, room, action=action, **options))
    except (KeyboardInterrupt, asyncio.CancelledError) as stop:  # Ctrl-C, and SIGTERM
        _report_interrupt(results, len(inputs), opened.as_json, opened)
        raise KeyboardInterrupt from stop
    if len(results.failures) == 1 and not results.count:
        raise results.failures[0][1]
    if action and not opened.as_json:
        _report_folders(results, len(inputs), action, opened)
    _show(results, opened.as_json)


class Input(NamedTuple):
    """One page to save: at an address, or in a file."""

    url: str | None
    """Its address; `None` for a file whose page names its own."""
    path: str | None = None
    """The file, or `-` for stdin."""
    name: str = ""
    """The name that a page in a file gets when it does not name its address."""
    folder: str | None = None
    """The folder in whose place it is saved."""

    @property
    def label(self) -> str:
        """What a message calls it."""
        return self.path or self.url or ""


def _find_inputs(sources: Iterable[str], url: str | None, results: Results) -> list[Input]:
    """Return the pages that the arguments name, each once; what names none is added to the failures."""
    inputs: dict[Input, None] = {}
    for text in dict.fromkeys(sources):
        try:
            kind, value = find_source(text)
        except PagekeepError as error:
            results.failures.append((text, error))
            continue
        if kind == "url":
            inputs[Input(value)] = None
        elif kind == "folder":
            pages = [Input(None, path, os.path.basename(path), value) for path in find_pages(value)]
            if not pages:
                results.failures.append((text, NotFound(f"There is no page or document in {text!r}.")))
            inputs.update(dict.fromkeys(pages))
        else:
            inputs[Input(url, value, "" if value == STDIN else os.path.basename(value))] = None
    if url and [one.url for one in inputs if one.path] != [url]:
        raise click.UsageError("--url is the address of one page in a file or on stdin.")
    return list(inputs)


@click.command(epilog=examples("retry 3f2a", "retry https://example.com/post --render force"))
@click.argument("key", metavar="ID|URL")
@capture_options
@log_option
@library_command
def retry(opened: OpenLibrary, key: str, **how: Any) -> None:
    """Download and extract a saved page again. A page that fails three times is not retried.

    A page of which only a bookmark was kept is opened in a browser this time, unless --render says otherwise.
    """
    results = Results()
    with open_room(opened.settings) as room, show_progress() as progress:
        asyncio.run(_retry(key, results, opened, room, progress, how))
    _show(results, opened.as_json)


def _confirm(inputs: Sequence[Input], count: int, yes: bool, as_json: bool) -> bool:
    """Print how many files the folders have, and ask before many are saved; return whether to go on."""
    folders = list(dict.fromkeys(one.folder for one in inputs if one.folder is not None))
    where = printable(folders[0]) if len(folders) == 1 else format_count(len(folders), "folder")
    found = f"{format_count(count, 'file')} in {where}"
    if yes or count <= _MAX_UNASKED:
        if not as_json:
            click.echo(f"Saving {found}.", err=True)
        return True
    if as_json or not sys.stdin.isatty():
        raise click.UsageError(f"There are {found}. To save them all without being asked, add --yes.")
    return click.confirm(f"There are {found}. Save them all?", err=True)


def _begin_action(inputs: Sequence[Input], count: int, opened: OpenLibrary) -> str:
    """Begin the action that `pagekeep undo` takes back, also when this command is interrupted."""
    names = dict.fromkeys(os.path.basename(os.path.abspath(one.folder)) for one in inputs if one.folder is not None)
    action = begin_action(opened.store, f"Saved {format_count(count, 'file')} of {', '.join(names)}")
    opened.remember("save", action)
    return action


@dataclass
class Results:
    """Pages that were saved, and those that failed with their errors."""

    saved: list[SaveResult] = field(default_factory=list)
    """Of pages that are not printed as they come."""
    count: int = 0
    """Pages that were saved."""
    failures: list[tuple[str, PagekeepError]] = field(default_factory=list)
    shown: int = 0
    """Failures that were printed as they came: the last ones."""
    left_out: dict[str, int] = field(default_factory=dict)
    """Number of pictures that could not be kept, by item id."""


@dataclass
class _Report:
    """Shows how far the command is, and prints each of several results when it is there."""

    stage: Stage
    results: Results
    total: int
    as_json: bool
    numbered: bool
    """Whether each result has its number, such as "3 of 2,190"."""
    done: int = 0
    """Inputs that are dealt with."""

    def progress(self, stage: str) -> None:
        """Show the stage of a page, of several with how many are done."""
        self.stage(f"{self.done:,} of {self.total:,}  {stage}" if self.total > 1 else stage)

    def count_one(self) -> int:
        """Count an input that is dealt with, and return its number."""
        self.done += 1
        return self.done

    def add(self, saved: SaveResult, number: int) -> None:
        """Take a saved page of the input with this number."""
        self.results.count += 1
        if self.as_json or self.total == 1:
            self.results.saved.append(saved)
            return
        first, *others = _lines(saved, self.results)
        with self.stage.paused():
            write("\n".join([self._prefix(number) + first, *others]))

    def fail(self, one: Input, error: PagekeepError, number: int) -> None:
        """Take a failure."""
        self.results.failures.append((one.label, error))
        if self.as_json or self.total == 1:
            return
        self.results.shown += 1
        with self.stage.paused():
            _print_failure(f"{self._prefix(number)}{one.label}", error)

    def _prefix(self, number: int) -> str:
        return f"{number:,} of {self.total:,}  " if self.numbered else ""


def _report_folders(results: Results, total: int, action: str, opened: OpenLibrary) -> None:
    """Print what became of all files, and how to take it back."""
    failed = f", {len(results.failures):,} failed" if results.failures else ""
    new = opened.store.actions.get(action).changed
    undo = f"To undo: pagekeep undo (moves {format_count(new, 'page')} to the trash)" if new else "None is new."
    click.echo(f"{results.count:,} saved of {format_count(total, 'file')}{failed}. {undo}", err=True)
    if 0 < new < results.count:
        click.echo("  The others were in the library before: undo leaves them as they are now.", err=True)


async def _retry(
    key: str, results: Results, opened: OpenLibrary, room: Room, progress: Progress, how: dict[str, Any]
) -> None:
    item = get_item(opened.store, key)
    async with Retrieval(opened.settings, room=room) as retrieval:
        request = _request(item.url_full, **how)
        results.saved.append(await retry_page(item.id, opened.store, retrieval, request=request, progress=progress))
        await _keep_pictures(results.saved[0], results, opened, retrieval, progress)


async def _keep_pictures(
    saved: SaveResult, results: Results, opened: OpenLibrary, retrieval: Retrieval, progress: Progress
) -> None:
    """Keep the pictures of a saved page. Interrupted, this goes on with the next `pagekeep work` or in the server."""
    if saved.pictures_job is None:
        return

    report = await run_pictures_job(saved.pictures_job, opened.store, retrieval, progress)
    if report.get("left_out"):
        results.left_out[saved.item.id] = int(report["left_out"])


async def _save_all(
    inputs: list[Input],
    report: _Report,
    opened: OpenLibrary,
    room: Room,
    action: str | None,
    tags: tuple[str, ...],
    force: bool,
    declared: str | None,
    split: bool,
    **how: Any,
) -> None:
    """Save all pages, several in parallel."""
    stop_on_sigterm()
    waiting = iter(inputs)
    cleaned = clean_tags(tags)

    async def save_next(retrieval: Retrieval) -> None:
        for one in waiting:
            number = 0
            try:
                for uploaded in await _read_pages(one, retrieval, declared, split=split):
                    request = SaveRequest(
                        _request(uploaded.url if uploaded else one.url or "", **how),
                        cleaned,
                        force,
                        uploaded=uploaded,
                        action=action if one.folder is not None else None,
                    )
                    saved = await save_page(request, opened.store, retrieval, progress=report.progress)
                    try:
                        await _keep_pictures(saved, report.results, opened, retrieval, report.progress)
                    finally:  # also when interrupted: the page is saved
                        number = number or report.count_one()
                        report.add(saved, number)
            except PagekeepError as error:
                if one.path is None:  # also a book that could not be had to be split
                    await asyncio.to_thread(keep_address, opened.store, one.url or "", error, tags=cleaned)
                report.fail(one, error, number or report.count_one())

    async with Retrieval(opened.settings, room=room) as retrieval, asyncio.TaskGroup() as tasks:
        for _ in range(min(_MAX_PARALLEL, len(inputs))):
            tasks.create_task(save_next(retrieval))


async def _read_pages(
    one: Input, retrieval: Retrieval, declared: str | None, *, split: bool
) -> Sequence[Fetched | None]:
    """Return the page in a file or on stdin, `None` for an address; of a book that is split, its chapters."""
    if not split:
        return [await _read_page(one, retrieval, declared) if one.path else None]

    book = await _read_page(one, retrieval, declared) if one.path else await retrieval.client.fetch(one.url or "")
    return await split_book(book, retrieval)


async def _read_page(one: Input, retrieval: Retrieval, declared: str | None) -> Fetched:
    """Return the page in a file or on stdin."""
    from pagekeep.model import DOCUMENT_FACTOR

    body = read_file(one.path or STDIN, retrieval.settings.max_bytes * DOCUMENT_FACTOR + 1)
    place = os.path.abspath(one.path) if one.path and one.name else ""
    return await page_in_file(body, one.name, retrieval, place=place, url=one.url, declared=declared)


def _request(url: str, render: RenderMode | None, wait_for: str | None, timeout: float | None) -> Request:
    return Request(url, render=render, wait_for=wait_for, timeout=timeout, render_timeout=timeout)


def _queue(
    inputs: list[Input],
    results: Results,
    opened: OpenLibrary,
    as_json: bool,
    tags: tuple[str, ...],
    force: bool,
    render: RenderMode | None,
    wait_for: str | None,
    timeout: float | None,
    **_unused: Any,
) -> None:
    cleaned = clean_tags(tags)
    jobs, failures = [], results.failures
    for one in inputs:
        try:
            if one.path:
                hint = "Leave out --queue to save it now."
                raise UnsupportedContent("A file cannot be queued, only an address.", suggestions=(hint,))
            request = _request(one.url or "", render, wait_for, timeout)
            jobs.append(enqueue(SaveRequest(request, cleaned, force), opened.store))
        except PagekeepError as error:
            failures.append((one.label, error))
    if as_json:
        shapes = [to_json(json_shapes.Job, job) for job in jobs]
        write_json({"success": not failures, "jobs": shapes, "errors": _errors(failures)})
    elif jobs:
        them = "it" if len(jobs) == 1 else "them"
        write(f"Queued {format_count(len(jobs), 'page')}. To save {them}: pagekeep work --until-empty")
    _exit_on_failures(failures, as_json)


def _read_list(file: str | None) -> Iterator[str]:
    """Yield the first word of every line of a file, as lists of other programs have more after the URL."""
    if file is None:
        return
    for line in read_file(file, _MAX_LIST_BYTES).decode("utf-8-sig", "replace").splitlines():
        words = line.split()
        if words and not words[0].startswith("#"):
            yield words[0]


def _report_interrupt(results: Results, total: int, as_json: bool, opened: OpenLibrary) -> None:
    """Print what was saved before the interrupt, and what waits in the queue: pages that were being saved."""
    with suppress(click.exceptions.Exit):  # the exit code is that of an interrupt
        _show(results, as_json)
    if total > 1:
        click.echo(f"Interrupted: {results.count:,} of {format_count(total, 'page')} saved.", err=True)
    queued = count_jobs(opened.store)["queued"]
    if queued:
        click.echo(f"In the queue: {format_count(queued, 'page')}. To save: pagekeep work --until-empty", err=True)


def _show(results: Results, as_json: bool) -> None:
    if as_json:
        items = [saved_shape(saved) for saved in results.saved]
        errors = _errors(results.failures)
        write_json({"success": not errors, "items": items, "next": None, "errors": errors})
    else:
        for saved in results.saved:
            write("\n".join(_lines(saved, results)))
    _exit_on_failures(results.failures, as_json, shown=results.shown)


def _lines(saved: SaveResult, results: Results) -> Iterator[str]:
    yield from result_lines(saved)
    if count := results.left_out.get(saved.item.id):
        yield f"  {format_count(count, 'picture')} left out: pagekeep pictures {short_id(saved.item.id)}"


def result_lines(saved: SaveResult) -> Iterator[str]:
    """Yield the lines about one saved page: quality level, title, and what to do when there is no content."""
    item = saved.item
    change = {"updated": ", unchanged" if saved.unchanged else ", updated"}.get(saved.outcome, "")
    yield f"{quality_line(item)}{change}  {short_id(item.id)}  {printable(item.title)}"
    if saved.outcome == "kept":
        yield f"  The stored version was kept: {saved.note}. Use --force to replace it."
    elif item.metadata.quality == "bookmark":
        yield from _retry_lines(item)
    yield from (f"  Note: {printable(warning.text)}" for warning in saved.warnings)


def _retry_lines(item: Item) -> Iterator[str]:
    from pagekeep.library.saving.save import MAX_RETRIES

    reason = item.metadata.reason
    if reason:
        yield f"  {printable(reason)}"
    if item.metadata.retry_count < MAX_RETRIES:
        yield f"  Retry extraction: pagekeep retry {short_id(item.id)}"


def _errors(failures: list[tuple[str, Any]]) -> list[dict[str, Any]]:
    return [{"url": url, **error.to_json()["error"]} for url, error in failures]


def _exit_on_failures(failures: list[tuple[str, Any]], as_json: bool, shown: int = 0) -> None:
    """Print the failures, apart from the last ones that were shown, and exit with their code, if there are any."""
    if not failures:
        return
    if not as_json:
        for url, error in failures[: len(failures) - shown]:
            _print_failure(url, error)
    raise click.exceptions.Exit(BAD_INPUT)


def _print_failure(url: str, error: PagekeepError) -> None:
    click.echo(f"{printable(url)}\n  {format_error(error)}", err=True)
