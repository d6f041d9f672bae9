"""`POST /v2/scrape`."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.site.fixtures import SENTENCE, Shore

PAGE = (
    '<html lang="en"><head><title>The keeper</title><meta name="description" content="Ships before breakfast."></head>'
    f'<body><nav><a href="/home">Way home</a></nav><article><h1>The keeper</h1>{f"<p>{SENTENCE * 3}</p>" * 5}'
    '<p>See <a href="/next">next</a>.</p><div class="note"><p>A side note.</p></div></article></body></html>'
)


@pytest.fixture
def url(shore: Shore) -> str:
    shore.bodies["a"] = PAGE
    return shore.url("a")


def scraped(client: TestClient, url: str, **asked: Any) -> dict[str, Any]:
    answer = client.post("/v2/scrape", json={"url": url, **asked})
    assert answer.status_code == 200, answer.text
    assert answer.json()["success"] is True
    return dict(answer.json()["data"])


def test_a_page_is_markdown_with_metadata(client: TestClient, url: str) -> None:
    data = scraped(client, url)
    assert data["markdown"].startswith("# The keeper") or SENTENCE.strip() in data["markdown"]
    assert data["metadata"] == {
        "title": "The keeper",
        "description": "Ships before breakfast.",
        "language": "en",
        "sourceURL": url,
        "url": url,
        "statusCode": 200,
    }
    assert "html" not in data


def test_all_forms_come_of_one_fetch(client: TestClient, url: str, shore: Shore) -> None:
    data = scraped(client, url, formats=["markdown", {"type": "html"}, "rawHtml", "links"], maxAge=0)
    assert data["rawHtml"] == PAGE
    assert data["html"].startswith("<")
    assert data["links"] == [shore.site.url("/next")]
    assert shore.site.asked("/page/a") == 1


def test_the_whole_page_or_parts_of_it(client: TestClient, url: str) -> None:
    assert "Way home" not in scraped(client, url)["markdown"]
    assert "Way home" in scraped(client, url, onlyMainContent=False)["markdown"]
    assert scraped(client, url, includeTags=[".note"])["markdown"].strip() == "A side note."
    assert "A side note" not in scraped(client, url, excludeTags=[".note"])["markdown"]


def test_a_page_that_is_young_enough_is_not_fetched_again(client: TestClient, url: str, shore: Shore) -> None:
    client.post("/api/v1/saves", json={"url": url})
    scraped(client, url, maxAge=600_000)
    assert shore.site.asked("/page/a") == 1
    scraped(client, url, maxAge=0)
    assert shore.site.asked("/page/a") == 2


def test_waiting_and_time_are_taken(client: TestClient, url: str) -> None:
    assert scraped(client, url, timeout=20_000)["markdown"]
    assert client.post("/v2/scrape", json={"url": url, "timeout": 999_999}).status_code == 400


def test_what_is_not_known_is_passed_over_but_not_a_format(client: TestClient, url: str) -> None:
    assert scraped(client, url, mobile=True, proxy="basic")["markdown"]
    answer = client.post("/v2/scrape", json={"url": url, "formats": ["markdown", "poem"]})
    assert (answer.status_code, answer.json()["success"]) == (400, False)


def test_failures_have_the_shape_that_clients_know(client: TestClient, shore: Shore) -> None:
    answer = client.post("/v2/scrape", json={"url": shore.url("gone")})
    assert answer.status_code == 500
    assert answer.json()["success"] is False
    assert isinstance(answer.json()["error"], str)
    assert answer.json()["code"] == "FetchHttpError"


def test_images_and_attributes(client: TestClient, url: str, shore: Shore) -> None:
    shore.bodies["a"] = PAGE.replace("<h1>", '<img src="/lamp.jpg" alt="Lamp" width=800 height=600><h1>')
    option = {
        "type": "attributes",
        "selectors": [{"selector": "article a", "attribute": "href"}, {"selector": "p", "attribute": "id"}],
    }
    data = scraped(client, url, formats=["images", option], maxAge=0)
    assert data["images"] == [shore.site.url("/lamp.jpg")]
    assert data["attributes"] == [
        {"selector": "article a", "attribute": "href", "values": ["/next"]},
        {"selector": "p", "attribute": "id", "values": []},
    ]


@pytest.mark.parametrize("option", ["attributes", {"type": "attributes", "selectors": [{"selector": "a"}]}])
def test_attributes_need_selectors(client: TestClient, url: str, option: Any) -> None:
    answer = client.post("/v2/scrape", json={"url": url, "formats": [option]})
    assert answer.status_code == 400
    assert isinstance(answer.json()["error"], str)


def test_changes_are_those_since_the_page_was_saved(client: TestClient, url: str, shore: Shore) -> None:
    option = {"type": "changeTracking", "modes": ["git-diff"]}
    assert scraped(client, url, formats=[option])["changeTracking"]["changeStatus"] == "new"
    client.post("/api/v1/saves", json={"url": url})
    assert scraped(client, url, formats=[option], maxAge=0)["changeTracking"]["changeStatus"] == "same"
    shore.bodies["a"] = PAGE.replace("A side note.", "Another side note entirely.")
    changes = scraped(client, url, formats=["markdown", option], maxAge=0)["changeTracking"]
    assert changes["changeStatus"] == "changed"
    assert "+Another side note entirely." in changes["diff"]["text"]
    assert changes["previousScrapeAt"]


def test_search_is_over_the_library(client: TestClient, url: str) -> None:
    client.post("/api/v1/saves", json={"url": url})
    answer = client.post("/v2/search", json={"query": "breakfast", "limit": 5, "sources": ["web"]})
    assert answer.status_code == 200
    (found,) = answer.json()["data"]["web"]
    assert (found["url"], found["title"]) == (url, "The keeper")
    assert "[[" not in found["description"]
    options = {"formats": [{"type": "markdown"}]}
    (found,) = client.post("/v2/search", json={"query": "breakfast", "scrapeOptions": options}).json()["data"]["web"]
    assert SENTENCE.strip() in found["markdown"]
    assert client.post("/v2/search", json={"query": "zeppelin"}).json() == {"success": True, "data": {"web": []}}


def test_pages_cost_nothing(client: TestClient) -> None:
    assert client.get("/v2/team/credit-usage").json()["data"]["remainingCredits"] > 1_000_000
    assert client.get("/v2/concurrency-check").json()["maxConcurrency"] > 0


@pytest.mark.parametrize(
    ("path", "body"),
    [("/v2/scrape", {}), ("/v2/search", {"query": ""}), ("/v2/scrape", {"url": "ftp://x"}), ("/v2/nothing", {})],
)
def test_the_error_is_always_a_string(client: TestClient, path: str, body: dict[str, Any]) -> None:
    answer = client.post(path, json=body)
    assert answer.status_code >= 400
    assert answer.json()["success"] is False
    assert isinstance(answer.json()["error"], str)


def test_an_unknown_key_is_ignored_on_a_private_server(client: TestClient, url: str) -> None:
    made_up = {"Authorization": "Bearer fc-0123456789"}
    assert client.post("/v2/scrape", json={"url": url}, headers=made_up).status_code == 200
    assert client.get(f"/r/{url}", headers=made_up).status_code == 200
    assert client.get("/api/v1/items", headers=made_up).status_code == 401
    foreign = {**made_up, "Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    assert client.post("/v2/scrape", json={"url": url}, headers=foreign).status_code == 403
