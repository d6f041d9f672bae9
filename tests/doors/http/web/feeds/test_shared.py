"""Published feeds: readable with their address alone, and nothing else with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace

import pytest
from fastapi.testclient import TestClient

from pagekeep import clock
from pagekeep.config import Settings
from pagekeep.model import ItemBlob
from pagekeep.store import Store, open_store
from tests.doors.http.image_proxy.pictures import picture
from tests.present.feeds.validate import check_atom, check_json_feed
from tests.store.making import make_item

PICTURE = "https://example.com/i.png"
TEXT = f"---\ntitle: x\n---\n\nThe **old** pier.\n\n![kept]({PICTURE})\n\n![other](https://example.com/other.png)\n"
HOSTILE = "---\ntitle: x\n---\n\n<script>alert(1)</script>\n\n[a](javascript:alert(1)) ![x](javascript:x)\n"


@pytest.fixture
def client(serve: Callable[..., TestClient], settings: Settings) -> TestClient:
    return serve(settings)


@pytest.fixture
def library(client: TestClient, settings: Settings) -> Iterator[Store]:
    with closing(open_store(settings.library)) as store:
        yield store


def publish(client: TestClient, query: str = "tag:sea") -> str:
    """Return the path of the feed, without its format."""
    made = client.post("/api/v1/feeds/published", json={"title": "The sea", "query": query})
    return made.json()["atom"].removeprefix(str(client.base_url)).removesuffix("/atom.xml")


def fill(library: Store) -> str:
    item = library.items.save(
        make_item(1, title="The pier", content=TEXT, tags=["sea"], author="Ada", published_at="2025-03-01"), None
    )
    name = library.blobs.put(picture("PNG"), clock.now())
    library.blobs.link(item.id, [ItemBlob("picture", PICTURE, "kept", clock.now(), "image/png", name, 9)])
    library.items.save(make_item(2, title="Evil", content=HOSTILE, tags=["sea"]), None)
    library.items.save(make_item(3, title="Private", tags=["land"]), None)
    return item.id


def test_the_feed_has_whole_texts_and_kept_pictures(client: TestClient, library: Store) -> None:
    item_id = fill(library)
    path = publish(client)
    client.cookies.clear()
    atom = client.get(f"{path}/atom.xml")
    assert (atom.status_code, atom.headers["content-type"]) == (200, "application/atom+xml; charset=utf-8")
    check_atom(atom.content)
    document = check_json_feed(client.get(f"{path}/feed.json").content)
    items = {item["title"]: item for item in document["items"]}
    assert set(items) == {"The pier", "Evil"}
    pier = items["The pier"]
    assert (pier["id"], pier["url"], pier["date_published"]) == (
        f"urn:uuid:{item_id}", "https://example.com/page/1?utm_source=mail", "2025-03-01T00:00:00Z"
    )  # fmt: skip
    assert "<strong>old</strong>" in pier["content_html"]
    assert 'src="https://example.com/other.png"' in pier["content_html"]
    shown = pier["content_html"].split('src="')[1].split('"')[0].replace("&amp;", "&")
    assert shown.startswith(f"{client.base_url}{path}/picture?url=")
    answer = client.get(shown)
    assert (answer.status_code, answer.content) == (200, picture("PNG"))
    assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
    assert client.get(shown[:-1] + ("0" if shown[-1] != "0" else "1")).status_code == 404
    other = publish(client)
    assert client.get(shown.replace(path, other)).status_code == 404  # signed for one feed alone
    for word in ("<script", '="javascript:'):
        assert word not in items["Evil"]["content_html"].lower()


def test_clients_that_have_it_get_304_and_changes_show(client: TestClient, library: Store) -> None:
    item_id = fill(library)
    path = f"{publish(client)}/atom.xml"
    first = client.get(path)
    head = client.head(path)
    assert (head.status_code, head.headers["etag"], head.content) == (200, first.headers["etag"], b"")
    assert client.get(path, headers={"if-none-match": first.headers["etag"]}).status_code == 304
    assert client.get(path, headers={"if-modified-since": first.headers["last-modified"]}).status_code == 304
    assert client.get(path, headers={"if-modified-since": "Mon, 01 Jan 2001 00:00:00 GMT"}).status_code == 200
    assert client.get(path, headers={"if-modified-since": "nonsense"}).status_code == 200
    library.items.delete(item_id, clock.now())
    changed = client.get(path, headers={"if-none-match": first.headers["etag"]})
    assert changed.status_code == 200
    assert "The pier" not in changed.text


def test_older_items_are_on_the_next_pages(client: TestClient, library: Store) -> None:
    for number in range(70):
        library.items.save(
            make_item(number, title=f"Page {number}", saved_at=f"2025-03-19T10:{number % 60:02}:00.000000Z"), None
        )
    url, titles = f"{publish(client, '')}/feed.json", list[str]()
    while url:
        document = client.get(url).json()
        titles += [item["title"] for item in document["items"]]
        url = document.get("next_url")
    assert sorted(titles) == sorted(f"Page {number}" for number in range(70))
    assert client.get(f"{publish(client, '')}/feed.json?after=forged").status_code == 422


def test_the_address_opens_nothing_else_and_ends(
    client: TestClient, library: Store, settings: Settings, serve: Callable[..., TestClient]
) -> None:
    fill(library)
    path = publish(client)
    secret = path.split("/")[-1]
    shared = serve(replace(settings, shared=True))
    headers = {"authorization": f"Bearer {secret}"}
    for other in ("/api/v1/items", "/api/v1/feeds", "/", "/api/v1/tokens"):
        assert shared.get(other, headers=headers, follow_redirects=False).status_code in (401, 403)
    assert client.get(f"/feeds/changes/{secret}").status_code == 404
    changes = client.post("/changes/feed").text.split("/feeds/changes/")[1].split("<")[0]
    assert client.get(f"/shared/{changes}/atom.xml").status_code == 404
    assert client.get(f"{path}/other.xml").status_code in (404, 422)
    (listed,) = client.get("/api/v1/feeds/published").json()["published"]
    assert listed["last_used_at"] is None or listed["last_used_at"]
    assert client.delete(f"/api/v1/feeds/published/{listed['id']}").status_code == 204
    assert client.get(f"{path}/atom.xml").status_code == 404


def test_a_query_for_deleted_items_shows_none(client: TestClient, library: Store) -> None:
    item_id = fill(library)
    library.items.delete(item_id, clock.now())
    assert "The pier" not in client.get(f"{publish(client, 'is:deleted tag:sea')}/atom.xml").text
