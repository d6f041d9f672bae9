"""`pagekeep lists` and `pagekeep save-rules`: lists of pages, and what happens to new pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from pagekeep.doors.cli.item_output import result_line, short_id, show_items, show_results
from pagekeep.doors.cli.open_library import open_library
from pagekeep.doors.cli.options import examples, library_options
from pagekeep.doors.cli.output import format_count, show_table, write, write_json
from pagekeep.text import printable

if TYPE_CHECKING:
    from pagekeep.model.lists import Done, ItemList, SaveActions, SaveRule


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
        from pagekeep.library.items.lists import count_lists
        from pagekeep.present.list_shapes import list_shape

        found, counts = store.lists.list(), count_lists(store)
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
        from pagekeep.library.items.lists import add_list

        _show(add_list(store, name, search), as_json, "Added")


@lists.command()
@click.argument("name", metavar="LIST")
@click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True, help="Pages at most.")
@library_options
def show(name: str, limit: int, library: str | None, user: str | None, as_json: bool) -> None:
    """Show the pages of a list."""
    with open_library(library, user, as_json) as (_, store):
        from pagekeep.library.items.lists import list_page
        from pagekeep.present.json_shapes import items_shape

        page = list_page(store, store.lists.get(name), limit=limit)
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
        from pagekeep.library.items.lists import change_list

        _show(change_list(store, name, name=new_name, query=search), as_json, "Changed")


@lists.command()
@click.argument("name", metavar="LIST")
@library_options
def delete(name: str, library: str | None, user: str | None, as_json: bool) -> None:
    """Delete a list; its pages stay in the library."""
    with open_library(library, user, as_json) as (_, store):
        from pagekeep.library.items.lists import remove_list

        _show(remove_list(store, name), as_json, "Deleted")


@lists.command()
@click.argument("name", metavar="LIST")
@click.argument("keys", nargs=-1, required=True, metavar="ID|URL...")
@library_options
def put(name: str, keys: tuple[str, ...], library: str | None, user: str | None, as_json: bool) -> None:
    """Add pages at the end of a list."""
    with open_library(library, user, as_json) as (settings, store):
        from pagekeep.library.items.change import remember_action
        from pagekeep.library.items.find import get_item
        from pagekeep.library.items.lists import add_items

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
        from pagekeep.library.items.change import remember_action
        from pagekeep.library.items.find import get_item
        from pagekeep.library.items.lists import remove_items

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
        from pagekeep.library.items.find import get_item
        from pagekeep.library.items.lists import move_item

        item = get_item(store, key)
        move_item(store, name, item.id, before=get_item(store, before).id if before else None)
        show_results([item], as_json, result_line("Moved"))


def _show_done(done: Done, as_json: bool) -> None:
    show_results(done.items, as_json, result_line(done.action.label))


def _show(one: ItemList, as_json: bool, word: str) -> None:
    if as_json:
        from pagekeep.present.list_shapes import list_shape

        write_json({"list": list_shape(one)})
    else:
        write(f"{word} the list {printable(one.name)}")


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
@library_options
@click.pass_context
def save_rules(context: click.Context, library: str | None, user: str | None, as_json: bool) -> None:
    """Show and change save rules: what happens to new pages.

    A rule applies to pages that a search finds when they are saved, imported or kept from a feed. A new rule is switched off:
    `try` shows what it would do with the pages of the library.
    """
    if context.invoked_subcommand is not None:
        return
    with open_library(library, user, as_json) as (_, store):
        from pagekeep.library.items.save_rules import describe_actions
        from pagekeep.present.list_shapes import rule_shape

        found = store.save_rules.list()
        if as_json:
            write_json({"rules": [rule_shape(rule) for rule in found]})
            return
        rows = [
            [rule.name, "on" if rule.enabled else "off", rule.query, ", ".join(describe_actions(store, rule.actions))]
            for rule in found
        ]
        if rows:
            show_table([["NAME", "STATE", "PAGES", "ACTIONS"], *rows])


@save_rules.command("try")
@click.argument("query")
@_action_options
@library_options
def try_(query: str, library: str | None, user: str | None, as_json: bool, **given: Any) -> None:
    """Show what a rule would do with the pages of the library; nothing is changed."""
    with open_library(library, user, as_json) as (_, store):
        from pagekeep.library.items.save_rules import try_rule
        from pagekeep.present.list_shapes import trial_shape

        trial = try_rule(store, query, _actions(given))
        if as_json:
            write_json(dict(trial_shape(trial)))
            return
        write(f"The rule finds {format_count(trial.count, 'page')}.")
        for effect in trial.effects:
            changes = ", ".join(effect.changes) or "nothing to change"
            write(f"{short_id(effect.item.id)}  {printable(effect.item.title)}: {printable(changes)}")


@save_rules.command("add")
@click.argument("query")
@click.option("--name", default="", help="A name for the rule; default: the search.")
@_action_options
@library_options
def add_rule(query: str, name: str, library: str | None, user: str | None, as_json: bool, **given: Any) -> None:
    """Add a rule, switched off."""
    with open_library(library, user, as_json) as (_, store):
        from pagekeep.library.items.save_rules import add_rule

        _show_rule(add_rule(store, name, query, _actions(given)), as_json, "Added")


def _switch(name: str, help: str, *, enabled: bool) -> None:
    @save_rules.command(name, help=help)
    @click.argument("key", metavar="RULE")
    @library_options
    def command(key: str, library: str | None, user: str | None, as_json: bool) -> None:
        with open_library(library, user, as_json) as (_, store):
            from pagekeep.library.items.save_rules import change_rule

            _show_rule(change_rule(store, key, enabled=enabled), as_json, f"Switched {name}")


def _show_rule(rule: SaveRule, as_json: bool, word: str) -> None:
    if as_json:
        from pagekeep.present.list_shapes import rule_shape

        write_json({"rule": rule_shape(rule)})
    else:
        write(f"{word} the save rule {printable(rule.name)}")


_switch("on", "Switch a rule on: it applies to new pages.", enabled=True)
_switch("off", "Switch a rule off.", enabled=False)


@save_rules.command()
@click.argument("key", metavar="RULE")
@library_options
def apply(key: str, library: str | None, user: str | None, as_json: bool) -> None:
    """Do what a rule does to the pages that are in the library. `undo` takes it back."""
    with open_library(library, user, as_json) as (settings, store):
        from pagekeep.library.items.change import remember_action
        from pagekeep.library.items.save_rules import apply_rule_whole
        from pagekeep.present.list_shapes import action_shape

        done = apply_rule_whole(store, key)
        remember_action(settings, "save-rules apply", done.id)
        if as_json:
            write_json({"action": action_shape(done)})
        else:
            write(f"{printable(done.label)}: {format_count(done.changed, 'page')}")


@save_rules.command("delete")
@click.argument("key", metavar="RULE")
@library_options
def delete_rule(key: str, library: str | None, user: str | None, as_json: bool) -> None:
    """Delete a rule; what it changed stays."""
    with open_library(library, user, as_json) as (_, store):
        from pagekeep.library.items.save_rules import remove_rule

        _show_rule(remove_rule(store, key), as_json, "Deleted")


def _actions(given: dict[str, Any]) -> SaveActions:
    from pagekeep.model.lists import SaveActions

    return SaveActions(given["tags"], given["archive"], given["pin"], given["keep_pictures"], given["lists"])
