"""`/linkding`: what clients of linkding and SingleFile see."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from fastapi.testclient import TestClient

from pagekeep.identity import accounts
from pagekeep.library.archive.pictures import list_pictures
from pagekeep.store import Store
from tests.doors.http.conftest import PASSWORD, service_of
from tests.site.fixtures import SENTENCE, Shore, article
from tests.site.gallery import draw
from tests.store.making import make_item, moment

API = "/linkding/api"


@pytest.fixture
def filled(library: Store, client: TestClient) -> TestClient:
    """A server with 25 bookmarks; the first is archived, every fifth has the tag sea."""
    for n in range(25):
        tags = ["sea"] if n % 5 == 0 else []
        library.items.save(make_item(n, title=f"Page {n}", content=f"Word{n}.", saved_at=moment(n), tags=tags), None)
    first = library.items.by_url("https://example.com/page/0")
    assert first is not None
    library.items.set_metadata(first.id, moment(900), archived=True)
    return client


def get(client: TestClient, path: str, **query: Any) -> Any:
    answer = client.get(f"{API}{path}", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_pages_of_bookmarks(filled: TestClient) -> None:
    page = get(filled, "/bookmarks/", limit=10)
    assert (page["count"], page["previous"], len(page["results"])) == (24, None, 10)
    seen = [each["title"] for each in page["results"]]
    while page["next"]:
        page = filled.get(page["next"]).json()
        seen += [each["title"] for each in page["results"]]
    assert seen == [f"Page {n}" for n in range(24, 0, -1)]
    assert get(filled, "/bookmarks/", offset=100)["results"] == []
    assert [each["title"] for each in get(filled, "/bookmarks/archived/")["results"]] == ["Page 0"]
    assert get(filled, "/bookmarks/shared/")["count"] == 0
    assert [each["title"] for each in get(filled, "/bookmarks/", q="word7")["results"]] == ["Page 7"]
    assert get(filled, "/bookmarks/", q="#sea !unread")["count"] == 4


def test_add_change_archive_delete(client: TestClient, shore: Shore) -> None:
    shore.bodies["a"] = article(400, "The keeper")
    sent = {"url": shore.url("a"), "tag_names": ["sea"], "notes": "Why?", "unread": True}
    added = client.post(f"{API}/bookmarks/", json=sent)
    assert added.status_code == 201
    one = added.json()
    assert (one["title"], one["tag_names"], one["notes"], one["unread"]) == ("The keeper", ["sea"], "Why?", True)
    assert client.post(f"{API}/bookmarks/", json={"url": shore.url("a")}).json()["id"] == one["id"]
    path = f"{API}/bookmarks/{one['id']}/"
    changed = client.patch(path, json={"tag_names": ["sky", "ships"], "unread": False}).json()
    assert (changed["tag_names"], changed["unread"], changed["notes"]) == (["sky", "ships"], False, "Why?")
    assert client.patch(path, json={"tag_names": []}).json()["tag_names"] == []
    assert client.put(path, json={"url": one["url"], "tag_names": ["new"]}).json()["notes"] == ""
    assert client.post(f"{path}archive/").status_code == 204
    assert get(client, f"/bookmarks/{one['id']}/")["is_archived"] is True
    assert client.post(f"{path}unarchive/").status_code == 204
    assert get(client, "/bookmarks/check/", url=shore.url("a"))["bookmark"]["id"] == one["id"]
    assert get(client, "/bookmarks/check/", url="https://new.example/")["bookmark"] is None
    assert get(client, "/tags/")["results"][0]["name"] == "new"
    tag = get(client, "/tags/")["results"][0]["id"]
    assert get(client, f"/tags/{tag}/")["name"] == "new"
    assert client.post(f"{API}/tags/", json={"example": "later"}).json()["name"] == "later"
    assert client.delete(path).status_code == 204
    gone = client.get(path)
    assert (gone.status_code, set(gone.json())) == (404, {"detail", "error"})
    assert client.post(f"{API}/bookmarks/", json={}).status_code == 400


def test_who_may_do_what(shared: TestClient) -> None:
    assert shared.get("/linkding/health").json()["version"] == "1.41.0"
    service = service_of(shared)
    user = accounts.add_user(service.accounts, "ada", PASSWORD)
    for scopes, statuses in (
        (("read", "linkding"), (200, 403)),
        (("read", "write", "linkding"), (200, 400)),
        (("read", "write"), (200, 400)),
        (("read", "write", "wallabag"), (403, 403)),
    ):
        secret = accounts.add_token(service.accounts, user.id, "x", scopes).secret  # type: ignore[arg-type]
        for kind in ("Token", "Bearer"):
            headers = {"authorization": f"{kind} {secret}"}
            read = shared.get(f"{API}/bookmarks/", headers=headers)
            write = shared.post(f"{API}/bookmarks/", json={}, headers=headers)
            assert (read.status_code, write.status_code) == statuses
    wrong = shared.get(f"{API}/bookmarks/", headers={"authorization": "Token x"})
    assert (wrong.status_code, "detail" in wrong.json()) == (401, True)
    assert shared.get("/api/v1/items", headers={"authorization": f"Token {secret}"}).status_code == 401


def test_singlefile_uploads_a_page_and_its_pictures_are_kept(client: TestClient, library: Store, shore: Shore) -> None:
    pictures = [draw(n, "PNG", (500, 400)) for n in range(3)]
    uris = [f"data:image/png;base64,{base64.b64encode(each).decode()}" for each in pictures]
    font = f"data:font/woff2;base64,{base64.b64encode(bytes(9000)).decode()}"
    html = (
        f"<!DOCTYPE html><html><title>Kept</title><style>@font-face {{ src: url({font}) }}</style><article><h1>Kept</h1>"
        + "".join(f'<p>{SENTENCE * 3}</p><img src="{uri}" width=500 height=400 alt="one">' for uri in uris)
        + f"<p>{SENTENCE * 3}</p></article></html>"
    )
    answer = client.post(
        f"{API}/bookmarks/singlefile/",
        data={"url": shore.url("kept")},
        files={"file": ("page.html", html.encode(), "text/html")},
    )
    assert (answer.status_code, answer.json()) == (201, {"message": "Snapshot uploaded successfully."})
    item = library.items.by_url(shore.url("kept"))
    assert item is not None
    assert (item.title, shore.site.asked("/page/kept")) == ("Kept", 0)
    kept = [link for link in list_pictures(library, item.id) if link.state == "kept"]
    assert sorted(library.blobs.get(str(link.hash)) for link in kept) == sorted(pictures)
    raw = library.items.raw(item.id)
    assert raw is not None
    assert b"base64" not in raw.body, "the stored page is small"
    number = library.items.numbers([item.id])[item.id]
    (asset,) = get(client, f"/bookmarks/{number}/assets/")["results"]
    download = client.get(f"{API}/bookmarks/{number}/assets/{asset['id']}/download/")
    assert (download.content, download.headers["content-disposition"][:10]) == (raw.body, "attachment")
    again = client.post(f"{API}/bookmarks/{number}/assets/upload/", files={"file": ("p.html", html, "text/html")})
    assert again.status_code == 201
    for data, files in (({"url": "https://x.example/"}, {}), ({}, {"file": ("p.html", b"x", "text/html")})):
        refused = client.post(f"{API}/bookmarks/singlefile/", data=data, files=files)
        assert (refused.status_code, "error" in refused.json()) == (400, True)
