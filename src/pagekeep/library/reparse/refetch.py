"""Items fetched and read anew, one after the other: the migration of a library whose pages were not kept."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator

from pagekeep.capture.from_url import Request, Retrieval
from pagekeep.errors import PagekeepError
from pagekeep.library.reparse.reparse import Reparsed
from pagekeep.library.save import save
from pagekeep.model import ItemFilter
from pagekeep.store import Store

PAGE: int = 200


def walk_ids(store: Store, limit: int | None = None, domain: str | None = None) -> Iterator[str]:
    """Every item that is not deleted, of one domain or of all, oldest first."""
    after: str | None = None
    left = limit
    while left is None or left > 0:
        size = PAGE if left is None else min(PAGE, left)
        page = store.list_items(ItemFilter(archived=None, domain=domain), descending=False, limit=size, after=after)
        yield from (item.id for item in page.items)
        after = page.next
        left = None if left is None else left - len(page.items)
        if after is None:
            return


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
