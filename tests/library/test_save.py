"""A page into the library, from a real server into a real SQLite file."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from pagekeep import clock, pipeline
from pagekeep.capture.from_url import Request, Retrieval
from pagekeep.config import Settings
from pagekeep.errors import FetchHttpError, NotFound, RetryLimit
from pagekeep.library.items.change import change_item
from pagekeep.library.queue import SaveRequest
from pagekeep.library.saving.save import retry, save
from pagekeep.model import PARSER_VERSION, ItemQuery, Page, SaveResult, item_filters
from pagekeep.model.lists import ItemChange
from pagekeep.pipeline import extract
from pagekeep.store import Store, parse_query
from tests.site.fixtures import APP, BARE, WALL, Shore, article, book

Keep = Callable[..., SaveResult]


def frontmatter(content: str) -> dict[str, object]:
    return dict(yaml.safe_load(content.split("---\n")[1]))


def everything(library: Store) -> ItemQuery:
    return ItemQuery()


def test_a_new_page_is_stored_with_its_raw_form(keep: Keep, shore: Shore, library: Store) -> None:
    shore.bodies["a"] = article(300)
    saved = keep(shore.url("a"), tags=("harbour",))
    item = library.items.get(saved.item.id)
    assert (saved.outcome, item.title, item.domain) == ("added", "The keeper", "127.0.0.1")
    assert "puts the kettle on" in item.content
    assert "harbour" in item.metadata.tags
    raw = library.items.raw(item.id)
    assert raw is not None
    assert raw.body.decode() == shore.bodies["a"]


def test_quality_and_versions_are_stored_with_the_item(keep: Keep, shore: Shore, library: Store) -> None:
    shore.bodies["a"] = article(300)
    item = keep(shore.url("a")).item
    assert item.metadata.quality == "article"
    assert item.metadata.parser_version == PARSER_VERSION
    assert item.metadata.word_count > 200
    assert item.metadata.used_js_rendering is False
    assert frontmatter(item.content)["quality"] == "article"


def test_a_simplified_capture_says_so_in_the_item_and_its_frontmatter(keep: Keep, shore: Shore, library: Store) -> None:
    """Seed 001, AC-11."""
    lines = "".join(f"<li>Berth {n}: the keeper counts ships, and writes the number down.</li>" for n in range(40))
    shore.bodies["a"] = f"<title>Berths</title><body><ul>{lines}</ul>"
    item = keep(shore.url("a")).item
    assert item.metadata.quality == "simplified"
    assert frontmatter(item.content)["quality"] == "simplified"
    assert [
        found.id
        for found in library.search.find(ItemQuery(filters=item_filters(quality="simplified", archived=False))).items
    ] == [item.id]


def test_a_second_save_updates_the_content_and_keeps_what_the_user_set(
    keep: Keep, shore: Shore, library: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    shore.bodies["a"] = article(300)
    with monkeypatch.context() as then:
        long_ago(then)
        first = keep(shore.url("a"), tags=("harbour",)).item
    change_item(library, first.id, ItemChange(pinned=True, archived=True))
    shore.bodies["a"] = article(400, title="The keeper, revised")
    second = keep(shore.url("a")).item
    assert (second.id, second.saved_at, second.title) == (first.id, first.saved_at, "The keeper, revised")
    assert (second.metadata.pinned, second.metadata.archived) == (True, True)
    assert list(second.metadata.tags) == list(first.metadata.tags)
    assert frontmatter(second.content)["saved_at"] == frontmatter(first.content)["saved_at"]


def test_a_tag_that_was_taken_off_does_not_come_back(
    keep: Keep, shore: Shore, library: Store, settings: Settings
) -> None:
    automatic = replace(settings, auto_tags=True)
    shore.bodies["a"] = article(300).replace("<title>", '<meta name="keywords" content="ships, kettle"><title>')
    item = keep(shore.url("a"), settings=automatic).item
    assert "kettle" in item.metadata.tags
    change_item(library, item.id, ItemChange(remove_tags=("kettle",)))
    assert "kettle" not in keep(shore.url("a"), tags=("new",), settings=automatic).item.metadata.tags
    assert "new" in library.items.get(item.id).metadata.tags


def test_suggested_tags_are_not_tags(keep: Keep, shore: Shore, library: Store) -> None:
    shore.bodies["a"] = article(300).replace("<title>", '<meta name="keywords" content="ships, kettle"><title>')
    item = keep(shore.url("a"), tags=("sea",)).item
    assert item.metadata.tags == ("sea",)
    assert "kettle" in item.metadata.suggested_tags
    assert library.search.find(ItemQuery(filters=item_filters(tags=("kettle",)))).items == ()
    assert "tags" not in frontmatter(item.content)
    assert frontmatter(item.content)["suggested_tags"] == list(item.metadata.suggested_tags)
    again = keep(shore.url("a"), force=True).item
    assert (again.metadata.tags, again.metadata.suggested_tags) == (("sea",), item.metadata.suggested_tags)


def long_ago(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "now", lambda: "2020-01-02T03:04:05.000006Z")


def test_addresses_of_one_page_make_one_item(
    keep: Keep, shore: Shore, library: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    shore.bodies["a"] = article(300)
    with monkeypatch.context() as then:
        long_ago(then)
        first = keep(shore.url("a"))
    assert keep(shore.url("a") + "?utm_source=mail#top").item.id == first.item.id
    again = keep(shore.site.url("/short/a"))
    assert (again.item.id, again.outcome) == (first.item.id, "updated")
    assert frontmatter(again.item.content)["saved_at"] == frontmatter(first.item.content)["saved_at"]


def test_a_page_saved_under_a_second_address_is_extracted_once(
    keep: Keep, shore: Shore, monkeypatch: pytest.MonkeyPatch
) -> None:
    shore.bodies["a"] = article(300)
    keep(shore.url("a"))
    addresses: list[str | None] = []

    def count(html: bytes, url: str | None, **how: Any) -> Page:
        addresses.append(url)
        return extract(html, url, **how)

    monkeypatch.setattr(pipeline, "extract", count)
    assert keep(shore.site.url("/short/a")).outcome == "updated"
    assert addresses == [shore.url("a")]


def test_a_canonical_link_of_the_same_site_is_what_the_page_goes_by(keep: Keep, shore: Shore, library: Store) -> None:
    link = f'<link rel="canonical" href="{shore.url("a")}">'
    shore.bodies["a"] = shore.bodies["b"] = link + article(300)
    assert keep(shore.url("b")).item.id == keep(shore.url("a")).item.id


def test_a_failed_refetch_keeps_the_good_content_and_records_the_failure(
    keep: Keep, shore: Shore, library: Store
) -> None:
    shore.bodies["a"] = article(300)
    before = keep(shore.url("a")).item
    shore.statuses["a"] = 500
    with pytest.raises(FetchHttpError) as raised:
        keep(shore.url("a"))
    after = library.items.get(before.id)
    assert after.content == before.content
    assert after.metadata.last_error["type"] == "FetchHttpError"
    assert before.id[:8] in raised.value.suggestions[-1]
    shore.statuses.clear()
    assert keep(shore.url("a")).item.metadata.last_error is None


def test_a_wall_is_stored_as_a_bookmark_with_reason_and_next_step(keep: Keep, shore: Shore) -> None:
    shore.bodies["a"] = WALL
    item = keep(shore.url("a")).item
    assert item.metadata.quality == "bookmark"
    assert item.metadata.caught == "bot_wall"
    assert item.metadata.reason
    assert item.metadata.suggestion
    assert frontmatter(item.content)["extraction_failed"] is True


@pytest.mark.parametrize("worse", [WALL, BARE, article(60)], ids=["wall", "bare", "far shorter"])
def test_a_worse_page_never_replaces_a_better_one_unless_forced(
    keep: Keep, shore: Shore, library: Store, worse: str
) -> None:
    shore.bodies["a"] = article(600)
    good = keep(shore.url("a")).item
    raw = library.items.raw(good.id)
    shore.bodies["a"] = worse
    kept = keep(shore.url("a"), tags=("asked",))
    assert (kept.outcome, kept.item.content) == ("kept", good.content)
    assert library.items.raw(good.id) == raw
    assert kept.item.metadata.last_error["message"]
    assert "asked" in kept.item.metadata.tags
    forced = keep(shore.url("a"), force=True)
    assert (forced.outcome, forced.item.id) == ("updated", good.id)
    assert forced.item.content != good.content


def test_a_somewhat_shorter_page_is_an_update(keep: Keep, shore: Shore) -> None:
    shore.bodies["a"] = article(600)
    keep(shore.url("a"))
    shore.bodies["a"] = article(400)
    assert keep(shore.url("a")).outcome == "updated"


def test_a_better_page_replaces_a_bookmark_and_its_reason_goes(keep: Keep, shore: Shore) -> None:
    shore.bodies["a"] = WALL
    bookmark = keep(shore.url("a")).item
    shore.bodies["a"] = article(300)
    item = keep(shore.url("a")).item
    assert (item.id, item.metadata.quality) == (bookmark.id, "article")
    assert not any(getattr(item.metadata, name) for name in ("reason", "suggestion", "caught"))


def test_a_wall_behind_a_short_address_does_not_make_a_second_item(keep: Keep, shore: Shore, library: Store) -> None:
    shore.bodies["a"] = article(300)
    good = keep(shore.url("a")).item
    shore.bodies["a"] = WALL
    kept = keep(shore.site.url("/short/a"))
    assert (kept.outcome, kept.item.id, kept.item.content) == ("kept", good.id, good.content)
    shore.bodies["b"] = WALL
    assert keep(shore.site.url("/short/b")).item.url.endswith("/short/b")


def test_a_missing_browser_is_reported_and_the_page_is_kept_as_it_came(
    shore: Shore, library: Store, settings: Settings
) -> None:
    shore.bodies["a"] = APP

    async def one() -> SaveResult:
        async with Retrieval(replace(settings, chromium="/nowhere/chromium")) as retrieval:
            return await save(SaveRequest(Request(shore.url("a"))), library, retrieval)

    saved = asyncio.run(one())
    assert saved.item.metadata.quality == "bookmark"
    assert saved.warnings[0].code == "not_rendered"
    assert saved.warnings[0].text.startswith("not rendered")


def test_saving_a_deleted_page_brings_it_back(keep: Keep, shore: Shore, library: Store) -> None:
    shore.bodies["a"] = article(600)
    item = keep(shore.url("a")).item
    library.items.delete(item.id, clock.now())
    assert keep(shore.url("a")).item.deleted_at is None
    library.items.delete(item.id, clock.now())
    shore.bodies["a"] = WALL
    assert keep(shore.url("a")).item.deleted_at is None


def test_many_saves_of_one_page_at_the_same_time_make_one_item(
    shore: Shore, library: Store, settings: Settings
) -> None:
    shore.bodies["a"] = article(300)

    async def all_at_once() -> set[str]:
        async with Retrieval(settings) as retrieval:
            runs = [save(SaveRequest(Request(shore.url("a"), render="never")), library, retrieval) for _ in range(20)]
            return {saved.item.id for saved in await asyncio.gather(*runs)}

    assert len(asyncio.run(all_at_once())) == 1
    assert len(library.search.find(everything(library)).items) == 1


# Retry (seed 001, AC-8)


def test_retry_runs_the_whole_chain_on_a_fresh_page(keep: Keep, again: Keep, shore: Shore) -> None:
    shore.bodies["a"] = WALL
    bookmark = keep(shore.url("a")).item
    shore.bodies["a"] = article(300)
    saved = again(bookmark.id)
    assert (saved.item.id, saved.item.metadata.quality) == (bookmark.id, "article")
    assert shore.site.asked("/page/a") == 2


def test_retry_is_refused_after_three_failures(keep: Keep, again: Keep, shore: Shore, library: Store) -> None:
    shore.bodies["a"] = WALL
    item = keep(shore.url("a")).item
    again(item.id)
    shore.statuses["a"] = 500
    with pytest.raises(FetchHttpError):
        again(item.id)
    shore.statuses.clear()
    assert again(item.id).item.metadata.retry_count == 3
    asked = shore.site.asked("/page/a")
    with pytest.raises(RetryLimit):
        again(item.id)
    assert shore.site.asked("/page/a") == asked


def test_the_count_of_retries_is_cleared_by_success_alone(
    keep: Keep, again: Keep, shore: Shore, library: Store
) -> None:
    shore.bodies["a"] = WALL
    item = keep(shore.url("a")).item
    again(item.id)
    again(item.id)
    assert keep(shore.url("a")).item.metadata.retry_count == 2
    shore.bodies["a"] = article(300)
    assert again(item.id).item.metadata.retry_count == 0


def test_a_deleted_item_is_not_retried(keep: Keep, again: Keep, shore: Shore, library: Store) -> None:
    shore.bodies["a"] = article(300)
    item = keep(shore.url("a")).item
    library.items.delete(item.id, clock.now())
    with pytest.raises(NotFound, match="deleted"):
        again(item.id)


SAVER = """
import asyncio, sys
from pagekeep.capture.from_url import Request, Retrieval
from pagekeep.library.queue import SaveRequest
from pagekeep.library.saving.save import save
from pagekeep.config import Settings
from pagekeep.store import open_store

