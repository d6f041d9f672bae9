"""`pagekeep extract`: a page from a file, a pipe or its address, as Markdown."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from pagekeep.doors.cli.active_rules import rules_in_force
from pagekeep.doors.cli.output import errors_shown, on_terminal, stages_shown, write, write_json
from pagekeep.errors import NotFound

if TYPE_CHECKING:
    from pagekeep.capture.from_url import RenderMode
    from pagekeep.model import Options, Page

_OF_FILES = frozenset({"csv", "htm", "html", "json", "jsonl", "md", "mhtml", "pdf", "txt", "xhtml", "xml", "zip"})
"""How names of files end, and hosts hardly ever."""
FORMATS = ("document", "markdown", "html", "text", "json")


@click.command(
    epilog="""\b
Examples:
  pagekeep extract https://example.com/post > post.md
  pagekeep extract page.html > page.md
  curl -s https://example.com/post | pagekeep extract - --url https://example.com/post
  pagekeep extract https://app.example.com --render force --wait-for main
  pagekeep extract page.html --format json | jq .metadata
  pagekeep extract page.html --explain

Exit codes: 0 done; 1 unexpected failure; 2 bad input (no such file, not a page, empty, over 10 MB) or a page that could not
be fetched; 130 interrupted.""",
)
@click.argument("source", metavar="FILE|URL|-")
@click.option("--url", help="Address of a page from a file: makes its links absolute and is named as the source.")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="document",
    show_default=True,
    help="What to print; a document is frontmatter and Markdown.",
)
@click.option("--explain", "explained", is_flag=True, help="Tell how the content was found, and what was removed.")
@click.option(
    "--render",
    type=click.Choice(("auto", "force", "never")),
    help="Open the page in a browser: when it needs it (the default), always or never.",
)
@click.option("--wait-for", metavar="CSS", help="In the browser, wait until this is there.")
@click.option("--timeout", type=float, metavar="SECONDS", help="Time for the page in all.")
@click.option("--header", "headers", multiple=True, metavar="NAME:VALUE", help="Send this header; can be repeated.")
@click.option("--cookie", "cookies", multiple=True, metavar="NAME=VALUE", help="Send this cookie; can be repeated.")
@click.option("--user-agent", metavar="TEXT", help="Name Pagekeep gives itself to the server.")
def extract(
    source: str,
    url: str | None,
    form: str,
    explained: bool,
    **asked: Any,
) -> None:
    """Print the content of a page: an HTML file, an address, or stdin (-)."""
    with errors_shown(as_json=form == "json" and not explained):
        from pagekeep import Options

        options = Options(
            saved_at=saving_moment() if form == "document" else None,
            timer=time.perf_counter if explained else None,
        )
        page = from_address(source, options, **asked) if is_address(source) else from_file(source, url, options)
        for warning in page.trace.warnings:
            if warning.code == "not_rendered":
                click.echo(f"Note: {warning.text}", err=True)
        show_explanation(page) if explained else show(page, form)


def is_address(source: str) -> bool:
    """Whether the source is to be fetched; `C:\\page.html` and `page.html` are not."""
    scheme, separator, _ = source.partition("://")
    return bool(separator) and scheme.isalnum()


def meant_address(source: str) -> str | None:
    """The whole address that `example.com/post` stands for; `None` for what rather is the name of a file."""
    from pagekeep.errors import PagekeepError
    from pagekeep.fetch.urls import split_url

    host, slash, _ = source.partition("/")
    ending = host.rpartition(".")[2].lower()
    if "://" in source or "." not in host or not ending.isalpha() or (not slash and ending in _OF_FILES):
        return None
    try:
        split_url(f"https://{source}")
    except PagekeepError:
        return None
    return f"https://{source}"


def from_file(source: str, url: str | None, options: Options, **flags: str | None) -> Page:
    """The page in a file or on stdin; `flags` are settings."""
    from pagekeep import config
    from pagekeep import extract as run

    data = read(source, options.max_bytes + 1)
    return run(data, url, rules=rules_in_force(config.load(flags)), options=options)


def from_address(
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
    """The page at an address, fetched now, its stages shown."""
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
        headers=_pairs(headers, ":", "--header"),
        cookies=_pairs(cookies, "=", "--cookie"),
    )

    async def run(progress: Progress) -> Page:
        async with Retrieval(settings, rules_in_force(settings)) as retrieval:
            sized = replace(options, max_bytes=settings.max_bytes)
            return (await capture(request, retrieval, options=sized, progress=progress)).page

    with stages_shown() as progress:
        return asyncio.run(run(progress))


def _pairs(given: tuple[str, ...], separator: str, option: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for item in given:
        name, found, value = item.partition(separator)
        if not found or not name.strip():
            raise click.UsageError(f"{option} takes NAME{separator}VALUE, not {item!r}.")
        pairs[name.strip()] = value.strip()
    return pairs


def read(file: str, limit: int) -> bytes:
    """At most `limit` bytes of the file or of stdin; `NotFound` when there is nothing to read from."""
    if file == "-":
        return sys.stdin.buffer.read(limit)
    try:
        with open(file, "rb") as stream:
            return stream.read(limit)
    except FileNotFoundError as error:
        meant = meant_address(file)
        hint = f"Did you mean {meant}?" if meant else "Check the name, or use - for stdin."
        raise NotFound(f"There is no file {file!r}.", suggestions=[hint]) from error
    except IsADirectoryError as error:
        raise NotFound(f"{file!r} is a folder, not a page.", suggestions=["Name a file in it."]) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a file name"
        raise NotFound(f"The file {file!r} cannot be read: {reason}.") from error


def saving_moment() -> str:
    """Now, in UTC, to the second; `SOURCE_DATE_EPOCH` sets it, for output that can be reproduced."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        moment = datetime.fromtimestamp(int(epoch), UTC) if epoch else datetime.now(UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise click.UsageError("SOURCE_DATE_EPOCH is not a number of seconds.") from error
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def show(page: Page, form: str) -> None:
    """Print the page in one of the formats."""
    if form == "json":
        write_json(page.to_json())
    else:
        write({"document": page.document, "markdown": page.markdown, "html": page.html, "text": page.text}[form])


def show_explanation(page: Page) -> None:
    """Print the explanation, its headings bold on a terminal."""
    from pagekeep.present.explain import explain

    explanation = explain(page)
    if not on_terminal():
        write(explanation)
        return
    from rich.console import Console
    from rich.text import Text

    shown = Text(explanation)
    shown.highlight_regex(r"(?m)^\S.*$", "bold")
    Console().print(shown, end="")
