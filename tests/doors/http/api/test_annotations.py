"""Marked passages over HTTP."""

from __future__ import annotations

from fastapi.testclient import TestClient

from tests.site.fixtures import article


def saved(client: TestClient, name: str) -> str:
    page = {"url": f"https://example.com/{name}", "html": article(300)}
    return str(client.post("/api/v1/saves", json=page).json()["item"]["id"])


def test_a_passage_is_marked_changed_and_unmarked(client: TestClient) -> None:
    where = f"/api/v1/items/{saved(client, 'a')}/annotations"
    made = client.post(where, json={"quote": "the ships", "before": "counts", "note": "How many?", "colour": "yellow"})
    assert made.status_code == 201
    one = made.json()["annotation"]
    assert (one["quote"], one["before"], one["after"], one["colour"]) == ("the ships", "counts", "", "yellow")
    changed = client.patch(f"{where}/{one['id']}", json={"note": "Eleven."}).json()["annotation"]
    assert (changed["note"], changed["colour"], changed["quote"]) == ("Eleven.", "yellow", "the ships")
    assert client.get(where).json() == {"annotations": [changed]}
    assert client.delete(f"{where}/{one['id']}").status_code == 204
    assert client.get(where).json() == {"annotations": []}


def test_a_mark_is_its_items_alone(client: TestClient) -> None:
    one, other = saved(client, "a"), saved(client, "b")
    mark = client.post(f"/api/v1/items/{one}/annotations", json={"note": "Mine."}).json()["annotation"]["id"]
    assert client.delete(f"/api/v1/items/{other}/annotations/{mark}").status_code == 404
    assert client.patch(f"/api/v1/items/{other}/annotations/{mark}", json={"note": "No."}).status_code == 404
    assert client.post("/api/v1/items/0000aaaa/annotations", json={}).status_code == 404
