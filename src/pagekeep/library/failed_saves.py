"""Pages that could not be fetched: a save never loses the address, which is kept as a bookmark with the reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from pagekeep import clock
from pagekeep.capture.uploads import FILE_HOST
from pagekeep.errors import (
    Abandoned,
    BlockedAddress,
    FetchError,
    FetchHttpError,
    InvalidProtocol,
    InvalidUrl,
    PagekeepError,
    ParseError,
    RenderError,
    TooLarge,
    Unexpected,
    UnsupportedContent,
)
from pagekeep.fetch.urls import split_url
from pagekeep.library import build_item, normal_url
from pagekeep.model import Item, Metadata, NewItem
from pagekeep.store import Store

_KEPT: Final = (FetchError, TooLarge, UnsupportedContent, RenderError, ParseError, Abandoned, Unexpected)
"""Failures after which the address is kept. What is not a URL of a page (`InvalidUrl`, `InvalidProtocol`) or may not be opened
(`BlockedAddress`) is not kept: that would promise a page that can never come."""
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
    """Keep the address of a page that could not be saved, and name its item in the error; some errors keep nothing.

    An item with content stays as it is, and the failure is noted on it. `known` is the item of the page, if there is one.
    """
    if not isinstance(error, _KEPT) or error.item_id is not None:
        return
    url = known.url if known else normal_url.normalise(address)
    if known is None and normal_url.domain(url) == FILE_HOST:
        return
    item = _store_bookmark(store, url, address, error, tags)
    error.item_id = item.id
    error.suggestions = (*error.suggestions, _describe(item))


def error_shape(error: PagekeepError) -> dict[str, Any]:
    """Return the error as it is stored: its JSON form, and the status that a server sent."""
    shape: dict[str, Any] = error.to_json()["error"]
    return {**shape, "status": error.status} if isinstance(error, FetchHttpError) else shape


def keep_failed(store: Store, job_id: str) -> None:
    """Remove a failed save from the queue and keep its address as a bookmark, also where that was not done before."""
    job = store.job(job_id)
    item = store.find_url(job.url)
    if job.state == "dead" and "task" not in job.options and (item is None or item.deleted_at is not None):
        split_url(job.url_full)  # what is not the address of a page cannot be kept
        failure = job.error or {}
        error = PagekeepError(str(failure.get("message") or "The page could not be saved."))
        _store_bookmark(store, job.url, job.url_full, error, tuple(job.options.get("tags", ())), failure)
    store.forget(job_id)


def delete_failed(store: Store, job_id: str) -> None:
    """Remove a failed save from the queue, and move the bookmark that was kept of it to the trash; content is not touched."""
    job = store.job(job_id)
    store.forget(job_id)
    item = store.find_url(job.url) if job.state == "dead" and "task" not in job.options else None
    if item is not None and item.deleted_at is None and build_item.is_unfetched(item):
        store.delete(item.id, clock.now())


def _store_bookmark(
    store: Store,
    url: str,
    address: str,
    error: PagekeepError,
    tags: tuple[str, ...],
    failure: Mapping[str, Any] | None = None,
) -> Item:
    bookmark = _build_bookmark(url, address, store.user_id, error, tags, failure or error_shape(error))
    ((item, _outcome),) = store.upsert_many([NewItem(bookmark)], _merge)
    return item


def _describe(item: Item) -> str:
    """Return what the library has of the page, as a suggestion of the error."""
    key = item.id[:8]
    if not build_item.is_unfetched(item):
        return f"The version saved before is unchanged: {key}."
    then = "Retry it later." if item.metadata.fetch_again else "Retrying it helps only if the page changes."
    return f"The address is saved as a bookmark: {key}. {then}"


def _build_bookmark(
    url: str, url_full: str, user_id: str, error: PagekeepError, tags: tuple[str, ...], shape: Mapping[str, Any]
) -> Item:
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
    failure = {"type": shape.get("type", error.type), "message": error.message, "at": now}
    if "status" in shape:
        failure["status"] = shape["status"]
    return replace(item, metadata=replace(item.metadata, fetch_again=can_pass(error), last_error=failure))


def _merge(old: Item, new: Item) -> Item:
    """Return the stored item with the failure noted; only one that was never fetched takes the new reason."""
    tags = build_item.merge_tags(old, new)
    metadata = replace(old.metadata, last_error=new.metadata.last_error, tags=tags)
    item = replace(old, metadata=metadata, deleted_at=None, updated_at=new.updated_at)
    if not build_item.is_unfetched(old):
        return item
    about = new.metadata
    metadata = replace(
        metadata, reason=about.reason, suggestion=about.suggestion, fetch_again=about.fetch_again, caught=None
    )
    return replace(item, metadata=metadata)
