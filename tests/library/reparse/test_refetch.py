"""Items fetched anew: seed 000's migration of a library whose pages were not kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from pagekeep.capture.from_url import Retrieval
from pagekeep.config import Settings
from pagekeep.library.change import set_fields
from pagekeep.library.items import walk_items
from pagekeep.library.reparse.refetch import refetch
from pagekeep.library.reparse.reparse import Reparsed
from pagekeep.model import SaveResult
from pagekeep.store import Store
from tests.site.fixtures import Shore, article

Keep = Callable[..., SaveResult]


def run(library: Store, settings: Settings, limit: int | None = None) -> list[Reparsed]:
    async def all_of_them() -> list[Reparsed]:
        async with Retrieval(settings) as retrieval:
            ids = (item.id for item in walk_items(library, limit=limit))
            return [result async for result in refetch(library, ids, retrieval)]

    return asyncio.run(all_of_them())


def test_every_item_is_fetched_and_what_fails_stays(
    keep: Keep, shore: Shore, library: Store, settings: Settings
) -> None:
    for name in "abc":
        shore.bodies[name] = article(300, title=f"Page {name}")
    before = [keep(shore.url(name)).item for name in "abc"]
    set_fields(library, before[0].id, pinned=True, archived=True)
    shore.bodies["a"] = article(400, title="Page a, revised")
    shore.statuses["b"] = 404
    results = run(library, settings)
    assert [result.outcome for result in results] == ["updated", "failed", "unchanged"]
    revised = library.get(before[0].id)
    assert (revised.title, revised.saved_at) == ("Page a, revised", before[0].saved_at)
    assert (revised.metadata.pinned, revised.metadata.archived) == (True, True)
    assert library.get(before[1].id).content == before[1].content


def test_a_worse_page_is_told_and_not_stored(keep: Keep, shore: Shore, library: Store, settings: Settings) -> None:
    shore.bodies["a"] = article(600)
    item = keep(shore.url("a")).item
    shore.bodies["a"] = article(60)
    (result,) = run(library, settings)
    assert (result.outcome, library.get(item.id).content) == ("kept", item.content)
