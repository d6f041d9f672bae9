"""The server's own process never parses or decodes content of others (H1, H3): its worker processes do."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
from fastapi.testclient import TestClient

import pagekeep
from pagekeep import dom
from pagekeep.config import Settings
from pagekeep.extraction.input import decode
from tests.site.fixtures import SENTENCE, Shore, article
from tests.site.server import Reply, Request, Site

HTML = (
    f"<html><head><title>The keeper</title></head><body><article>{f'<p>{SENTENCE * 3}</p>' * 5}</article></body></html>"
)
SELECTION = f"<p>Only this. {SENTENCE * 3}</p>"
URL = "https://example.com/keeper"


@pytest.fixture
def no_parsing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parsing and decoding fail in this process, which is the server's; the workers are other processes."""

    def fail(*_: object, **__: object) -> Any:
        raise AssertionError("content of others was parsed or decoded in the server's process")

    for original in (dom.parse, dom.parse_fragment, decode.decode):
        for name, module in list(sys.modules.items()):
            if name.startswith("pagekeep") and getattr(module, original.__name__, None) is original:
                monkeypatch.setattr(module, original.__name__, fail)


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


def test_doors_and_use_cases_do_not_parse_or_decode() -> None:
    """They pass a task to `Retrieval.parse` instead."""
    source = Path(pagekeep.__file__).parent
    files = [file for room in ("doors", "library") for file in (source / room).rglob("*.py")]
    call = re.compile(r"\bdom\.parse(_fragment)?\(|extraction\.input\.decode import|\bencoding or \"utf-8\"")
    found = {str(file.relative_to(source)) for file in files if call.search(file.read_text())}
    # The export parses the sanitised HTML that Pagekeep rendered itself, to make XHTML of it.
    assert found <= {"library/exports/article_html.py"}
