"""The reader's pages of feeds work without JavaScript."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from fastapi.testclient import TestClient

from pagekeep.config import Settings
from pagekeep.library.feeds.inbox import add_entries
from pagekeep.library.feeds.subscriptions import add_feed
from pagekeep.model import Feed, NewEntry
from pagekeep.store import Store, open_store
from tests.site.fixtures import Shore

EVIL = "<img src=x onerror=alert(1)>"


@pytest.fixture
def client(serve: Callable[..., TestClient], settings: Settings) -> TestClient:
    return serve(settings)


@pytest.fixture
def library(client: TestClient, settings: Settings) -> Iterator[Store]:
    with closing(open_store(settings.library)) as store:
        yield store


@pytest.fixture
def letters(library: Store) -> Feed:
    feed, _ = add_feed(library, "list.example.com", kind="mail", title=f"Letters {EVIL}", folder="Post/Daily")
    extra = {"enclosures": [{"url": "https://example.com/a.mp3", "type": "audio/mpeg"}], "comments": "https://e.com/c"}
    entries = [NewEntry(str(number), f"Letter {number} {EVIL}", url=f"https://example.com/{number}", content=f"Of *rope* {number}. [x](javascript:alert(1))", extra=extra) for number in range(3)]  # fmt: skip
    add_entries(library, feed, entries)
    return feed


def test_feeds_are_listed_by_folder_with_counts(client: TestClient, letters: Feed) -> None:
    page = client.get("/feeds").text
    assert "Post/Daily" in page
    assert EVIL not in page
    assert '3<span class="visually-hidden"> unread</span>' in page
    assert 'href="/feeds/inbox"' in client.get("/").text


def test_the_inbox_lists_marks_and_keeps(client: TestClient, library: Store, letters: Feed) -> None:
    page = client.get("/feeds/inbox").text
    assert page.count('class="entry unseen"') == 3
    assert EVIL not in page
    entry = library.entries.find(_query()).entries[0]
    shown = client.get(f"/feeds/entries/{entry.id}").text
    assert "rope" in shown.split("<main")[1]
    assert 'href="javascript:' not in shown
    assert "a.mp3" in shown
    assert library.entries.get(entry.id).read_at is None  # reading changes nothing by itself
    for action, check in (("read", "read_at"), ("keep", "kept_at")):
        done = client.post(
            f"/feeds/entries/{entry.id}",
            data={"action": action, "back": "/feeds/inbox?state=all"},
            follow_redirects=False,
        )
        assert (done.status_code, done.headers["location"]) == (303, "/feeds/inbox?state=all")
        assert getattr(library.entries.get(entry.id), check) is not None
    assert client.get("/feeds/inbox").text.count('class="entry unseen"') == 2
    assert client.post("/feeds/inbox", data={"feed": letters.id}, follow_redirects=False).status_code == 303
    assert "Nothing unread" in client.get("/feeds/inbox").text
    assert client.get("/feeds/inbox?state=kept").text.count('class="entry"') == 1
    for address in (
        "/feeds/inbox?feed=nothing",
        "/feeds/inbox?state=odd",
        "/feeds/inbox?after=forged",
        f"/feeds/inbox?feed={letters.id}",
    ):
        assert client.get(address).status_code == 200
    elsewhere = client.post(
        f"/feeds/entries/{entry.id}", data={"action": "read", "back": "https://evil.example/"}, follow_redirects=False
    )
    assert elsewhere.headers["location"] == "/"


def _query():  # type: ignore[no-untyped-def]
    from pagekeep.model import EntryQuery

    return EntryQuery()


def test_what_a_feed_leaves_out_is_shown(client: TestClient, library: Store) -> None:
    feed, _ = add_feed(library, "https://example.com/quiet")
    assert "left out" not in client.get(f"/feeds/{feed.id}").text
    add_entries(
        library, feed, [NewEntry(str(year), str(year), published_at=f"{year}-03-01") for year in range(2000, 2013)]
    )
    assert "3 older entries of this feed are left out" in client.get(f"/feeds/{feed.id}").text
    assert "10 entries, 3 older left out" in client.get("/feeds").text
    (listed,) = client.get("/api/v1/feeds").json()["feeds"]
    assert (listed["entries"], listed["left_out"]) == (10, 3)
    assert client.patch(f"/api/v1/feeds/{feed.id}", json={"folder": "A"}).json()["feed"]["left_out"] == 3


def test_a_feed_is_added_changed_and_removed(client: TestClient, library: Store, shore: Shore) -> None:
    shore.bodies["feed"] = "<rss version='2.0'><channel><title>Press</title></channel></rss>"
    shore.bodies["none"] = "<p>Nothing"
    shore.bodies["two"] = '<link rel="feed" href="/a"><link rel="feed" href="/b">'
    missing = client.post("/feeds", data={"url": shore.url("none")})
    assert (missing.status_code, "No feed was found" in missing.text) == (404, True)
    assert "names several feeds" in client.post("/feeds", data={"url": shore.url("two")}).text
    made = client.post("/feeds", data={"url": shore.url("feed")}, follow_redirects=False)
    assert made.status_code == 303
    path = made.headers["location"]
    changes = {
        "action": "save",
        "name": "Mine",
        "folder": "A / B",
        "tags": "x, y",
        "include": "one\ntwo",
        "content": "link",
        "keep_count": "5",
        "keep_days": "0",
        "every": "6h",
    }
    assert client.post(path, data=changes, follow_redirects=False).status_code == 303
    feed = library.feeds.get(path.rpartition("/")[2])
    assert (feed.label, feed.folder, feed.settings.tags, feed.settings.include, feed.settings.every) == (
        "Mine",
        "A/B",
        ("x", "y"),
        ("one", "two"),
        21600,
    )
    assert client.post(path, data=changes | {"every": "never"}).status_code == 422
    for action, status in (("pause", "paused"), ("resume", "active"), ("poll", "active")):
        client.post(path, data={"action": action})
        assert library.feeds.get(feed.id).status == status
    assert client.get(path).status_code == 200
    client.post(path, data={"action": "remove"})
    assert library.feeds.list() == ()


def test_opml_and_publishing(client: TestClient, library: Store) -> None:
    opml = (
        b'<opml><body><outline text="A"><outline text="x" xmlUrl="https://example.com/feed"/></outline></body></opml>'
    )
    page = client.post("/feeds/opml", files={"file": ("feeds.opml", opml)})
    assert "Subscribed to 1 feed" in page.text
    assert 'xmlUrl="https://example.com/feed"' in client.get("/feeds/opml").text
    assert client.post("/feeds/opml", files={"file": ("x", b"nothing")}).status_code == 415
    shown = client.post("/feeds/published", data={"title": "Sea", "query": "tag:sea"})
    assert shown.headers["cache-control"] == "no-store"
    path = shown.text.split('<code class="secret">')[1].split("</code>")[0].removeprefix(str(client.base_url))
    assert client.get(path).status_code == 200
    (published,) = library.feeds.published()
    client.post(f"/feeds/published/{published.id}", data={"x": "y"})
    assert client.get(path).status_code == 404


def test_entries_are_found_with_feed_in_the_search(client: TestClient, letters: Feed) -> None:
    assert "Letter" not in client.get("/?q=rope").text.split("<main")[1]
    page = client.get("/", params={"q": "rope feed:letters"}).text
    assert "/feeds/entries/" in page
    assert "Feed inbox" in page
    assert "There is no feed" in client.get("/", params={"q": "feed:nothing"}).text
