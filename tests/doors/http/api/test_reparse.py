"""Many pages read again, over HTTP."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient

from pagekeep.store import Store
from tests.doors.http.api.test_jobs import events
from tests.site.fixtures import Shore, article


def test_a_reparse_is_a_job_that_can_be_watched_to_its_report(client: TestClient, shore: Shore, library: Store) -> None:
    shore.bodies["a"] = article(300)
    item = client.post("/api/v1/saves", json={"url": shore.url("a")}).json()["item"]
    library.items.set_metadata(item["id"], item["updated_at"], parser_version=1)
    answer = client.post("/api/v1/reparse", json={})
    assert answer.status_code == 202
    job = answer.json()["job"]
    assert answer.headers["location"] == f"/api/v1/jobs/{job['id']}"
    assert (job["task"], job["report"]) == ("reparse", None)
    name, last = events(client, job["id"])[-1]
    assert name == "done"
    assert last["job"]["report"] == {"updated": 0, "unchanged": 1, "kept": 0, "failed": 0, "notes": []}


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ({"ids": ["nothing"]}, 404),
        ({"ids": []}, 422),
        ({"ids": ["a"], "domain": "example.com"}, 422),
        ({"domain": "example.com"}, 202),
        ({"limit": 0}, 422),
        ({"refetch": True}, 422),
    ],
)
def test_what_makes_no_sense_is_refused(client: TestClient, asked: dict[str, object], status: int) -> None:
    assert client.post("/api/v1/reparse", json=asked).status_code == status


def test_a_text_of_the_users_own_is_reported(client: TestClient, shore: Shore, library: Store) -> None:
    shore.bodies["a"] = article(300)
    item = client.post("/api/v1/saves", json={"url": shore.url("a")}).json()["item"]
    assert item["edited"] is False
    library.items.set_metadata(item["id"], item["updated_at"], edited=True)
    assert client.get(f"/api/v1/items/{item['id']}").json()["item"]["edited"] is True
