"""`pagekeep lists` and `pagekeep save-rules`: lists of pages, and what happens to new pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from pagekeep.doors.cli.item_output import result_line, short_id, show_items
from pagekeep.doors.cli.lazy import lazily
from pagekeep.doors.cli.open_library import OpenLibrary, library_command
from pagekeep.doors.cli.options import examples
from pagekeep.doors.cli.output import format_count, show_table, write, write_json
from pagekeep.text import printable

with lazily():
    from pagekeep.library.items import save_rules as rules
    from pagekeep.library.items.find import get_item
    from pagekeep.library.items.lists import (
        add_items,
        add_list,
        change_list,
        count_lists,
        list_page,
        move_item,
        remove_items,
        remove_list,
    )
    from pagekeep.library.items.save_rules import (
        apply_rule_whole,
        change_rule,
        describe_actions,
        remove_rule,
        try_rule,
    )
    from pagekeep.model.lists import ItemList, SaveActions, SaveRule
    from pagekeep.present import list_shapes
    from pagekeep.present.json_shapes import items_shape, to_json


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
@library_command
def lists(opened: OpenLibrary) -> None:
    """Show your lists and their pages, and change them.

    A list is a saved search, which finds its pages itself, or one that you fill and order. In searches: `list:"To read"`.
    """
    found, counts = opened.store.lists.list(), count_lists(opened.store)
    if opened.as_json:
        write_json({"lists": [to_json(list_shapes.ItemList, one, count=counts.get(one.id)) for one in found]})
        return
    rows = [[one.name, _kind(one), str(counts.get(one.id, ""))] for one in found]
    if rows:
        show_table([["NAME", "KIND", "PAGES"], *rows])


def _kind(one: ItemList) -> str:
    return f"search: {one.query}" if one.kind == "search" else "manual"


@lists.command()
@click.argument("name")
@click.option("--search", metavar="QUERY", help="Make it a saved search.")
@library_command
def add(opened: OpenLibrary, name: str, search: str | None) -> None:
    """Add a list: one to fill, or a saved search."""
    _show(opened, add_list(opened.store, name, search), "Added")


@lists.command()
@click.argument("name", metavar="LIST")
@click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True, help="Pages at most.")
@library_command
def show(opened: OpenLibrary, name: str, limit: int) -> None:
    """Show the pages of a list."""
    page = list_page(opened.store, opened.store.lists.get(name), limit=limit)
    if opened.as_json:
        write_json(items_shape(page.items, page.next))
    else:
        show_items(page.items)


@lists.command()
@click.argument("name", metavar="LIST")
@click.option("--name", "new_name", help="The new name.")
@click.option("--search", metavar="QUERY", help="The new search of a saved search.")
@library_command
def change(opened: OpenLibrary, name: str, new_name: str | None, search: str | None) -> None:
    """Rename a list, or change its search."""
    _show(opened, change_list(opened.store, name, name=new_name, query=search), "Changed")


@lists.command()
@click.argument("name", metavar="LIST")
@library_command
def delete(opened: OpenLibrary, name: str) -> None:
    """Delete a list; its pages stay in the library."""
    _show(opened, remove_list(opened.store, name), "Deleted")


@lists.command()
@click.argument("name", metavar="LIST")
@click.argument("keys", nargs=-1, required=True, metavar="ID|URL...")
@library_command
def put(opened: OpenLibrary, name: str, keys: tuple[str, ...]) -> None:
    """Add pages at the end of a list."""
    done = add_items(opened.store, name, [get_item(opened.store, key).id for key in keys])
    opened.remember("lists put", done.action.id)
    opened.show_items(done.items, result_line(done.action.label))


@lists.command()
@click.argument("name", metavar="LIST")
@click.argument("keys", nargs=-1, required=True, metavar="ID|URL...")
@library_command
def take(opened: OpenLibrary, name: str, keys: tuple[str, ...]) -> None:
    """Remove pages from a list; they stay in the library."""
    done = remove_items(opened.store, name, [get_item(opened.store, key).id for key in keys])
    opened.remember("lists take", done.action.id)
    opened.show_items(done.items, result_line(done.action.label))


@lists.command()
@click.argument("name", metavar="LIST")
@click.argument("key", metavar="ID|URL")
@click.option("--before", metavar="ID|URL", help="The page before which it is to be; default: the end.")
@library_command
def move(opened: OpenLibrary, name: str, key: str, before: str | None) -> None:
    """Move a page of a list before another one, or to the end."""
    item = get_item(opened.store, key)
    move_item(opened.store, name, item.id, before=get_item(opened.store, before).id if before else None)
    opened.show_items([item], result_line("Moved"))


def _show(opened: OpenLibrary, one: ItemList, word: str) -> None:
    opened.show({"list": to_json(list_shapes.ItemList, one, count=None)}, f"{word} the list {printable(one.name)}")


def _action_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that say what a rule does."""
    for option in (
        click.option("--tag", "tags", multiple=True, metavar="TAG", help="Add this tag. Can be repeated."),
        click.option("--archive", is_flag=True, help="Archive the page."),
        click.option("--pin", is_flag=True, help="Pin the page."),
        click.option("--keep-pictures", type=click.Choice(("all", "hero", "none")), help="In place of the setting."),
        click.option("--list", "lists", multiple=True, metavar="LIST", help="Add to this list. Can be repeated."),
    ):
        command = option(command)
    return command


