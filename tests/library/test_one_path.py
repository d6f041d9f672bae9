"""The same page gives the same item, by whatever way it comes into the library, on both stores."""

from __future__ import annotations

import asyncio
import io
import json
import uuid
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from pagekeep import clock
from pagekeep.capture.from_url import Request, Retrieval
from pagekeep.capture.uploads import page_in_file, sent_page
from pagekeep.config import Settings
from pagekeep.errors import FetchHttpError
from pagekeep.library.imports.run import ImportPlan, ImportReport, fetch_items, import_batches
from pagekeep.library.queue import SaveRequest, enqueue
from pagekeep.library.run_jobs import JobRunner
from pagekeep.library.saving.reparse import reparse, reparse_one
from pagekeep.library.saving.save import refetch, retry, save
from pagekeep.model import Item, ItemMetadata
from pagekeep.store import Store, open_store
from tests.site.fixtures import SENTENCE, Shore
from tests.store.conftest import server
from tests.store.making import Server

__all__ = ["server"]

PAGE = f"""<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>The keeper of the light</title>
<meta name="author" content="Ada Quincewort"><meta name="description" content="How ships are counted.">
<meta name="keywords" content="ships, kettle"><meta property="article:published_time" content="2025-03-19T10:30:00Z">
<meta property="og:site_name" content="The Harbour"><meta property="og:image" content="https://example.com/light.jpg">
<link rel="canonical" href="ADDRESS"></head><body><nav><a href="/">Home</a></nav>
<article><h1>The keeper of the light</h1>{f"<p>{SENTENCE * 3}</p>" * 6}<pre><code>count += 1</code></pre></article></body></html>"""
# What is different on purpose: whose it is, when it came, by which way, and what went wrong before.
APART = ("id", "user_id", "source", "saved_at", "created_at", "updated_at", "last_opened_at", "metadata", "content")


class Shelf:
    """One user's empty library, with what every way needs."""

    def __init__(self, where: str, shore: Shore, settings: Settings) -> None:
        self.where = where
        self.user = f"user-{uuid.uuid4()}"
        self.shore = shore
        self.settings = settings
        self.url = shore.url("a")
        self.page = PAGE.replace("ADDRESS", self.url)
        self.older = self.page.replace("Ada Quincewort", "Bea Quincewort").replace(
            "<pre><code>count += 1</code></pre>", ""
        )

    async def fill(self, way: Way) -> Item:
        """Go the way with an empty library; return the item."""
        self.shore.statuses.clear()
        self.shore.bodies["a"] = self.page
        with closing(open_store(self.where, self.user)) as store:
            async with Retrieval(self.settings) as retrieval:
                await way(self, store, retrieval)
            item = store.items.by_url(self.url)
            assert item is not None
            assert store.items.raw(item.id) is not None
            return item

    async def work(self, retrieval: Retrieval) -> None:
        """Do what is in the queue of this user."""
        with closing(open_store(self.where, self.user)) as queue:
            runner = JobRunner("w", queue, lambda user: open_store(self.where, user), retrieval, lambda _result: None)
            await runner.run(until_empty=True)


Way = Callable[[Shelf, Store, Retrieval], Awaitable[object]]


def request(shelf: Shelf) -> Request:
    return Request(shelf.url, render="never")


async def by_save(shelf: Shelf, store: Store, retrieval: Retrieval) -> None:
    await save(SaveRequest(request(shelf)), store, retrieval)


async def by_saving_twice(shelf: Shelf, store: Store, retrieval: Retrieval) -> None:
    shelf.shore.bodies["a"] = shelf.older
    await save(SaveRequest(request(shelf)), store, retrieval)
    shelf.shore.bodies["a"] = shelf.page
    await save(SaveRequest(request(shelf)), store, retrieval)


async def by_upload(shelf: Shelf, store: Store, retrieval: Retrieval) -> None:
    page = sent_page(shelf.url, shelf.page, rendered=False)
    await save(SaveRequest(request(shelf), uploaded=page), store, retrieval)


async def by_file(shelf: Shelf, store: Store, retrieval: Retrieval) -> None:
    page = await page_in_file(shelf.page.encode(), "page.html", retrieval, place="/home/ada/page.html")
    await save(
        SaveRequest(Request(page.url), uploaded=replace(page, rendered=False, encoding="utf-8")), store, retrieval
    )


async def by_retry_of_a_failed_save(shelf: Shelf, store: Store, retrieval: Retrieval) -> None:
    shelf.shore.statuses["a"] = 500
    with pytest.raises(FetchHttpError) as raised:
        await save(SaveRequest(request(shelf)), store, retrieval)
    shelf.shore.statuses.clear()
    await retry(str(raised.value.item_id), store, retrieval, request=request(shelf))


async def by_refetch(shelf: Shelf, store: Store, retrieval: Retrieval) -> None:
    shelf.shore.bodies["a"] = shelf.older
    item = (await save(SaveRequest(request(shelf)), store, retrieval)).item
    shelf.shore.bodies["a"] = shelf.page
    assert [result.outcome async for result in refetch(store, [item.id], retrieval)] == ["updated"]


