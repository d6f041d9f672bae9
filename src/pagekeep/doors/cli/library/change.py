"""`pagekeep pin`, `archive`, `tag`, `delete`, `restore`, `purge` and their opposites: what the user sets on items."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from pagekeep.doors.cli.open_library import about, answer, day_or_moment, examples, library_options, opened
from pagekeep.doors.cli.output import write, write_json

if TYPE_CHECKING:
    from pagekeep.model import Item
    from pagekeep.store import Store

keys_argument = click.argument("keys", nargs=-1, required=True, metavar="ID|URL...")


def _marking(name: str, help: str, done: str, act: Callable[[Store, str], Item]) -> click.Command:
    """A command that does one thing to the items it is given."""

    @click.command(name, help=help, epilog=examples(f"{name} 3f2a", f"{name} https://example.com/post"))
    @keys_argument
    @library_options
    def command(keys: tuple[str, ...], library: str | None, user: str | None, as_json: bool) -> None:
        with opened(library, user, as_json) as (_, store):
            _each(store, keys, as_json, done, act)

    return command


def _each(store: Store, keys: tuple[str, ...], as_json: bool, done: str, act: Callable[[Store, str], Item]) -> None:
    """All items are looked up first: a mistyped one stops the command before anything was done."""
    from pagekeep.library.items import find

    ids = dict.fromkeys(find(store, key).id for key in keys)
    answer([act(store, item_id) for item_id in ids], as_json, about(done))


def _setting(**changes: Any) -> Callable[[Store, str], Item]:
    def act(store: Store, key: str) -> Item:
        from pagekeep.library.items import change

        return change(store, key, **changes)

    return act


def _delete(store: Store, key: str) -> Item:
    from pagekeep.clock import now

    return store.delete(key, now())


def _restore(store: Store, key: str) -> Item:
    from pagekeep.clock import now

    return store.restore(key, now())


pin = _marking("pin", "Keep pages at hand.", "Pinned", _setting(pinned=True))
unpin = _marking("unpin", "Take pins off.", "Unpinned", _setting(pinned=False))
archive = _marking("archive", "Put pages away; they stay in the library.", "Archived", _setting(archived=True))
unarchive = _marking("unarchive", "Bring archived pages back.", "Unarchived", _setting(archived=False))
delete = _marking("delete", "Delete pages; `restore` brings them back until they are purged.", "Deleted", _delete)
restore = _marking("restore", "Bring deleted pages back.", "Restored", _restore)


@click.command(epilog=examples("tag 3f2a harbour history", "tag 3f2a --remove harbour", "tag 3f2a"))
@click.argument("key", metavar="ID|URL")
@click.argument("tags", nargs=-1, metavar="TAG...")
@click.option("--remove", multiple=True, metavar="TAG", help="Take this tag off; can be repeated.")
@library_options
def tag(
    key: str, tags: tuple[str, ...], remove: tuple[str, ...], library: str | None, user: str | None, as_json: bool
) -> None:
    """Put tags on a page or take them off, and show those it has."""
    with opened(library, user, as_json) as (_, store):
        from pagekeep.library.items import find, retag

        item = retag(store, key, add=tags, remove=remove) if tags or remove else find(store, key)
        answer([item], as_json, lambda item: ", ".join(item.metadata.tags))


@click.command(epilog=examples("purge", "purge 3f2a", "purge --deleted-before 2025-01-01"))
@click.argument("keys", nargs=-1, metavar="ID|URL...")
@click.option("--deleted-before", metavar="DATE", callback=day_or_moment, help="Only pages deleted before this day.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@library_options
def purge(
    keys: tuple[str, ...],
    deleted_before: str | None,
    yes: bool,
    library: str | None,
    user: str | None,
    as_json: bool,
) -> None:
    """Remove deleted pages for good: all of them, or those given."""
    with opened(library, user, as_json) as (_, store):
        from pagekeep.library.items import find

        ids = [find(store, key).id for key in keys] or None
        if not (yes or as_json or ids):
            if not _deleted(store):
                write("There are no deleted pages.")
                return
            if not click.confirm("Remove deleted pages for good?", err=True):
                return
        gone = store.purge(ids, deleted_before=deleted_before)
        if as_json:
            write_json({"purged": gone})
        else:
            write(f"Removed {gone} {'page' if gone == 1 else 'pages'} for good.")


def _deleted(store: Store) -> bool:
    from pagekeep.model import ItemFilter

    return bool(store.list_items(ItemFilter(deleted=True, archived=None), limit=1).items)