@click.group(
    "save-rules",
    invoke_without_command=True,
    epilog=examples(
        "save-rules",
        "save-rules try domain:example.com --tag harbour --archive",
        "save-rules add domain:example.com --tag harbour --archive --name Harbours",
        "save-rules on Harbours",
        "save-rules apply Harbours",
    ),
)
@library_command
def save_rules(opened: OpenLibrary) -> None:
    """Show and change save rules: what happens to new pages.

    A rule applies to pages that a search finds when they are saved, imported or kept from a feed. A new rule is switched off:
    `try` shows what it would do with the pages of the library.
    """
    found = opened.store.save_rules.list()
    if opened.as_json:
        write_json({"rules": [to_json(list_shapes.SaveRule, rule) for rule in found]})
        return
    rows = [
        [
            rule.name,
            "on" if rule.enabled else "off",
            rule.query,
            ", ".join(describe_actions(opened.store, rule.actions)),
        ]
        for rule in found
    ]
    if rows:
        show_table([["NAME", "STATE", "PAGES", "ACTIONS"], *rows])


@save_rules.command("try")
@click.argument("query")
@_action_options
@library_command
def try_(opened: OpenLibrary, query: str, **given: Any) -> None:
    """Show what a rule would do with the pages of the library; nothing is changed."""
    trial = try_rule(opened.store, query, _actions(given))
    if opened.as_json:
        write_json(dict(to_json(list_shapes.TrialShape, trial)))
        return
    write(f"The rule finds {format_count(trial.count, 'page')}.")
    for effect in trial.effects:
        changes = ", ".join(effect.changes) or "nothing to change"
        write(f"{short_id(effect.item.id)}  {printable(effect.item.title)}: {printable(changes)}")


@save_rules.command("add")
@click.argument("query")
@click.option("--name", default="", help="A name for the rule; default: the search.")
@_action_options
@library_command
def add_rule(opened: OpenLibrary, query: str, name: str, **given: Any) -> None:
    """Add a rule, switched off."""
    _show_rule(opened, rules.add_rule(opened.store, name, query, _actions(given)), "Added")


def _switch(name: str, help: str, *, enabled: bool) -> None:
    @save_rules.command(name, help=help)
    @click.argument("key", metavar="RULE")
    @library_command
    def command(opened: OpenLibrary, key: str) -> None:
        _show_rule(opened, change_rule(opened.store, key, enabled=enabled), f"Switched {name}")


def _show_rule(opened: OpenLibrary, rule: SaveRule, word: str) -> None:
    opened.show({"rule": to_json(list_shapes.SaveRule, rule)}, f"{word} the save rule {printable(rule.name)}")


_switch("on", "Switch a rule on: it applies to new pages.", enabled=True)
_switch("off", "Switch a rule off.", enabled=False)


@save_rules.command()
@click.argument("key", metavar="RULE")
@library_command
def apply(opened: OpenLibrary, key: str) -> None:
    """Do what a rule does to the pages that are in the library. `undo` takes it back."""
    done = apply_rule_whole(opened.store, key)
    opened.remember("save-rules apply", done.id)
    opened.show(
        {"action": to_json(list_shapes.Action, done)}, f"{printable(done.label)}: {format_count(done.changed, 'page')}"
    )


@save_rules.command("delete")
@click.argument("key", metavar="RULE")
@library_command
def delete_rule(opened: OpenLibrary, key: str) -> None:
    """Delete a rule; what it changed stays."""
    _show_rule(opened, remove_rule(opened.store, key), "Deleted")


def _actions(given: dict[str, Any]) -> SaveActions:
    return SaveActions(given["tags"], given["archive"], given["pin"], given["keep_pictures"], given["lists"])
