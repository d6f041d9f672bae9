"""Pages into the library over HTTP."""

from __future__ import annotations

import base64
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from fastapi.testclient import TestClient

from pagekeep.library.saving import save as save_page
from pagekeep.library.saving.failed_saves import list_failed
from pagekeep.store import Store
from tests.site.fixtures import SENTENCE, Shore, article


def until(done: Callable[[], bool]) -> None:
    """Waits for what another thread does."""
    end = time.monotonic() + 20
    while not done():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.02)


def save(client: TestClient, url: str, **asked: Any) -> Any:
    return client.post("/api/v1/saves", json={"url": url, **asked})


def test_a_page_is_saved_with_its_tags_and_shows_where_it_is(client: TestClient, shore: Shore) -> None:
    shore.bodies["a"] = article(300)
    answer = save(client, shore.url("a"), tags=["#harbour", " "])
    item = answer.json()["item"]
    assert answer.status_code == 201
    assert (item["outcome"], item["title"], item["quality"]) == ("added", "The keeper", "article")
    assert "harbour" in item["tags"]
    assert answer.headers["location"] == f"/api/v1/items/{item['id']}"
    assert client.get(answer.headers["location"]).json()["item"]["id"] == item["id"]


def test_one_of_two_first_saves_creates_the_item(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both are let into the library only when both have seen that the page is not there."""
    pairs, stored = 20, save_page._add
    gates = {f"https://example.com/{number}": threading.Barrier(2) for number in range(pairs)}
    seen: set[tuple[str, int]] = set()

    def store_together(new: Any, *values: Any) -> Any:
        if (new.url, threading.get_ident()) not in seen:
            seen.add((new.url, threading.get_ident()))
            gates[new.url].wait(timeout=60)
        return stored(new, *values)

    monkeypatch.setattr(save_page, "_add", store_together)
    for url in gates:
        pages = [article(300, title="Good"), article(300, title="Other")]
        with ThreadPoolExecutor(2) as threads:
            answers = list(threads.map(lambda html, url=url: save(client, url, html=html), pages))  # type: ignore[misc]
        assert sorted(answer.status_code for answer in answers) == [200, 201]
        shown = {answer.status_code: answer.json()["item"] for answer in answers}
        assert (shown[201]["outcome"], shown[200]["outcome"]) == ("added", "updated")
        assert shown[200]["id"] == shown[201]["id"]
    assert len(client.get("/api/v1/items?limit=100").json()["items"]) == pairs


def test_a_worse_page_does_not_replace_one_that_came_first(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    stored, url = save_page._add, "https://example.com/a"

    def store_late(*values: Any) -> Any:
        monkeypatch.setattr(save_page, "_add", stored)
        assert save(client, url, html=article(300)).status_code == 201  # while this one believes to be the first
        return stored(*values)

    monkeypatch.setattr(save_page, "_add", store_late)
    late = save(client, url, html="<html><title>Log in</title><p>Please sign in.</p></html>")
    assert (late.status_code, late.json()["item"]["outcome"]) == (200, "kept")
    assert late.json()["item"]["quality"] == "article"


def test_a_page_that_is_there_is_updated(client: TestClient, shore: Shore) -> None:
    shore.bodies["a"] = article(300)
    first = save(client, shore.url("a")).json()["item"]
    shore.bodies["a"] = article(400)
    answer = save(client, shore.url("a"))
    assert answer.status_code == 200
    assert answer.json()["item"]["outcome"] == "updated"
    assert answer.json()["item"]["id"] == first["id"]


def test_failures_have_their_status_and_the_shape_of_errors(client: TestClient, shore: Shore) -> None:
    for url, status, kind in (
        (shore.url("gone"), 502, "FetchHttpError"),
        ("nowhere", 422, "InvalidUrl"),
        ("ftp://example.com/", 422, "InvalidProtocol"),
        ("http://169.254.169.254/", 403, "BlockedAddress"),
    ):
        answer = save(client, url)
        assert (answer.status_code, answer.json()["error"]["type"]) == (status, kind)
        assert answer.json()["success"] is False


def test_the_url_of_a_page_that_cannot_be_fetched_is_kept_and_retried(client: TestClient, shore: Shore) -> None:
    shore.statuses["a"] = 500
    error = save(client, shore.url("a"), tags=["harbour"]).json()["error"]
    item = client.get(f"/api/v1/items/{error['item_id']}").json()["item"]
    assert (item["quality"], item["fetch_again"], item["tags"]) == ("bookmark", True, ["harbour"])
    assert item["reason"] == error["message"]
    listed = client.get("/api/v1/items?fetch_again=true").json()["items"]
    assert [one["id"] for one in listed] == [item["id"]]
    shore.statuses.clear()
    shore.bodies["a"] = article(300)
    again = client.post(f"/api/v1/items/{item['id']}/retry", json={}).json()["item"]
    assert (again["id"], again["quality"], again["fetch_again"]) == (item["id"], "article", None)
    assert client.get("/api/v1/items?fetch_again=true").json()["items"] == []


def test_the_job_of_a_page_that_is_missing_names_the_item_that_keeps_its_url(client: TestClient, shore: Shore) -> None:
    job = client.post("/api/v1/saves?wait=false", json={"url": shore.url("none")}).json()["job"]
    until(lambda: client.get(f"/api/v1/jobs/{job['id']}").json()["job"]["state"] == "dead")
    key = client.get(f"/api/v1/jobs/{job['id']}").json()["job"]["item_id"]
    assert client.get(f"/api/v1/items/{key}").json()["item"]["fetch_again"] is False
    events = client.get(f"/api/v1/jobs/{job['id']}/events").text
    assert "event: failed" in events
    assert key in events


def test_what_is_not_a_request_is_refused_with_every_fault(client: TestClient) -> None:
    answer = client.post("/api/v1/saves", json={"urls": ["https://example.com"], "tags": "one"})
    assert answer.status_code == 422
    error = answer.json()["error"]
    assert error["type"] == "InvalidRequest"
    assert [fault.partition(":")[0] for fault in error["suggestions"]] == ["body.tags", "body.urls"]


def test_a_page_that_is_sent_is_saved_without_fetching_it(client: TestClient, shore: Shore, library: Store) -> None:
    answer = save(client, shore.url("members"), html=article(300, "Members only"), tags=["club"])
    item = answer.json()["item"]
    assert answer.status_code == 201
    assert (item["title"], item["source"], item["used_js_rendering"]) == ("Members only", "html", True)
    assert shore.site.requests == []
    raw = library.items.raw(item["id"])
    assert raw is not None
    assert b"Members only" in raw.body


def test_a_page_that_is_sent_takes_the_same_way_as_one_that_is_fetched(client: TestClient, shore: Shore) -> None:
    page = article(
        300, "The <script>alert(1)</script> keeper", "<p onclick='x()'>Last <img src=/a.png onerror=x()></p>"
    )
    shore.bodies["a"] = page
    fetched = save(client, shore.url("a")).json()["item"]["id"]
    sent = save(client, shore.url("b"), html=page, rendered=False).json()["item"]["id"]
    one, other = (client.get(f"/api/v1/items/{key}").json()["item"]["content"] for key in (fetched, sent))
    assert one.partition("\n---\n")[2] == other.partition("\n---\n")[2] != ""


def test_of_a_page_with_a_selection_only_that_is_kept(client: TestClient, shore: Shore) -> None:
    page = article(300, "The keeper", "<p>What nobody selected.</p>")
    answer = save(client, shore.url("a"), html=page, selection=f"<p>Chosen words. {SENTENCE * 4}</p>" * 3)
    item = client.get(f"/api/v1/items/{answer.json()['item']['id']}").json()["item"]
    assert item["title"] == "The keeper"
    assert "Chosen words." in item["content"]
    assert "What nobody selected" not in item["content"]


def test_a_queued_page_is_saved_in_the_background(client: TestClient, shore: Shore) -> None:
    shore.bodies["a"] = article(300)
    answer = client.post("/api/v1/saves?wait=false", json={"url": shore.url("a"), "tags": ["later"]})
    assert answer.status_code == 202
    where = answer.headers["location"]
    assert where == f"/api/v1/jobs/{answer.json()['job']['id']}"
    until(lambda: client.get(where).json()["job"]["state"] == "done")
    made = client.get(where).json()["job"]["item_id"]
    assert "later" in client.get(f"/api/v1/items/{made}").json()["item"]["tags"]


def test_the_same_key_gets_the_same_answer_and_nothing_is_done_again(client: TestClient, shore: Shore) -> None:
    shore.bodies["a"] = article(300)
    key = {"idempotency-key": "first"}
    asked = {"url": shore.url("a")}
    first = client.post("/api/v1/saves", json=asked, headers=key)
    second = client.post("/api/v1/saves", json=asked, headers=key)
    assert (second.status_code, second.json()) == (201, first.json())
    assert shore.site.asked("/page/a") == 1
    other = client.post("/api/v1/saves", json={"url": shore.url("b")}, headers=key)
    assert (other.status_code, other.json()["error"]["type"]) == (409, "Conflict")


def test_a_request_that_failed_may_be_made_again_with_its_key(client: TestClient, shore: Shore) -> None:
    key = {"idempotency-key": "second"}
    assert client.post("/api/v1/saves", json={"url": shore.url("a")}, headers=key).status_code == 502
    shore.bodies["a"] = article(300)
    answer = client.post("/api/v1/saves", json={"url": shore.url("a")}, headers=key)
    # The first request kept the address as a bookmark, which this one fills.
    assert (answer.status_code, answer.json()["item"]["quality"]) == (200, "article")


def test_text_that_no_encoding_can_hold_is_not_a_fault_of_the_server(client: TestClient) -> None:
    body = b'{"url": "https://example.com/\\ud800", "html": "<p>\\udfff", "tags": ["\\ud800"]}'
    answer = client.post("/api/v1/saves", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 422
    body = b'{"url": "https://example.com/", "html": "<p>one \\udfff two", "selection": "<p>\\udfff"}'
    answer = client.post("/api/v1/saves", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 201


def test_a_file_that_cannot_be_read_keeps_the_address_it_came_from(client: TestClient, library: Store) -> None:
    body = {"url": "https://e.example/paper", "file": base64.b64encode(b"\x00\x01" * 50).decode(), "name": "x.bin"}
    answer = client.post("/api/v1/saves", json=body)
    assert answer.status_code >= 400
    (item,) = list_failed(library).items
    assert (item.id, item.url) == (answer.json()["error"]["item_id"], "https://e.example/paper")
