"""Items fetched again: seed 000's migration of a library whose pages were not kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pagekeep import clock
from pagekeep.capture.from_url import Retrieval
from pagekeep.config import Settings
from pagekeep.library.items.find import walk_items
from pagekeep.library.saving.reparse import ReparseResult
from pagekeep.library.saving.save import refetch
from pagekeep.model import PARSER_VERSION, SaveResult
from pagekeep.store import Store
from tests.site.fixtures import Shore, article

Keep = Callable[..., SaveResult]


def run(library: Store, settings: Settings, limit: int | None = None) -> list[ReparseResult]:
    async def all_of_them() -> list[ReparseResult]:
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
    library.items.set_metadata(before[0].id, clock.now(), pinned=True, archived=True)
    shore.bodies["a"] = article(400, title="Page a, revised")
    shore.statuses["b"] = 404
    results = run(library, settings)
    assert [result.outcome for result in results] == ["updated", "failed", "unchanged"]
    revised = library.items.get(before[0].id)
    assert (revised.title, revised.saved_at) == ("Page a, revised", before[0].saved_at)
    assert (revised.metadata.pinned, revised.metadata.archived) == (True, True)
    assert library.items.get(before[1].id).content == before[1].content


def test_a_worse_page_is_reported_and_not_stored(keep: Keep, shore: Shore, library: Store, settings: Settings) -> None:
    shore.bodies["a"] = article(600)
    item = keep(shore.url("a")).item
    shore.bodies["a"] = article(60)
    (result,) = run(library, settings)
    assert (result.outcome, library.items.get(item.id).content) == ("kept", item.content)


def test_a_page_that_has_not_changed_is_not_sent_again(
    keep: Keep, shore: Shore, library: Store, settings: Settings
) -> None:
    shore.bodies["a"], shore.etags["a"] = article(300), '"1"'
    item = keep(shore.url("a")).item
    (result,) = run(library, settings)
    assert (result.outcome, library.items.get(item.id)) == ("unchanged", item)
    assert shore.site.requests[-1].headers["if-none-match"] == '"1"'
    shore.bodies["a"], shore.etags["a"] = article(400, title="Revised"), '"2"'
    (result,) = run(library, settings)
    assert (result.outcome, library.items.get(item.id).title) == ("updated", "Revised")
    raw = library.items.raw(item.id)
    assert raw is not None
    assert raw.etag == '"2"'


def test_a_page_that_has_not_changed_is_extracted_again_by_a_newer_parser(
    keep: Keep, shore: Shore, library: Store, settings: Settings
) -> None:
    shore.bodies["a"], shore.etags["a"] = article(300), '"1"'
    item = keep(shore.url("a")).item
    old = replace(item.metadata, parser_version=1)
    parts = {"title": "Old", "author": None, "published_at": None, "now": clock.now()}
    library.items.replace_content(item.id, content="Old.", metadata=old, **parts)
    (result,) = run(library, settings)
    again = library.items.get(item.id)
    assert (result.outcome, again.content, again.title) == ("updated", item.content, item.title)
    assert again.metadata.parser_version == PARSER_VERSION


def test_a_comparison_with_a_remote_reader_gets_every_page(
    keep: Keep, shore: Shore, library: Store, settings: Settings, tmp_path: Path
) -> None:
    shore.bodies["a"], shore.etags["a"] = article(300), '"1"'
    keep(shore.url("a"))
    compare = replace(settings, mode="compare", remote_url=shore.url("reader/"), retries=0)
    run(library, replace(compare, library=str(tmp_path / "library.db")))
    page = [request for request in shore.site.requests if request.path == "/page/a"][-1]
    assert "if-none-match" not in page.headers


@pytest.mark.parametrize("change", ["bookmark", "rendered", "no raw page", "edited"])
def test_a_page_is_sent_again_where_the_stored_one_does_not_represent_it(
    keep: Keep, shore: Shore, library: Store, settings: Settings, change: str
) -> None:
    shore.bodies["a"], shore.etags["a"] = article(300), '"1"'
    item = keep(shore.url("a")).item
    raw = library.items.raw(item.id)
    assert raw is not None
    if change == "bookmark":
        library.items.save(replace(item, metadata=replace(item.metadata, quality="bookmark")), raw)
    elif change == "edited":
        library.items.set_metadata(item.id, clock.now(), edited=True)
    else:
        library.items.save(item, replace(raw, rendered=True) if change == "rendered" else None)
    run(library, settings)
    assert "if-none-match" not in shore.site.requests[-1].headers
