"""`/wallabag/api`: what clients of wallabag see, with the traps that their sources have."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from fastapi.testclient import TestClient

from pagekeep.config import Settings
from pagekeep.library.items.annotations import annotate
from pagekeep.store import Store
from tests.site.fixtures import Shore, article
from tests.store.making import make_item, moment

API = "/wallabag/api"


@pytest.fixture
def filled(library: Store, client: TestClient) -> TestClient:
    """A server with 33 items; every third one has the tag sea, one is archived, one pinned, one deleted."""
    for n in range(33):
        item = make_item(
            n, title=f"Page {n}", content=f"# Hi\n\nSome *words* {n}.", saved_at=moment(n), tags=["sea"] * (n % 3 == 0)
        )
        library.items.save(item, None)
    ids = {n: library.items.by_url(f"https://example.com/page/{n}").id for n in (1, 2, 3)}  # type: ignore[union-attr]
    library.items.set_metadata(ids[1], moment(800), archived=True)
    library.items.set_metadata(ids[2], moment(801), pinned=True)
    library.items.delete(ids[3], moment(802))
    return client


def get(client: TestClient, path: str, **query: Any) -> Any:
    answer = client.get(f"{API}{path}", params=query)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/json"  # exactly: wallabag-client compares it
    return answer.json()


def titles(page: Any) -> list[str]:
    return [entry["title"] for entry in page["_embedded"]["items"]]


def test_pages_of_entries(filled: TestClient) -> None:
    first = get(filled, "/entries.json")
    assert (first["page"], first["limit"], first["pages"], first["total"]) == (1, 30, 2, 32)
    assert titles(first)[:2] == ["Page 32", "Page 31"]
    assert set(first["_links"]) == {"self", "first", "last", "next"}
    second = get(filled, "/entries", page=2, perPage=30, order="desc")
    assert titles(second) == ["Page 1", "Page 0"]
    past = filled.get(f"{API}/entries", params={"page": 3, "perPage": 30})
    assert past.status_code == 404, "iOS and KOReader go on until this"
    assert get(filled, "/entries", perPage=0)["limit"] == 30
    assert len(titles(get(filled, "/entries", perPage=2**63 - 1, detail="metadata"))) == 32


def test_filters(filled: TestClient) -> None:
    assert titles(get(filled, "/entries", archive=1)) == ["Page 1"]
    assert titles(get(filled, "/entries", starred=1)) == ["Page 2"]
    assert get(filled, "/entries", archive=0)["total"] == 31
    assert get(filled, "/entries", tags="sea")["total"] == 10
    assert get(filled, "/entries", tags="sea,sky")["total"] == 0, "all tags, and an empty list is not an error"
    assert get(filled, "/entries", public=1)["total"] == 0
    assert get(filled, "/entries", domain_name="other.example")["total"] == 0
    since = int(datetime.fromisoformat(moment(801)).timestamp())
    assert titles(get(filled, "/entries", since=since - 1, sort="updated")) == ["Page 2"]
    assert titles(get(filled, "/entries", sort="created", order="asc", perPage=1)) == ["Page 0"]
    assert get(filled, "/search", term="words 7")["total"] == 1


def test_an_entry_has_every_field_in_its_type(filled: TestClient, library: Store) -> None:
    item = library.items.by_url("https://example.com/page/2")
    assert item is not None
    annotate(library, item.id, "words", note="Which?")
    entry = next(each for each in get(filled, "/entries", starred=1)["_embedded"]["items"])
    assert entry == get(filled, f"/entries/{entry['id']}.json")
    assert (entry["is_starred"], entry["is_archived"], entry["is_public"]) == (1, 0, False)
    assert type(entry["is_archived"]) is int
    assert entry["created_at"] == "2025-03-19T00:02:00+0000"
    assert entry["content"] == '<h2 id="section-1">Hi</h2>\n<p>Some <em>words</em> 2.</p>\n'
    assert entry["hashed_url"] == hashlib.sha1(b"https://example.com/page/2").hexdigest()
    assert (entry["annotations"][0]["text"], entry["annotations"][0]["quote"]) == ("Which?", "words")
    assert {"uid", "origin_url", "archived_at", "published_at", "headers", "language"} <= {
        name for name, value in entry.items() if value is None
    }, "nulls are sent"
    listed = get(filled, "/entries", starred=1, detail="metadata")["_embedded"]["items"][0]
    assert listed == {**entry, "content": None}


def test_add_change_and_delete(client: TestClient, shore: Shore) -> None:
    shore.bodies["a"] = article(600, "The keeper")
    sent = {"url": shore.url("a"), "tags": "sea, ships", "starred": 1}
    added = client.post(f"{API}/entries.json", json=sent)
    assert added.status_code == 200, "KOReader takes no other status for success"
    entry = added.json()
    assert (entry["title"], entry["is_starred"], [tag["label"] for tag in entry["tags"]]) == (
        "The keeper",
        1,
        ["sea", "ships"],
    )
    again = client.post(f"{API}/entries", data={"url": shore.url("a"), "archive": "1"}).json()
    assert (again["id"], again["is_archived"], again["is_starred"]) == (entry["id"], 1, 1)
    path = f"{API}/entries/{entry['id']}"
    changed = client.patch(f"{path}.json", json={"archive": 0, "tags": "new"}).json()
    assert (changed["is_archived"], [tag["label"] for tag in changed["tags"]]) == (0, ["new"])
    assert len(client.patch(path, data={"tags": ""}).json()["tags"]) == 1, "empty tags are ignored"
    assert client.patch(f"{path}/reload").status_code == 304
    shore.bodies["a"] = article(900, "The keeper")
    assert client.patch(f"{path}/reload.json").status_code == 200
    assert client.delete(path, params={"expect": "id"}).json() == {"id": entry["id"]}
    for gone in (client.get(path), client.get(f"{path}/tags"), client.delete(path), client.get(f"{API}/entries/abc")):
        assert gone.status_code == 404
        assert gone.json()["error_description"]


def test_an_address_that_cannot_be_fetched_is_kept(client: TestClient, shore: Shore) -> None:
    answer = client.post(f"{API}/entries", json={"url": shore.url("none")})
    assert answer.status_code == 200
    assert (answer.json()["url"], answer.json()["http_status"]) == (shore.url("none"), None)
    assert client.post(f"{API}/entries", json={"url": ""}).status_code == 400
    assert client.post(f"{API}/entries", json={"url": "ftp://x.example/"}).status_code == 400
    assert client.post(f"{API}/entries", content=b"[", headers={"content-type": "application/json"}).status_code == 400


def test_sent_content_is_saved_without_fetching(client: TestClient, shore: Shore) -> None:
    sent = {
        "url": shore.url("b"),
        "title": 'A "title"',
        "content": f"<p>{'Words of the sender. ' * 60}</p>",
        "authors": "Ada,Grace",
        "language": "en",
    }
    entry = client.post(f"{API}/entries", json=sent).json()
    assert entry["title"] == 'A "title"'
    assert "Words of the sender" in entry["content"]
    assert shore.site.asked("/page/b") == 0


def test_addresses_are_looked_up(filled: TestClient) -> None:
    url, gone = "https://example.com/page/5", "https://example.com/page/3"
    assert get(filled, "/entries/exists", url=url) == {"exists": True}
    number = get(filled, "/entries/exists.json", url=url, return_id=1)["exists"]
    assert get(filled, f"/entries/{number}")["url"] == url
    hashes = [hashlib.sha1(each.encode()).hexdigest() for each in (url, gone)]
    assert get(filled, "/entries/exists", hashed_url=hashes[0], return_id=1) == {"exists": number}
    assert get(filled, "/entries/exists", **{"hashed_urls[]": hashes}) == {hashes[0]: True, hashes[1]: False}
    assert get(filled, "/entries/exists", **{"urls[]": [url, gone], "return_id": 1}) == {url: number, gone: None}
    assert filled.get(f"{API}/entries/exists").status_code == 403


def test_tags(filled: TestClient) -> None:
    (tag,) = get(filled, "/tags")
    assert (tag["label"], tag["slug"], tag["nbEntries"]) == ("sea", "sea", 10)
    number = get(filled, "/entries", tags="sea", perPage=1)["_embedded"]["items"][0]["id"]
    added = filled.post(f"{API}/entries/{number}/tags.json", json={"tags": "Café,sky"}).json()
    assert [each["label"] for each in added["tags"]] == ["sea", "Café", "sky"]
    sky = added["tags"][2]["id"]
    assert filled.delete(f"{API}/entries/{number}/tags/{sky}.json").json()["id"] == number
    assert filled.delete(f"{API}/entries/{number}/tags/{sky}").status_code == 404
    assert [each["label"] for each in get(filled, f"/entries/{number}/tags")] == ["sea", "Café"]
    assert filled.delete(f"{API}/tag/label.json", params={"tag": "cafe"}).status_code == 200
    assert filled.delete(f"{API}/tags/label.json", params={"tags": "nothing"}).status_code == 404
    assert filled.delete(f"{API}/tags/{tag['id']}.json").json()["label"] == "sea"
    assert get(filled, "/tags") == []


def test_annotations(filled: TestClient) -> None:
    number = get(filled, "/entries", starred=1)["_embedded"]["items"][0]["id"]
    sent = {"text": "Why?", "quote": "words", "ranges": [{"start": "/p[1]", "startOffset": "5"}]}
    made = filled.post(f"{API}/annotations/{number}.json", json=sent).json()
    assert made["ranges"] == sent["ranges"]
    listed = get(filled, f"/annotations/{number}.json")
    assert (listed["total"], listed["rows"][0]["id"]) == (1, made["id"])
    changed = filled.put(f"{API}/annotations/{made['id']}.json", json={"text": "So."}).json()
    assert (changed["text"], changed["quote"]) == ("So.", "words")
    assert filled.delete(f"{API}/annotations/{made['id']}.json").status_code == 200
    assert get(filled, f"/annotations/{number}")["total"] == 0
    assert filled.post(f"{API}/annotations/{number}", json={"text": " "}).status_code == 400


def test_exports_of_an_entry(filled: TestClient) -> None:
    number = get(filled, "/entries", starred=1)["_embedded"]["items"][0]["id"]
    epub = filled.get(f"{API}/entries/{number}/export.epub")
    assert epub.headers["content-type"] == "application/epub+zip"
    assert epub.headers["content-disposition"] == 'attachment; filename="Page 2.epub"'
    with ZipFile(BytesIO(epub.content)) as book:
        assert "<main><h2" in book.read("EPUB/chapter-00001.xhtml").decode()
    for ending, begin in (("txt", "Page 2"), ("csv", "id;title"), ("json", "[{"), ("xml", "<?xml")):
        answer = filled.get(f"{API}/entries/{number}/export.{ending}")
        assert (answer.status_code, answer.text.startswith(begin)) == (200, True)
    assert json.loads(filled.get(f"{API}/entries/{number}/export.json").text)[0]["id"] == number
    assert filled.get(f"{API}/entries/{number}/export.mobi").status_code == 404
    assert filled.get(f"{API}/entries/{number}/export.pdf").status_code == 501


def test_about_the_server(client: TestClient) -> None:
    assert get(client, "/version.json") == "2.6.13"
    assert get(client, "/info")["appname"] == "wallabag"
    config = get(client, "/config")
    assert all(isinstance(config[name], int) for name in ("id", "items_per_page", "feed_limit", "reading_speed"))
    assert get(client, "/user")["username"] == "local"


def test_epub_of_a_bad_name(client: TestClient, library: Store) -> None:
    item = library.items.save(make_item(1, title='Ünder "quotes" / slash\n'), None)
    number = library.items.numbers([item.id])[item.id]
    header = client.get(f"{API}/entries/{number}/export.txt").headers["content-disposition"]
    assert header.startswith('attachment; filename="Under quotes slash.txt"')
    assert "filename*=UTF-8''%C3%9Cnder" in header


def test_ids_of_another_server_stay(settings: Settings, serve: Callable[..., TestClient], tmp_path: Path) -> None:
    """A server that is started again in the middle of a synchronisation goes on with the same numbers."""
    first = serve(settings)
    entry = first.post(f"{API}/entries", json={"url": "http://127.0.0.1:9/none"}).json()
    second = serve(settings)
    assert get(second, f"/entries/{entry['id']}")["url"] == entry["url"]
