"""`pagekeep save-rules`: what happens to new pages that a search finds."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from pagekeep.doors.cli.item_output import short_id
from pagekeep.doors.cli.open_library import open_library
from pagekeep.doors.cli.options import examples, library_options
from pagekeep.doors.cli.output import format_count, show_table, write, write_json
from pagekeep.text import printable

if TYPE_CHECKING:
    from pagekeep.model.lists.values import SaveActions, SaveRule


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
        from pagekeep.library.lists.save_rules import describe_actions, list_rules
        from pagekeep.present.lists.list_shapes import rule_shape

        found = list_rules(store)
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
        from pagekeep.library.lists.save_rules import try_rule
        from pagekeep.present.lists.list_shapes import trial_shape

        trial = try_rule(store, query, _actions(given))
        if as_json:
            write_json(dict(trial_shape(trial)))
            return
        write(f"The rule finds {format_count(trial.count, 'page')}.")
        for effect in trial.effects:
            changes = ", ".join(effect.changes) or "nothing to change"
            write(f"{short_id(effect.item.id)}  {printable(effect.item.title)}: {printable(changes)}")


@save_rules.command()
@click.argument("query")
@click.option("--name", default="", help="A name for the rule; default: the search.")
@_action_options
@library_options
def add(query: str, name: str, library: str | None, user: str | None, as_json: bool, **given: Any) -> None:
    """Add a rule, switched off."""
    with open_library(library, user, as_json) as (_, store):
        from pagekeep.library.lists.save_rules import add_rule

        _show(add_rule(store, name, query, _actions(given)), as_json, "Added")


def _switch(name: str, help: str, *, enabled: bool) -> None:
    @save_rules.command(name, help=help)
    @click.argument("key", metavar="RULE")
    @library_options
    def command(key: str, library: str | None, user: str | None, as_json: bool) -> None:
        with open_library(library, user, as_json) as (_, store):
            from pagekeep.library.lists.save_rules import change_rule

            _show(change_rule(store, key, enabled=enabled), as_json, f"Switched {name}")


_switch("on", "Switch a rule on: it applies to new pages.", enabled=True)
_switch("off", "Switch a rule off.", enabled=False)


@save_rules.command()
@click.argument("key", metavar="RULE")
@library_options
def apply(key: str, library: str | None, user: str | None, as_json: bool) -> None:
    """Do what a rule does to the pages that are in the library. `undo` takes it back."""
    with open_library(library, user, as_json) as (settings, store):
        from pagekeep.library.lists.save_rules import apply_rule_whole
        from pagekeep.library.undo import remember_action
        from pagekeep.present.lists.list_shapes import action_shape

        done = apply_rule_whole(store, key)
        remember_action(settings, "save-rules apply", done.id)
        if as_json:
            write_json({"action": action_shape(done)})
        else:
            write(f"{printable(done.label)}: {format_count(done.changed, 'page')}")


@save_rules.command()
@click.argument("key", metavar="RULE")
@library_options
def delete(key: str, library: str | None, user: str | None, as_json: bool) -> None:
    """Delete a rule; what it changed stays."""
    with open_library(library, user, as_json) as (_, store):
        from pagekeep.library.lists.save_rules import remove_rule

        _show(remove_rule(store, key), as_json, "Deleted")


def _actions(given: dict[str, Any]) -> SaveActions:
    from pagekeep.model.lists.values import SaveActions

    return SaveActions(given["tags"], given["archive"], given["pin"], given["keep_pictures"], given["lists"])


def _show(rule: SaveRule, as_json: bool, word: str) -> None:
    if as_json:
        from pagekeep.present.lists.list_shapes import rule_shape

        write_json({"rule": rule_shape(rule)})
    else:
        write(f"{word} the save rule {printable(rule.name)}")
