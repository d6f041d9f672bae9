"""Lists, save rules, edits and changes of many items over the API."""

from __future__ import annotations

from typing import Any

from fastapi.testclient import TestClient

from pagekeep.store import Store
from tests.store.making import make_item

API = "/api/v1"


def put(library: Store, number: int, **fields: Any) -> str:
    return library.items.save(make_item(number, user_id=library.user_id, quality="article", **fields), None).id


def test_an_item_is_edited_and_taken_back(client: TestClient, library: Store) -> None:
    key = put(library, 1, title="Page", author="Writer")
    edited = client.patch(f"{API}/items/{key}", json={"title": "Mine", "author": "", "pinned": True}).json()["item"]
    assert (edited["title"], edited["author"], edited["pinned"]) == ("Mine", None, True)
    assert edited["edited_fields"] == ["title", "author"]
    back = client.patch(f"{API}/items/{key}", json={"reset": ["title"]}).json()["item"]
    assert (back["title"], back["edited_fields"]) == ("Page", ["author"])
    assert client.patch(f"{API}/items/{key}", json={"published_at": "soon"}).status_code == 422
    outdated = client.patch(f"{API}/items/{key}", json={"title": "X"}, headers={"If-Match": '"other-json"'})
    assert outdated.status_code == 412


def test_a_list_is_made_filled_ordered_and_found(client: TestClient, library: Store) -> None:
    ids = [put(library, number, title=f"Page {number}") for number in range(3)]
    made = client.post(f"{API}/lists", json={"name": "To read"}).json()["list"]
    assert client.post(f"{API}/lists", json={"name": "to READ"}).status_code == 409
    path = f"{API}/lists/{made['id']}"
    assert client.post(f"{path}/items", json={"ids": ids}).json()["action"]["changed"] == 3
    assert client.put(f"{path}/items/{ids[2]}", json={"before": ids[0]}).status_code == 204
    assert client.delete(f"{path}/items/{ids[1]}").status_code == 200
    listed = client.get(f"{path}/items").json()
    assert [item["id"] for item in listed["items"]] == [ids[2], ids[0]]
    assert client.get(f"{API}/lists").json()["lists"][0]["count"] == 2
    found = client.get(f"{API}/search", params={"q": 'list:"to read" page'}).json()["items"]
    assert {item["id"] for item in found} == {ids[0], ids[2]}
    search = client.post(f"{API}/lists", json={"name": "Saved", "query": "page"}).json()["list"]
    assert len(client.get(f"{API}/lists/{search['id']}/items?limit=2").json()["items"]) == 2
    assert client.patch(f"{API}/lists/{search['id']}", json={"query": "is:nonsense"}).status_code == 422
    assert client.delete(path).status_code == 204
    assert client.get(path).status_code == 404


def test_many_items_are_changed_and_it_is_undone(client: TestClient, library: Store) -> None:
    ids = [put(library, number, title=f"Page {number}") for number in range(3)]
    changed = client.post(f"{API}/bulk", json={"query": "page", "add_tags": ["x"], "archived": True}).json()
    assert (changed["action"]["changed"], changed["job"]) == (3, None)
    assert client.post(f"{API}/bulk", json={"ids": ids}).status_code == 422
    assert client.post(f"{API}/bulk", json={"ids": ids, "query": "", "pinned": True}).status_code == 422
    action = client.get(f"{API}/actions").json()["actions"][0]
    assert action["label"] == "Archived, Added the tag x"
    undone = client.post(f"{API}/actions/{action['id']}/undo").json()
    assert (undone["undone"], undone["kept"]) == (3, 0)
    assert not library.items.get(ids[0]).metadata.tags


def test_a_save_rule_is_tried_and_applies_to_what_is_saved(client: TestClient, library: Store) -> None:
    put(library, 1, content="The harbour.")
    rule = {"query": "harbour", "actions": {"tags": ["ports"], "archive": True}}
    tried = client.post(f"{API}/save-rules/try", json=rule).json()
    assert (tried["count"], tried["effects"][0]["changes"]) == (1, ["add the tag ports", "archive"])
    made = client.post(f"{API}/save-rules", json=rule).json()["rule"]
    assert made["enabled"] is False
    client.patch(f"{API}/save-rules/{made['id']}", json={"enabled": True})
    html = "<title>Port</title><article><h1>Port</h1>" + "<p>Words about the harbour and its boats.</p>" * 30
    saved = client.post(f"{API}/saves", json={"url": "https://example.org/port", "html": html}).json()["item"]
    assert (saved["tags"], saved["archived"]) == (["ports"], True)
    assert client.post(f"{API}/save-rules/{made['id']}/apply").json()["action"]["changed"] == 1
    assert client.delete(f"{API}/save-rules/{made['id']}").status_code == 204


def test_suggested_tags_are_listed_and_refused(client: TestClient, library: Store) -> None:
    key = put(library, 1, suggested_tags=["sea", "wood"])
    assert client.get(f"{API}/suggested-tags").json()["suggestions"][0]["tags"] == ["sea", "wood"]
    client.patch(f"{API}/items/{key}", json={"refuse_tags": ["sea"], "add_tags": ["wood"]})
    assert client.get(f"{API}/suggested-tags").json()["suggestions"] == []
    assert library.items.get(key).metadata.tags == ("wood",)
