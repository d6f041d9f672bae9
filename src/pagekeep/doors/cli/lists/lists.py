"""`pagekeep lists`: saved searches, and lists that the user fills."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pagekeep.doors.cli.item_output import result_line, show_items, show_results
from pagekeep.doors.cli.open_library import open_library
from pagekeep.doors.cli.options import examples, library_options
from pagekeep.doors.cli.output import show_table, write, write_json
from pagekeep.text import printable

if TYPE_CHECKING:
    from pagekeep.model.lists.values import Done, ItemList


@click.group(
    invoke_without_command=True,
    epilog=examples(
        "lists",
        'lists add "To read"',
        'lists add Harbours --search "tag:harbour -is:archived"',
        'lists show "To read"',
        'lists put "To read" 3f2a 77c1',
        'lists move "To read" 77c1 --before 3f2a',
    ),
)
@library_options
@click.pass_context
def lists(context: click.Context, library: str | None, user: str | None, as_json: bool) -> None:
    """Show your lists and their pages, and change them.

    A list is a saved search, which finds its pages itself, or one that you fill and order. In searches: `list:"To read"`.
    """
    if context.invoked_subcommand is not None:
        return
    with open_library(library, user, as_json) as (_, store):
        from pagekeep.library.lists.lists import count_lists, list_lists
        from pagekeep.present.lists.list_shapes import list_shape

        found, counts = list_lists(store), count_lists(store)
        if as_json:
            write_json({"lists": [list_shape(one, counts.get(one.id)) for one in found]})
            return
        rows = [[one.name, _kind(one), str(counts.get(one.id, ""))] for one in found]
        if rows:
            show_table([["NAME", "KIND", "PAGES"], *rows])


def _kind(one: ItemList) -> str:
    return f"search: {one.query}" if one.kind == "search" else "manual"


@lists.command()
@click.argument("name")
@click.option("--search", metavar="QUERY", help="Make it a saved search.")
@library_options
def add(name: str, search: str | None, library: str | None, user: str | None, as_json: bool) -> None:
    """Add a list: one to fill, or a saved search."""
    with open_library(library, user, as_json) as (_, store):
        from pagekeep.library.lists.lists import add_list

        _show(add_list(store, name, search), as_json, "Added")


@lists.command()
@click.argument("name", metavar="LIST")
@click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True, help="Pages at most.")
@library_options
def show(name: str, limit: int, library: str | None, user: str | None, as_json: bool) -> None:
    """Show the pages of a list."""
    with open_library(library, user, as_json) as (_, store):
        from pagekeep.library.lists.lists import get_list, list_page
        from pagekeep.present.json_shapes import items_shape

        page = list_page(store, get_list(store, name), limit=limit)
        if as_json:
            write_json(items_shape(page.items, page.next))
        else:
            show_items(page.items)


@lists.command()
@click.argument("name", metavar="LIST")
@click.option("--name", "new_name", help="The new name.")
@click.option("--search", metavar="QUERY", help="The new search of a saved search.")
@library_options
def change(
    name: str, new_name: str | None, search: str | None, library: str | None, user: str | None, as_json: bool
) -> None:
    """Rename a list, or change its search."""
    with open_library(library, user, as_json) as (_, store):
        from pagekeep.library.lists.lists import change_list

        _show(change_list(store, name, name=new_name, query=search), as_json, "Changed")


@lists.command()
@click.argument("name", metavar="LIST")
@library_options
def delete(name: str, library: str | None, user: str | None, as_json: bool) -> None:
    """Delete a list; its pages stay in the library."""
    with open_library(library, user, as_json) as (_, store):
        from pagekeep.library.lists.lists import remove_list

        _show(remove_list(store, name), as_json, "Deleted")


@lists.command()
@click.argument("name", metavar="LIST")
@click.argument("keys", nargs=-1, required=True, metavar="ID|URL...")
@library_options
def put(name: str, keys: tuple[str, ...], library: str | None, user: str | None, as_json: bool) -> None:
    """Add pages at the end of a list."""
    with open_library(library, user, as_json) as (settings, store):
        from pagekeep.library.items import get_item
        from pagekeep.library.lists.lists import add_items
        from pagekeep.library.undo import remember_action

        done = add_items(store, name, [get_item(store, key).id for key in keys])
        remember_action(settings, "lists put", done.action.id)
        _show_done(done, as_json)


@lists.command()
@click.argument("name", metavar="LIST")
@click.argument("keys", nargs=-1, required=True, metavar="ID|URL...")
@library_options
def take(name: str, keys: tuple[str, ...], library: str | None, user: str | None, as_json: bool) -> None:
    """Remove pages from a list; they stay in the library."""
    with open_library(library, user, as_json) as (settings, store):
        from pagekeep.library.items import get_item
        from pagekeep.library.lists.lists import remove_items
        from pagekeep.library.undo import remember_action

        done = remove_items(store, name, [get_item(store, key).id for key in keys])
        remember_action(settings, "lists take", done.action.id)
        _show_done(done, as_json)


@lists.command()
@click.argument("name", metavar="LIST")
@click.argument("key", metavar="ID|URL")
@click.option("--before", metavar="ID|URL", help="The page before which it is to be; default: the end.")
@library_options
def move(name: str, key: str, before: str | None, library: str | None, user: str | None, as_json: bool) -> None:
    """Move a page of a list before another one, or to the end."""
    with open_library(library, user, as_json) as (_, store):
        from pagekeep.library.items import get_item
        from pagekeep.library.lists.lists import move_item

        item = get_item(store, key)
        move_item(store, name, item.id, before=get_item(store, before).id if before else None)
        show_results([item], as_json, result_line("Moved"))


def _show_done(done: Done, as_json: bool) -> None:
    show_results(done.items, as_json, result_line(done.action.label))


def _show(one: ItemList, as_json: bool, word: str) -> None:
    if as_json:
        from pagekeep.present.lists.list_shapes import list_shape

        write_json({"list": list_shape(one)})
    else:
        write(f"{word} the list {printable(one.name)}")
