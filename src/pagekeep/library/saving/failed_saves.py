"""Failed saves: pages that could not be saved, a state of their items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from pagekeep import clock
from pagekeep.capture.from_url import Request
from pagekeep.capture.uploads import FILE_HOST
from pagekeep.errors import (
    Abandoned,
    BlockedAddress,
    FetchHttpError,
    InvalidProtocol,
    InvalidUrl,
    PagekeepError,
    ParseError,
    StoreError,
    TooLarge,
    UnsupportedContent,
)
from pagekeep.fetch.urls import split_url
from pagekeep.library import normal_url
from pagekeep.library.items import build_item
from pagekeep.library.items.change import change_item
from pagekeep.library.queue import SaveRequest, enqueue
from pagekeep.model import Item, ItemPage, ItemQuery, Job, Metadata, NewItem, item_filters
from pagekeep.model.lists import ItemChange
from pagekeep.store import Store

_PERMANENT: Final = (InvalidUrl, InvalidProtocol, BlockedAddress, TooLarge, UnsupportedContent, ParseError, Abandoned)
_PASSING_STATUSES: Final = frozenset({408, 425, 429})
"""Client errors that pass; every other 4xx is permanent."""


def can_pass(error: PagekeepError) -> bool:
    """Return whether trying again can help: after network faults, timeouts, 429 and 5xx, but not after a 404."""
    if isinstance(error, FetchHttpError):
        return not 400 <= error.status < 500 or error.status in _PASSING_STATUSES
    return not isinstance(error, _PERMANENT)


def keep_address(
    store: Store, address: str, error: PagekeepError, *, known: Item | None = None, tags: tuple[str, ...] = ()
) -> None:
    """Keep the address of a page that could not be saved as a failed save, and name its item in the error.

    An item with content stays as it is, and the failure is noted on it. `known` is the item of the page, if there is one.
    Nothing is kept of a file, which is still where it was, of what is not the address of a page, and when the library fails.
    """
    if error.item_id is not None or isinstance(error, StoreError) or (known is None and not _is_address(address)):
        return
    url = known.url if known else normal_url.normalise(address)
    bookmark = _build_bookmark(url, address, store.user_id, error, tags)
    ((item, _outcome),) = store.items.save_many([NewItem(bookmark)], _merge)
    error.item_id = item.id
    error.suggestions = (*error.suggestions, _describe(item))


def _is_address(address: str) -> bool:
    """Return whether this is the address of a page on the web."""
    try:
        split_url(address)
    except (InvalidUrl, InvalidProtocol):
        return False
    return normal_url.domain(normal_url.normalise(address)) != FILE_HOST


def list_failed(store: Store, *, limit: int = 50, after: str | None = None) -> ItemPage:
    """Return one page of the failed saves, newest first."""
    return store.search.find(ItemQuery(filters=item_filters(failed=True), limit=limit, after=after))


def count_failed(store: Store, *, fetch_again: bool = False) -> int:
    """Return how many failed saves there are; with `fetch_again`, for how many of them trying again can help."""
    if fetch_again:
        return store.search.count(item_filters(failed=True, fetch_again=True))
    return store.counts.get(["state"])["state"].get("failed", 0)


def try_all_again(store: Store) -> None:
    """Put the pages of all failed saves into the queue again for which that can help."""
    after = None
    while True:
        page = store.search.find(ItemQuery(filters=item_filters(failed=True, fetch_again=True), limit=200, after=after))
        for item in page.items:
            try_again(store, item)
        after = page.next
        if after is None:
            return


def try_again(store: Store, item: Item) -> Job:
    """Put the page of a failed save into the queue again."""
    return enqueue(SaveRequest(Request(item.url_full, join_pages=item.metadata.join_pages)), store)


def keep_bookmark(store: Store, item_id: str) -> Item:
    """Keep the bookmark of a failed save, for a program that knows no failures: its answer is that the page is saved."""
    item = store.items.get(item_id)
    return change_item(store, item.id, ItemChange(failed=False)) if item.metadata.failed else item


def find_waiting(store: Store, items: Sequence[Item]) -> set[str]:
    """Return the ids of the items whose pages are in the queue."""
    waiting = store.jobs.unfinished_urls([item.url for item in items])
    return {item.id for item in items if item.url in waiting}


def error_shape(error: PagekeepError) -> dict[str, Any]:
    """Return the error as it is stored: its JSON form, and the status that a server sent."""
    shape: dict[str, Any] = error.to_json()["error"]
    return {**shape, "status": error.status} if isinstance(error, FetchHttpError) else shape


def _describe(item: Item) -> str:
    """Return what the library has of the page, as a suggestion of the error."""
    key = item.id[:8]
    if not build_item.is_unfetched(item):
        return f"The version saved before is unchanged: {key}."
    then = "Retry it later." if item.metadata.fetch_again else "Retrying it helps only if the page changes."
    where = "in the list of what could not be saved" if item.metadata.failed else "as the bookmark that you kept"
    return f"The address is {where}: {key}. {then}"


def _build_bookmark(url: str, url_full: str, user_id: str, error: PagekeepError, tags: tuple[str, ...]) -> Item:
    now = clock.now()
    item = build_item.new_bookmark(
        Metadata(),
        url=url,
        url_full=url_full,
        user_id=user_id,
        now=now,
        reason=error.message,
        suggestion=error.suggestions[0] if error.suggestions else None,
        tags=tags,
    )
    failure: dict[str, Any] = {"type": error.type, "message": error.message, "at": now}
    if isinstance(error, FetchHttpError):
        failure["status"] = error.status
    return replace(item, metadata=replace(item.metadata, fetch_again=can_pass(error), last_error=failure, failed=True))


def _merge(old: Item, new: Item) -> Item:
    """Return the stored item with the failure noted; only one that was never fetched takes the new reason.

    It becomes a failed save with its first failure, or when it was in the trash. A bookmark that the user kept stays kept.
    """
    tags = build_item.merge_tags(old, new)
    metadata = replace(old.metadata, last_error=new.metadata.last_error, tags=tags)
    item = replace(old, metadata=metadata, deleted_at=None, updated_at=new.updated_at)
    if not build_item.is_unfetched(old):
        return item
    about = new.metadata
    is_new = old.metadata.last_error is None or old.deleted_at is not None
    metadata = replace(
        metadata,
        reason=about.reason,
        suggestion=about.suggestion,
        fetch_again=about.fetch_again,
        failed=old.metadata.failed or is_new,
        caught=None,
    )
    return replace(item, metadata=metadata)
