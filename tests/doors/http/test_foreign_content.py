"""The server's own process never works on content of others (H1, H3): its worker processes do."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import pytest
from fastapi.testclient import TestClient

from pagekeep.capture.from_url import Request as CaptureRequest
from pagekeep.capture.uploads import sent_page
from pagekeep.config import Settings
from pagekeep.identity import accounts
from pagekeep.library.saving.preview import preview_page
from pagekeep.model import MADE_FIELDS
from tests.doors.http.conftest import service_of
from tests.foreign import forbid
from tests.site.fixtures import SENTENCE, Shore, article
from tests.site.server import Reply, Request, Site

HTML = (
    f"<html><head><title>The keeper</title></head><body><article>{f'<p>{SENTENCE * 3}</p>' * 5}</article></body></html>"
)
SELECTION = f"<p>Only this. {SENTENCE * 3}</p>"
URL = "https://example.com/keeper"


@pytest.fixture
def no_parsing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions that work on content of others fail in this process, which is the server's; the workers are other processes."""
    forbid(monkeypatch)


@pytest.mark.usefixtures("no_parsing")
@pytest.mark.parametrize("route", ["extract", "explain", "saves"])
def test_a_selection_is_cut_out_in_a_worker(client: TestClient, route: str) -> None:
    answer = client.post(f"/api/v1/{route}", json={"url": URL, "html": HTML, "selection": SELECTION})
    assert answer.status_code in (200, 201), answer.text
    shape = answer.json()
    assert (shape["item"] if route == "saves" else shape["page"]["metadata"])["title"] == "The keeper"


@pytest.mark.usefixtures("no_parsing")
def test_frames_are_put_into_the_page_in_a_worker(client: TestClient, shore: Shore) -> None:
    frames = '<iframe src="/page/inner"></iframe><iframe srcdoc="&lt;p&gt;Inside the frame.&lt;/p&gt;"></iframe>'
    shore.bodies["inner"] = "<body><p>Fetched for the frame.</p>"
    shore.bodies["a"] = article(300).replace("</article>", f"{frames}</article>")
    answer = client.get(f"/r/{shore.url('a')}", headers={"x-with-iframe": "true"})
    assert answer.status_code == 200, answer.text
    assert "Inside the frame." in answer.text
    assert "Fetched for the frame." in answer.text


@pytest.mark.usefixtures("no_parsing")
def test_the_url_of_a_file_is_found_in_a_worker(client: TestClient) -> None:
    page = HTML.replace("<head>", f'<head><link rel="canonical" href="{URL}">')
    answer = client.post("/add", files={"pages": ("a.html", page.encode(), "text/html")}, headers={"x-part": "1"})
    assert answer.status_code == 200, answer.text
    assert answer.json()["items"][0]["url"] == URL


@pytest.mark.usefixtures("no_parsing")
def test_the_source_of_a_page_is_decoded_in_a_worker(client: TestClient, shore: Shore) -> None:
    shore.bodies["a"] = HTML
    assert SENTENCE in client.get(f"/r/{shore.url('a')}", headers={"x-return-format": "html"}).text
    answer = client.post("/v2/scrape", json={"url": shore.url("a"), "formats": ["rawHtml"]})
    assert answer.json()["data"]["rawHtml"] == HTML


@pytest.mark.usefixtures("no_parsing")
@pytest.mark.parametrize("mode", ["remote", "compare"])
def test_the_answer_of_a_remote_reader_is_read_in_a_worker(
    mode: Literal["remote", "compare"], settings: Settings, serve: Callable[..., TestClient], shore: Shore
) -> None:
    async def answer(_: Request, reply: Reply) -> None:
        body = f"Title: The keeper\n\nURL Source: {URL}\n\nMarkdown Content:\n{SENTENCE * 20}"
        await reply.send(body, content_type="text/plain; charset=utf-8")

    shore.bodies["a"] = HTML
    with Site({"r": answer}) as site:
        client = serve(replace(settings, mode=mode, remote_url=site.url("/r/")))
        saved = client.post("/api/v1/saves", json={"url": shore.url("a")})
    assert saved.status_code == 201, saved.text
    assert saved.json()["item"]["title"] == "The keeper"


