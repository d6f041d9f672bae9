"""Live pages after an import, from a real server."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Callable

import pytest

from pagekeep.capture.from_url import Retrieval
from pagekeep.config import Settings
from pagekeep.library.imports.run import ImportPlan, ImportReport, fetch_items, import_batches
from pagekeep.library.saving.failed_saves import list_failed
from pagekeep.model import Item
from pagekeep.rules import Rulebook
from pagekeep.store import Store
from tests.library.imports import samples
from tests.site.fixtures import WALL, Shore, article

Fetch = Callable[[str], ImportReport]


@pytest.fixture
def fetch(library: Store, settings: Settings) -> Fetch:
    """Imports, and fetches at once what was never fetched."""

    async def one(data: str) -> ImportReport:
        report = ImportReport()
        async with Retrieval(settings, Rulebook()) as retrieval:
            for waiting in import_batches(io.BytesIO(data.encode()), "x", library, ImportPlan(Rulebook()), report):
                await fetch_items(waiting, library, retrieval, report)
        return report

    return lambda data: asyncio.run(one(data))


@pytest.fixture
def settings() -> Settings:
    return Settings(allow_hosts=("127.0.0.1",), per_host_delay=0, timeout=10, render="never", retries=0)


def one(library: Store) -> Item:
    from tests.library.imports.conftest import everything

    (item,) = everything(library).values()
    return item


def bookmark(url: str) -> str:
    return f'<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><p><DT><A HREF="{url}" ADD_DATE="1300000000" TAGS="fog">From the export</A></DL>'


def kept(url: str) -> str:
    reported = samples.pages()[10]
    entry = {
        "url": url,
        "title": "Kept",
        "is_archived": 0,
        "created_at": reported.iso,
        "content": samples.article(reported),
    }
    return json.dumps([entry])


def test_a_bookmark_becomes_its_page_and_keeps_what_the_export_said(library: Store, shore: Shore, fetch: Fetch) -> None:
    shore.bodies["log"] = article(600, "The live page")
    report = fetch(bookmark(shore.url("log")))
    item = one(library)
    assert (report.fetched, report.not_fetched) == (1, 0)
    assert (item.title, item.metadata.quality, item.source) == ("The live page", "article", "web")
    assert item.saved_at == "2011-03-13T07:06:40.000000Z"
    assert item.metadata.tags[0] == "fog"
    assert fetch(bookmark(shore.url("log"))).fetched == 0


def test_a_page_that_is_gone_stays_the_bookmark_it_was_and_is_reported(
    library: Store, shore: Shore, fetch: Fetch
) -> None:
    report = fetch(bookmark(shore.url("gone")))
    assert (report.fetched, report.not_fetched) == (0, 1)
    assert "404" in report.remarks[0][1]
    (item,) = list_failed(library).items
    assert (item.title, item.metadata.quality) == ("From the export", "bookmark")
    assert item.metadata.last_error["type"] == "FetchHttpError"


def test_a_wall_does_not_take_the_title_of_the_export(library: Store, shore: Shore, fetch: Fetch) -> None:
    shore.bodies["wall"] = WALL
    fetch(bookmark(shore.url("wall")))
    item = one(library)
    assert item.title == "From the export"
    assert item.metadata.last_error["type"] == "Worse"


def test_carried_content_stays_when_the_live_page_is_gone(library: Store, shore: Shore, fetch: Fetch) -> None:
    fetch(kept(shore.url("gone")))
    item = one(library)
    assert item.metadata.quality == "article"
    assert "It was day 10." in item.content


def test_the_live_page_takes_the_place_of_carried_content_unless_it_is_worse(
    library: Store, shore: Shore, fetch: Fetch
) -> None:
    shore.bodies["log"] = article(60)
    fetch(kept(shore.url("log")))
    assert "It was day 10." in one(library).content
    assert fetch(kept(shore.url("log"))).fetched == 0
    shore.bodies["other"] = article(3_000, "The live page")
    fetch(kept(shore.url("other")))
    found = library.items.by_url(shore.url("other"))
    assert found is not None
    assert found.title == "The live page"
