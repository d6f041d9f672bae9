"""`pagekeep pin`, `archive`, `tag`, `edit`, `delete`, `restore`, `purge`, `change` and `undo`: change items."""

from __future__ import annotations

import click

from pagekeep.doors.cli.item_output import result_line, short_id, state_words
from pagekeep.doors.cli.lazy import lazily
from pagekeep.doors.cli.open_library import OpenLibrary, library_command
from pagekeep.doors.cli.options import examples, parse_date
from pagekeep.doors.cli.output import format_count, show_bar, write, write_json
from pagekeep.text import printable

with lazily():
    from pagekeep.doors.cli.history import with_retrieval
    from pagekeep.library.archive.versions import restore_version
    from pagekeep.library.items import change as actions
    from pagekeep.library.items.change import (
        Move,
        change_selected,
        describe,
        edit_item,
        forget_change,
        purge_items,
        undo_last,
    )
    from pagekeep.library.items.find import get_item
    from pagekeep.library.items.lists import get_manual
    from pagekeep.library.open import Store
    from pagekeep.model import ItemQuery, item_filters
    from pagekeep.model.lists import ItemChange
    from pagekeep.present import list_shapes
    from pagekeep.present.json_shapes import items_shape, to_json


def _make_command(name: Move, help: str, done: str) -> click.Command:
    """Return a command that applies one action to the items named."""

    @click.command(name, help=help, epilog=examples(f"{name} 3f2a", f"{name} https://example.com/post"))
    @click.argument("keys", nargs=-1, required=True, metavar="ID|URL...")
    @library_command
    def command(opened: OpenLibrary, keys: tuple[str, ...]) -> None:
        _apply(opened, keys, name, done)

    return command


def _apply(opened: OpenLibrary, keys: tuple[str, ...], name: Move, done: str) -> None:
    from pagekeep.library.items.change import MOVES

    ids = list(
        dict.fromkeys(get_item(opened.store, key).id for key in keys)
    )  # all first: a typo must stop before any change
    changed = change_selected(opened.store, ids, MOVES[name], done)
    opened.remember(name, changed.action.id)
    opened.show_items(changed.items, result_line(done))


pin = _make_command("pin", "Pin pages.", "Pinned")
unpin = _make_command("unpin", "Unpin pages.", "Unpinned")
archive = _make_command("archive", "Archive pages.", "Archived")
unarchive = _make_command("unarchive", "Take pages out of the archive.", "Unarchived")
delete = _make_command("delete", "Delete pages; `undo` or `restore` brings them back until they are purged.", "Deleted")


@click.command(epilog=examples("keep 3f2a", "keep https://example.com/post"))
@click.argument("keys", nargs=-1, required=True, metavar="ID|URL...")
@library_command
def keep(opened: OpenLibrary, keys: tuple[str, ...]) -> None:
    """Keep the bookmarks of pages that could not be saved: they move from the list of failed saves to the inbox."""
    change = ItemChange(failed=False)
    done = actions.change_selected(
        opened.store, [get_item(opened.store, key).id for key in keys], change, actions.describe(change)
    )
    opened.remember("keep", done.action.id)
    opened.show_items(done.items, result_line("Kept"))


@click.command(epilog=examples("restore 3f2a", "restore 3f2a --version 2"))
@click.argument("keys", nargs=-1, required=True, metavar="ID|URL...")
@click.option("--version", type=click.IntRange(1), help="Make this version of the page the current one again.")
@library_command(open_late=True)
def restore(opened: OpenLibrary, keys: tuple[str, ...], version: int | None) -> None:
    """Restore deleted pages, or an earlier version of a page."""
    if version is None:
        _apply(opened, keys, "restore", "Restored")
        return
    if len(keys) != 1:
        raise click.UsageError("Give one page with --version.")

    item = with_retrieval(opened.settings, lambda retrieval: restore_version(opened.store, keys[0], retrieval, version))
    opened.show_items([item], result_line(f"Restored version {version}"))


