"""Polling over real HTTP: only what changed is read, failures wait longer, moved and ended feeds are recognised."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from pagekeep import clock
from pagekeep.library.feeds import poll, subscriptions
from pagekeep.library.feeds.parse.tasks import ParseFeed
from pagekeep.library.feeds.poll import PollReport, poll_feeds
from pagekeep.library.feeds.subscriptions import add_feed, change_feed
from pagekeep.model import EntryQuery, Feed, FeedSettings
from pagekeep.store import Store
from tests.library.feeds.conftest import Run
from tests.site.fixtures import article
from tests.site.server import Reply, Request, Site

NOW = "2025-03-19T10:30:00.000000Z"


@dataclass
class Press:
    """A site with a feed that a test changes."""

    site: Site
    items: list[str] = field(default_factory=lambda: ["one", "two"])
    body: bytes | None = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    etag: str | None = None
    asked: list[dict[str, str]] = field(default_factory=list)
    pages: dict[str, str] = field(default_factory=dict)

    def document(self) -> bytes:
        if self.body is not None:
            return self.body
        items = "".join(
            f"<item><title>{one}</title><guid isPermaLink='false'>{one.split()[0]}</guid><link>/page/{one.split()[0]}</link>"
            f"<description>About {one}.</description></item>"
            for one in self.items
        )
        return f"<rss version='2.0'><channel><title>Press</title><link>/</link>{items}</channel></rss>".encode()


@pytest.fixture
def press() -> Iterator[Press]:
    async def feed(request: Request, reply: Reply) -> None:
        made.asked.append(dict(request.headers))
        if made.etag and request.headers.get("if-none-match") == made.etag:
            await reply.send(status=304, etag=made.etag)
            return
        etag = {"etag": made.etag} if made.etag else {}
        await reply.send(
            made.document(), status=made.status, **{"content_type": "application/rss+xml"} | made.headers | etag
        )

    async def page(request: Request, reply: Reply) -> None:
        name = request.path.rpartition("/")[2]
        await reply.send(made.pages.get(name, ""), status=200 if name in made.pages else 404)

    async def old(_request: Request, reply: Reply) -> None:
        await reply.send("", status=301, location="/feed")

    async def other(_request: Request, reply: Reply) -> None:
        await reply.send("", status=302, location="/feed")

    async def ring(_request: Request, reply: Reply) -> None:
        await reply.send("", status=302, location="/ring")

    with Site({"feed": feed, "page": page, "old": old, "other": other, "ring": ring}) as site:
        made = Press(site)
        yield made


@pytest.fixture
def source(library: Store, press: Press) -> Feed:
    return add_feed(library, press.site.url("/feed"))[0]


@pytest.fixture
def polled(library: Store, run: Run) -> Any:
    """Polls a feed as it is stored now, and returns the report."""

    def once(feed: Feed) -> PollReport:
        async def work(retrieval: Any) -> PollReport:
            return await poll_feeds((library.feeds.get(feed.id),), library, retrieval, PollReport())

        return run(work)  # type: ignore[no-any-return]

    return once


def titles(library: Store, **query: Any) -> list[str]:
    return sorted(entry.title for entry in library.entries.find(EntryQuery(**query)).entries)


def test_new_entries_arrive_once_and_changed_ones_are_updated(
    library: Store, press: Press, source: Feed, polled: Any
) -> None:
    report = polled(source)
    assert (report.added, report.updated, report.failed) == (2, 0, 0)
    feed = library.feeds.get(source.id)
    assert (feed.title, feed.site, feed.state["format"]) == ("Press", press.site.url("/"), "rss20")
    press.items = ["three", "two and more", "one"]
    report = polled(source)
    assert (report.added, report.updated) == (1, 1)
    assert titles(library) == ["one", "three", "two and more"]
    entry = library.entries.find(EntryQuery(content=True)).entries[-1]
    assert entry.content.startswith("About")
    assert entry.url == press.site.url(f"/page/{entry.guid}")


def test_an_unchanged_feed_is_not_read_again(
    library: Store, press: Press, source: Feed, polled: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    press.etag = '"1"'
    polled(source)
    monkeypatch.setattr(ParseFeed, "run", None)  # reading it again would fail
    assert polled(source).unchanged == 1
    assert press.asked[-1]["if-none-match"] == '"1"'
    press.etag = None  # the whole document, with the same bytes
    assert polled(source).unchanged == 1
    assert library.feeds.get(source.id).polled_at is not None


def test_a_feed_that_fails_waits_longer_each_time_and_recovers(
    library: Store, press: Press, source: Feed, polled: Any
) -> None:
    press.status = 500
    waits = []
    for attempt in range(1, 4):
        assert polled(source).failed == 1
        feed = library.feeds.get(source.id)
        assert (feed.attempts, feed.status) == (attempt, "active")
        assert feed.error
        waits.append(clock.days_between(clock.now(), feed.next_at) * 24)
    assert 0.8 < waits[0] < 1.2
    assert 1.7 < waits[1] < 2.3
    assert 3.5 < waits[2] < 4.5
    press.status = 200
    assert polled(source).added == 2
    assert (library.feeds.get(source.id).attempts, library.feeds.get(source.id).error) == (0, None)


def test_retry_after_is_honoured(library: Store, press: Press, source: Feed, run: Run, settings: Any) -> None:
    press.status, press.headers = 429, {"retry-after": "7200"}

    async def work(retrieval: Any) -> PollReport:
        return await poll_feeds((source,), library, retrieval, PollReport())

    assert run(work).failed == 1
    assert clock.days_between(clock.now(), library.feeds.get(source.id).next_at) * 24 >= 1.99


def test_a_feed_that_is_gone_is_not_polled_any_more(library: Store, press: Press, source: Feed, polled: Any) -> None:
    press.status = 410
    assert polled(source).failed == 1
    assert library.feeds.get(source.id).status == "gone"
    assert poll.due_feeds(library) == ()
    press.status = 200
    assert change_feed(library, source.id, status="active").status == "active"
    assert polled(source).added == 2


def test_a_permanent_redirect_is_adopted_after_some_polls(library: Store, press: Press, polled: Any) -> None:
    feed, _ = add_feed(library, press.site.url("/old"))
    for _ in range(poll.MOVED_TIMES):
        assert library.feeds.get(feed.id).address == press.site.url("/old")
        polled(feed)
    assert library.feeds.get(feed.id).address == press.site.url("/feed")
    temporary, _ = add_feed(library, press.site.url("/other"))
    for _ in range(poll.MOVED_TIMES + 1):
        polled(temporary)
    assert library.feeds.get(temporary.id).address == press.site.url("/other")


@pytest.mark.parametrize(
    ("body", "reason"),
    [(b"<html><p>Hello", "web page"), (b"", "something else"), (b"<rss>" + b"x" * 11_000_000, "larger")],
)
def test_what_is_not_a_feed_is_a_failure_with_a_reason(
    library: Store, press: Press, source: Feed, polled: Any, body: bytes, reason: str
) -> None:
    press.body = body
    assert polled(source).failed == 1
    assert reason in (library.feeds.get(source.id).error or "")
    press.body = None
    assert polled(source).added == 2


def test_endless_redirects_and_private_addresses_are_failures(library: Store, press: Press, polled: Any) -> None:
    ring, _ = add_feed(library, press.site.url("/ring"))
    assert "redirects" in next(iter(polled(ring).failures.values()))
    inside, _ = add_feed(library, "http://10.0.0.1/feed")
    assert "private" in next(iter(polled(inside).failures.values()))


def test_words_of_the_user_leave_entries_out(library: Store, press: Press, polled: Any) -> None:
    feed, _ = add_feed(library, press.site.url("/feed"), settings=FeedSettings(exclude=("two",)))
    assert polled(feed).added == 1
    assert titles(library) == ["one"]


def test_a_feed_with_whole_articles_fetches_them_as_a_save_does(library: Store, press: Press, polled: Any) -> None:
    press.pages["one"] = article(300)
    feed, _ = add_feed(library, press.site.url("/feed"), settings=FeedSettings(content="page"))
    polled(feed)
    found = {entry.guid: entry for entry in library.entries.find(EntryQuery(content=True)).entries}
    assert "puts the kettle on" in found["one"].content
    assert found["one"].extra["full"] is True
    assert found["two"].content == "About two."  # its page is missing
    assert polled(feed).unchanged == 1


def test_links_alone_store_no_pages(library: Store, press: Press, polled: Any) -> None:
    feed, _ = add_feed(library, press.site.url("/feed"), settings=FeedSettings(content="link"))
    polled(feed)
    assert all(library.entries.page(entry.id) is None for entry in library.entries.find(EntryQuery()).entries)


def test_the_job_polls_all_that_is_due_and_sets_its_next_time(
    library: Store, press: Press, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(poll, "MAX_POLLS", 2)
    monkeypatch.setattr(poll, "SETTLED_AT_A_TIME", 2)
    for number in range(5):
        add_feed(library, press.site.url(f"/feed?{number}"))
    now = clock.now()
    assert (
        library.schedules.start_due(
            now, clock.add_seconds(now, 1e7), lambda schedule, _now: clock.add_seconds(now, 900)
        )
        == 1
    )
    job = library.jobs.lease("me", now, clock.add_seconds(now, 60))
    assert job is not None

    async def work(retrieval: Any) -> Any:
        return await poll.feeds_job(job, library, retrieval, lambda _stage: None)

    result = run(work)
    assert result.report == {"polled": 5, "unchanged": 0, "failed": 0, "added": 10, "updated": 0, "left_out": 0}
    (schedule,) = library.schedules.list(subscriptions.TASK)
    assert schedule.next_at == library.feeds.next_poll()
    monkeypatch.setattr(poll, "SLICE_SECONDS", -1.0)
    subscriptions.request_poll(library)
    first = run(work)
    assert first.so_far["polled"] == 2
    later = replace(job, options=first.so_far)

    async def go_on(retrieval: Any) -> Any:
        return await poll.feeds_job(later, library, retrieval, lambda _stage: None)

    assert run(go_on).so_far["polled"] == 4


def test_a_poll_that_was_requested_during_another_is_not_lost(
    library: Store, press: Press, source: Feed, run: Run
) -> None:
    """What a server fetched before the request does not count for it."""
    entry, asked = press.document, iter([True])

    def document() -> bytes:
        sent = entry()
        if next(asked, False):  # while the server waits for the answer, a new entry appears and a poll is asked for
            press.items = ["three", *press.items]
            subscriptions.request_poll(library)
        return sent

    press.document = document  # type: ignore[method-assign]

    async def work(retrieval: Any) -> PollReport:
        return await poll_feeds(poll.due_feeds(library), library, retrieval, PollReport())

    assert run(work).added == 2
    assert [feed.id for feed in poll.due_feeds(library)] == [source.id]
    assert run(work).added == 1
    assert poll.due_feeds(library) == ()


def test_a_feed_that_was_removed_during_its_poll_leaves_nothing(
    library: Store, press: Press, source: Feed, run: Run
) -> None:
    library.feeds.remove(source.id)

    async def work(retrieval: Any) -> PollReport:
        return await poll_feeds((source,), library, retrieval, PollReport())

    assert run(work).failed == 1
    assert library.feeds.list() == ()
