"""Fetch items again, one after the other."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import AsyncIterator, Iterable

from pagekeep.capture.from_url import Request, Retrieval, ignore_progress
from pagekeep.capture.modes import capture_by_mode
from pagekeep.errors import PagekeepError
from pagekeep.library.reparse.reparse import ReparseResult, compare_page
from pagekeep.library.save import refetch_item
from pagekeep.model import Item, Options
from pagekeep.store import Store


async def refetch(
    store: Store, ids: Iterable[str], retrieval: Retrieval, *, force: bool = False, dry_run: bool = False
) -> AsyncIterator[ReparseResult]:
    """Fetch these items again and store the results; a failure leaves its item's content as it is.

    With `dry_run` the pages are fetched and nothing is stored, not even that one failed.
    """
    for item_id in ids:
        item = await to_thread(store.get, item_id)
        try:
            if dry_run:
                yield await _preview(item, retrieval, force)
                continue
            saved = await refetch_item(item, store, retrieval, force=force)
        except PagekeepError as error:
            yield ReparseResult(item, "failed", error.message)
            continue
        if saved.outcome == "kept":
            yield ReparseResult(item, "kept", saved.note)
        else:
            same = saved.item.content == item.content
            yield ReparseResult(item, "unchanged" if same else "updated", None, saved.item.content)


async def _preview(item: Item, retrieval: Retrieval, force: bool) -> ReparseResult:
    """Return what fetching the item again would change."""
    options = Options(max_bytes=retrieval.settings.max_bytes)
    request = Request(item.url_full, join_pages=item.metadata.join_pages)
    captured = await capture_by_mode(request, retrieval, options, ignore_progress)
    return compare_page(item, captured, retrieval.rules, force=force)
