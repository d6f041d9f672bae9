"""Pictures of items over the API: listed with the reason, uploaded by a browser, downloaded again."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from pagekeep.store import Store
from tests.site.gallery import Gallery, draw


@pytest.fixture
def gallery() -> Iterator[Gallery]:
    with Gallery() as site:
        yield site


def wait_for(client: TestClient, job_id: str) -> dict[str, Any]:
    while (job := client.get(f"/api/v1/jobs/{job_id}").json()["job"])["state"] not in ("done", "dead"):
        time.sleep(0.05)
    return dict(job)


def test_save_answers_with_the_text_and_keeps_pictures_after_it(client: TestClient, gallery: Gallery) -> None:
    gallery.pictures |= {"a.png": draw(1), "private.png": 403}
    saved = client.post("/api/v1/saves", json={"url": gallery.put_page("x", "a.png", "private.png")}).json()["item"]
    listed = client.get("/api/v1/pictures", params={"item": saved["id"]}).json()["pictures"]
    assert [picture["url"] for picture in listed] == [gallery.source("a.png"), gallery.source("private.png")]
    job = wait_for(client, saved["pictures_job"])
    assert (job["task"], job["report"]["kept"], job["report"]["left_out"]) == ("pictures", 1, 1)
    read = client.get(f"/api/v1/items/{saved['id']}")
    states = [(picture["state"], picture["reason"], picture["main"]) for picture in read.json()["item"]["pictures"]]
    assert states == [("kept", None, True), ("left_out", "refused", False)]

    answer = client.post(
        "/api/v1/pictures", params={"item": saved["id"], "url": gallery.source("private.png")}, content=draw(2)
    )
    assert (answer.status_code, answer.json()["picture"]["state"]) == (200, "kept")
    again = client.get(f"/api/v1/items/{saved['id']}", headers={"If-None-Match": read.headers["etag"]})
    assert again.status_code == 200  # the pictures have changed, and so has the tag
    change = client.patch(
        f"/api/v1/items/{saved['id']}", json={"pinned": True}, headers={"If-Match": again.headers["etag"]}
    )
    assert change.status_code == 200
    assert client.post("/api/v1/pictures/fetch", params={"item": saved["id"]}).status_code == 204


@pytest.mark.parametrize(("body", "reason"), [(b"<p>Sign in", "not_a_picture"), (draw(1)[:300], "damaged")])
def test_upload_that_is_not_a_picture_is_left_out(
    client: TestClient, library: Store, gallery: Gallery, body: bytes, reason: str
) -> None:
    gallery.pictures["a.png"] = 403
    saved = client.post("/api/v1/saves", json={"url": gallery.put_page("x", "a.png")}).json()["item"]
    wait_for(client, saved["pictures_job"])
    place = {"item": saved["id"], "url": gallery.source("a.png")}
    answer = client.post("/api/v1/pictures", params=place, content=body).json()["picture"]
    assert (answer["state"], answer["reason"]) == ("left_out", reason)
    assert answer["message"]
    gallery.put_pictures("a.png")
    job = client.post("/api/v1/pictures/fetch", params={"item": saved["id"]}).json()["job"]
    assert wait_for(client, job["id"])["report"]["kept"] == 1


def test_upload_of_a_picture_that_the_item_does_not_show_is_refused(client: TestClient, gallery: Gallery) -> None:
    saved = client.post("/api/v1/saves", json={"url": gallery.put_page("x")}).json()["item"]
    answer = client.post(
        "/api/v1/pictures", params={"item": saved["id"], "url": "https://example.com/x.png"}, content=draw(1)
    )
    assert answer.status_code == 404
