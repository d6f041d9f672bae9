"""Annotations across the library, and how far items have been read, over HTTP."""

from __future__ import annotations

from fastapi.testclient import TestClient

from pagekeep.library.items.annotations import annotate
from pagekeep.store import Store
from tests.store.making import make_item


def test_annotations_of_all_items_are_listed_searched_and_exported(client: TestClient, library: Store) -> None:
    for number in range(3):
        item = library.items.save(make_item(number, title=f"Page {number}"), None)
        annotate(library, item.id, f"passage {number}")
    first = client.get("/api/v1/annotations?limit=2").json()
    assert [(one["quote"], one["item"]["title"]) for one in first["annotations"]] == [
        ("passage 2", "Page 2"),
        ("passage 1", "Page 1"),
    ]
    rest = client.get("/api/v1/annotations", params={"limit": 2, "after": first["next"]}).json()
    assert ([one["quote"] for one in rest["annotations"]], rest["next"]) == (["passage 0"], None)
    assert len(client.get("/api/v1/annotations?q=passage+1").json()["annotations"]) == 1
    assert client.get("/api/v1/annotations?after=forged").status_code == 422
    answer = client.get("/api/v1/annotations/export?format=readwise&q=1")
    assert answer.text.splitlines()[0] == "Highlight,Title,Author,URL,Note,Location,Date"
    assert len(answer.text.splitlines()) == 2


def test_a_position_is_reported_and_a_state_is_chosen(client: TestClient, library: Store) -> None:
    item = library.items.save(make_item(), None)
    where = f"/api/v1/items/{item.id}/reading"
    assert client.get(where).json()["reading"]["state"] == "unread"
    body = {"progress": 0.4, "block": 12, "offset": 0.25, "at": "2026-01-02T03:04:05Z"}
    stored = client.patch(where, json=body).json()["reading"]
    assert stored == {
        "item_id": item.id,
        "state": "reading",
        "chosen": False,
        "progress": 0.4,
        "block": 12,
        "offset": 0.25,
        "updated_at": "2026-01-02T03:04:05.000000Z",
        "read_at": None,
    }
    assert [one["item"]["id"] for one in client.get("/api/v1/reading").json()["items"]] == [item.id]
    older = client.patch(where, json={**body, "progress": 0.1, "at": "2026-01-01T00:00:00Z"}).json()["reading"]
    assert older["progress"] == 0.4
    assert client.patch(where, json={"state": "unread"}).json()["reading"]["chosen"] is True
    assert client.patch(where, json={"progress": 1}).json()["reading"]["state"] == "unread"
    assert client.patch(where, json={}).status_code == 422
    assert client.patch(where, json={"progress": 2}).status_code == 422
    assert client.patch(where, json={"progress": 0.5, "at": "soon"}).status_code == 422
