"""`pagekeep extract`: print the content of a page from a file, a pipe or a URL as Markdown."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

import click

from pagekeep.doors.cli.lazy import lazily
from pagekeep.doors.cli.open_library import load_rules, open_room
from pagekeep.doors.cli.options import (
    Source,
    check_url,
    find_pages,
    find_source,
    parse_pairs,
    read_file,
    type_option,
    verbose_option,
)
from pagekeep.doors.cli.output import (
    BAD_INPUT,
    format_error,
    is_terminal,
    report_errors,
    show_progress,
    write,
    write_json,
)
from pagekeep.errors import NotFound, PagekeepError
from pagekeep.text import printable

with lazily():
    from pagekeep import config
    from pagekeep.capture.documents.file_types import declared_type
    from pagekeep.capture.extract import ReadTask, as_fetched
    from pagekeep.capture.from_url import Progress, RenderMode, Request, Retrieval, capture
    from pagekeep.capture.uploads import CountChapters, chapter_urls, file_url
    from pagekeep.extraction.steps import check_skippable
    from pagekeep.model import Options, Page
    from pagekeep.present.explain import explain
    from pagekeep.workers import Room, run_alone


FORMATS = ("document", "markdown", "html", "text", "json")


@click.command(
    epilog="""\b
Examples:
  pagekeep extract https://example.com/post > post.md
  pagekeep extract page.html > page.md
  pagekeep extract paper.pdf > paper.md
  pagekeep extract letter.docx > letter.md
  pagekeep extract book.epub --split --json | jq -r .pages[].metadata.title
  cat paper.pdf | pagekeep extract - > paper.md
  cat table | pagekeep extract - --type csv
  pagekeep extract papers/ notes.txt --json | jq -r .pages[].title
  curl -s https://example.com/post | pagekeep extract - --url https://example.com/post
  pagekeep extract https://app.example.com --render force --wait-for main
  pagekeep extract page.html --format json | jq .metadata
  pagekeep extract page.html --explain
  pagekeep extract example.com/post --json | jq .rules
  pagekeep extract page.html --skip-step callouts

