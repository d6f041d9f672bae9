"""`pagekeep change`: change all pages that a search finds."""

from __future__ import annotations

import click

from pagekeep.doors.cli.open_library import open_library
from pagekeep.doors.cli.options import examples, library_options
from pagekeep.doors.cli.output import format_count, show_bar, write, write_json


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
        from pagekeep.library import actions
        from pagekeep.library.lists.lists import get_manual
        from pagekeep.library.undo import remember_action
        from pagekeep.model.lists.values import ItemChange
        from pagekeep.present.lists.list_shapes import action_shape

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
