"""Pages and tasks that wait, and tasks that failed."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient

from pagekeep import clock
from pagekeep.store import Store

LATER = clock.add_seconds(clock.now(), 3600)


@pytest.fixture
def failed_task(library: Store, client: TestClient) -> str:
    """Of a time at which the server's own worker does not look for jobs."""
    job = library.jobs.add("pagekeep:import/1", "pagekeep:import", {"task": "import"}, LATER)
    library.jobs.lease("hand", LATER, clock.add_seconds(clock.now(), 200))  # not past the longest lease, nor over yet
    error = {"type": "NotFound", "message": "`x` is gone.", "suggestions": []}
    library.jobs.fail(job.id, "hand", error, retry_at=None)
    return job.id


def test_the_list_says_nothing_when_nothing_waits(client: TestClient) -> None:
    assert "/waiting" not in client.get("/").text
    assert "The queue is empty" in client.get("/waiting").text


def test_a_task_that_failed_is_in_the_queue_and_not_among_failed_saves(client: TestClient, failed_task: str) -> None:
    page = client.get("/waiting").text
    assert "Failed tasks" in page
    assert "What belongs to this task is no longer in the library." in page
    assert "The queue is empty" not in page
    assert "Everything was saved" in client.get("/failed").text


def test_a_task_that_failed_is_tried_again(client: TestClient, library: Store, failed_task: str) -> None:
    answer = client.post(f"/waiting/{failed_task}", data={"action": "again"}, follow_redirects=False)
    assert answer.headers["location"] == "/waiting"
    assert library.jobs.failed_tasks() == () or library.jobs.get(failed_task).attempts > 0


def test_a_task_that_failed_is_removed(client: TestClient, library: Store, failed_task: str) -> None:
    client.post(f"/waiting/{failed_task}", data={"action": "forget", "back": "https://evil.example/"})
    assert library.jobs.list() == ()


def test_a_task_that_is_not_a_page_has_a_name_and_no_link(client: TestClient, library: Store) -> None:
    library.jobs.add("pagekeep:reparse/1", "pagekeep:reparse", {"task": "reparse"}, LATER)
    page = client.get("/waiting").text
    assert "Reparse of saved pages" in page
    assert "pagekeep:reparse" not in page


def test_pages_still_to_be_fetched_are_counted_and_listed(client: TestClient, library: Store) -> None:
    library.jobs.add("https://e.example/soon", "https://e.example/soon", {}, LATER)
    page = client.get("/waiting").text
    assert "Waiting: 1" in page
    assert "https://e.example/soon" in page


def test_jobs_that_keep_pictures_are_not_shown_as_pages(client: TestClient, library: Store) -> None:
    library.jobs.add("pagekeep:pictures/x", "pagekeep:pictures", {"task": "pictures"}, LATER)
    library.jobs.add("https://example.com/a", "https://example.com/a", {}, LATER)
    page = client.get("/waiting").text
    assert "Waiting: 1" in page
    assert page.count("<li>") == 1
    assert "1 page is in the queue" in client.get("/").text