Exit codes: 0 done; 1 unexpected failure; 2 bad input (file not found, not a page, empty, over 10 MB) or a page that could
not be fetched; 130 interrupted.""",
)
@click.argument("sources", nargs=-1, required=True, metavar="FILE|FOLDER|URL|-...")
@click.option("--url", help="URL of a page in a file. Makes its links absolute, and is given as the source.")
@type_option
@click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    default="document",
    show_default=True,
    help="What to print. `document` is Markdown with frontmatter.",
)
@click.option("--split", is_flag=True, help="Print each chapter of a book (EPUB) as a page.")
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option("--explain", "explained", is_flag=True, help="Show how the content was found, and what was removed.")
@verbose_option
@click.option(
    "--skip-step",
    "skip_steps",
    multiple=True,
    metavar="NAME",
    help="Run without this step; docs/steps.md lists them. Can be repeated.",
)
@click.option(
    "--render",
    type=click.Choice(("auto", "force", "never")),
    help="Open the page in a browser if needed (the default), always, or never.",
)
@click.option("--wait-for", metavar="CSS", help="In the browser, wait for an element that matches this selector.")
@click.option("--timeout", type=float, metavar="SECONDS", help="Time limit for the whole page.")
@click.option("--header", "headers", multiple=True, metavar="NAME:VALUE", help="Send this header. Can be repeated.")
@click.option("--cookie", "cookies", multiple=True, metavar="NAME=VALUE", help="Send this cookie. Can be repeated.")
@click.option("--user-agent", metavar="TEXT", help="User-Agent header to send.")
def extract(
    sources: tuple[str, ...],
    url: str | None,
    declared: str | None,
    format_: str,
    split: bool,
    as_json: bool,
    explained: bool,
    verbose: bool,
    skip_steps: tuple[str, ...],
    **fetch_options: Any,
) -> None:
    """Print the content of pages as Markdown: files, folders, URLs, or stdin (-).

    HTML and documents (PDF, DOCX, EPUB...) are read, recognised by their content; Markdown stays as it is. Of several
    pages, one is printed after the other; with --json, as a list.
    """
    as_json = as_json or format_ == "json"
    explained = explained or verbose
    with report_errors(as_json=as_json):
        from pagekeep.model import MADE_FIELDS

        url = check_url(url)
        found: list[Source | Chapter] = [one for source in dict.fromkeys(sources) for one in _find_pages(source)]
        if split:
            found = [chapter for one in found for chapter in _split_file(one.kind, one.value, url)]
        elif len(found) > 1 and (url or explained):
            raise click.UsageError("--url and --explain are for one page.")
        if declared and all(one.kind == "url" for one in found):
            raise click.UsageError("--type is for files and stdin.")
        if skip_steps:
            from pagekeep.capture.documents.phases import DOCUMENT_PHASES
            from pagekeep.pipeline import PHASES

            check_skippable(skip_steps, (*PHASES, *DOCUMENT_PHASES))  # before the page is fetched
        timer = time.perf_counter if explained else None
        saved_at = None if explained or as_json or format_ != "document" else current_time()
        needs = MADE_FIELDS if explained or as_json else ("html",) if format_ == "html" else ()
        options = Options(saved_at=saved_at, timer=timer, skip_steps=frozenset(skip_steps), needs=needs)

        def read(one: Source | Chapter) -> Page:
            if one.kind == "url":
                return page_from_url(one.value, options, **fetch_options)
            return page_from_file(one.value, one.url if isinstance(one, Chapter) else url, options, declared)

        if len(found) > 1 or split:
            _show_many(found, read, format_, as_json)
            return
        page = read(found[0])
        _show_notes(page)
        show_explanation(page, as_json=as_json, verbose=verbose) if explained else show(page, format_, as_json)


class Chapter(NamedTuple):
    """A chapter of the book in a file."""

    value: str
    """The path."""
    url: str
    kind: Literal["file"] = "file"


def _split_file(kind: str, path: str, url: str | None) -> list[Chapter]:
    """Return the chapters of the book in a file."""
    from pagekeep.model import DOCUMENT_FACTOR
    from pagekeep.workers import DOCUMENT

    if kind != "file":
        raise click.UsageError("--split is for files. To split a book from the web: pagekeep save URL --split.")
    data = read_file(path, config.load().max_bytes * DOCUMENT_FACTOR + 1)
    count = run_alone(CountChapters(data), DOCUMENT)
    address = url or file_url(os.path.basename(path), os.fsencode(os.path.abspath(path)))
    return [Chapter(path, chapter) for chapter in chapter_urls(address, count)]


def _find_pages(text: str) -> list[Source]:
    """Return what an argument names: of a folder, the pages and documents in it."""
    found = find_source(text)
    if found.kind != "folder":
        return [found]
    pages = [Source("file", path) for path in find_pages(found.value)]
    if not pages:
        raise NotFound(f"There is no page or document in {text!r}.")
    return pages


def _show_notes(page: Page) -> None:
    for warning in page.trace.warnings:
        if warning.code in ("not_rendered", "pages_missing"):
            click.echo(f"Note: {warning.text}", err=True)


def _show_many(
    sources: list[Source | Chapter], read: Callable[[Source | Chapter], Page], format_: str, as_json: bool
) -> None:
    """Print several pages; one that cannot be read does not stop the others, and makes the exit code 2."""
    pages: list[dict[str, Any]] = []
    failures: list[tuple[str, PagekeepError]] = []
    for one in sources:
        try:
            page = read(one)
        except PagekeepError as error:
            failures.append((one.value, error))
            continue
        _show_notes(page)
        if as_json:
            pages.append({"file": None if one.kind == "url" else one.value, **page.to_json()})
        else:
            show(page, format_, as_json)
    if as_json:
        errors = [{"source": source, **error.to_json()["error"]} for source, error in failures]
        write_json({"success": not failures, "pages": pages, "errors": errors})
    elif failures:
        for source, failure in failures:
            click.echo(f"{printable(source)}\n  {format_error(failure)}", err=True)
    if failures:
        raise click.exceptions.Exit(BAD_INPUT)


def page_from_file(
    source: str, url: str | None, options: Options, declared: str | None = None, **flags: str | None
) -> Page:
    """Return the page in a file or on stdin; Markdown stays as it is.

    `declared` is the content type that the user named; `flags` are settings.
    """
    from pagekeep.model import DOCUMENT_FACTOR

    settings = config.load(flags)
    options = replace(options, max_bytes=settings.max_bytes)
    data = read_file(source, options.max_bytes * DOCUMENT_FACTOR + 1)
    load_rules(settings)  # before the process is forked, so that it has them too
    declared = declared or declared_type(source)
    task = ReadTask.prepare(as_fetched(data, url, options, declared), options, settings)
    return run_alone(task, task.limits)


def page_from_url(
    url: str,
    options: Options,
    *,
    render: RenderMode | None = None,
    wait_for: str | None = None,
    timeout: float | None = None,
    headers: tuple[str, ...] = (),
    cookies: tuple[str, ...] = (),
    user_agent: str | None = None,
    rules: str | None = None,
) -> Page:
    """Fetch and return the page at a URL, showing progress."""
    import asyncio

    flags = {"timeout": timeout, "render_timeout": timeout, "user_agent": user_agent, "render": render, "rules": rules}
    settings = config.load(flags)
    request = Request(
        url,
        render=render,
        wait_for=wait_for,
        render_timeout=timeout,
        headers=parse_pairs(headers, ":", "--header"),
        cookies=parse_pairs(cookies, "=", "--cookie"),
    )

    async def run(room: Room, progress: Progress) -> Page:
        async with Retrieval(settings, room=room) as retrieval:
            sized = replace(options, max_bytes=settings.max_bytes)
            return (await capture(request, retrieval, options=sized, progress=progress)).page

    with open_room(settings) as room, show_progress() as progress:
        return asyncio.run(run(room, progress))


def current_time() -> str:
    """Return the time in UTC, to the second; `SOURCE_DATE_EPOCH` overrides it, for reproducible output."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        time = datetime.fromtimestamp(int(epoch), UTC) if epoch else datetime.now(UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise click.UsageError(f"SOURCE_DATE_EPOCH={epoch} is not a number of seconds.") from error
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def show(page: Page, format_: str, as_json: bool) -> None:
    """Print the page in one of the formats."""
    if as_json:
        write_json(page.to_json())
    elif format_ == "document":
        write(page.document)
    else:
        write(getattr(page, format_))


def show_explanation(page: Page, *, as_json: bool = False, verbose: bool = False) -> None:
    """Print the explanation of a page, with bold headings on a terminal; as JSON, with the page."""
    explanation = explain(page, verbose=verbose)
    if as_json:
        write_json({**page.to_json(), "explanation": explanation})
        return
    if not is_terminal():
        write(explanation)
        return
    from rich.console import Console
    from rich.text import Text

    text = Text(explanation)
    text.highlight_regex(r"(?m)^\S.*$", "bold")
    Console().print(text, end="")
