"""A drawing with a script, even one that was never cleaned, runs nothing: neither in a page nor opened by its address (K2)."""

from __future__ import annotations

from contextlib import closing

import pytest

from pagekeep.config import Settings
from pagekeep.model import ItemBlob
from pagekeep.store import open_store
from tests.browser.conftest import Window
from tests.browser.serving import Server
from tests.store.making import NOW, make_item

playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
SOURCE = "https://example.com/drawing.svg"
SVG = (
    b'<svg xmlns="http://www.w3.org/2000/svg" width="90" height="60" onload="document.title = \'ran\'">'
    b"<script>fetch('/settings?ran'); document.title = 'ran'</script><rect width='90' height='60' fill='teal'/></svg>"
)


def test_drawing_is_shown_and_never_run(fresh: Server, window: Window, settings: Settings) -> None:
    with closing(open_store(settings.library)) as store:
        item = store.items.save(make_item(content=f"Some words.\n\n![A drawing]({SOURCE})\n"), None)
        name = store.blobs.put(SVG, NOW)
        store.blobs.link(item.id, [ItemBlob("picture", SOURCE, "kept", NOW, "image/svg+xml", name, len(SVG))])
    page = window(f"/items/{item.id}")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    picture = page.locator(".content img")
    picture.scroll_into_view_if_needed()
    playwright.expect(picture).to_have_js_property("naturalWidth", 90)
    address = picture.get_attribute("src")
    with page.expect_download() as download, pytest.raises(playwright.Error):
        page.goto(address)
    assert download.value.suggested_filename
    assert page.title() != "ran"
    assert not [url for url in asked if "ran" in url.partition("?")[2]]