RULE = "- id: mine\n  phase: pre\n  trigger:\n    host:\n      ends_with: example.com\n  remove:\n    - .odd\n"
RICH = (
    f"<html><head><title>The keeper</title></head><body><article><h2>Ships</h2>{f'<p>{SENTENCE * 3}</p>' * 5}"
    f"<p>{SENTENCE}The ships are in <a href=/b>the book</a>. {SENTENCE}</p><p><img src=/c.png alt='a ship' width=600 height=400></p>"
    "<h2>Code</h2><pre><code class='language-python'>print(1)</code></pre><p>So \\(a^2\\).</p>"
    f"<p class=odd>{SENTENCE}</p></article></body></html>"
)


@pytest.fixture
def saved(no_parsing: None, client: TestClient) -> str:
    """The id of a saved item with headings, code and a formula."""
    answer = client.post("/api/v1/saves", json={"url": URL, "html": RICH})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["item"]["id"])


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/items/{id}", "<h3"),
        ("/items/{id}/explain", "Verdict"),
        ("/items/{id}/markdown", "## Code"),
        ("/items/{id}/raw", "language-python"),
        ("/", "The keeper"),
        ("/?q=ships", "The keeper"),
        ("/api/v1/items", "The keeper"),
        ("/api/v1/items/{id}", "## Code"),
        ("/api/v1/items/{id}?format=html", "<h3"),
        ("/api/v1/items/{id}?format=markdown", "## Code"),
        ("/api/v1/items/{id}/explanation", "Verdict"),
        ("/api/v1/search?q=ships", "The keeper"),
        ("/r/" + URL, "## Code"),
    ],
)
def test_a_saved_page_is_shown_without_work_in_the_server(
    client: TestClient, saved: str, path: str, expected: str
) -> None:
    answer = client.get(path.format(id=saved), headers={"accept": "text/html,*/*"} if "api" not in path else {})
    assert answer.status_code == 200, answer.text
    assert expected in answer.text


@pytest.mark.parametrize(
    ("path", "body", "expected"),
    [
        ("/api/v1/extract", {"url": URL, "html": RICH}, "## Code"),
        ("/api/v1/explain", {"url": URL, "html": RICH}, "Verdict"),
        ("/api/v1/items/{id}/reparse", {"force": True}, "unchanged"),
        ("/api/v1/rules/try", {"yaml": RULE, "page": URL}, '"-'),
        ("/api/v1/rules/check", {"yaml": RULE}, '"good":true'),
        ("/r", {"html": RICH, "url": URL}, "## Code"),
        ("/r", {"html": RICH, "url": URL, "respondWith": "text", "targetSelector": "article"}, "Ships"),
        ("/r", {"html": RICH, "url": URL, "respondWith": "html"}, "language-python"),
        (
            "/r",
            {"html": RICH, "url": URL, "withLinksSummary": True},
            "Links/Buttons:\n- [the book](https://example.com/b)",
        ),
        ("/r", {"html": RICH, "url": URL, "withImagesSummary": True}, "![Image 1: a ship](https://example.com/c.png)"),
        ("/r", {"html": RICH, "url": URL, "withLinksSummary": True, "removeSelector": ".odd"}, "[the book]"),
        ("/v2/scrape", {"url": URL, "formats": ["markdown", "html", "rawHtml", "links"]}, "## Code"),
        ("/v2/scrape", {"url": URL, "formats": ["links"]}, '"links":["https://example.com/b"]'),
        ("/v2/scrape", {"url": URL, "formats": ["images"]}, '"images":["https://example.com/c.png"]'),
        ("/v2/scrape", {"url": URL, "formats": ["html"]}, '"html":"<h2'),
    ],
)
def test_a_page_is_processed_without_work_in_the_server(
    client: TestClient, saved: str, path: str, body: dict[str, Any], expected: str
) -> None:
    answer = client.post(path.format(id=saved), json=body)
    assert answer.status_code == 200, answer.text
    assert expected in answer.text.replace('": ', '":')


@pytest.mark.usefixtures("saved")
def test_rules_are_tried_on_a_page_of_the_reader_without_work_in_the_server(client: TestClient) -> None:
    answer = client.post("/playground", data={"source": URL, "yaml": RULE})
    assert answer.status_code == 200, answer.text
    assert "mine" in answer.text


