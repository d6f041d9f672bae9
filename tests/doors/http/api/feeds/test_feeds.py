"""The API of feeds: subscribe, read the inbox, keep, publish."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
from fastapi.testclient import TestClient

from pagekeep.config import Settings
from pagekeep.library.feeds.inbox import add_entries
from pagekeep.library.feeds.subscriptions import add_feed
from pagekeep.model import NewEntry
from pagekeep.store import Store, open_store
from tests.site.fixtures import article
from tests.site.server import Reply, Request, Site

API = "/api/v1/feeds"
FEED = (
    "<rss version='2.0'><channel><title>Press</title><item><title>The pier</title><guid isPermaLink='false'>1</guid>"
    "<link>/page</link><description>About rope.</description></item></channel></rss>"
)


async def _feed(_request: Request, reply: Reply) -> None:
    await reply.send(FEED, content_type="application/rss+xml")


async def _home(_request: Request, reply: Reply) -> None:
    await reply.send('<link rel="alternate" type="application/rss+xml" href="/feed"><link rel="feed" href="/other">')


async def _page(_request: Request, reply: Reply) -> None:
    await reply.send(article(300))


@pytest.fixture(scope="module")
def press() -> Iterator[Site]:
    with Site({"feed": _feed, "home": _home, "page": _page}) as site:
        yield site


@pytest.fixture
def client(serve: Callable[..., TestClient], settings: Settings) -> TestClient:
    return serve(settings)


@pytest.fixture
def library(client: TestClient, settings: Settings) -> Iterator[Store]:
    with closing(open_store(settings.library)) as store:
        yield store


def wait_for(client: TestClient, path: str, is_done: Callable[[Any], bool]) -> Any:
    """Ask until the answer is as wanted; the test's own limit ends it otherwise."""
    while True:
        answer = client.get(path).json()
        if is_done(answer):
            return answer
        time.sleep(0.05)


def test_subscribing_polls_and_keeping_saves(client: TestClient, press: Site, settings: Settings) -> None:
    made = client.post(API, json={"url": press.url("/home"), "folder": "News", "tags": ["sea"], "keep_days": 0})
    assert made.status_code == 201, made.text
    feed = made.json()["feed"]
    assert [one["address"] for one in made.json()["found"]] == [press.url("/feed"), press.url("/other")]
    assert (feed["address"], feed["folder"], feed["tags"]) == (press.url("/feed"), "News", ["sea"])
    again = client.post(API, json={"url": press.url("/feed")}).json()
    assert (again["added"], again["feed"]["id"]) == (False, feed["id"])
    found = wait_for(client, f"{API}/entries?state=unread", lambda answer: answer["entries"])
    (entry,) = found["entries"]
    assert (entry["title"], entry["read"], entry["kept"]) == ("The pier", False, False)
    whole = client.get(f"{API}/entries/{entry['id']}").json()["entry"]
    assert (whole["content"], whole["read"]) == ("About rope.", False)
    assert client.get("/api/v1/items").json()["items"] == []
    assert client.get("/api/v1/search", params={"q": "rope"}).json()["items"] == []
    (hit,) = client.get("/api/v1/search", params={"q": "rope feed:press"}).json()["items"]
    assert (hit["id"], hit["title"], hit["source"]) == (entry["id"], "The pier", "feed inbox")
    kept = client.post(f"{API}/entries/{entry['id']}/keep")
    assert kept.status_code == 202
    assert kept.json()["entry"]["kept"] is True
    done = wait_for(client, f"{API}/entries/{entry['id']}", lambda answer: answer["entry"]["item_id"])
    item = client.get(f"/api/v1/items/{done['entry']['item_id']}").json()["item"]
    assert (item["url"], item["tags"]) == (press.url("/page"), ["sea"])
    (hit,) = client.get("/api/v1/search", params={"q": "feed:all"}).json()["items"]
    assert hit["id"] == item["id"]


def test_a_feed_is_changed_and_removed(client: TestClient, library: Store) -> None:
    feed, _ = add_feed(library, "https://example.com/feed")
    path = f"{API}/{feed.id}"
    changed = client.patch(path, json={"name": "Mine", "include": ["sea"], "every": 3600, "status": "paused"}).json()
    assert (changed["feed"]["title"], changed["feed"]["every"], changed["feed"]["status"]) == ("Mine", 3600, "paused")
    assert client.patch(path, json={"every": 0, "name": ""}).json()["feed"]["title"] == "https://example.com/feed"
    assert client.patch(path, json={"every": 60}).status_code == 422
    assert client.patch(path, json={"nonsense": 1}).status_code == 422
    assert client.delete(path).status_code == 204
    assert client.get(path).status_code == 404
    assert client.get(f"{API}/nonsense").status_code == 422


def test_entries_are_listed_in_pages_and_marked(client: TestClient, library: Store) -> None:
    feed, _ = add_feed(library, "list.example.com", kind="mail", title="Letters")
    ids = add_entries(library, feed, [NewEntry(str(number), f"Letter {number}") for number in range(5)]).added
    first = client.get(f"{API}/entries", params={"limit": 3, "feed": "letters"}).json()
    rest = client.get(f"{API}/entries", params={"limit": 3, "feed": "letters", "after": first["next"]}).json()
    assert sorted(one["id"] for one in first["entries"] + rest["entries"]) == sorted(ids)
    assert client.get(f"{API}/entries", params={"feed": "nothing"}).json()["entries"] == []
    assert client.get(f"{API}/entries", params={"after": "forged"}).status_code == 422
    assert client.post(f"{API}/entries/read", json={"ids": list(ids[:2])}).json() == {"read": 2}
    assert client.patch(f"{API}/entries/{ids[0]}", json={"read": False}).json()["entry"]["read"] is False
    assert client.post(f"{API}/entries/read", json={"before": "yesterday"}).status_code == 422
    assert client.post(f"{API}/entries/read", json={"feed": "letters"}).json() == {"read": 4}
    assert client.get(f"{API}/entries?state=unread").json()["entries"] == []


def test_opml_both_ways(client: TestClient, library: Store) -> None:
    add_feed(library, "https://example.com/feed", folder="A/B", title="One")
    exported = client.get(f"{API}/opml")
    assert exported.headers["content-type"].startswith("text/x-opml")
    assert 'xmlUrl="https://example.com/feed"' in exported.text
    report = client.post(f"{API}/opml", json={"opml": exported.text.replace("/feed", "/other")}).json()
    assert report == {"added": 1, "known": 0, "failed": []}
    assert client.post(f"{API}/opml", json={"opml": "<html>"}).status_code == 415


@pytest.mark.parametrize(("url", "status"), [("http://10.0.0.1/", 403), ("file:///etc/passwd", 422), ("", 422)])
def test_addresses_that_are_refused(client: TestClient, url: str, status: int) -> None:
    assert client.post(API, json={"url": url}).status_code == status


def test_published_feeds_are_listed_and_ended(client: TestClient, library: Store) -> None:
    made = client.post(f"{API}/published", json={"title": "Reading", "query": "tag:x"})
    assert (made.status_code, made.headers["cache-control"]) == (201, "no-store")
    secret = made.json()["atom"].split("/")[-2]
    assert secret not in client.get(f"{API}/published").text
    (listed,) = client.get(f"{API}/published").json()["published"]
    assert (listed["title"], listed["query"]) == ("Reading", "tag:x")
    assert client.post(f"{API}/published", json={"title": "x", "query": "feed:all"}).status_code == 422
    assert client.delete(f"{API}/published/{listed['id']}").status_code == 204
    assert client.get(f"{API}/published").json()["published"] == []
