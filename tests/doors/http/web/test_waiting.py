"""Pages that wait, and those that could not be saved."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient

from pagekeep import clock
from pagekeep.store import Store

LATER = clock.add_seconds(clock.now(), 3600)
FAULT = {
    "type": "FetchHttpError",
    "message": "`e.example` answered 404.",
    "suggestions": ["Set `allow_hosts`."],
    "status": 404,
}


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
    page = client.get("/failed").text
    assert "<h1>Could not be saved</h1>" in page
    assert "https://e.example/gone" in page
    assert "There is no page at this address." in page
    assert "allow_hosts" not in page
    assert "`" not in page
    assert "Try again" not in page  # a page that is not there
    assert 'href="/failed"' in client.get("/waiting").text


def test_what_failed_is_tried_again(client: TestClient, library: Store, failed: str) -> None:
    answer = client.post(f"/waiting/{failed}", data={"action": "again"}, follow_redirects=False)
    assert answer.headers["location"] == "/waiting"
    assert library.job(failed).state != "dead"


def test_what_failed_is_removed(client: TestClient, library: Store, failed: str) -> None:
    client.post(f"/waiting/{failed}", data={"action": "forget"})
    assert library.jobs() == ()


def test_what_failed_is_kept_as_a_bookmark_with_the_reason(client: TestClient, library: Store, failed: str) -> None:
    client.post(f"/waiting/{failed}", data={"action": "bookmark", "back": "/failed"})
    assert library.jobs() == ()
    item = library.find_url("https://e.example/gone")
    assert item is not None
    assert item.metadata.quality == "bookmark"
    page = client.get(f"/items/{item.id}").text
    assert "There is no page at this address." in page
    assert "Everything was saved" in client.get("/failed").text


def test_what_failed_is_deleted_with_its_bookmark_but_not_with_content(
    client: TestClient, library: Store, failed: str
) -> None:
    client.post(f"/waiting/{failed}", data={"action": "bookmark"})
    again = library.enqueue("https://e.example/gone", "https://e.example/gone", {}, LATER)
    library.lease("hand", LATER, clock.add_seconds(clock.now(), 200))
    library.fail(again.id, "hand", FAULT, retry_at=None)
    answer = client.post(
        f"/waiting/{again.id}", data={"action": "delete", "back": "https://evil.example/"}, follow_redirects=False
    )
    assert answer.headers["location"].startswith("/")
    item = library.find_url("https://e.example/gone")
    assert item is not None
    assert item.deleted_at is not None
    assert library.jobs() == ()


def test_all_that_can_pass_is_tried_again(client: TestClient, library: Store, failed: str) -> None:
    slow = library.enqueue("https://e.example/slow", "https://e.example/slow", {}, LATER)
    library.lease("hand", LATER, clock.add_seconds(clock.now(), 200))
    library.fail(slow.id, "hand", {"type": "FetchTimeout", "message": "x", "suggestions": []}, retry_at=None)
    client.post("/failed")
    assert (library.job(slow.id).state == "dead", library.job(failed).state) == (False, "dead")


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
