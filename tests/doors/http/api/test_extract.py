"""Pages read and not stored, over HTTP."""

from __future__ import annotations

from fastapi.testclient import TestClient

from pagekeep.store import Store
from tests.site.fixtures import Shore, article


def test_a_page_is_extracted_and_nothing_is_stored(client: TestClient, shore: Shore, library: Store) -> None:
    shore.bodies["a"] = article(300)
    page = client.post("/api/v1/extract", json={"url": shore.url("a")}).json()["page"]
    assert page["title"] == "The keeper"
    assert page["document"].startswith(f"---\nsource: {shore.url('a')}\n")
    assert page["document"].endswith(page["markdown"])
    assert library.counts.totals()["items"] == 0


def test_html_is_extracted_with_and_without_its_address(client: TestClient) -> None:
    html = article(300, extra='<p><a href="/next">On</a></p>')
    page = client.post("/api/v1/extract", json={"html": html}).json()["page"]
    assert page["url"] is None
    page = client.post("/api/v1/extract", json={"html": html, "url": "https://example.com/a"}).json()["page"]
    assert {"url": "https://example.com/next", "text": "On"} in page["links"]


def test_a_request_needs_an_address_or_html(client: TestClient) -> None:
    answer = client.post("/api/v1/extract", json={})
    assert answer.status_code == 422
    assert "`url`, `html` or `file` is required" in answer.json()["error"]["suggestions"][0]


def test_html_over_the_limit_is_refused(client: TestClient) -> None:
    answer = client.post("/api/v1/extract", json={"html": "x" * 10_000_001})
    assert (answer.status_code, answer.json()["error"]["type"]) == (413, "TooLarge")


def test_a_page_is_explained(client: TestClient) -> None:
    reported = client.post("/api/v1/explain", json={"html": article(300)}).json()
    assert "won" in reported["explanation"]
    assert reported["trace"]["document_type"]
