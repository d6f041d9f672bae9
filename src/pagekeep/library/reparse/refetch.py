"""Items fetched and read anew, one after the other: the migration of a library whose pages were not kept."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable

from pagekeep.capture.from_url import Request, Retrieval
from pagekeep.errors import PagekeepError
from pagekeep.library.reparse.reparse import Reparsed
from pagekeep.library.save import save
from pagekeep.store import Store


async def refetch(
    store: Store, ids: Iterable[str], retrieval: Retrieval, *, force: bool = False
) -> AsyncIterator[Reparsed]:
    """Fetch these items anew and put the results in, as `save` does; a failure leaves its item's content as it is."""
    for item_id in ids:
        item = store.get(item_id)
        try:
            saved = await save(Request(item.url_full), store, retrieval, known=item, force=force)
        except PagekeepError as error:
            yield Reparsed(item, "failed", error.message)
            continue
        if saved.outcome == "kept":
            yield Reparsed(item, "kept", saved.note)
        else:
            same = saved.item.content == item.content
            yield Reparsed(item, "unchanged" if same else "updated", None, saved.item.content)
