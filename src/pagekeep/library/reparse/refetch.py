"""Fetch items again, one after the other."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import AsyncIterator, Iterable

from pagekeep.capture.from_url import Retrieval
from pagekeep.errors import PagekeepError
from pagekeep.library.reparse.reparse import ReparseResult
from pagekeep.library.save import refetch_item
from pagekeep.store import Store


async def refetch(
    store: Store, ids: Iterable[str], retrieval: Retrieval, *, force: bool = False
) -> AsyncIterator[ReparseResult]:
    """Fetch these items again and store the results; a failure leaves its item's content as it is."""
    for item_id in ids:
        item = await to_thread(store.get, item_id)
        try:
            saved = await refetch_item(item, store, retrieval, force=force)
        except PagekeepError as error:
            yield ReparseResult(item, "failed", error.message)
            continue
        if saved.outcome == "kept":
            yield ReparseResult(item, "kept", saved.note)
        else:
            same = saved.item.content == item.content
            yield ReparseResult(item, "unchanged" if same else "updated", None, saved.item.content)
