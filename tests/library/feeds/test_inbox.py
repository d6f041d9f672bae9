"""The feed inbox: entries wait apart from the library, and keeping one makes an item as any save does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pagekeep import clock
from pagekeep.errors import NotFound
from pagekeep.library.feeds import inbox
from pagekeep.library.feeds.inbox import add_entries, keep_entry, request_keep
from pagekeep.library.feeds.subscriptions import add_feed, list_feeds
from pagekeep.model import EntryQuery, Feed, FeedSettings, ItemQuery, NewEntry, RawPage
from pagekeep.store import Store
from tests.library.feeds.conftest import Run
from tests.site.fixtures import BARE, Shore, article

NOW = "2025-03-19T10:30:00.000000Z"


def page(html: str, url: str = "https://example.com/story", content_type: str = "text/html") -> RawPage:
    return RawPage(html.encode(), "utf-8", content_type, url, 200, False, NOW)


def put(library: Store, feed: Feed, **fields: Any) -> str:
    (entry_id,) = add_entries(library, feed, [NewEntry("one", "One", **fields)]).added
    return entry_id


def test_keeping_fetches_the_article_and_gives_the_tags_of_the_feed(
    library: Store, feed: Feed, run: Run, shore: Shore
) -> None:
    shore.bodies["a"] = article(300)
    entry_id = put(library, feed, url=shore.url("a"), content="A teaser.", page=page("<p>A teaser."))
    assert library.search.find(ItemQuery()).hits == ()
    saved = run(keep_entry, entry_id, library)
    assert (saved.outcome, saved.item.source, saved.item.metadata.tags) == ("added", "web", ("sea",))
    assert "puts the kettle on" in saved.item.content
    kept = library.entries.get(entry_id)
    assert (kept.item_id, kept.kept_at is None) == (saved.item.id, False)
    again = run(keep_entry, entry_id, library)
    assert (again.outcome, again.item.id) == ("kept", saved.item.id)


def test_what_the_feed_carried_is_kept_when_the_article_cannot_be_had(
    library: Store, feed: Feed, run: Run, shore: Shore
) -> None:
    shore.statuses["a"] = 500
    entry_id = put(library, feed, url=shore.url("a"), page=page(article(300)))
    saved = run(keep_entry, entry_id, library)
    assert (saved.item.metadata.quality, saved.item.source) == ("article", "feed")
    assert saved.item.url == shore.url("a")


def test_what_the_feed_carried_is_better_than_a_page_without_text(
    library: Store, feed: Feed, run: Run, shore: Shore
) -> None:
    shore.bodies["a"] = BARE
    entry_id = put(library, feed, url=shore.url("a"), page=page(article(300)))
    assert run(keep_entry, entry_id, library).item.metadata.quality == "article"
    assert len(library.search.find(ItemQuery()).hits) == 1


def test_an_address_that_cannot_be_fetched_is_kept_as_a_bookmark(
    library: Store, feed: Feed, run: Run, shore: Shore
) -> None:
    entry_id = put(library, feed, url=shore.url("missing"))
    saved = run(keep_entry, entry_id, library)
    assert (saved.item.metadata.quality, library.entries.get(entry_id).item_id) == ("bookmark", saved.item.id)


def test_a_whole_article_is_not_fetched_again(library: Store, feed: Feed, run: Run) -> None:
    whole = page(article(300), "https://nowhere.invalid/a")
    entry_id = put(library, feed, url="https://nowhere.invalid/a", page=whole, extra={"full": True})
    assert run(keep_entry, entry_id, library).item.metadata.quality == "article"


def test_a_newsletter_is_kept_without_an_address(library: Store, run: Run) -> None:
    letters, _ = add_feed(library, "letters.example.com", kind="mail", title="Letters")
    assert library.schedules.list("feeds") == ()  # nothing to poll
    message = page(article(300), "https://file.invalid/abc/letter")
    entry_id = put(library, letters, page=message, extra={"full": True})
    saved = run(keep_entry, entry_id, library)
    assert (saved.item.url, saved.item.source) == ("https://file.invalid/abc/letter", "mail")


def test_an_entry_without_address_and_text_is_refused(library: Store, feed: Feed, run: Run) -> None:
    with pytest.raises(NotFound, match="neither"):
        run(keep_entry, put(library, feed), library)


def test_an_entry_can_be_kept_again_after_its_item_was_deleted(
    library: Store, feed: Feed, run: Run, shore: Shore
) -> None:
    shore.bodies["a"] = article(300)
    entry_id = put(library, feed, url=shore.url("a"))
    item = run(keep_entry, entry_id, library).item
    library.items.delete(item.id, NOW)
    assert run(keep_entry, entry_id, library).item.deleted_at is None


def test_a_requested_keep_is_a_job_that_can_be_run_twice(library: Store, feed: Feed, run: Run, shore: Shore) -> None:
    shore.bodies["a"] = article(300)
    entry_id = put(library, feed, url=shore.url("a"))
    job = request_keep(library, entry_id)
    assert request_keep(library, entry_id).id == job.id
    assert library.entries.get(entry_id).kept_at is not None

    async def work(retrieval: Any) -> Any:
        return await inbox.keep_job(job, library, retrieval, lambda _stage: None)

    assert run(work).report["kept"] == 1
    assert run(work).report["kept"] == 1
    assert len(library.search.find(ItemQuery()).hits) == 1
    library.feeds.remove(feed.id)
    assert run(work).report == {"kept": 0}


def test_limits_of_the_feed_apply_as_entries_arrive(library: Store, feed: Feed) -> None:
    few = replace(feed, settings=FeedSettings(keep_count=3, keep_days=0))
    entries = [NewEntry(str(number), f"Entry {number}", published_at=f"2025-03-0{number}") for number in range(1, 9)]
    added = add_entries(library, few, entries)
    assert (len(added.added), len(added.left_out)) == (3, 5)
    assert {entry.id for entry in library.entries.find(EntryQuery()).entries} == set(added.added)
    again = add_entries(library, few, entries)
    assert (again.added, again.left_out) == ((), ())


def test_the_newest_entries_stay_whatever_their_age(library: Store, feed: Feed) -> None:
    ages = [clock.add_seconds(clock.now(), -86_400.0 * days) for days in range(10, 1_210, 100)]
    entries = [NewEntry(str(number), f"Entry {number}", published_at=at) for number, at in enumerate(ages)]
    old = replace(feed, settings=FeedSettings(keep_count=0, keep_days=90))
    added = add_entries(library, old, entries)
    assert (len(added.added), len(added.left_out)) == (10, 2)
    assert [entry.title for entry in library.entries.find(EntryQuery()).entries] == [
        f"Entry {number}" for number in range(10)
    ]
    (counted,) = [one for one in list_feeds(library) if one.feed.id == feed.id]
    assert (counted.counts.total, counted.counts.left_out) == (10, 2)
    newer = [NewEntry("new", "New", published_at=clock.now()), *entries]
    assert len(add_entries(library, old, newer).added) == 1  # and the oldest makes room
    assert [entry.title for entry in library.entries.find(EntryQuery()).entries] == [
        "New", *(f"Entry {number}" for number in range(9))
    ]  # fmt: skip


def test_texts_of_any_length_are_bounded(library: Store, feed: Feed) -> None:
    huge = "x" * 100_000
    entry_id = put(library, feed, url=f"https://e.com/{huge}", author=huge, content=huge * 30)
    found = library.entries.get(entry_id)
    assert (found.url, len(found.author or ""), len(found.content)) == (None, 500, 2_000_000)
