"""A PDF at an address, as clients of Jina Reader and Firecrawl get it."""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.capture.documents.samples import LINES, PDF, TEXT
from tests.site.fixtures import Shore


@pytest.fixture
def url(shore: Shore) -> str:
    shore.bodies["harbour.pdf"] = PDF
    return shore.url("harbour.pdf")


def test_jina_gets_its_text_in_every_form(client: TestClient, url: str) -> None:
    def get(accept: str = "text/plain", **headers: str) -> Any:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        answer = client.get(f"/r/{url}", headers={"Accept": accept, **named})
        assert answer.status_code == 200, answer.text
        return answer

    plain = get().text
    assert plain.startswith(f"Title: The old harbour\n\nURL Source: {url}\n\n")
    assert plain.endswith(f"Markdown Content:\n{TEXT}")
    assert get("text/markdown").text.startswith(f"---\nsource: {url}\ntitle: The old harbour\n")
    assert get("application/json").json()["data"]["content"] == TEXT
    assert get(X_Respond_With="markdown").text == plain
    assert get(X_Respond_With="text").text == f"The old harbour\n\n{' '.join(LINES)}"
    assert get(X_Respond_With="html").text.startswith("<h1")
    assert get(X_With_Iframe="true", X_Retain_Links="none", X_Retain_Images="none").text == plain
    assert get(X_Target_Selector="h1").text.endswith("Markdown Content:\n# The old harbour\n")
    assert get(X_Remove_Selector="h1").text.endswith(f"Markdown Content:\n{' '.join(LINES)}\n")


def test_jina_reads_a_file_of_a_form_or_in_base64(client: TestClient) -> None:
    form = client.post("/r", files={"pdf": ("harbour.pdf", PDF, "application/pdf")})
    packed = client.post("/r", json={"pdf": b64encode(PDF).decode(), "url": "https://example.com/h.pdf"})
    assert form.text.endswith(f"Markdown Content:\n{TEXT}")
    assert "URL Source: https://example.com/h.pdf\n" in packed.text
    wrong = client.post("/r", json={"pdf": "§"})
    assert (wrong.status_code, "must be a file or its Base64" in wrong.text) == (422, True)


def test_firecrawl_gets_its_text_or_the_file(client: TestClient, url: str) -> None:
    def scrape(**asked: Any) -> Any:
        answer = client.post("/v2/scrape", json={"url": url, **asked})
        assert answer.status_code == 200, answer.text
        return answer.json()["data"]

    data = scrape(formats=["markdown", "html", "rawHtml"], parsers=["pdf"])
    assert data["markdown"] == TEXT
    assert data["html"].startswith("<h1")
    assert data["rawHtml"].startswith("<h1")
    about = data["metadata"]
    assert (about["numPages"], about["contentType"], about["statusCode"]) == (1, "application/pdf", 200)
    assert scrape(parsers=[{"type": "pdf", "maxPages": 5}], onlyMainContent=False)["markdown"] == TEXT
    for asked in ({"parsers": []}, {"parsePDF": False}):
        assert b64decode(scrape(**asked)["markdown"]) == PDF
