"""Versions, differences, watching and changes over HTTP."""

from __future__ import annotations

import uuid

from fastapi.testclient import TestClient

from pagekeep.model import Change, Retention
from pagekeep.store import open_store
from tests.doors.http.conftest import service_of
from tests.site.fixtures import article
from tests.store.making import NOW, make_raw

API = "/api/v1"
URL = "https://example.com/ferry"


def send(client: TestClient, hour: str) -> str:
    extra = f"<p>The ferry leaves the old pier at {hour} every morning of the long winter.</p>"
    page = {"url": URL, "html": article(300, extra=extra)}
    return str(client.post(f"{API}/saves", json=page).json()["item"]["id"])


def test_versions_are_listed_read_pinned_compared_and_restored(client: TestClient) -> None:
    item_id = {send(client, hour) for hour in ("nine", "ten", "ten")}.pop()
    item = f"{API}/items/{item_id}"
    listed = client.get(f"{item}/versions").json()
    assert [(one["number"], one["source"], one["current"]) for one in listed["versions"]] == [
        (1, "html", False),
        (2, "html", True),
    ]
    assert listed["checked_at"]
    first = client.get(f"{item}/versions/1").json()["version"]
    assert "at nine every" in first["content"]
    today = first["fetched_at"][:10]
    assert "at ten every" in client.get(f"{item}/versions/{today}").json()["version"]["content"]
    assert client.get(f"{item}/versions/2001-01-01").status_code == 404
    assert client.get(f"{item}/versions/yesterday").status_code == 422
    diff = client.get(f"{item}/diff").json()["diff"]
    assert (diff["words_added"], diff["words_removed"], diff["lost_annotations"]) == (1, 1, [])
    words = [part for block in diff["blocks"] for part in block["parts"] if part["operation"] != "same"]
    assert words == [{"operation": "removed", "text": "nine"}, {"operation": "added", "text": "ten"}]
    assert client.patch(f"{item}/versions/1", json={"pinned": True}).json()["version"]["pinned"]
    assert client.patch(f"{item}/versions/7", json={"pinned": True}).status_code == 404
    assert client.post(f"{item}/versions/1/restore").json()["item"]["id"] == item_id
    assert "at nine every" in client.get(item).json()["item"]["content"]
    assert len(client.get(f"{item}/versions").json()["versions"]) == 3


def test_a_page_is_watched_and_its_changes_are_listed_until_seen(client: TestClient) -> None:
    item_id = send(client, "nine")
    made = client.put(f"{API}/items/{item_id}/watch", json={"every": "2w"}).json()["watch"]
    assert (made["item_id"], made["every"]) == (item_id, "2w")
    assert client.put(f"{API}/items/{item_id}/watch", json={"every": "1s"}).status_code == 422
    assert [one["item_id"] for one in client.get(f"{API}/watches").json()["watches"]] == [item_id]
    settings = service_of(client).settings
    library = open_store(settings.library, settings.user)
    schedule = library.schedules.get("watch", item_id)
    assert schedule is not None
    change = Change(str(uuid.uuid4()), item_id, 1, 0, 5, 3, "the night boat", NOW)
    library.changes.add(
        schedule.id, {}, library.items.get(item_id), make_raw(article(300).encode()), change, retention=Retention()
    )
    library.close()
    (listed,) = client.get(f"{API}/changes?unseen=true").json()["changes"]
    assert (listed["before"], listed["after"], listed["excerpt"]) == (1, 2, "the night boat")
    assert client.post(f"{API}/changes/seen", json={"ids": [listed["id"]]}).json() == {"seen": 1}
    assert client.get(f"{API}/changes?unseen=true").json() == {"changes": []}
    assert client.delete(f"{API}/items/{item_id}/watch").status_code == 204
    assert client.delete(f"{API}/items/{item_id}/watch").status_code == 404
    assert client.get(f"{API}/watches").json() == {"watches": []}