async def main():
    store = open_store(sys.argv[1], "keeper")
    async with Retrieval(Settings(allow_hosts=("127.0.0.1",), per_host_delay=0)) as retrieval:
        while True:
            await save(SaveRequest(Request(sys.argv[2], render="never")), store, retrieval)

asyncio.run(main())
"""


@pytest.mark.parametrize("delay", [0.0, 0.01, 0.02, 0.04, 0.08])
def test_a_save_that_is_killed_left_a_whole_item_or_none_and_can_be_run_again(
    keep: Keep, shore: Shore, library: Store, tmp_path: Path, delay: float
) -> None:
    shore.bodies["a"] = article(3000)
    command = [sys.executable, "-c", SAVER, str(tmp_path / "library.db"), shore.url("a")]
    with subprocess.Popen(command) as saver:
        while not shore.site.asked("/page/a"):
            time.sleep(0.001)
        time.sleep(delay)
        saver.kill()
    assert library.check() == []
    for item in library.search.find(ItemQuery(filters=item_filters(archived=False))).items:
        assert item.metadata.quality == "article"
        assert library.items.raw(item.id) is not None
        assert [hit.item.id for hit in library.search.find(parse_query("kettle")).hits] == [item.id]
    keep(shore.url("a"))
    assert len(library.search.find(ItemQuery(filters=item_filters(archived=False))).items) == 1


def test_a_discarded_page_is_a_record_in_the_archive(keep: Keep, shore: Shore, library: Store) -> None:
    shore.bodies["a"] = article(300)
    saved = keep(shore.url("a"), rules=book(discard=True))
    item = library.items.get(saved.item.id)
    assert (saved.outcome, item.title) == ("added", "The keeper")
    assert (item.metadata.discarded, item.metadata.archived, item.metadata.quality) == (
        True,
        True,
        "discarded",
    )
    reported = frontmatter(item.content)
    assert (reported["discarded"], reported["rule_id"], reported["reason"]) == (
        True,
        "own",
        "Content discarded by rule own",
    )
    assert "kettle" not in item.content
    assert library.search.find(ItemQuery(filters=item_filters(archived=False))).items == ()
    assert [found.id for found in library.search.find(ItemQuery(filters=item_filters(quality="discarded"))).items] == [
        item.id
    ]


def test_a_discard_does_not_replace_what_was_saved_before(keep: Keep, shore: Shore, library: Store) -> None:
    shore.bodies["a"] = article(300)
    item = keep(shore.url("a")).item
    saved = keep(shore.url("a"), rules=book(discard=True))
    assert saved.outcome == "kept"
    assert library.items.get(item.id).content == item.content


def test_the_rules_in_force_are_noted_with_the_item(keep: Keep, shore: Shore) -> None:
    shore.bodies["a"] = article(300)
    first = keep(shore.url("a")).item.metadata.rules_hash
    assert keep(shore.url("a"), rules=book(remove=(".x",))).item.metadata.rules_hash != first


def test_a_save_keeps_the_users_own_version_even_by_force(keep: Keep, shore: Shore, library: Store) -> None:
    shore.bodies["a"] = article(300)
    item = keep(shore.url("a")).item
    own = {"title": item.title, "author": None, "published_at": None, "now": clock.now()}
    library.items.replace_content(
        item.id, content="My own words.\n", metadata=replace(item.metadata, edited=True), **own
    )
    again = keep(shore.url("a"), force=True, tags=("harbour",))
    assert (again.outcome, again.note) == ("kept", "the text is your own version")
    stored = library.items.get(item.id)
    assert (stored.content, "harbour" in stored.metadata.tags) == ("My own words.\n", True)
    assert stored.metadata.last_error is None


def test_a_retry_of_a_good_page_that_has_not_changed_succeeds_without_a_download(
    keep: Keep, again: Keep, shore: Shore, library: Store
) -> None:
    shore.bodies["a"], shore.etags["a"] = article(300), '"1"'
    item = keep(shore.url("a")).item
    saved = again(item.id)
    assert (saved.outcome, saved.unchanged, saved.item.content) == ("updated", True, item.content)
    assert library.items.get(item.id).metadata.retry_count == 0
    assert shore.site.requests[-1].headers["if-none-match"] == '"1"'


def test_a_retry_of_a_bookmark_really_fetches_the_page(keep: Keep, again: Keep, shore: Shore) -> None:
    shore.bodies["a"], shore.etags["a"] = BARE, '"1"'
    item = keep(shore.url("a")).item
    again(item.id)
    assert "if-none-match" not in shore.site.requests[-1].headers


@pytest.mark.usefixtures("a_browser")
def test_a_retry_of_a_bookmark_goes_on_to_the_browser(shore: Shore, library: Store, settings: Settings) -> None:
    # Its table is content, so that nothing asks for a browser by itself.
    table = "<h1>Kiln</h1><table><tr><td>Ash</td></tr></table>"
    written = "<article>" + "<p>Apple ash for the celadons, oak for the browns.</p>" * 40 + "</article>"
    shore.bodies["a"] = f"<title>Kiln</title>{table}<script>document.body.innerHTML = '{written}'</script>"

    async def save_and_retry() -> tuple[SaveResult, SaveResult]:
        async with Retrieval(settings) as retrieval:
            first = await save(SaveRequest(Request(shore.url("a"), render="never")), library, retrieval)
            return first, await retry(first.item.id, library, retrieval)

    first, second = asyncio.run(save_and_retry())
    assert (first.item.metadata.quality, first.item.metadata.used_js_rendering) == ("bookmark", False)
    assert second.item.metadata.used_js_rendering


def test_a_retry_without_a_browser_fetches_the_page(shore: Shore, library: Store, settings: Settings) -> None:
    shore.bodies["a"] = APP

    async def save_and_retry() -> SaveResult:
        async with Retrieval(replace(settings, chromium="/nowhere/chromium")) as retrieval:
            first = await save(SaveRequest(Request(shore.url("a"), render="never")), library, retrieval)
            shore.bodies["a"] = article(300)
            return await retry(first.item.id, library, retrieval)

    assert asyncio.run(save_and_retry()).item.metadata.quality == "article"
