"""Watching saves that wait."""

from __future__ import annotations

import json
from contextlib import closing
from typing import Any

import pytest
from fastapi.testclient import TestClient

from pagekeep import clock
from pagekeep.config import Settings
from pagekeep.library.run_jobs import run_in_background
from pagekeep.store import Store, open_store
from tests.site.fixtures import Shore, article


def queued(client: TestClient, url: str) -> str:
    answer = client.post("/api/v1/saves?wait=false", json={"url": url})
    assert answer.status_code == 202
    return str(answer.json()["job"]["id"])


def events(client: TestClient, job_id: str) -> list[tuple[str, dict[str, Any]]]:
    """All events of a job, to the end of the stream."""
    found: list[tuple[str, dict[str, Any]]] = []
    name = ""
    with client.stream("GET", f"/api/v1/jobs/{job_id}/events") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        for line in answer.iter_lines():
            if line.startswith("event:"):
                name = line.removeprefix("event:").strip()
            elif line.startswith("data:"):
                found.append((name, json.loads(line.removeprefix("data:"))))
    return found


def test_a_watcher_is_shown_how_it_ends(client: TestClient, shore: Shore) -> None:
    shore.bodies["a"] = article(300)
    reported = events(client, queued(client, shore.url("a")))
    name, data = reported[-1]
    assert name == "done"
    assert data["item"]["title"] == "The keeper"
    assert data["job"]["state"] == "done"
    assert {event for event, _ in reported[:-1]} <= {"stage"}


def test_a_watcher_of_a_job_that_fails_learns_the_reason(client: TestClient, shore: Shore) -> None:
    name, data = events(client, queued(client, shore.url("gone")))[-1]
    assert name == "failed"
    assert data["job"]["state"] == "dead"
    assert data["job"]["error"]["type"] == "FetchHttpError"


def test_a_watcher_of_a_job_that_is_to_be_tried_again_need_not_wait_for_that(client: TestClient, shore: Shore) -> None:
    shore.statuses["a"] = 500
    job_id = queued(client, shore.url("a"))
    for _ in range(2):
        name, data = events(client, job_id)[-1]
        assert (name, data["job"]["state"], data["job"]["attempts"]) == ("failed", "queued", 1)


def test_a_job_of_another_process_can_be_watched(
    client: TestClient, library: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of it is on the board of the process that is asked."""
    job = library.jobs.add("https://example.com/", "https://example.com/", {}, clock.add_seconds(clock.now(), 3600))
    later = clock.add_seconds(clock.now(), 7200)
    leased = library.jobs.lease("elsewhere", later, clock.add_seconds(clock.now(), 60))
    assert leased is not None
    assert library.jobs.finish(job.id, "elsewhere")
    assert [name for name, _ in events(client, job.id)] == ["done"]


def test_a_job_that_is_not_there_cannot_be_watched(client: TestClient) -> None:
    assert client.get("/api/v1/jobs/nothing/events").status_code == 404
    assert client.get("/api/v1/jobs/nothing").status_code == 404


def test_jobs_are_listed_by_state_and_dead_ones_come_back(client: TestClient, shore: Shore) -> None:
    job_id = queued(client, shore.url("gone"))
    events(client, job_id)
    assert [job["id"] for job in client.get("/api/v1/jobs?state=dead").json()["jobs"]] == [job_id]
    shore.bodies["gone"] = article(300)
    assert client.post(f"/api/v1/jobs/{job_id}/revive").json()["job"]["state"] == "queued"
    assert events(client, job_id)[-1][0] == "done"


async def _interrupted(settings: Settings, shore: Shore) -> None:
    import asyncio

    from pagekeep.capture.from_url import Retrieval

    async with (
        Retrieval(settings) as retrieval,
        run_in_background(settings, retrieval, lambda _: None, grace=0.2) as background,
    ):
        end = asyncio.get_running_loop().time() + 10
        while not shore.site.requests:
            background.nudge()
            assert asyncio.get_running_loop().time() < end
            await asyncio.sleep(0.02)


def test_a_job_under_way_goes_back_to_the_queue_when_the_server_ends(settings: Settings) -> None:
    import asyncio

    from tests.site.server import Reply, Request, Site

    async def silent(_request: Request, _reply: Reply) -> None:
        await asyncio.sleep(60)

    with Site({"silent": silent}) as site, closing(open_store(settings.library)) as library:
        url = site.url("/silent")
        library.jobs.add(url, url, {"render": "never"}, clock.now())
        asyncio.run(_interrupted(settings, Shore(site, {}, {}, {})))
        (job,) = library.jobs.list()
        assert (job.state, job.error and job.error["type"]) == ("queued", "Interrupted")
