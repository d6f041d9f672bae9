"""K2: copies of whole pages in the reader run nothing, load nothing, and do not get our origin."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable
from contextlib import closing
from typing import Any

from pagekeep.config import Settings
from pagekeep.model.archive import ItemBlob
from pagekeep.store import open_store
from tests.browser.conftest import Window
from tests.browser.serving import Server

NOW = "2025-03-19T10:30:00.000000Z"
HOSTILE = """<!DOCTYPE html><html><head><title>still</title><script>hit("script")</script>
<meta http-equiv="refresh" content="0;url=/?refreshed"><base href="/api/v1/"><link rel=stylesheet href="/static/reader.css?leak">
<style>@import "/?import"; body{background:url(/?background)}</style></head><body onload="hit('load')">
<img src=x onerror="hit('error')"><img src="/?image"><svg onload="hit('svg')"><script>hit("svg script")</script>
<a xlink:href="javascript:hit('svg link')"><text y=20>x</text></a></svg><iframe src="/?frame"></iframe>
<iframe srcdoc="<script>parent.hit('frame')</script>"></iframe><object data="/?object"></object><embed src="/?embed">
<form id=f action="/trash" method=post><button id=b>b</button></form><a id=a href="javascript:hit('link')">link</a>
<details open ontoggle="hit('toggle')"><summary>x</summary></details><video src="/?video" onerror="hit('video')"></video>
<script>fetch("/api/v1/items").then(() => hit("fetch")); top.hit = 1; localStorage.x = 1;</script></body></html>"""
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" onload="hit(1)"><script>document.title="ran"</script></svg>'


def put(settings: Settings, item_id: str, role: Any, body: bytes, media_type: str) -> None:
    with closing(open_store(settings.library)) as store:
        name = store.blobs.put(body, NOW)
        store.blobs.replace_links(
            item_id, [role], [ItemBlob(role, "https://a.example/", "kept", NOW, media_type, name, len(body))]
        )


CASES = (
    ("html", "page_copy", HOSTILE.encode()),
    ("html", "page_copy", SVG),
    ("screenshot", "screenshot", SVG),
    ("screenshot", "screenshot", HOSTILE.encode()),
)
ROUTES = ("/items/{key}/copies/{kind}", "/api/v1/items/{key}/copies/{kind}")


def test_hostile_copies_run_and_load_nothing(
    save: Callable[..., str], settings: Settings, chrome: Any, fresh: Server
) -> None:
    key = save("keeper")
    context = chrome.new_context(base_url=fresh.url)
    page = context.new_page()
    answered, ran = list[str](), list[str]()
    page.on("response", lambda response: answered.append(response.url))
    page.on("pageerror", lambda error: ran.append(str(error)))  # `hit` is not defined
    for kind, role, body in CASES:
        put(settings, key, role, body, "image/svg+xml" if body == SVG else "text/html")
        for route in ROUTES:
            answer = page.goto(route.format(key=key, kind=kind))
            assert answer.headers["content-security-policy"].startswith("sandbox;")
            assert answer.headers["x-content-type-options"] == "nosniff"
            page.wait_for_timeout(50)
            if (kind, body) == ("html", HOSTILE.encode()):
                page.evaluate("document.querySelector('#a').click(); document.querySelector('#b').click()")
                page.wait_for_timeout(50)
                assert page.title() == "still"
                assert page.evaluate("self.origin") == "null"
    assert [url for url in answered if "/copies/" not in url and "favicon" not in url] == []
    assert ran == []
    context.close()


def test_pdf_is_a_download(save: Callable[..., str], settings: Settings, fresh: Server) -> None:
    key = save("keeper")
    put(settings, key, "pdf", b"%PDF-1.7 hostile", "application/pdf")
    with urllib.request.urlopen(f"{fresh.url}/items/{key}/copies/pdf") as answer:
        assert answer.headers["content-disposition"].startswith("attachment")
        assert answer.headers["content-type"] == "application/pdf"


def test_copies_are_made_from_the_menu_and_shown(save: Callable[..., str], window: Window, fresh: Server) -> None:
    key = save("keeper")
    page = window(f"/items/{key}")
    page.get_by_title("More").click()
    page.get_by_role("button", name="Keep a page copy").click()
    page.get_by_text("The copy is being made").wait_for()

    def copies() -> list[str]:
        with urllib.request.urlopen(f"{fresh.url}/api/v1/items/{key}/copies") as answer:
            return [copy["kind"] for copy in json.load(answer)["copies"]]

    for _ in range(600):
        if copies():
            break
        page.wait_for_timeout(100)
    assert copies() == ["html"]
    page.goto(f"/items/{key}")
    page.get_by_title("More").click()
    page.get_by_role("link", name="View page copy").click()
    page.get_by_role("heading", level=1).first.wait_for()
    assert page.evaluate("self.origin") == "null"