def spoil(store: Store, item: Item) -> None:
    """Make of the item what a parser would that found next to nothing."""
    nothing = ItemMetadata(parser_version=1, quality="simplified", word_count=3)
    store.items.replace_content(
        item.id, content="x", title="x", author=None, published_at=None, metadata=nothing, now=clock.now()
    )


async def by_reparse(shelf: Shelf, store: Store, retrieval: Retrieval) -> None:
    item = (await save(SaveRequest(request(shelf)), store, retrieval)).item
    spoil(store, item)
    assert (await reparse_one(item.id, store, retrieval)).outcome == "updated"


async def by_reparse_of_many(shelf: Shelf, store: Store, retrieval: Retrieval) -> None:
    item = (await save(SaveRequest(request(shelf)), store, retrieval)).item
    spoil(store, item)
    assert [result.outcome for result in reparse(store, [item.id], retrieval.rules)] == ["updated"]


async def by_queue(shelf: Shelf, store: Store, retrieval: Retrieval) -> None:
    enqueue(SaveRequest(request(shelf)), store)
    await shelf.work(retrieval)


async def run_import(
    data: str, store: Store, retrieval: Retrieval, *, queue: bool = False, fetch: bool = False
) -> None:
    report = ImportReport()
    plan = ImportPlan(retrieval.rules, queue=queue)
    for waiting in import_batches(io.BytesIO(data.encode()), "x", store, plan, report):
        if fetch:
            await fetch_items(waiting, store, retrieval, report)
    assert (report.failed, report.not_fetched) == (0, 0)


def bookmarks(shelf: Shelf) -> str:
    return f'<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><p><DT><A HREF="{shelf.url}" ADD_DATE="1300000000">Export</A></DL>'


async def by_import_and_fetch(shelf: Shelf, store: Store, retrieval: Retrieval) -> None:
    await run_import(bookmarks(shelf), store, retrieval, fetch=True)


async def by_import_and_queue(shelf: Shelf, store: Store, retrieval: Retrieval) -> None:
    await run_import(bookmarks(shelf), store, retrieval, queue=True)
    await shelf.work(retrieval)


async def by_import_and_failed_fetch(shelf: Shelf, store: Store, retrieval: Retrieval) -> None:
    await run_import(bookmarks(shelf), store, retrieval)
    item = store.items.by_url(shelf.url)
    assert item is not None
    shelf.shore.statuses["a"] = 404
    await fetch_items([item], store, retrieval, ImportReport())
    known = store.items.get(item.id).metadata
    assert (known.fetch_again, known.reason is not None and "404" in known.reason) == (False, True)
    shelf.shore.statuses.clear()
    await retry(item.id, store, retrieval, request=request(shelf))


async def by_import_of_content(shelf: Shelf, store: Store, retrieval: Retrieval) -> None:
    entry = {"url": shelf.url, "title": "Export", "is_archived": 0, "created_at": "2024-01-02T03:04:05+00:00"}
    await run_import(json.dumps([{**entry, "content": shelf.page}]), store, retrieval)


WAYS: tuple[Way, ...] = (
    by_saving_twice,
    by_upload,
    by_file,
    by_retry_of_a_failed_save,
    by_refetch,
    by_reparse,
    by_reparse_of_many,
    by_queue,
    by_import_and_fetch,
    by_import_and_queue,
    by_import_and_failed_fetch,
    by_import_of_content,
)


@pytest.fixture
def settings() -> Settings:
    return Settings(allow_hosts=("127.0.0.1",), per_host_delay=0, timeout=10, render="never", retries=0)


@pytest.fixture(params=["sqlite", "postgres"])
def make_shelf(request: pytest.FixtureRequest, tmp_path: Path, shore: Shore, settings: Settings) -> Callable[[], Shelf]:
    """Makes an empty library."""
    if request.param == "sqlite":
        where = str(tmp_path / "library.db")
    else:
        running: Server = request.getfixturevalue("server")
        where = running.app
    return lambda: Shelf(where, shore, settings)


def compare(item: Item) -> dict[str, Any]:
    """Return all fields that the way may not change, with the frontmatter."""
    fields = {name: value for name, value in asdict(item).items() if name not in APART}
    metadata = asdict(replace(item.metadata, retry_count=0, last_error=None, imported=False, text_hash=None))
    block, _, body = item.content.removeprefix("---\n").partition("\n---\n")
    frontmatter = {name: value for name, value in yaml.safe_load(block).items() if name != "saved_at"}
    return {**fields, "metadata": metadata, "frontmatter": frontmatter, "body": body}


def test_the_same_page_gives_the_same_item_by_every_way(make_shelf: Callable[[], Shelf]) -> None:
    wanted = compare(asyncio.run(make_shelf().fill(by_save)))
    assert (wanted["title"], wanted["author"]) == ("The keeper of the light", "Ada Quincewort")
    assert wanted["metadata"]["quality"] == "article"
    assert wanted["metadata"]["suggested_tags"]
    assert wanted["metadata"]["tags"] == ()
    for way in WAYS:
        assert (way.__name__, compare(asyncio.run(make_shelf().fill(way)))) == (way.__name__, wanted)
