"""The library's items over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from pagekeep.errors import TooManyRequests
from tests.doors.http.conftest import service_of
from tests.site.fixtures import BARE, Shore, article


def saved(client: TestClient, name: str = "a", **asked: Any) -> dict[str, Any]:
    """An item, sent as HTML."""
    page = {"url": f"https://example.com/{name}", "html": article(300, f"Page {name}"), **asked}
    return dict(client.post("/api/v1/saves", json=page).json()["item"])


def titles(client: TestClient, query: str = "") -> list[str]:
    return [item["title"] for item in client.get(f"/api/v1/items{query}").json()["items"]]


def test_items_are_listed_by_every_filter(client: TestClient) -> None:
    for name, tags in (("a", ["x"]), ("b", ["x", "y"]), ("c", [])):
        saved(client, name, tags=tags)
    saved(client, "d", url="https://other.example/d")
    first = client.get("/api/v1/items?limit=1&order=saved&descending=false").json()["items"][0]
    client.patch(f"/api/v1/items/{first['id']}", json={"pinned": True, "archived": True})
    assert titles(client) == ["Page d", "Page c", "Page b"]
    assert titles(client, "?archived=yes") == ["Page a"]
    assert titles(client, "?archived=any&pinned=true") == ["Page a"]
    assert titles(client, "?archived=any&tag=x&tag=y") == ["Page b"]
    assert titles(client, "?domain=other.example") == ["Page d"]
    assert titles(client, "?order=title&archived=any") == ["Page a", "Page b", "Page c", "Page d"]
    assert titles(client, "?quality=bookmark") == []
    assert titles(client, "?saved_after=2000-01-01&saved_before=2001-01-01") == []
    client.delete(f"/api/v1/items/{first['id']}")
    assert titles(client, "?deleted=true") == ["Page a"]


def test_items_are_listed_by_when_they_were_published(client: TestClient) -> None:
    for name, date in (("a", "2025-03-19T23:00:00-05:00"), ("b", "2025-03-20T02:00:00Z"), ("c", "2024")):
        where = f"/api/v1/items/{saved(client, name)['id']}"
        assert client.patch(where, json={"published_at": date}).json()["item"]["published_at"] == date
    assert titles(client, "?order=published") == ["Page a", "Page b", "Page c"]
    assert titles(client, "?order=published&published_after=2025&descending=false") == ["Page b", "Page a"]
    assert titles(client, "?published_before=2025-03-20T03:00:00Z") == ["Page c", "Page b"]
    assert client.get("/api/v1/items?published_after=soon").status_code == 422


def test_pages_of_a_list_follow_each_other_by_their_key(client: TestClient) -> None:
    for name in "abc":
        saved(client, name)
    first = client.get("/api/v1/items?limit=2").json()
    second = client.get("/api/v1/items", params={"limit": 2, "after": first["next"]}).json()
    assert [item["title"] for item in first["items"] + second["items"]] == ["Page c", "Page b", "Page a"]
    assert second["next"] is None


@pytest.mark.parametrize("query", ["?after=nonsense", "?saved_after=soon", "?limit=0", "?order=size", "?quality=good"])
def test_what_makes_no_sense_is_the_callers_fault(client: TestClient, query: str) -> None:
    assert client.get(f"/api/v1/items{query}").status_code == 422


def test_an_item_is_read_in_the_form_that_is_asked_for(client: TestClient) -> None:
    where = f"/api/v1/items/{saved(client)['id']}"
    whole = client.get(where).json()["item"]
    assert whole["content"].startswith("---\nsource: https://example.com/a\n")
    for how in ({"params": {"format": "markdown"}}, {"headers": {"accept": "text/markdown"}}):
        answer = client.get(where, **how)  # type: ignore[arg-type]
        assert answer.headers["content-type"] == "text/markdown; charset=utf-8"
        assert answer.text == whole["content"]
    page = client.get(where, headers={"accept": "text/html"})
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.text == client.get(where, params={"format": "html"}).text
    assert "<p>The keeper counts" in page.text
    assert "source:" not in page.text
    both = client.get(where, headers={"accept": "application/json;q=0.5, text/markdown"})
    assert both.headers["content-type"].startswith("text/markdown")


def test_an_item_as_html_holds_nothing_that_runs(client: TestClient) -> None:
    bad = '<p onclick="x()">Words <a href="javascript:x()">here</a> &lt;script&gt;alert(1)&lt;/script&gt;</p><script>x()</script>'
    where = f"/api/v1/items/{saved(client, html=article(300, 'A', bad))['id']}"
    text = client.get(where, params={"format": "html"}).text
    assert "Words" in text
    assert not any(sign in text for sign in ("<script", "onclick", "javascript:"))


def test_an_item_is_found_by_the_beginning_of_its_id_and_by_its_address(client: TestClient) -> None:
    item = saved(client)
    assert client.get(f"/api/v1/items/{item['id'][:8]}").status_code == 200
    found = client.get("/api/v1/items/lookup", params={"url": "https://example.com/a?utm_source=x#top"})
    assert found.json()["item"]["id"] == item["id"]
    assert client.get("/api/v1/items/lookup", params={"url": "https://example.com/z"}).json() == {"item": None}
    assert client.get("/api/v1/items/00000000-0000-0000-0000-000000000000").status_code == 404


def test_looking_changes_nothing(client: TestClient) -> None:
    where = f"/api/v1/items/{saved(client)['id']}"
    before = client.get(where).json()
    client.get(where, headers={"accept": "text/markdown"})
    assert client.get(where).json() == before
    assert before["item"]["last_opened_at"] is None
    assert client.patch(where, json={"opened": True}).json()["item"]["last_opened_at"] is not None


def test_what_a_client_has_already_is_not_sent_again(client: TestClient) -> None:
    where = f"/api/v1/items/{saved(client)['id']}"
    paths = (where, f"{where}?format=markdown", "/api/v1/items", "/api/v1/search?q=keeper", "/api/v1/stats")
    tags = {path: client.get(path).headers["etag"] for path in paths}
    for path, tag in tags.items():
        assert client.get(path, headers={"if-none-match": tag}).status_code == 304
        assert client.get(path, headers={"if-none-match": f'"x", W/{tag}'}).status_code == 304
    client.patch(where, json={"pinned": True})
    for path, tag in tags.items():
        assert client.get(path, headers={"if-none-match": tag}).status_code == 200


def test_tags_are_set_added_and_taken_off(client: TestClient) -> None:
    where = f"/api/v1/items/{saved(client)['id']}"
    assert client.patch(where, json={"tags": ["b", "#a", "b"]}).json()["item"]["tags"] == ["b", "a"]
    changed = client.patch(where, json={"add_tags": ["c"], "remove_tags": ["B"]}).json()["item"]
    assert changed["tags"] == ["a", "c"]
    assert client.patch(where, json={"tags": [], "add_tags": ["c"]}).status_code == 422
    assert client.patch(where, json={"titel": "Mine"}).status_code == 422


def test_suggested_tags_are_listed_apart_and_can_be_added(client: TestClient) -> None:
    html = article(300, "Page a").replace("<title>", '<meta name="keywords" content="ships, kettle"><title>')
    item = saved(client, html=html, tags=["sea"])
    assert item["tags"] == ["sea"]
    assert item["suggested_tags"][:2] == ["ships", "kettle"]
    where = f"/api/v1/items/{item['id']}"
    item = client.patch(where, json={"add_tags": ["kettle"]}).json()["item"]
    assert item["tags"] == ["sea", "kettle"]
    assert "kettle" not in item["suggested_tags"]
    assert client.get("/api/v1/items?tag=ships").json()["items"] == []
    assert [found["id"] for found in client.get("/api/v1/items?tag=kettle").json()["items"]] == [item["id"]]
    assert "tags: [sea, kettle]\nsuggested_tags: [ships" in client.get(where, headers={"accept": "text/markdown"}).text


def test_a_change_to_what_has_changed_meanwhile_is_refused(client: TestClient) -> None:
    where = f"/api/v1/items/{saved(client)['id']}"
    tag = client.get(where).headers["etag"]
    changed = client.patch(where, json={"pinned": True}, headers={"if-match": tag})
    assert changed.status_code == 200
    late = client.patch(where, json={"archived": True}, headers={"if-match": tag})
    assert (late.status_code, late.json()["error"]["type"]) == (412, "Outdated")
    assert client.get(where).json()["item"]["archived"] is False
    assert client.patch(where, json={}, headers={"if-match": changed.headers["etag"]}).status_code == 200


def test_an_item_is_deleted_restored_and_purged(client: TestClient) -> None:
    item = saved(client)
    where = f"/api/v1/items/{item['id']}"
    assert client.delete(where).json()["item"]["deleted_at"] is not None
    assert client.get("/api/v1/items/lookup", params={"url": item["url"]}).json() == {"item": None}
    assert client.post(f"{where}/restore").json()["item"]["deleted_at"] is None
    assert client.post("/api/v1/items/purge", json={"ids": [item["id"]]}).json() == {"purged": 0}
    client.delete(where)
    assert client.post("/api/v1/items/purge", json={}).json() == {"purged": 1}
    assert client.get(where).status_code == 404


def test_a_retry_is_allowed_three_times(client: TestClient, shore: Shore) -> None:
    shore.bodies["a"] = BARE
    item = client.post("/api/v1/saves", json={"url": shore.url("a")}).json()["item"]
    assert item["quality"] == "bookmark"
    where = f"/api/v1/items/{item['id']}/retry"
    counts = [client.post(where, json={}).json()["item"]["retry_count"] for _ in range(3)]
    assert counts == [1, 2, 3]
    refused = client.post(where, json={})
    assert (refused.status_code, refused.json()["error"]["type"]) == (409, "RetryLimit")


def test_a_retry_that_succeeds_clears_the_count(client: TestClient, shore: Shore) -> None:
    shore.bodies["a"] = BARE
    item = client.post("/api/v1/saves", json={"url": shore.url("a")}).json()["item"]
    shore.bodies["a"] = article(300)
    retried = client.post(f"/api/v1/items/{item['id']}/retry", json={}).json()["item"]
    assert (retried["quality"], retried["retry_count"], retried["outcome"]) == ("article", 0, "updated")


def test_an_item_is_explained_for_people_and_for_programs(client: TestClient) -> None:
    reported = client.get(f"/api/v1/items/{saved(client)['id']}/explanation").json()
    assert reported["explanation"].startswith("Verdict\n")
    assert reported["trace"]["attempts"][-1]["passed"] is True
    assert reported["page"]["title"] == "Page a"


def test_a_kept_page_is_read_again_by_the_rules_of_today(client: TestClient, tmp_path: Path) -> None:
    item = saved(client, html=article(300, "Page a", '<div class="promo"><p>Buy our boats.</p></div>'))
    where = f"/api/v1/items/{item['id']}/reparse"
    assert client.post(where, json={}).json()["outcome"] == "unchanged"
    reported = client.post(where, json={"dry_run": True, "force": True}).json()
    assert (reported["outcome"], reported["diff"], reported["item"]["id"]) == ("unchanged", [], item["id"])
    assert client.post("/api/v1/items/0000aaaa/reparse", json={}).status_code == 404


def test_a_page_that_the_server_had_no_time_to_lay_out_is_not_to_be_kept(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = saved(client, html=article(12_000, "Long"))
    where = f"/api/v1/items/{item['id']}?format=html"
    room = service_of(client).room

    async def refuse(*_: object) -> None:
        raise TooManyRequests("Too many.")

    with monkeypatch.context() as busy_room:
        busy_room.setattr(room, "run", refuse)
        busy, page = client.get(where), client.get(f"/items/{item['id']}")
        assert "server is busy" in busy.text
        assert "server is busy" in page.text
        assert [one.headers["cache-control"] for one in (busy, page)] == ["no-store", "no-store"]
        assert "etag" not in busy.headers
    good = client.get(where)
    assert "server is busy" not in good.text
    with monkeypatch.context() as busy_room:
        busy_room.setattr(room, "run", refuse)
        assert client.get(where, headers={"if-none-match": good.headers["etag"]}).status_code == 304
