"""The library's everyday business: finding an item by what people write, and changing what the user sets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Unpack

from pagekeep import clock
from pagekeep.config import Settings
from pagekeep.errors import NotFound
from pagekeep.library import normal_url
from pagekeep.model import Item, MetadataChanges, RawPage
from pagekeep.store import Store
from pagekeep.text import one_line


def open_library(settings: Settings, user: str | None = None, *, workers: bool = False) -> Store:
    """The library the settings name, of the user they name unless another is given; close it after use."""
    from pagekeep.store import open_store

    return open_store(settings.library, user or settings.user, keep_raw=settings.keep_raw, workers=workers)


def find(store: Store, key: str) -> Item:
    """The item by its id, the beginning of its id, or its address in any form."""
    if "://" not in key:
        return store.get(key)
    item = store.find_url(normal_url.normalise(key))
    if item is None:
        raise NotFound("The page is not in the library.", suggestions=("Save it first.",))
    return item


def kept(store: Store, key: str) -> tuple[Item, RawPage]:
    """The item and its page as it was fetched; `NotFound` when that was not kept."""
    item = find(store, key)
    raw = store.raw(item.id)
    if raw is None:
        raise NotFound("The page as it was fetched was not kept.", suggestions=("Fetch it anew: retry the item.",))
    return item, raw


def opened(store: Store, key: str) -> Item:
    """The item to read, marked as opened now."""
    return store.mark_opened(find(store, key).id, clock.now())


def change(store: Store, key: str, **changes: Unpack[MetadataChanges]) -> Item:
    """Set what the user may set: `pinned`, `archived`."""
    return store.set_metadata(find(store, key).id, clock.now(), **changes)


def retag(store: Store, key: str, *, add: Iterable[str] = (), remove: Iterable[str] = ()) -> Item:
    """Put tags on and take tags off, the others staying in their order."""
    item = find(store, key)
    gone = {clean_tag(tag).casefold() for tag in remove}
    wanted = [*item.metadata.tags, *(clean_tag(tag) for tag in add)]
    tags = tuple(tag for tag in dict.fromkeys(wanted) if tag and tag.casefold() not in gone)
    return store.set_metadata(item.id, clock.now(), tags=tags)


def clean_tag(tag: str) -> str:
    """A tag as it is kept: without a leading #, in one line."""
    return one_line(tag).removeprefix("#")


def set_by_user(
    store: Store,
    item: Item,
    *,
    pinned: bool | None = None,
    archived: bool | None = None,
    tags: Iterable[str] | None = None,
    add: Iterable[str] = (),
    remove: Iterable[str] = (),
    opened: bool = False,
    unchanged_since: str | None = None,
) -> Item:
    """Change what the user may set, all in one step; `None` leaves a thing as it is."""
    changes: MetadataChanges = {}
    if pinned is not None:
        changes["pinned"] = pinned
    if archived is not None:
        changes["archived"] = archived
    wanted = _retagged(item.metadata.tags if tags is None else tags, add, remove)
    if tags is not None or wanted != item.metadata.tags:
        changes["tags"] = wanted
    if changes or unchanged_since is not None:
        item = store.set_metadata(item.id, clock.now(), unchanged_since=unchanged_since, **changes)
    return store.mark_opened(item.id, clock.now()) if opened else item


def _retagged(had: Iterable[str], add: Iterable[str], remove: Iterable[str]) -> tuple[str, ...]:
    gone = {clean_tag(tag).casefold() for tag in remove}
    wanted = dict.fromkeys(map(clean_tag, (*had, *add)))
    return tuple(tag for tag in wanted if tag and tag.casefold() not in gone)
