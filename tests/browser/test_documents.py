"""A PDF in the reader, from the first click to the last: saved, highlighted, found, exported, reparsed and downloaded."""

from __future__ import annotations

import io
import json
import urllib.request
import zipfile
from typing import Any

from playwright.sync_api import expect

from tests.browser.conftest import Window
from tests.browser.serving import Server
from tests.browser.test_annotations import select
from tests.capture.documents.samples import LINES, PDF, TEXT
from tests.site.server import Site

QUOTE = "The harbour lies north of the town"


def ask(server: Server, path: str, body: dict[str, Any] | None = None) -> bytes:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{server.url}/api/v1{path}", data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return bytes(answer.read())


def test_the_story_of_a_pdf(fresh: Server, site: Site, window: Window) -> None:
    page = window("/add")
    page.get_by_label("URLs").fill(site.url("/pages/harbour.pdf"))
    page.get_by_role("button", name="Save", exact=True).click()
    page.locator("#saving .done a").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("The old harbour")
    expect(page.locator(".byline")).to_contain_text("PDF, 1 page")
    expect(page.locator(".content")).to_contain_text(LINES[1])
    key = page.url.rpartition("/")[2]

    select(page, ".content p", 0, 0, len(QUOTE))
    page.get_by_role("toolbar").get_by_role("button", name="Highlight").click()
    expect(page.locator("mark.highlight")).to_have_text(QUOTE)
    done = json.loads(ask(fresh, f"/items/{key}/reparse", {"force": True}))
    assert done["outcome"] == "unchanged"
    page.reload()
    expect(page.locator("mark.highlight")).to_have_text(QUOTE)

    page.locator("summary[title=More]").click()
    expect(page.get_by_role("button", name="Keep a PDF")).to_have_count(0)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download PDF").click()
    assert download.value.suggested_filename == "The old harbour.pdf"
    assert download.value.path().read_bytes() == PDF

    page.goto('/?q="older than the walls"')
    expect(page.locator(".row h2")).to_have_text("The old harbour")
    expect(page.locator(".row .flag").first).to_have_text("PDF")
    with zipfile.ZipFile(io.BytesIO(ask(fresh, "/export?format=markdown"))) as files:
        (text,) = (files.read(name).decode() for name in files.namelist() if name.endswith(".md"))
    assert TEXT.strip() in text
    assert QUOTE in text.partition(TEXT.strip())[2]
    with zipfile.ZipFile(io.BytesIO(ask(fresh, "/export?format=epub"))) as book:
        assert any(LINES[1].encode() in book.read(name) for name in book.namelist())


def test_an_uploaded_pdf_is_read_and_a_damaged_one_says_so(fresh: Server, window: Window) -> None:
    page = window("/add")
    files = [("harbour.pdf", PDF), ("broken.pdf", PDF[:60])]
    page.get_by_label("upload files").set_input_files(
        [{"name": name, "mimeType": "application/pdf", "buffer": data} for name, data in files]
    )
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#saving .done")).to_have_count(2)
    page.goto("/")
    # Both files are read at the same time: either may be the newer item.
    expect(page.locator(".row h2").filter(has_text="The old harbour")).to_have_count(1)
    broken = page.locator(".row h2 a").filter(has_text="broken.pdf")
    expect(broken).to_have_count(1)
    expect(page.locator(".row .reason")).to_contain_text("The PDF is damaged")
    broken.click()
    expect(page.locator(".notice").get_by_role("link", name="Download PDF")).to_be_visible()
    expect(page.locator(".notice").get_by_role("button", name="Retry")).to_have_count(0)  # there is nothing to fetch
