"""`pagekeep list`, `search`, `read` and `stats`: looking into the library."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from pagekeep.doors.cli.open_library import day_or_moment, examples, library_options, opened, short, show_items
from pagekeep.doors.cli.output import on_terminal, printable, show_table, without_controls, write, write_json

if TYPE_CHECKING:
    from pagekeep.model import Hit

LEVELS = ("article", "simplified", "bookmark", "discarded")


def _paged(command: Any) -> Any:
    command = click.option("--after", metavar="KEY", help="Go on where the page before ended.")(command)
    return click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="So many.")(
        command
    )


@click.command(
    "list",
    epilog=examples(
        "list",
        "list --tag harbour --order title",
        "list --archived --domain example.com",
        "list --json | jq -r '.items[].url'",
    ),
)
@click.option("--domain", help="Only pages of this domain.")
@click.option("--tag", "tags", multiple=True, help="Only pages with this tag; with several, those that have them all.")
@click.option("--pinned", is_flag=True, help="Only pinned pages.")
@click.option("--archived", is_flag=True, help="Archived pages, in place of the others.")
@click.option("--all", "everything", is_flag=True, help="Archived and not.")
@click.option("--deleted", is_flag=True, help="Deleted pages, in place of the others.")
@click.option("--quality", type=click.Choice(LEVELS), help="Only pages of this level.")
@click.option("--saved-after", metavar="DATE", callback=day_or_moment, help="Only pages saved on this day or later.")
@click.option("--saved-before", metavar="DATE", callback=day_or_moment, help="Only pages saved before this day.")
@click.option(
    "--order", type=click.Choice(("saved", "opened", "title", "published")), default="saved", show_default=True
)
@click.option("--reverse", is_flag=True, help="Oldest first; by title, Z first.")
@_paged
@library_options
def list_items(library: str | None, user: str | None, as_json: bool, **asked: Any) -> None:
    """List saved pages, the newest first."""
    with opened(library, user, as_json) as (_, store):
        from pagekeep.present.json_shapes import items_shape

        order = asked["order"]
        page = store.list_items(
            _filter(asked),
            order=order,
            descending=(order != "title") != asked["reverse"],
            limit=asked["limit"],
            after=asked["after"],
        )
        if as_json:
            write_json(items_shape(page.items, page.next))
            return
        if page.items or not on_terminal():
            show_items(page.items)
        if not page.items and sys.stderr.isatty():
            nothing_saved = not any(store.stats()[name] for name in ("items", "deleted"))
            click.echo("Nothing saved yet. pagekeep save URL" if nothing_saved else "Nothing found.", err=True)
        _tell_of_more(page.next)


def _filter(asked: dict[str, Any]) -> Any:
    from pagekeep.model import ItemFilter

    return ItemFilter(
        domain=asked["domain"],
        tags=asked["tags"],
        pinned=True if asked["pinned"] else None,
        archived=None if asked["everything"] or asked["deleted"] else asked["archived"],
        deleted=asked["deleted"],
        quality=asked["quality"],
        saved_after=asked["saved_after"],
        saved_before=asked["saved_before"],
    )


def _tell_of_more(key: str | None) -> None:
    if key:
        click.echo(f"There are more: --after {key}", err=True)


@click.command(
    epilog=examples(
        "search lighthouse keeper",
        "search '\"harbour wall\" -storm is:pinned domain:example.com'",
        "search 灯台 --json",
    )
)
@click.argument("words", nargs=-1, required=True, metavar="WORDS...")
@_paged
@library_options
def search(
    words: tuple[str, ...], limit: int, after: str | None, library: str | None, user: str | None, as_json: bool
) -> None:
    """Find pages by their words, best first; also is:pinned, domain:, tag:, before:, "a phrase" and -without."""
    with opened(library, user, as_json) as (_, store):
        from pagekeep.present.json_shapes import hit_shape

        page = store.search(" ".join(words), limit=limit, after=after)
        if as_json:
            write_json({"items": [hit_shape(hit) for hit in page.hits], "next": page.next})
            return
        for hit in page.hits:
            write(_hit_lines(hit))
        if not page.hits:
            click.echo("Nothing found.", err=True)
        _tell_of_more(page.next)


def _hit_lines(hit: Hit) -> str:
    item, snippet = hit.item, printable(hit.snippet)
    if not on_terminal():
        return "\t".join((item.id, printable(item.title), item.url, snippet))
    lit = "".join(
        click.style(part, bold=bool(number % 2)) for number, part in enumerate(snippet.replace("]]", "[[").split("[["))
    )
    return f"{short(item.id)}  {click.style(printable(item.title), bold=True)}  {item.domain}\n          {lit}"


@click.command(
    epilog=examples("read 3f2a", "read https://example.com/post > post.md", "read 3f2a --json | jq .items[0].content")
)
@click.argument("key", metavar="ID|URL")
@library_options
def read(key: str, library: str | None, user: str | None, as_json: bool) -> None:
    """Read a saved page: laid out on a terminal, as Markdown in a pipe."""
    with opened(library, user, as_json) as (_, store):
        from pagekeep.library.items import opened as open_item
        from pagekeep.present.json_shapes import item_shape

        item = open_item(store, key)
        if as_json:
            write_json({"items": [item_shape(item, content=True)], "next": None})
        elif on_terminal():
            _show_document(item.content)
        else:
            write(item.content)


def _show_document(content: str) -> None:
    from rich.console import Console
    from rich.markdown import Markdown

    _, _, body = (
        content.partition("---\n")[2].partition("\n---\n") if content.startswith("---\n") else ("", "", content)
    )
    Console(width=min(100, Console().width)).print(Markdown(without_controls(body or content)))


@click.command(epilog=examples("stats", "stats --json"))
@library_options
def stats(library: str | None, user: str | None, as_json: bool) -> None:
    """Count what is in the library."""
    with opened(library, user, as_json) as (_, store):
        counts = dict(store.stats())
        if as_json:
            write_json({"stats": counts})
            return
        show_table([["what", "count"], *_rows(counts)])


def _rows(counts: dict[str, Any], above: str = "") -> list[list[str]]:
    rows: list[list[str]] = []
    for name, value in counts.items():
        shown = f"{above}{name}".replace("_", " ")
        if isinstance(value, dict):
            rows += _rows(value, f"{shown}: ")
        else:
            rows.append([shown, f"{value:,}" if isinstance(value, int) else str(value)])
    return rows
