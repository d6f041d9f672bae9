"""`pagekeep feeds`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pagekeep.capture.from_url import Retrieval
from pagekeep.config import load
from pagekeep.doors.cli.main import cli
from pagekeep.library.feeds import poll, subscriptions
from pagekeep.library.feeds.poll import PollReport, due_feeds, poll_feeds
from pagekeep.store import Store
from tests.site.fixtures import article
from tests.site.server import Reply, Request, Site

FEED = (
    "<rss version='2.0'><channel><title>Press</title><item><title>The pier</title><guid isPermaLink='false'>1</guid>"
    "<link>/page</link><description>About rope.</description></item></channel></rss>"
)


async def _feed(_request: Request, reply: Reply) -> None:
    await reply.send(FEED, content_type="application/rss+xml")


async def _page(_request: Request, reply: Reply) -> None:
    await reply.send(article(300))


@pytest.fixture
def press(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Site]:
    monkeypatch.setenv("PAGEKEEP_LIBRARY", str(tmp_path / "library.db"))
    monkeypatch.setenv("PAGEKEEP_ALLOW_HOSTS", "127.0.0.1")
    monkeypatch.setenv("PAGEKEEP_PER_HOST_DELAY", "0")
    monkeypatch.setenv("PAGEKEEP_RENDER", "never")
    with Site({"feed": _feed, "page": _page}) as site:
        yield site


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, ["feeds", *words])


def answer(*words: str) -> Any:
    result = run(*words, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_from_subscribing_to_keeping(press: Site, tmp_path: Path) -> None:
    (feed,) = answer("add", press.url("/feed"), "--folder", "News", "--tag", "sea", "--every", "6h")["feeds"]
    assert (feed["title"], feed["folder"], feed["every"], feed["added"]) == ("Press", "News", 21600, True)
    assert answer("poll")["report"] == {
        "polled": 1, "unchanged": 0, "failed": 0, "added": 1, "updated": 0, "left_out": 0, "failures": {}
    }  # fmt: skip
    assert "The pier" in run("inbox").stdout
    (entry,) = answer("inbox", "--feed", "news")["entries"]
    (kept,) = answer("keep", entry["id"][:8])["items"]
    assert (kept["url"], kept["tags"]) == (press.url("/page"), ["sea"])
    assert answer("inbox")["entries"] == []
    assert answer("inbox", "--all")["entries"][0]["item_id"] == kept["id"]
    assert "About rope." in run("inbox", "--read", entry["id"][:8]).stdout
    (listed,) = answer("list")["feeds"]
    assert (listed["unread"], listed["entries"]) == (0, 1)
    assert "Press" in run("list").stdout
    (changed,) = answer("change", feed["id"][:6], "--name", "Mine", "--status", "paused", "--every", "auto")["feeds"]
    assert (changed["title"], changed["status"], changed["every"]) == ("Mine", "paused", None)
    file = tmp_path / "feeds.opml"
    file.write_text(run("export").stdout, encoding="utf-8")
    (removed,) = answer("remove", "mine")["feeds"]
    assert removed["id"] == feed["id"]
    report = answer("import", str(file))
    assert (report["added"], report["known"], report["failed"]) == (1, 0, [])


@pytest.mark.parametrize("keys", [(), ("Press",)])
def test_a_poll_reports_what_the_server_polled_first(
    press: Site, keys: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server takes the feeds as soon as they are due, before this command has started its workers."""
    answer("add", press.url("/feed"))
    asked, settings = subscriptions.request_poll, load()

    async def poll_as_the_server(store: Store) -> None:
        async with Retrieval(settings) as retrieval:
            await poll_feeds(due_feeds(store), store, retrieval, PollReport())

    def request(store: Store, *named: Any) -> Any:
        wanted = asked(store, *named)
        asyncio.run(poll_as_the_server(store))
        return wanted

    monkeypatch.setattr(subscriptions, "request_poll", request)
    assert run("poll", *keys).stdout == "Polled 1 feed: 1 new entry, 0 changed, 0 failed.\n"
    assert run("poll", *keys).stdout == "Polled 1 feed: 0 new entries, 0 changed, 0 failed.\n"
    press.handlers["feed"] = press.handlers["page"]
    failed = run("poll", *keys)
    assert failed.stdout == "Polled 1 feed: 0 new entries, 0 changed, 1 failed.\n"
    assert "web page" in failed.stderr


def test_a_named_feed_is_polled_however_many_others_are_due(press: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(poll, "MAX_POLLS", 1)
    for number in range(3):
        answer("add", press.url(f"/feed?{number}"))
    report = answer("poll", press.url("/feed?2"))["report"]
    assert (report["polled"], report["added"]) == (1, 1)
    assert answer("poll")["report"]["polled"] == 3


def test_what_a_new_feed_leaves_out_is_reported(press: Site) -> None:
    items = "".join(
        f"<item><title>{year}</title><guid isPermaLink='false'>{year}</guid><pubDate>01 Mar {year} 10:00 GMT</pubDate></item>"
        for year in range(2000, 2014)
    )

    async def old(_request: Request, reply: Reply) -> None:
        document = f"<rss version='2.0'><channel><title>Quiet</title>{items}</channel></rss>"
        await reply.send(document, content_type="application/rss+xml")

    press.handlers["feed"] = old
    answer("add", press.url("/feed"))
    shown = run("poll").stdout
    assert shown.startswith("Polled 1 feed: 10 new entries, 0 changed, 0 failed.\n")
    assert "4 older entries were left out" in shown
    assert [entry["title"] for entry in answer("inbox")["entries"]] == [str(year) for year in range(2013, 2003, -1)]
    assert [(feed["entries"], feed["left_out"]) for feed in answer("list")["feeds"]] == [(10, 4)]


def test_failures_have_a_reason_and_exit_codes(press: Site) -> None:
    for words in (
        ("add", press.url("/page")),
        ("add", "http://10.0.0.1/"),
        ("remove", "nothing"),
        ("keep", "abcd1234"),
    ):
        result = run(*words)
        assert (result.exit_code, result.stderr.startswith("Error:")) == (2, True), words
    answer("add", press.url("/feed"))
    press.handlers["feed"] = press.handlers["page"]
    report = answer("poll")["report"]
    assert (report["failed"], next(iter(report["failures"].values()))[:30]) == (1, "The address leads to a web pag")
    assert "web page" in run("list").stdout


def test_publishing_and_ending(press: Site) -> None:
    answer("add", press.url("/feed"))
    (made,) = answer("publish", "To read", "--query", "tag:x")["published"]
    assert made["atom"].startswith("/shared/pk_")
    (listed,) = answer("publish")["published"]
    assert "atom" not in listed
    assert run("publish", "--revoke", listed["id"][:8]).exit_code == 0
    assert answer("publish")["published"] == []
