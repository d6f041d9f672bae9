"""Articles over several pages through the doors of the server."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient

from tests.library.test_joined_articles import page
from tests.site.fixtures import Shore


@pytest.fixture
def url(shore: Shore) -> str:
    shore.bodies.update({"a": page(1), "a-2": page(2), "a-3": page(3)})
    return shore.url("a")


def _ends(text: str) -> str:
    return "".join(number for number in "123" if f"End of page {number}" in text)


def test_article_is_saved_as_one_item_and_says_how_many_pages_it_has(client: TestClient, url: str) -> None:
    item = client.post("/api/v1/saves", json={"url": url}).json()["item"]
    assert item["page_count"] == 3
    assert _ends(client.get(f"/api/v1/items/{item['id']}").json()["item"]["content"]) == "123"
    explained = client.get(f"/api/v1/items/{item['id']}/explanation").json()
    assert "Pages that were joined" in explained["explanation"]
    assert [one["url"] for one in explained["trace"]["pages"]] == [url, f"{url}-2", f"{url}-3"]
    assert "3, joined" in client.get(f"/items/{item['id']}").text
    for path in (f"/items/{item['id']}/raw", f"/api/v1/items/{item['id']}/file"):
        shown = client.get(path)
        assert (shown.text, shown.headers["content-type"]) == (page(1), "text/html; charset=utf-8")
    assert "verified" in client.get(f"/api/v1/items/{item['id']}/verification").text


def test_request_can_keep_the_pages_apart(client: TestClient, url: str) -> None:
    item = client.post("/api/v1/saves", json={"url": url, "join_pages": False}).json()["item"]
    assert item["page_count"] is None
    extracted = client.post("/api/v1/extract", json={"url": url, "join_pages": False}).json()["page"]
    assert (_ends(extracted["markdown"]), extracted["page_count"]) == ("1", None)


def test_extraction_joins_pages_of_a_url_and_fetches_nothing_for_html(
    client: TestClient, url: str, shore: Shore
) -> None:
    extracted = client.post("/api/v1/extract", json={"url": url}).json()["page"]
    assert (_ends(extracted["markdown"]), extracted["page_count"]) == ("123", 3)
    asked = len(shore.site.requests)
    extracted = client.post("/api/v1/extract", json={"url": url, "html": page(1)}).json()["page"]
    assert (_ends(extracted["markdown"]), len(shore.site.requests)) == ("1", asked)


def test_page_of_the_extension_is_joined_with_the_others_and_a_selection_is_not(client: TestClient, url: str) -> None:
    sent = {"url": url, "html": page(1, extra=" behind a login")}
    selected = client.post("/api/v1/saves", json={**sent, "selection": page(1)}).json()["item"]
    assert selected["page_count"] is None
    item = client.post("/api/v1/saves", json={**sent, "force": True}).json()["item"]
    assert (item["page_count"], item["source"]) == (3, "html")
    text = client.get(f"/api/v1/items/{item['id']}").json()["item"]["content"]
    assert "behind a login" in text
    assert _ends(text) == "123"


def test_reader_dialects_return_the_joined_article(client: TestClient, url: str) -> None:
    assert _ends(client.get(f"/r/{url}").text) == "123"
    assert _ends(client.get(f"/r/{url}", headers={"x-respond-with": "text"}).text) == "123"
    assert _ends(client.get(f"/r/{url}", headers={"x-respond-with": "html"}).text) == "1"
    assert _ends(client.get(f"/r/{url}", headers={"x-respond-with": "markdown"}).text) == "1"
    assert _ends(client.get(f"/r/{url}", headers={"x-remove-selector": "h1"}).text) == "123"
    assert _ends(client.get(f"/r/{url}", headers={"x-with-iframe": "true"}).text) == "123"
    data = client.post("/v2/scrape", json={"url": url, "formats": ["markdown", "html", "rawHtml"]}).json()["data"]
    assert (_ends(data["markdown"]), _ends(data["html"]), _ends(data["rawHtml"])) == ("123", "123", "1")
    client.post("/api/v1/saves", json={"url": url})
    assert _ends(client.get(f"/r/{url}").text) == "123"  # from the library


def test_missing_page_is_a_warning_in_every_dialect(client: TestClient, url: str, shore: Shore) -> None:
    del shore.bodies["a-3"]
    assert "Page 3 of the article could not be fetched" in client.get(f"/r/{url}").text
    saved = client.post("/api/v1/saves", json={"url": url}).json()["item"]
    assert "Page 3 of the article could not be fetched" in saved["warnings"][0]
    assert saved["quality"] == "simplified"
