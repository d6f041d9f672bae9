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
    assert client.post("/v2/scrape", json={"url": url, "timeout": 999_999}).status_code == 422


def test_what_is_not_known_is_passed_over_but_not_a_format(client: TestClient, url: str) -> None:
    assert scraped(client, url, mobile=True, proxy="basic")["markdown"]
    answer = client.post("/v2/scrape", json={"url": url, "formats": ["markdown", "poem"]})
    assert (answer.status_code, answer.json()["success"]) == (501, False)


def test_failures_have_the_shape_that_clients_know(client: TestClient, shore: Shore) -> None:
    answer = client.post("/v2/scrape", json={"url": shore.url("gone")})
    assert answer.status_code == 502
    assert answer.json()["success"] is False
    assert isinstance(answer.json()["error"], str)
    assert answer.json()["code"] == "FetchHttpError"
