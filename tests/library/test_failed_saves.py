"""A save that fails keeps the address, with the reason and whether trying again can help."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from pagekeep import clock
from pagekeep.capture.from_url import Request, Retrieval
from pagekeep.capture.uploads import sent_page
from pagekeep.config import Settings
from pagekeep.errors import (
    BlockedAddress,
    FetchHttpError,
    FetchNetworkError,
    FetchTimeout,
    PagekeepError,
    ParseError,
    RetryLimit,
    UnsupportedContent,
)
from pagekeep.library.items import build_item, change
from pagekeep.library.items.find import is_empty, walk_items
from pagekeep.library.queue import SaveRequest, enqueue
from pagekeep.library.run_jobs import MAX_ATTEMPTS, JobResult, JobRunner
from pagekeep.library.saving.failed_saves import count_failed, find_waiting, list_failed, try_all_again
from pagekeep.library.saving.save import save
from pagekeep.model import Item, ItemQuery, Metadata, SaveResult, item_filters
from pagekeep.model.lists import ItemChange
from pagekeep.present.item_content import shown_content
from pagekeep.store import Store, open_store, parse_query
from tests.site.fixtures import WALL, Shore, article
from tests.site.server import Reply, Site
from tests.site.server import Request as SiteRequest

Keep = Callable[..., SaveResult]


def items(library: Store) -> tuple[Item, ...]:
    return library.search.find(ItemQuery()).items


def failed(library: Store) -> tuple[Item, ...]:
    """The failed saves: an item is in this list, or among `items`."""
    return list_failed(library).items


def frontmatter(item: Item) -> dict[str, Any]:
    return dict(yaml.safe_load(shown_content(item).split("---\n")[1]))


def fail(keep: Keep, url: str, kind: type[PagekeepError] = PagekeepError, **how: Any) -> PagekeepError:
    with pytest.raises(kind) as raised:
        keep(url, **how)
    return raised.value


@pytest.mark.parametrize(
    ("status", "again"), [(404, False), (410, False), (403, False), (429, True), (500, True), (503, True)]
)
def test_an_error_status_keeps_the_address(keep: Keep, shore: Shore, library: Store, status: int, again: bool) -> None:
    shore.statuses["a"] = status
    error = fail(keep, shore.url("a"), FetchHttpError, tags=("harbour",))
    (item,) = failed(library)
    assert (items(library), count_failed(library), library.counts.faults()) == ((), 1, [])
    about = item.metadata
    assert (item.id, item.url_full, item.title) == (error.item_id, shore.url("a"), shore.url("a"))
    assert (about.quality, about.strategy, about.fetch_again, about.tags) == (
        "bookmark",
        "bookmark",
        again,
        ("harbour",),
    )
    assert about.reason == error.message
    assert about.last_error is not None
    assert about.last_error["type"] == "FetchHttpError"
    assert frontmatter(item)["reason"] == error.message
    assert frontmatter(item)["extraction_failed"] is True
    assert item.id[:8] in error.suggestions[-1]
    found = library.search.find(ItemQuery(filters=item_filters(fetch_again=True))).items
    assert [one.id for one in found] == [item.id] * again
    assert len(library.search.find(parse_query("is:fetch-again")).hits) == again


def test_a_server_that_is_off_or_slow_or_sends_no_page_keeps_the_address(library: Store, settings: Settings) -> None:
    async def slow(_request: SiteRequest, reply: Reply) -> None:
        await asyncio.sleep(5)

    async def pdf(_request: SiteRequest, reply: Reply) -> None:
        await reply.send("PK\x03\x04", content_type="application/zip")

    async def save_all(site: Site) -> None:
        async with Retrieval(replace(settings, timeout=0.5, retries=0)) as retrieval:
            for url, kind in (
                ("http://127.0.0.1:9/closed", FetchNetworkError),
                (site.url("/slow/page"), FetchTimeout),
                (site.url("/file/x"), UnsupportedContent),
            ):
                with pytest.raises(kind):
                    await save(SaveRequest(Request(url, render="never")), library, retrieval)

    with Site({"slow": slow, "file": pdf}) as site:
        asyncio.run(save_all(site))
    kept = {item.url.rpartition("/")[2]: item.metadata.fetch_again for item in failed(library)}
    assert kept == {"closed": True, "page": True, "x": False}


def test_what_is_not_an_address_is_not_kept(keep: Keep, library: Store) -> None:
    for text in ("no address", "ftp://e.example/a", "https://"):
        assert fail(keep, text).item_id is None
    assert (items(library), failed(library)) == ((), ())


def test_an_address_that_may_not_be_opened_is_a_failed_save(keep: Keep, library: Store) -> None:
    error = fail(keep, "http://10.0.0.1/router", BlockedAddress)
    (item,) = failed(library)
    assert (item.id, item.metadata.fetch_again, items(library)) == (error.item_id, False, ())


def test_a_kept_bookmark_is_in_the_inbox_and_stays_there(keep: Keep, shore: Shore, library: Store) -> None:
    shore.statuses["a"] = 404
    key = str(fail(keep, shore.url("a")).item_id)
    done = change.change_selected(library, [key], ItemChange(failed=False), "Kept as a bookmark")
    assert ([item.id for item in items(library)], failed(library)) == ([key], ())
    error = fail(keep, shore.url("a"))
    assert ([item.id for item in items(library)], failed(library)) == ([key], ())
    assert "that you kept" in error.suggestions[-1]
    change.undo_action(library, done.action.id)
    assert (items(library), [item.id for item in failed(library)]) == ((), [key])


def test_a_bookmark_in_the_trash_that_fails_again_is_a_failed_save(keep: Keep, shore: Shore, library: Store) -> None:
    shore.statuses["a"] = 404
    key = str(fail(keep, shore.url("a")).item_id)
    change.change_selected(library, [key], ItemChange(failed=False, deleted=True), "Deleted")
    fail(keep, shore.url("a"))
    assert (items(library), [item.id for item in failed(library)]) == ((), [key])


def test_an_imported_bookmark_becomes_a_failed_save_with_its_first_failure(
    keep: Keep, shore: Shore, library: Store
) -> None:
    about = Metadata(title="The keeper")
    url = shore.url("a")
    bookmark = build_item.new_bookmark(
        about, url=url, url_full=url, user_id=library.user_id, now=clock.now(), reason="Not fetched.", suggestion=None
    )
    library.items.save(bookmark, None)
    assert failed(library) == ()
    shore.statuses["a"] = 500
    fail(keep, url)
    (item,) = failed(library)
    assert (item.id, item.title, items(library)) == (bookmark.id, "The keeper", ())


def test_a_page_without_text_is_saved_and_not_a_failure(keep: Keep, shore: Shore, library: Store) -> None:
    shore.bodies["a"] = WALL
    assert keep(shore.url("a")).item.metadata.quality == "bookmark"
    assert (len(items(library)), failed(library)) == (1, ())


def test_an_export_has_the_addresses_of_failed_saves(keep: Keep, shore: Shore, library: Store) -> None:
    shore.bodies["a"] = article(300)
    shore.statuses["b"] = 404
    fail(keep, shore.url("b"))
    keep(shore.url("a"))
    assert [item.url for item in walk_items(library)] == [shore.url("b"), shore.url("a")]
    assert not is_empty(library)


def test_a_failure_never_overwrites_content_and_brings_a_deleted_item_back(
    keep: Keep, shore: Shore, library: Store
) -> None:
    shore.bodies["a"] = article(300)
    good = keep(shore.url("a")).item
    library.items.delete(good.id, clock.now())
    shore.statuses["a"] = 404
    error = fail(keep, shore.url("a"))
    (item,) = items(library)
    assert (error.item_id, item.content, item.metadata.quality) == (good.id, good.content, "article")
    assert item.metadata.fetch_again is None
    assert "unchanged" in error.suggestions[-1]
    assert library.items.raw(good.id) is not None


def test_a_page_saved_by_another_meanwhile_stays(keep: Keep, shore: Shore, library: Store) -> None:
    """The item is looked up before the page is fetched; another save may finish in between."""
    shore.bodies["a"] = article(300)
    good = keep(shore.url("a")).item
    shore.statuses["a"] = 500
    unseen = Unseeing(library)

    async def one(settings: Settings) -> None:
        async with Retrieval(settings) as retrieval:
            with pytest.raises(FetchHttpError):
                await save(SaveRequest(Request(shore.url("a"), render="never")), unseen, retrieval)  # type: ignore[arg-type]

    asyncio.run(one(Settings(allow_hosts=("127.0.0.1",), per_host_delay=0, retries=0)))
    assert library.items.get(good.id).content == good.content


class Unseeing:
    """A library that finds no item, as one does that is asked too early."""

    def __init__(self, library: Any) -> None:
        self._library = library

    def __getattr__(self, name: str) -> Any:
        return Unseeing(self._library.items) if name == "items" else getattr(self._library, name)

    def by_url(self, url: str) -> None:
        """Find nothing."""


def test_saving_again_fills_the_bookmark_and_keeps_what_the_user_set(keep: Keep, shore: Shore, library: Store) -> None:
    shore.statuses["a"] = 500
    kept = library.items.get(str(fail(keep, shore.url("a")).item_id))
    change.change_item(library, kept.id, ItemChange(add_tags=("mine",)))
    shore.statuses["a"] = 404
    fail(keep, shore.url("a"))
    again = library.items.get(kept.id)
    assert (again.metadata.fetch_again, again.metadata.tags, again.saved_at) == (False, ("mine",), kept.saved_at)
    assert "404" in frontmatter(again)["reason"]
    shore.statuses.clear()
    shore.bodies["a"] = article(300)
    item = keep(shore.url("a")).item
    about = item.metadata
    assert (item.id, item.title, about.quality, about.fetch_again) == (kept.id, "The keeper", "article", None)
    assert (about.reason, about.suggestion, about.last_error, about.retry_count) == (None, None, None, 0)
    assert "mine" in about.tags
    assert library.items.raw(item.id) is not None


def test_retries_of_a_kept_address_count_until_one_succeeds(
    keep: Keep, again: Callable[..., SaveResult], shore: Shore, library: Store
) -> None:
    shore.statuses["a"] = 500
    key = str(fail(keep, shore.url("a")).item_id)
    for count in (1, 2, 3):
        with pytest.raises(FetchHttpError):
            again(key)
        assert library.items.get(key).metadata.retry_count == count
    with pytest.raises(RetryLimit):
        again(key)
    shore.statuses.clear()
    shore.bodies["a"] = article(300)
    assert keep(shore.url("a")).item.metadata.retry_count == 0


def test_a_wall_on_the_second_try_is_no_longer_to_be_fetched_again(keep: Keep, shore: Shore, library: Store) -> None:
    shore.statuses["a"] = 500
    key = str(fail(keep, shore.url("a")).item_id)
    shore.statuses.clear()
    shore.bodies["a"] = WALL
    keep(shore.url("a"))
    about = library.items.get(key).metadata
    assert (about.caught, about.fetch_again, about.failed) == ("bot_wall", None, False)
    assert [item.id for item in items(library)] == [key]


def test_a_page_that_was_sent_and_cannot_be_read_keeps_its_address(
    shore: Shore, library: Store, settings: Settings
) -> None:
    async def one() -> None:
        async with Retrieval(settings) as retrieval:
            page = sent_page(shore.url("a"), "")
            await save(SaveRequest(Request(shore.url("a")), uploaded=page), library, retrieval)

    with pytest.raises(ParseError):
        asyncio.run(one())
    (item,) = failed(library)
    assert (item.url, item.metadata.fetch_again) == (shore.url("a"), False)


def run_jobs(path: Path, settings: Settings) -> list[JobResult]:
    done: list[JobResult] = []

    async def run() -> None:
        with closing(open_store(path, workers=True)) as queue:
            async with Retrieval(settings) as retrieval:
                runner = JobRunner("w", queue, lambda user: open_store(path, user), retrieval, done.append)
                await runner.run(until_empty=True)

    asyncio.run(run())
    return done


def test_a_queued_save_keeps_the_address_when_its_attempts_are_used_up(
    shore: Shore, library: Store, tmp_path: Path, settings: Settings
) -> None:
    shore.statuses["a"] = 500
    job = enqueue(SaveRequest(Request(shore.url("a"), render="never"), tags=("harbour",)), library)
    for attempt in range(1, MAX_ATTEMPTS + 1):
        assert (items(library), failed(library)) == ((), ())
        run_jobs(tmp_path / "library.db", replace(settings, retries=0))
        assert library.jobs.get(job.id).attempts == attempt
        library.jobs.make_due(clock.now(), clock.add_seconds(clock.now(), 600))
    (item,) = failed(library)
    dead = library.jobs.get(job.id)
    assert (dead.state, dead.options["item"]) == ("dead", item.id)
    assert dead.error is not None
    assert dead.error["item_id"] == item.id
    assert (item.metadata.fetch_again, item.metadata.tags) == (True, ("harbour",))


def test_a_queued_save_of_a_missing_page_keeps_the_address_at_once(
    shore: Shore, library: Store, tmp_path: Path, settings: Settings
) -> None:
    job = enqueue(SaveRequest(Request(shore.url("none"), render="never")), library)
    (result,) = run_jobs(tmp_path / "library.db", settings)
    (item,) = failed(library)
    assert (library.jobs.get(job.id).state, item.metadata.fetch_again) == ("dead", False)
    assert result.error is not None
    assert item.id[:8] in result.error["suggestions"][-1]


def test_a_job_whose_workers_were_all_killed_keeps_the_address(
    shore: Shore, library: Store, tmp_path: Path, settings: Settings
) -> None:
    enqueue(SaveRequest(Request(shore.url("a"), render="never")), library)
    for _ in range(MAX_ATTEMPTS):
        assert library.jobs.lease("killed", clock.now(), clock.add_seconds(clock.now(), -1)) is not None
    (result,) = run_jobs(tmp_path / "library.db", settings)
    assert result.error is not None
    assert result.error["type"] == "Abandoned"
    assert [item.id for item in failed(library)] == [result.error["item_id"]]


def test_no_failed_save_of_the_queue_is_without_an_item(library: Store, tmp_path: Path, settings: Settings) -> None:
    enqueue(SaveRequest(Request("http://10.0.0.1/router", render="never")), library)
    (result,) = run_jobs(tmp_path / "library.db", settings)
    assert result.error is not None
    assert [item.id for item in failed(library)] == [result.error["item_id"]]


def test_a_failed_save_that_is_tried_again_waits_and_then_is_saved(
    keep: Keep, shore: Shore, library: Store, tmp_path: Path, settings: Settings
) -> None:
    for name in ("a", "b"):
        shore.statuses[name] = 500 if name == "a" else 404
        fail(keep, shore.url(name), tags=("harbour",))
    assert (count_failed(library), count_failed(library, fetch_again=True)) == (2, 1)
    try_all_again(library)
    (waiting,) = find_waiting(library, failed(library))
    assert library.items.get(waiting).url == shore.url("a")
    shore.statuses.clear()
    shore.bodies["a"] = article(300)
    run_jobs(tmp_path / "library.db", settings)
    (item,) = items(library)
    assert (item.id, item.metadata.failed, item.metadata.tags) == (waiting, False, ("harbour",))
    assert [one.url for one in failed(library)] == [shore.url("b")]
