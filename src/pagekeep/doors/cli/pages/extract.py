"""`pagekeep extract`: print the content of a page from a file, a pipe or a URL as Markdown."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from pagekeep.doors.cli.open_library import load_rules
from pagekeep.doors.cli.open_room import open_room
from pagekeep.doors.cli.options import parse_pairs, verbose_option
from pagekeep.doors.cli.output import is_terminal, report_errors, show_progress, write, write_json
from pagekeep.doors.cli.sources import check_url, find_source, read_file

if TYPE_CHECKING:
    from pagekeep.capture.from_url import RenderMode
    from pagekeep.model import Options, Page
    from pagekeep.workers import Room

FORMATS = ("document", "markdown", "html", "text", "json")


@click.command(
    epilog="""\b
Examples:
  pagekeep extract https://example.com/post > post.md
  pagekeep extract page.html > page.md
  pagekeep extract paper.pdf > paper.md
  curl -s https://example.com/post | pagekeep extract - --url https://example.com/post
  pagekeep extract https://app.example.com --render force --wait-for main
  pagekeep extract page.html --format json | jq .metadata
  pagekeep extract page.html --explain
  pagekeep extract example.com/post --json | jq .rules
  pagekeep extract page.html --skip-step callouts

Exit codes: 0 done; 1 unexpected failure; 2 bad input (file not found, not a page, empty, over 10 MB) or a page that could
not be fetched; 130 interrupted.""",
)
@click.argument("source", metavar="FILE|URL|-")
@click.option("--url", help="URL of a page in a file. Makes its links absolute, and is given as the source.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    default="document",
    show_default=True,
    help="What to print. `document` is Markdown with frontmatter.",
)
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
    source: str,
    url: str | None,
    format_: str,
    as_json: bool,
    explained: bool,
    verbose: bool,
    skip_steps: tuple[str, ...],
    **fetch_options: Any,
) -> None:
    """Print the content of a page as Markdown: a file, a URL, or stdin (-).

    HTML and PDF are read; Markdown and plain text stay as they are.
    """
    as_json = as_json or format_ == "json"
    explained = explained or verbose
    with report_errors(as_json=as_json):
        from pagekeep import Options

        url = check_url(url)
        found = find_source(source)

        if skip_steps:
            from pagekeep.extraction.steps import check_skippable
            from pagekeep.pipeline import PHASES

            check_skippable(skip_steps, PHASES)  # before the page is fetched
        timer = time.perf_counter if explained else None
        saved_at = None if explained or as_json or format_ != "document" else current_time()
        options = Options(saved_at=saved_at, timer=timer, skip_steps=frozenset(skip_steps))
        if found.kind == "url":
            page = page_from_url(found.value, options, **fetch_options)
        else:
            page = page_from_file(found.value, url, options)
        for warning in page.trace.warnings:
            if warning.code == "not_rendered":
                click.echo(f"Note: {warning.text}", err=True)
        show_explanation(page, as_json=as_json, verbose=verbose) if explained else show(page, format_, as_json)


def page_from_file(source: str, url: str | None, options: Options, **flags: str | None) -> Page:
    """Return the page in a file or on stdin; Markdown and plain text stay as they are. `flags` are settings."""
    from pagekeep import config
    from pagekeep.capture.documents.file_types import declared_type
    from pagekeep.capture.extract import FileTask, prepare_limits
    from pagekeep.workers import run_alone

    settings = config.load(flags)
    data = read_file(source, options.max_bytes + 1)
    load_rules(settings)  # before the process is forked, so that it has them too
    declared = declared_type(source)
    return run_alone(FileTask(data, url, options, settings, declared), prepare_limits(data, declared))


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

    from pagekeep import config
    from pagekeep.capture.from_url import Progress, Request, Retrieval, capture

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
        write({"markdown": page.markdown, "html": page.html, "text": page.text}[format_])


def show_explanation(page: Page, *, as_json: bool = False, verbose: bool = False) -> None:
    """Print the explanation of a page, with bold headings on a terminal; as JSON, with the page."""
    from pagekeep.present.explain import explain

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
