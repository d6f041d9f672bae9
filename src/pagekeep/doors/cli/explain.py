"""`pagekeep explain` and `pagekeep rules explain`: show how the content of a page was found, and what each rule did."""

from __future__ import annotations

import os
import time

import click

from pagekeep.doors.cli.extract import page_from_file, page_from_url, show_explanation
from pagekeep.doors.cli.lazy import lazily
from pagekeep.doors.cli.open_library import OpenLibrary, library_command, open_room
from pagekeep.doors.cli.options import (
    STDIN,
    check_url,
    complete_url,
    examples,
    is_url,
    rules_folder_option,
    type_option,
    verbose_option,
)
from pagekeep.doors.cli.output import write, write_json
from pagekeep.errors import NotFound
from pagekeep.present.explain import match_shape, rule_lines
from pagekeep.text import printable

with lazily():
    from pagekeep.capture.extract import extract_in_room
    from pagekeep.library.items.build_item import to_fetched
    from pagekeep.library.items.find import get_raw
    from pagekeep.model import Options, Page


@click.command(
    epilog=examples(
        "explain 3f2a",
        "explain https://example.com/post",
        "explain --url example.com/post",
        "explain page.html --url https://example.com/post",
    )
)
@click.argument("source", metavar="[ID|URL|FILE|-]", required=False)
@click.option("--url", help="Address of a page in a file; alone, the address to explain.")
@type_option
@verbose_option
@library_command(create=True, open_late=True)
def explain(opened: OpenLibrary, source: str | None, url: str | None, declared: str | None, verbose: bool) -> None:
    """Show which strategy won and why, what was removed, and where the metadata came from.

    A saved page is read from the library; any other URL is downloaded.
    """
    from pagekeep.model import MADE_FIELDS

    url = check_url(url)
    if source is None and url is None:
        raise click.UsageError("Give the id or address of a page, a file, or - for stdin.")
    options = Options(timer=time.perf_counter, needs=MADE_FIELDS)
    page = find_page(opened, source or url or "", options, url=url, declared=declared)
    show_explanation(page, as_json=opened.as_json, verbose=verbose)


def find_page(
    opened: OpenLibrary, source: str, options: Options, *, url: str | None = None, declared: str | None = None
) -> Page:
    """Return the page that `source` names: a file, stdin, a saved page by id or URL, or a URL to download."""
    if source == STDIN or (os.path.isfile(source) and not is_url(source)):
        return page_from_file(source, check_url(url), options, declared, **opened.flags)
    address = source if is_url(source) else complete_url(source)
    stored = _stored_page(opened, address or source, options)
    if stored is not None:
        return stored
    if address:
        return page_from_url(address, options, rules=opened.flags.get("rules"))
    hint = "Give its URL instead, to download it again."
    raise NotFound("The downloaded HTML of this page was not stored.", suggestions=(hint,))


def _stored_page(opened: OpenLibrary, key: str, options: Options) -> Page | None:
    """Return the saved page, extracted again; `None` for an unknown URL, or when its HTML was not stored."""
    try:
        raw = get_raw(opened.store, key)
    except NotFound:
        if is_url(key):
            return None
        raise
    if raw is None:
        return None
    with open_room(opened.settings) as room:
        return extract_in_room(room, to_fetched(raw), options, opened.settings)


@click.command(
    epilog=examples(
        "rules explain https://example.com/post",
        "rules explain 3f2a",
        "rules explain page.html --url https://example.com/post",
    )
)
@click.argument("source", metavar="ID|URL|FILE|-")
@click.option("--url", help="URL of a page in a file. Rules for a site need it.")
@verbose_option
@rules_folder_option
@library_command(create=True, open_late=True)
def explain_rules(opened: OpenLibrary, source: str, url: str | None, verbose: bool, folder: str | None) -> None:
    """Show which rules matched a page and why, and what each removed, moved or found.

    A saved page is read from the library; any other URL is downloaded.
    """
    opened.flags["rules"] = folder
    page = find_page(opened, source, Options(), url=url)
    if opened.as_json:
        shape = {"url": page.url, "title": page.metadata.title, "quality": page.quality.level}
        rules = [match_shape(match) for match in page.trace.rules]
        write_json({**shape, "word_count": page.word_count, "rules": rules})
        return
    lines = [printable(line) for line in rule_lines(page.trace.rules, verbose=verbose)] or [
        "No rule matches this page."
    ]
    write("\n".join([*lines, "", f"{page.quality.message}."]))
