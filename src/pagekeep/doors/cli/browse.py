"""`pagekeep list`, `search`, `read`, `open`, `tags` and `stats`: look into the library."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from io import StringIO
from typing import Any, Final

import click

from pagekeep.doors.cli.item_output import quality_line, short_id, show_failed, show_items
from pagekeep.doors.cli.lazy import lazily
from pagekeep.doors.cli.open_library import OpenLibrary, library_command
from pagekeep.doors.cli.options import examples, parse_date
from pagekeep.doors.cli.output import (
    format_count,
    is_terminal,
    remove_control_chars,
    show_bar,
    show_table,
    write,
    write_json,
)
from pagekeep.errors import NotFound
from pagekeep.text import printable

with lazily():
    from pagekeep.capture.documents.file_types import detect
    from pagekeep.config import Settings
    from pagekeep.doors.cli.history import with_retrieval
    from pagekeep.library.archive.pictures import show_pictures
    from pagekeep.library.archive.versions import read_version
    from pagekeep.library.feeds.inbox import search_items
    from pagekeep.library.items import tags as browse
    from pagekeep.library.items.build_item import first_raw_page
    from pagekeep.library.items.find import (
        get_item,
        get_item_and_raw,
        is_empty,
        open_item,
    )
    from pagekeep.library.open import Store
    from pagekeep.library.saving.failed_saves import count_failed
    from pagekeep.model import Hit, Item, ItemQuery, item_filters
    from pagekeep.model.lists import Action
    from pagekeep.present.item_content import shown_content
    from pagekeep.present.json_shapes import hit_shape, items_shape, whole_item_shape


LEVELS = ("article", "simplified", "bookmark", "discarded")


def _paging_options(command: Any) -> Any:
    limit = click.IntRange(1, 1000)
    command = click.option("--after", metavar="KEY", help="Continue after this key, as printed by the last call.")(
        command
    )
    return click.option("--limit", type=limit, default=50, show_default=True, help="Show at most this many.")(command)


@click.command(
    "list",
    epilog=examples(
        "list",
        "list --tag harbour --order title",
        "list --archived --domain example.com",
        "list --published-after 2025-03 --order published",
        "list --failed",
        "list --json | jq -r '.items[].url'",
    ),
)
@click.option("--domain", help="Only pages of this domain.")
@click.option("--tag", "tags", multiple=True, help="Only pages with this tag. Repeat it to require several.")
@click.option("--pinned", is_flag=True, help="Only pinned pages.")
@click.option("--archived", is_flag=True, help="Only archived pages.")
@click.option("--all", "everything", is_flag=True, help="Include archived pages.")
@click.option("--deleted", is_flag=True, help="Only deleted pages.")
@click.option("--quality", type=click.Choice(LEVELS), help="Only pages of this quality level.")
@click.option("--gone", is_flag=True, help="Only pages that have gone from the web.")
@click.option("--fetch-again", is_flag=True, help="Only pages that could not be fetched and are to be fetched again.")
@click.option(
    "--failed", is_flag=True, help="Only pages that could not be saved, with the reason: they are in no other list."
)
@click.option("--saved-after", metavar="DATE", callback=parse_date, help="Only pages saved on this date or later.")
@click.option("--saved-before", metavar="DATE", callback=parse_date, help="Only pages saved before this date.")
@click.option(
    "--published-after", metavar="DATE", callback=parse_date, help="Only pages published on this date or later."
)
@click.option("--published-before", metavar="DATE", callback=parse_date, help="Only pages published before this date.")
@click.option(
    "--order",
    type=click.Choice(("saved", "opened", "title", "published")),
    default="saved",
    show_default=True,
    help="Sort by this field.",
)
@click.option("--reverse", is_flag=True, help="Oldest first; with --order title, Z first.")
@_paging_options
@library_command
def list_items(opened: OpenLibrary, **options: Any) -> None:
    """List saved pages, newest first."""
    page = opened.store.search.find(_query(options))
    if opened.as_json:
        write_json(items_shape(page.items, page.next))
        return
    if page.items or not is_terminal():
        (show_failed if options["failed"] else show_items)(page.items)
    if not page.items and sys.stderr.isatty():
        hint = "Nothing saved yet. To save a page: pagekeep save URL" if is_empty(opened.store) else "No matches."
        click.echo(hint, err=True)
    _report_more(page.next)
    if sys.stderr.isatty():
        _report_failed(opened.store, listed=options["failed"] and bool(page.items))


def _query(options: dict[str, Any]) -> ItemQuery:
    filters = item_filters(
        domain=options["domain"],
        tags=options["tags"],
        pinned=True if options["pinned"] else None,
        archived=None if options["everything"] or options["deleted"] or options["failed"] else options["archived"],
        deleted=options["deleted"],
        quality=options["quality"],
        fetch_again=True if options["fetch_again"] else None,
        failed=options["failed"],
        gone=True if options["gone"] else None,
        saved_after=options["saved_after"],
        saved_before=options["saved_before"],
        published_after=options["published_after"],
        published_before=options["published_before"],
    )
    descending = (options["order"] != "title") != options["reverse"]
    return ItemQuery(
        filters=filters,
        order=options["order"],
        descending=descending,
        limit=options["limit"],
        after=options["after"],
    )


def _report_failed(store: Store, *, listed: bool) -> None:
    """Print where the pages are that could not be saved, or what can be done with those that were listed."""
    if listed:
        hint = "pagekeep retry ID tries one again, pagekeep keep ID keeps its bookmark, pagekeep delete ID deletes it."
        click.echo(hint, err=True)
    elif failed := count_failed(store):
        click.echo(f"{format_count(failed, 'page')} could not be saved: pagekeep list --failed", err=True)


def _report_more(key: str | None) -> None:
    if key:
        click.echo(f"There are more. To continue: --after {key}", err=True)


@click.command(
    epilog=examples(
        "search lighthouse keeper",
        "search '\"harbour wall\" -storm is:pinned domain:example.com'",
        "search 灯台 --json",
    )
)
@click.argument("words", nargs=-1, required=True, metavar="WORDS...")
@_paging_options
@library_command
def search(opened: OpenLibrary, words: tuple[str, ...], limit: int, after: str | None) -> None:
    """Search saved pages, best match first.

    Also understood: "a phrase", -without, is:unread, domain:example.com, tag:name, author:name, lang:de, before:2025-01-01,
    published:2025-03.
    """
    text = " ".join(words)
    page = search_items(opened.store, text, limit=limit, after=after)
    if opened.as_json:
        hits = [hit_shape(hit) for hit in page.hits]
        write_json({"items": hits, "next": page.next, "unknown_operators": []})
        return
    for hit in page.hits:
        write(_format_hit(hit))
    if not page.hits:
        click.echo("No matches.", err=True)
    _report_more(page.next)


def _format_hit(hit: Hit) -> str:
    item, snippet = hit.item, printable(hit.snippet or "")
    if not is_terminal():
        return "\t".join((item.id, printable(item.title), item.url, snippet))
    parts = snippet.replace("]]", "[[").split("[[")  # every second part is a match
    text = "".join(click.style(part, bold=bool(number % 2)) for number, part in enumerate(parts))
    return f"{short_id(item.id)}  {click.style(printable(item.title), bold=True)}  {item.domain}\n          {text}"


@click.command(
    epilog=examples(
        "read 3f2a",
        "read https://example.com/post > post.md",
        "read 3f2a --at 2025-03-19",
        "read 3f2a --original > paper.pdf",
        "read 3f2a --json | jq .items[0].content",
    )
)
@click.argument("key", metavar="ID|URL")
@click.option("--at", metavar="DATE", help="Read the version of this date or time.")
@click.option("--version", type=click.IntRange(1), help="Read this version; `pagekeep history` lists them.")
@click.option("--original", is_flag=True, help="Write the file it was made from: the PDF, or the HTML as fetched.")
@library_command(open_late=True)
def read(opened: OpenLibrary, key: str, at: str | None, version: int | None, original: bool) -> None:
    """Read a saved page: formatted and in the pager on a terminal, as Markdown with frontmatter in a pipe."""
    if original and (at or version or opened.as_json):
        raise click.UsageError("--original cannot be combined with --at, --version or --json.")
    if original:
        _write_original(opened.store, key)
        return

    item = open_item(opened.store, key)
    if at is not None or version is not None:
        item = _read_version(opened.settings, opened.store, item, at, version)
    if opened.as_json:
        write_json({"items": [whole_item_shape(item, show_pictures(opened.store, item))], "next": None})
    elif is_terminal():
        show_article(item)
    else:
        write(shown_content(item))


def _write_original(store: Store, key: str) -> None:
    """Write the file that an item was made from to stdout, as it was fetched."""
    item, raw = get_item_and_raw(store, key)
    raw = first_raw_page(raw)
    file_type = detect(raw.body, raw.content_type)
    if file_type and is_terminal():
        command = f"pagekeep read {short_id(item.id)} --original > {short_id(item.id)}.{file_type.suffix}"
        raise click.UsageError(f"A {file_type.name} cannot be shown on a terminal. To write it to a file: {command}")
    sys.stdout.buffer.write(raw.body)
    sys.stdout.buffer.flush()


def _read_version(settings: Settings, store: Store, item: Item, at: str | None, number: int | None) -> Item:
    """Return the item as it was in an earlier version; its tags are those of today."""
    from dataclasses import replace

    found = with_retrieval(settings, lambda retrieval: read_version(store, item.id, retrieval, number=number, at=at))
    old = found.text.item
    return replace(old, metadata=replace(old.metadata, tags=item.metadata.tags, pinned=item.metadata.pinned))


@click.group(
    invoke_without_command=True,
    epilog=examples("tags", "tags --json | jq -r '.tags[].tag'", "tags rename sea ocean", "tags delete draft"),
)
@library_command
def tags(opened: OpenLibrary) -> None:
    """List the tags in use, with how many pages have each; rename, merge or delete one."""
    counts = opened.store.tags.counts()
    if opened.as_json:
        write_json({"tags": [{"tag": tag, "count": count} for tag, count in counts]})
    elif counts:
        show_table([["tag", "pages"], *([tag, f"{count:,}"] for tag, count in counts)])
    elif sys.stderr.isatty():
        click.echo("No page has a tag. To add one: pagekeep tag ID TAG", err=True)


@tags.command("rename", epilog=examples("tags rename sea ocean"))
@click.argument("tag")
@click.argument("new")
@library_command
def rename_tag(opened: OpenLibrary, tag: str, new: str) -> None:
    """Rename a tag on all pages. With the name of another tag, both become one."""
    with show_bar("Changing") as advance:
        done = browse.rename_tag(opened.store, tag, new, progress=lambda count: advance(count, None))
    opened.remember("tags", done.action.id)
    _report_tags(opened, done.action)


@tags.command("delete", epilog=examples("tags delete draft"))
@click.argument("tag")
@library_command
def delete_tag(opened: OpenLibrary, tag: str) -> None:
    """Remove a tag from all pages."""
    with show_bar("Changing") as advance:
        done = browse.delete_tag(opened.store, tag, progress=lambda count: advance(count, None))
    opened.remember("tags", done.action.id)
    _report_tags(opened, done.action)


@tags.command("undo", epilog=examples("tags undo 0d9c2f6e-8f0b-4c39-9b43-6f0a5a3f7d11"))
@click.argument("action")
@library_command
def undo_tags(opened: OpenLibrary, action: str) -> None:
    """Undo a change of a tag, by the id that the change wrote."""
    undone = browse.undo_tags(opened.store, action, whole=True)[0].undone
    opened.show({"undone": undone}, f"{undone:,} {'page is' if undone == 1 else 'pages are'} as before.")


def _report_tags(opened: OpenLibrary, action: Action) -> None:
    if opened.as_json:
        write_json({"action": action.id, "changed": action.changed})
        return
    write(f"{action.label} ({action.changed:,} {'page' if action.changed == 1 else 'pages'}).")
    click.echo(f"To undo: pagekeep tags undo {action.id}", err=True)


@click.command(epilog=examples("stats", "stats --json"))
@library_command
def stats(opened: OpenLibrary) -> None:
    """Show how many pages the library holds, by state and quality."""
    counts = dict(opened.store.counts.totals())
    opened.show_table({"stats": counts}, ["what", "count"], _rows(counts))


def _rows(counts: dict[str, Any], prefix: str = "") -> list[list[str]]:
    rows: list[list[str]] = []
    for name, value in counts.items():
        label = f"{prefix}{name}".replace("_", " ")
        if isinstance(value, dict):
            rows += _rows(value, f"{label}: ")
        else:
            rows.append([label, f"{value:,}" if isinstance(value, int) else str(value)])
    return rows


_CONNECT_SECONDS: Final = 2
"""Time for a server on this machine to answer."""


@click.command("open", epilog=examples("open 3f2a", "open 3f2a --reader", "open --reader"))
@click.argument("key", metavar="[ID|URL]", required=False)
@click.option("--reader", is_flag=True, help="Open it in the reader of the running `pagekeep serve`, not on its site.")
@library_command
def open_page(opened: OpenLibrary, key: str | None, reader: bool) -> None:
    """Open a saved page in the browser: on its site, or in the reader. Without a page, open the reader's list."""
    import webbrowser

    item = get_item(opened.store, key) if key else None
    address = item.url_full if item and not reader else _reader_address(opened.settings, item)
    if not webbrowser.open(address):
        raise NotFound(
            f"No browser can be started here to open {address}",
            suggestions=("Open the address by hand, or set the variable BROWSER to the command of your browser.",),
        )
    opened.show({"address": address}, f"Opened {address}")


