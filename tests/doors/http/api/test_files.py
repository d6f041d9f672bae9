"""Documents sent to the API and downloaded from it."""

from __future__ import annotations

from base64 import b64encode, encodebytes
from typing import Any

import pytest
from fastapi.testclient import TestClient

from pagekeep.capture.documents.file_types import FILE_TYPES
from tests.capture.documents.samples import LINES, PDF, SAMPLES, TEXT, WORD
from tests.site.fixtures import Shore

FILE = encodebytes(PDF).decode()  # with line ends


def test_a_file_is_extracted_without_being_stored(client: TestClient) -> None:
    answer = client.post("/api/v1/extract", json={"file": FILE})
    assert answer.status_code == 200, answer.text
    page = answer.json()["page"]
    assert (page["kind"], page["file_type"], page["page_count"], page["url"]) == ("document", "PDF", 1, None)
    assert page["markdown"] == TEXT
    assert client.get("/api/v1/items").json()["items"] == []


def test_its_extraction_is_explained(client: TestClient) -> None:
    answer = client.post("/api/v1/explain", json={"file": FILE, "url": "https://example.com/h.pdf"}).json()
    assert "a PDF of 1 page" in answer["explanation"]
    assert answer["page"]["url"] == "https://example.com/h.pdf"


def test_a_file_is_saved_under_its_address_or_its_name_and_comes_back_as_a_download(client: TestClient) -> None:
    known = {"file": FILE, "url": "https://example.com/harbour.pdf", "tags": ["sea"]}
    first = client.post("/api/v1/saves", json=known)
    assert first.status_code == 201
    item = first.json()["item"]
    assert (item["title"], item["file_type"], item["page_count"], item["kind"]) == (
        "The old harbour",
        "PDF",
        1,
        "document",
    )
    assert (item["source"], item["url"], item["tags"]) == ("html", "https://example.com/harbour.pdf", ["sea"])
    named = client.post("/api/v1/saves?wait=false", json={"file": FILE, "name": "harbour.pdf"}).json()["item"]
    assert named["url"].startswith("https://file.invalid/")
    for one in (item, named):
        answer = client.get(f"/api/v1/items/{one['id']}/file")
        assert answer.content == PDF
        assert answer.headers["content-type"] == "application/pdf"
        assert answer.headers["content-disposition"] == "attachment; filename*=UTF-8''The%20old%20harbour.pdf"
        assert "sandbox" in answer.headers["content-security-policy"]


def test_a_page_as_fetched_is_a_download_too(client: TestClient) -> None:
    html = "<title>Notes</title><script>alert(1)</script><p>Some words.</p>"
    item = client.post("/api/v1/saves", json={"url": "https://example.com/notes", "html": html}).json()["item"]
    answer = client.get(f"/api/v1/items/{item['id']}/file")
    assert answer.text == html
    assert answer.headers["content-disposition"].startswith("attachment;")


def test_the_type_is_needed_only_where_the_content_does_not_show_it(client: TestClient) -> None:
    text = b64encode(b"# Wind\n\n*north*   by <b>west\n").decode()
    kept = client.post("/api/v1/extract", json={"file": text, "type": "markdown"}).json()["page"]
    assert (kept["title"], "*north*" in kept["markdown"]) == ("Wind", True)
    wrong = client.post("/api/v1/extract", json={"file": FILE, "type": "text", "name": "harbour.txt"}).json()["page"]
    assert wrong["file_type"] == "PDF"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"html": "<p>x"}, "`url` is required, or `file`"),
        ({"file": b64encode(b"<p>x").decode()}, "The page does not name its address."),
        ({"file": "§", "name": "a.pdf"}, "not valid Base64"),
        ({"file": FILE, "name": "a.pdf", "type": "harbour"}, "use one of html, text, markdown, pdf"),
        ({"file": FILE, "html": "<p>x", "url": "https://example.com/"}, "use either `html` or `file`"),
    ],
)
def test_what_cannot_be_a_file_is_refused_with_the_reason(
    client: TestClient, body: dict[str, Any], message: str
) -> None:
    answer = client.post("/api/v1/saves", json=body)
    assert answer.status_code == 422
    assert message in answer.text


def test_a_damaged_file_is_kept_as_a_bookmark_that_says_so(client: TestClient) -> None:
    body = {"file": b64encode(PDF[:60]).decode(), "name": "harbour.pdf"}
    item = client.post("/api/v1/saves", json=body).json()["item"]
    assert (item["quality"], item["file_type"]) == ("bookmark", "PDF")
    assert "damaged" in item["reason"]
    assert client.get(f"/api/v1/items/{item['id']}/file").content == PDF[:60]


def test_a_pdf_at_an_address_is_read_and_explained(client: TestClient, shore: Shore) -> None:
    shore.bodies["h.pdf"] = PDF
    page = client.post("/api/v1/extract", json={"url": shore.url("h.pdf")}).json()["page"]
    assert " ".join(LINES) in page["text"]


def test_every_type_is_read_at_its_address_and_as_a_file_and_comes_back(client: TestClient, shore: Shore) -> None:
    types = {one.suffix: one.name for one in FILE_TYPES}
    for name, data in SAMPLES.items():
        shore.bodies[name] = data
        body = {"file": b64encode(data).decode(), "name": name}
        for asked in ({"url": shore.url(name)}, body):
            answer = client.post("/api/v1/extract", json=asked)
            assert answer.status_code == 200, (name, answer.text)
            page = answer.json()["page"]
            assert (WORD in page["markdown"], page["file_type"]) == (True, types[name.rpartition(".")[2]]), name
        assert WORD in client.get(f"/r/{shore.url(name)}").text
        item = client.post("/api/v1/saves", json=body).json()["item"]
        back = client.get(f"/api/v1/items/{item['id']}/file")
        assert (back.content, back.headers["content-disposition"].endswith(f".{name.rpartition('.')[2]}")) == (
            data,
            True,
        )
    found = client.get("/api/v1/search", params={"q": WORD}).json()["items"]
    assert len(found) == len(SAMPLES) == len(FILE_TYPES) - 1  # TSV is read as CSV is
