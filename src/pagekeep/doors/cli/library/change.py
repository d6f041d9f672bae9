"""`pagekeep pin`, `archive`, `tag`, `delete`, `restore`, `purge` and their opposites: change items."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pagekeep.doors.cli.item_output import result_line, show_results
from pagekeep.doors.cli.open_library import open_library
from pagekeep.doors.cli.options import examples, library_options, parse_date
from pagekeep.doors.cli.output import format_count, write, write_json
from pagekeep.text import printable

if TYPE_CHECKING:
    from pagekeep.library.actions import Move
    from pagekeep.library.open import Store


def _make_command(name: Move, help: str, done: str) -> click.Command:
    """Return a command that applies one action to the items named."""

    @click.command(name, help=help, epilog=examples(f"{name} 3f2a", f"{name} https://example.com/post"))
    @click.argument("keys", nargs=-1, required=True, metavar="ID|URL...")
    @library_options
    def command(keys: tuple[str, ...], library: str | None, user: str | None, as_json: bool) -> None:
        with open_library(library, user, as_json) as (settings, store):
            from pagekeep.library.actions import MOVES, change_selected
            from pagekeep.library.items import get_item
            from pagekeep.library.undo import remember_action

            # All first: a typo must stop before any change.
            ids = list(dict.fromkeys(get_item(store, key).id for key in keys))
            changed = change_selected(store, ids, MOVES[name], done)
            remember_action(settings, name, changed.action.id)
            show_results(changed.items, as_json, result_line(done))

    return command


pin = _make_command("pin", "Pin pages.", "Pinned")
unpin = _make_command("unpin", "Unpin pages.", "Unpinned")
archive = _make_command("archive", "Archive pages.", "Archived")
unarchive = _make_command("unarchive", "Take pages out of the archive.", "Unarchived")
delete = _make_command("delete", "Delete pages; `undo` or `restore` brings them back until they are purged.", "Deleted")
_restore_deleted = _make_command("restore", "Restore deleted pages.", "Restored")


@click.command(epilog=examples("keep 3f2a", "keep https://example.com/post"))
@click.argument("keys", nargs=-1, required=True, metavar="ID|URL...")
@library_options
def keep(keys: tuple[str, ...], library: str | None, user: str | None, as_json: bool) -> None:
    """Keep the bookmarks of pages that could not be saved: they move from the list of failed saves to the inbox."""
    with open_library(library, user, as_json) as (settings, store):
        from pagekeep.library import actions
        from pagekeep.library.items import get_item
        from pagekeep.library.undo import remember_action
        from pagekeep.model.lists.values import ItemChange

        change = ItemChange(failed=False)
        done = actions.change_selected(
            store, [get_item(store, key).id for key in keys], change, actions.describe(change)
        )
        remember_action(settings, "keep", done.action.id)
        show_results(done.items, as_json, result_line("Kept"))


@click.command(epilog=examples("restore 3f2a", "restore 3f2a --version 2"))
@click.argument("keys", nargs=-1, required=True, metavar="ID|URL...")
@click.option("--version", type=click.IntRange(1), help="Make this version of the page the current one again.")
@library_options
def restore(keys: tuple[str, ...], version: int | None, library: str | None, user: str | None, as_json: bool) -> None:
    """Restore deleted pages, or an earlier version of a page."""
    if version is None:
        callback = _restore_deleted.callback
        if callback is not None:
            callback(keys=keys, library=library, user=user, as_json=as_json)
        return
    if len(keys) != 1:
        raise click.UsageError("Give one page with --version.")
    with open_library(library, user, as_json) as (settings, store):
        from pagekeep.doors.cli.library.history import with_retrieval
        from pagekeep.library.history.versions import restore_version

        item = with_retrieval(settings, lambda retrieval: restore_version(store, keys[0], retrieval, version))
        show_results([item], as_json, result_line(f"Restored version {version}"))


@click.command(epilog=examples("tag 3f2a harbour history", "tag 3f2a --remove harbour", "tag 3f2a"))
@click.argument("key", metavar="ID|URL")
@click.argument("tags", nargs=-1, metavar="[TAG]...")
@click.option("--remove", multiple=True, metavar="TAG", help="Remove this tag. Can be repeated.")
@library_options
def tag(
    key: str, tags: tuple[str, ...], remove: tuple[str, ...], library: str | None, user: str | None, as_json: bool
) -> None:
    """Add tags to a page or remove them, and show its tags, and on stderr those that Pagekeep suggests for it."""
    with open_library(library, user, as_json) as (settings, store):
        from pagekeep.library.actions import change_selected, describe
        from pagekeep.library.items import get_item
        from pagekeep.library.undo import remember_action
        from pagekeep.model.lists.values import ItemChange

        item = get_item(store, key)
        if tags or remove:
            change = ItemChange(add_tags=tags, remove_tags=remove)
            done = change_selected(store, [item.id], change, describe(change))
            remember_action(settings, "tag", done.action.id)
            (item,) = done.items
        show_results([item], as_json, lambda item: ", ".join(item.metadata.tags))
        if item.metadata.open_suggestions and not as_json:
            click.echo(f"Suggested: {printable(', '.join(item.metadata.open_suggestions))}", err=True)


@click.command(epilog=examples("purge", "purge 3f2a", "purge --deleted-before 2025-01-01"))
@click.argument("keys", nargs=-1, metavar="[ID|URL]...")
@click.option("--deleted-before", metavar="DATE", callback=parse_date, help="Only pages deleted before this date.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@library_options
def purge(
    keys: tuple[str, ...],
    deleted_before: str | None,
    yes: bool,
    library: str | None,
    user: str | None,
    as_json: bool,
) -> None:
    """Permanently remove deleted pages: all of them, or the ones named."""
    with open_library(library, user, as_json) as (settings, store):
        from pagekeep.library.actions import purge_items
        from pagekeep.library.items import get_item
        from pagekeep.library.undo import forget_change

        ids = [get_item(store, key).id for key in keys] or None
        if not (yes or as_json or ids):
            if not _has_deleted(store):
                write("There are no deleted pages.")
                return
            if not click.confirm("Permanently remove deleted pages?", err=True):
                return
        removed = purge_items(store, ids, deleted_before=deleted_before)
        if removed:
            forget_change(settings, "The last change was a purge, which cannot be undone.")
        if as_json:
            write_json({"purged": removed})
        else:
            write(f"Permanently removed {format_count(removed, 'page')}.")


def _has_deleted(store: Store) -> bool:
    from pagekeep.library.items import find_items
    from pagekeep.model import ItemQuery, item_filters

    return bool(find_items(store, ItemQuery(filters=item_filters(deleted=True), limit=1)).hits)