def _reader_address(settings: Settings, item: Item | None) -> str:
    """Return the address of the page in the running server; raise `NotFound` when none answers."""
    import socket

    host, _, port = settings.listen.rpartition(":")
    name = {"0.0.0.0": "127.0.0.1", "": "127.0.0.1", "[::]": "::1"}.get(host, host.strip("[]"))
    try:
        socket.create_connection((name, int(port)), _CONNECT_SECONDS).close()
    except (OSError, ValueError):
        raise NotFound(
            f"No server answers at {settings.listen}.", suggestions=("Start the reader: pagekeep serve",)
        ) from None
    page = f"items/{item.id}" if item else ""
    return f"http://{f'[{name}]' if ':' in name else name}:{port}/{page}"


_MAX_COLUMNS: Final = 100
"""Longer lines of text are tiring to read."""


def show_article(item: Item) -> None:
    """Show the page; in the pager (the variable PAGER, else `less`) when it does not fit the screen."""
    columns, rows = shutil.get_terminal_size()
    text = _render(item, min(_MAX_COLUMNS, columns))
    if text.count("\n") < rows:
        write(text)
    else:
        click.echo_via_pager(text, color=True)


def _render(item: Item, columns: int) -> str:
    from rich.console import Console
    from rich.markdown import Markdown

    content = item.content
    _, _, body = (
        content.partition("---\n")[2].partition("\n---\n") if content.startswith("---\n") else ("", "", content)
    )
    out = StringIO()
    console = Console(file=out, width=columns, force_terminal=True)
    console.print(Markdown(remove_control_chars(body or content)))
    return "\n".join([*_header(item), "", out.getvalue()])


def _header(item: Item) -> Iterator[str]:
    """Yield what is known about the page: title, author and dates, address, quality, tags."""
    about = item.metadata
    facts = (item.author, about.site_name or item.domain, (item.published_at or "")[:10], about.reading_time)
    yield click.style(printable(item.title), bold=True)
    yield " · ".join(printable(fact) for fact in facts if fact)
    yield click.style(printable(item.url_full), underline=True)
    yield f"{quality_line(item)}, saved {item.saved_at[:10]}"
    if about.tags:
        yield f"Tags: {', '.join(map(printable, about.tags))}"