@click.command(epilog=examples("tag 3f2a harbour history", "tag 3f2a --remove harbour", "tag 3f2a"))
@click.argument("key", metavar="ID|URL")
@click.argument("tags", nargs=-1, metavar="[TAG]...")
@click.option("--remove", multiple=True, metavar="TAG", help="Remove this tag. Can be repeated.")
@library_command
def tag(opened: OpenLibrary, key: str, tags: tuple[str, ...], remove: tuple[str, ...]) -> None:
    """Add tags to a page or remove them, and show its tags, and on stderr those that Pagekeep suggests for it."""
    item = get_item(opened.store, key)
    if tags or remove:
        change = ItemChange(add_tags=tags, remove_tags=remove)
        done = change_selected(opened.store, [item.id], change, describe(change))
        opened.remember("tag", done.action.id)
        (item,) = done.items
    opened.show_items([item], lambda item: ", ".join(item.metadata.tags))
    if item.metadata.open_suggestions and not opened.as_json:
        click.echo(f"Suggested: {printable(', '.join(item.metadata.open_suggestions))}", err=True)


@click.command(epilog=examples("purge", "purge 3f2a", "purge --deleted-before 2025-01-01"))
@click.argument("keys", nargs=-1, metavar="[ID|URL]...")
@click.option("--deleted-before", metavar="DATE", callback=parse_date, help="Only pages deleted before this date.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@library_command
def purge(opened: OpenLibrary, keys: tuple[str, ...], deleted_before: str | None, yes: bool) -> None:
    """Permanently remove deleted pages: all of them, or the ones named."""
    ids = [get_item(opened.store, key).id for key in keys] or None
    if not (yes or opened.as_json or ids):
        if not _has_deleted(opened.store):
            write("There are no deleted pages.")
            return
        if not click.confirm("Permanently remove deleted pages?", err=True):
            return
    removed = purge_items(opened.store, ids, deleted_before=deleted_before)
    if removed:
        forget_change(opened.settings, "The last change was a purge, which cannot be undone.")
    opened.show({"purged": removed}, f"Permanently removed {format_count(removed, 'page')}.")


def _has_deleted(store: Store) -> bool:
    return bool(store.search.find(ItemQuery(filters=item_filters(deleted=True), limit=1)).hits)


@click.command(epilog=examples("undo", "undo --json"))
@library_command
def undo(opened: OpenLibrary) -> None:
    """Undo the last change made on this command line: pin, archive, tag, edit, keep, delete and their opposites,
    and `save` of a folder.

    What was changed again since, for example in the reader, stays as it is. `purge` cannot be undone.
    """
    undone = undo_last(opened.store, opened.settings)
    if opened.as_json:
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
@library_command(open_late=True)
def edit(
    opened: OpenLibrary,
    key: str,
    title: str | None,
    author: str | None,
    date: str | None,
    site: str | None,
    reset: tuple[str, ...],
) -> None:
    """Edit a page's title, author, date and site, in place of what the page says.

    Edits are kept when the page is extracted or fetched again. `undo` takes them back.
    """
    given = {"title": title, "author": author, "published_at": date, "site_name": site}
    values = {name: value for name, value in given.items() if value is not None}
    if not values and not reset:
        raise click.UsageError("Give at least one of --title, --author, --date, --site and --reset.")

    done = edit_item(opened.store, key, values, reset=[_FIELDS[name] for name in reset])
    opened.remember("edit", done.action.id)
    opened.show_items(done.items, result_line("Edited"))


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
@library_command(open_late=True)
def change(
    opened: OpenLibrary,
    query: str,
    tags: tuple[str, ...],
    untag: tuple[str, ...],
    lists: tuple[str, ...],
    unlist: tuple[str, ...],
    archive: bool | None,
    pin: bool | None,
    delete: bool,
    yes: bool,
) -> None:
    """Change all pages that a search finds: tag, archive, list, delete. `undo` takes it back."""
    if not (tags or untag or lists or unlist or delete or archive is not None or pin is not None):
        raise click.UsageError("Say what to change, such as --tag harbour or --archive.")

    wanted = ItemChange(
        pinned=pin,
        archived=archive,
        deleted=True if delete else None,
        add_tags=tags,
        remove_tags=untag,
        add_to=tuple(get_manual(opened.store, one).id for one in lists),
        remove_from=tuple(get_manual(opened.store, one).id for one in unlist),
    )
    found, more = actions.find_ids(opened.store, query)
    number = f"more than {len(found):,} pages" if more else format_count(len(found), "page")
    if not (yes or opened.as_json or click.confirm(f"Change {number}?", err=True)):
        return
    with show_bar("Changing") as advance:
        total = None if more else len(found)
        done = actions.change_whole(
            opened.store, query, wanted, actions.describe(wanted), lambda count: advance(count, total)
        )
    opened.remember("change", done.id)
    opened.show({"action": to_json(list_shapes.Action, done)}, f"{done.label}: {format_count(done.changed, 'page')}")
