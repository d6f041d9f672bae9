"""`pagekeep pin`, `archive`, `tag`, `edit`, `delete`, `restore`, `purge`, `change` and `undo`: change items."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pagekeep.doors.cli.item_output import result_line, short_id, show_results, state_words
from pagekeep.doors.cli.open_library import open_library
from pagekeep.doors.cli.options import examples, library_options, parse_date
from pagekeep.doors.cli.output import format_count, show_bar, write, write_json
from pagekeep.text import printable

if TYPE_CHECKING:
    from pagekeep.library.items.change import Move
    from pagekeep.library.open import Store


def _make_command(name: Move, help: str, done: str) -> click.Command:
    """Return a command that applies one action to the items named."""

    @click.command(name, help=help, epilog=examples(f"{name} 3f2a", f"{name} https://example.com/post"))
    @click.argument("keys", nargs=-1, required=True, metavar="ID|URL...")
    @library_options
    def command(keys: tuple[str, ...], library: str | None, user: str | None, as_json: bool) -> None:
        with open_library(library, user, as_json) as (settings, store):
            from pagekeep.library.items.change import MOVES, change_selected, remember_action
            from pagekeep.library.items.find import get_item

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
        from pagekeep.library.items import change as actions
        from pagekeep.library.items.change import remember_action
        from pagekeep.library.items.find import get_item
        from pagekeep.model.lists import ItemChange

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
        from pagekeep.doors.cli.history import with_retrieval
        from pagekeep.library.archive.versions import restore_version

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
        from pagekeep.library.items.change import change_selected, describe, remember_action
        from pagekeep.library.items.find import get_item
        from pagekeep.model.lists import ItemChange

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
        from pagekeep.library.items.change import forget_change, purge_items
        from pagekeep.library.items.find import get_item

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
    from pagekeep.model import ItemQuery, item_filters

    return bool(store.search.find(ItemQuery(filters=item_filters(deleted=True), limit=1)).hits)


@click.command(epilog=examples("undo", "undo --json"))
@library_options
def undo(library: str | None, user: str | None, as_json: bool) -> None:
    """Undo the last change made on this command line: pin, archive, tag, edit, keep, delete and their opposites,
    and `save` of a folder.

    What was changed again since, for example in the reader, stays as it is. `purge` cannot be undone.
    """
    with open_library(library, user, as_json) as (settings, store):
        from pagekeep.library.items.change import undo_last
        from pagekeep.present.json_shapes import items_shape

        undone = undo_last(store, settings)
        if as_json:
            count = {"count": undone.count, "kept": undone.kept}
            write_json({"undone": undone.action, **items_shape(undone.items, None), **count})
            return
        if undone.kept or len(undone.items) != 1:
            kept = f"; {format_count(undone.kept, 'page')} changed again since stay as they are" if undone.kept else ""
            write(f"Undid {undone.action}: {format_count(undone.count, 'page')}{kept}")
            return
        for item in undone.items:
            write(f"Undid {undone.action}  {short_id(item.id)}  {printable(item.title)}  ({state_words(item)})")


_FIELDS = {"title": "title", "author": "author", "date": "published_at", "site": "site_name"}


@click.command(
    epilog=examples(
        'edit 3f2a --title "The harbour at night"',
        'edit 3f2a --author "" --date 2024-05',
        "edit 3f2a --reset title --reset author",
    )
)
@click.argument("key", metavar="ID|URL")
@click.option("--title", help="The title.")
@click.option("--author", help="The author; empty for none.")
@click.option("--date", metavar="DATE", help="The date of publication, such as 2024-05-17; empty for none.")
@click.option("--site", help="The name of the site; empty for none.")
@click.option(
    "--reset",
    multiple=True,
    type=click.Choice(tuple(_FIELDS)),
    help="Use the page's own value again. Can be repeated.",
)
@library_options
def edit(
    key: str,
    title: str | None,
    author: str | None,
    date: str | None,
    site: str | None,
    reset: tuple[str, ...],
    library: str | None,
    user: str | None,
    as_json: bool,
) -> None:
    """Edit a page's title, author, date and site, in place of what the page says.

    Edits are kept when the page is extracted or fetched again. `undo` takes them back.
    """
    given = {"title": title, "author": author, "published_at": date, "site_name": site}
    values = {name: value for name, value in given.items() if value is not None}
    if not values and not reset:
        raise click.UsageError("Give at least one of --title, --author, --date, --site and --reset.")
    with open_library(library, user, as_json) as (settings, store):
        from pagekeep.library.items.change import edit_item, remember_action

        done = edit_item(store, key, values, reset=[_FIELDS[name] for name in reset])
        remember_action(settings, "edit", done.action.id)
        show_results(done.items, as_json, result_line("Edited"))


@click.command(
    epilog=examples(
        "change 'domain:example.com' --tag harbour",
        "change 'tag:harbour before:2024' --archive --yes",
        'change "is:pinned" --list "To read"',
    )
)
@click.argument("query")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="Add this tag. Can be repeated.")
@click.option("--untag", multiple=True, metavar="TAG", help="Remove this tag. Can be repeated.")
@click.option("--list", "lists", multiple=True, metavar="LIST", help="Add to this list. Can be repeated.")
@click.option("--unlist", multiple=True, metavar="LIST", help="Remove from this list. Can be repeated.")
@click.option("--archive/--unarchive", default=None, help="Archive, or take out of the archive.")
@click.option("--pin/--unpin", default=None, help="Pin or unpin.")
@click.option("--delete", is_flag=True, help="Delete; `undo` brings them back.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@library_options
def change(
    query: str,
    tags: tuple[str, ...],
    untag: tuple[str, ...],
    lists: tuple[str, ...],
    unlist: tuple[str, ...],
    archive: bool | None,
    pin: bool | None,
    delete: bool,
    yes: bool,
    library: str | None,
    user: str | None,
    as_json: bool,
) -> None:
    """Change all pages that a search finds: tag, archive, list, delete. `undo` takes it back."""
    if not (tags or untag or lists or unlist or delete or archive is not None or pin is not None):
        raise click.UsageError("Say what to change, such as --tag harbour or --archive.")
    with open_library(library, user, as_json) as (settings, store):
        from pagekeep.library.items import change as actions
        from pagekeep.library.items.change import remember_action
        from pagekeep.library.items.lists import get_manual
        from pagekeep.model.lists import ItemChange
        from pagekeep.present.list_shapes import action_shape

        wanted = ItemChange(
            pinned=pin,
            archived=archive,
            deleted=True if delete else None,
            add_tags=tags,
            remove_tags=untag,
            add_to=tuple(get_manual(store, one).id for one in lists),
            remove_from=tuple(get_manual(store, one).id for one in unlist),
        )
        found, more = actions.find_ids(store, query)
        number = f"more than {len(found):,} pages" if more else format_count(len(found), "page")
        if not (yes or as_json or click.confirm(f"Change {number}?", err=True)):
            return
        with show_bar("Changing") as advance:
            total = None if more else len(found)
            done = actions.change_whole(
                store, query, wanted, actions.describe(wanted), lambda count: advance(count, total)
            )
        remember_action(settings, "change", done.id)
        if as_json:
            write_json({"action": action_shape(done)})
        else:
            write(f"{done.label}: {format_count(done.changed, 'page')}")
