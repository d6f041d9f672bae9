"""Pages that wait, and those that could not be saved."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient

from pagekeep import clock
from pagekeep.store import Store

LATER = clock.add_seconds(clock.now(), 3600)
FAULT = {"type": "FetchHttpError", "message": "The server answered 404.", "suggestions": ["Check the address."]}


@pytest.fixture
def failed(library: Store, client: TestClient) -> str:
    """Of a time at which the server's own worker does not look for jobs."""
    job = library.enqueue("https://e.example/gone", "https://e.example/gone", {}, LATER)
    library.lease("hand", LATER, clock.add_seconds(clock.now(), 200))  # not past the longest lease, nor over yet
    library.fail(job.id, "hand", FAULT, retry_at=None)
    return job.id


def test_the_list_tells_of_pages_that_could_not_be_saved(client: TestClient, failed: str) -> None:
    assert "1 page could not be saved" in client.get("/").text


def test_the_list_says_nothing_when_nothing_waits(client: TestClient) -> None:
    assert "/waiting" not in client.get("/").text
    assert "The queue is empty" in client.get("/waiting").text


def test_what_failed_is_shown_with_its_reason_and_advice(client: TestClient, failed: str) -> None:
    page = client.get("/waiting").text
    assert "https://e.example/gone" in page
    assert "The server answered 404. Check the address." in page


def test_what_failed_is_tried_again(client: TestClient, library: Store, failed: str) -> None:
    answer = client.post(f"/waiting/{failed}", data={"action": "again"}, follow_redirects=False)
    assert answer.headers["location"] == "/waiting"
    assert library.job(failed).state != "dead"


def test_what_failed_is_removed(client: TestClient, library: Store, failed: str) -> None:
    client.post(f"/waiting/{failed}", data={"action": "forget"})
    assert library.jobs() == ()


def test_a_task_that_is_no_page_has_a_name_and_no_link(client: TestClient, library: Store) -> None:
    library.enqueue("pagekeep:reparse/1", "pagekeep:reparse", {"task": "reparse"}, LATER)
    page = client.get("/waiting").text
    assert "Reparse of saved pages" in page
    assert "pagekeep:reparse" not in page


def test_pages_still_to_be_fetched_are_counted_and_listed(client: TestClient, library: Store) -> None:
    library.enqueue("https://e.example/soon", "https://e.example/soon", {}, LATER)
    page = client.get("/waiting").text
    assert "Waiting: 1" in page
    assert "https://e.example/soon" in page


def test_jobs_that_keep_pictures_are_not_shown_as_pages(client: TestClient, library: Store) -> None:
    library.enqueue("pagekeep:pictures/x", "pagekeep:pictures", {"task": "pictures"}, LATER)
    library.enqueue("https://example.com/a", "https://example.com/a", {}, LATER)
    page = client.get("/waiting").text
    assert "Waiting: 1" in page
    assert page.count("<li>") == 1
    assert "1 page is in the queue" in client.get("/").text