@pytest.mark.usefixtures("no_parsing")
def test_pages_in_an_import_are_extracted_without_work_in_the_server(client: TestClient) -> None:
    row = {"url": URL, "title": "The keeper", "content": RICH, "tags": [], "created_at": "2025-03-19T10:30:00+0000"}
    rows = json.dumps([{**row, "id": 1, "is_archived": 0, "is_starred": 0, "domain_name": "example.com"}])
    answer = client.post("/import", files={"file": ("wallabag.json", rows.encode(), "application/json")})
    assert answer.status_code == 200, answer.text
    assert "## Code" in client.get("/api/v1/items/lookup", params={"url": URL}).text or client.get("/?q=ships").text


@pytest.mark.parametrize(
    ("method", "path", "body", "names"),
    [
        ("POST", "/api/v1/extract", {"url": URL, "html": RICH}, ["page"]),
        ("POST", "/api/v1/explain", {"url": URL, "html": RICH}, ["page"]),
        ("GET", "/api/v1/items/{id}/explanation", None, ["page"]),
        ("POST", "/api/v1/rules/try", {"yaml": RULE, "page": URL}, ["before", "after"]),
    ],
)
def test_html_links_and_media_come_from_the_worker(
    client: TestClient, saved: str, method: str, path: str, body: dict[str, Any] | None, names: list[str]
) -> None:
    answer = client.request(method, path.format(id=saved), json=body)
    assert answer.status_code == 200, answer.text
    for name in names:
        page = answer.json()[name]
        assert "<pre><code" in page["html"]
        assert page["links"] == [{"url": "https://example.com/b", "text": "the book"}]
        assert [one["url"] for one in page["media"]] == ["https://example.com/c.png"]


def test_a_field_that_was_not_requested_cannot_be_read_in_the_server(client: TestClient) -> None:
    retrieval, uploaded = service_of(client).retrieval, sent_page(URL, RICH)
    page = asyncio.run(preview_page(CaptureRequest(URL), retrieval, uploaded=uploaded)).page
    assert "## Code" in page.markdown
    for name in MADE_FIELDS:
        with pytest.raises(RuntimeError, match="must be made in a worker"):
            getattr(page, name)


TOOLS = [
    ("read", {"key": URL}, "## Code"),
    ("read", {"key": URL, "outline": True}, "Ships"),
    ("read", {"key": URL, "section": "Code"}, "print(1)"),
    ("read", {"key": URL, "section": "Nothing"}, "not found"),
    ("get_metadata", {"key": URL}, "Ships"),
    ("search", {"query": "ships"}, "keeper"),
    ("list_items", {}, "keeper"),
    ("fetch", {"id": URL}, "## Code"),
]


@pytest.mark.parametrize(("tool", "arguments", "expected"), TOOLS)
def test_tools_answer_without_work_in_the_server(
    client: TestClient, saved: str, tool: str, arguments: dict[str, Any], expected: str
) -> None:
    item_id = {name: saved if value == URL else value for name, value in arguments.items()}
    assert expected in _call_tool(client, tool, item_id)


@pytest.mark.usefixtures("no_parsing")
@pytest.mark.parametrize(
    ("tool", "more"), [("fetch", {}), ("fetch", {"raw": True}), ("fetch", {"section": "Code"}), ("save", {})]
)
def test_tools_fetch_pages_without_work_in_the_server(
    client: TestClient, shore: Shore, tool: str, more: dict[str, Any]
) -> None:
    shore.bodies["a"] = RICH
    answer = _call_tool(client, tool, {"url": shore.url("a"), **more})
    assert ("added" if tool == "save" else "print(1)") in answer


def _call_tool(client: TestClient, tool: str, arguments: dict[str, Any]) -> str:
    """Return the text of the tool's result over HTTP."""
    service = service_of(client)
    secret = accounts.add_token(service.accounts, service.settings.user, "assistant").secret
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    headers = {"authorization": f"Bearer {secret}", "accept": "application/json, text/event-stream"}
    answer = client.post("/mcp/", json=call, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.text
