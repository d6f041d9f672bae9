"""The reader's own fonts: the same page on every machine, and nothing moves when they come."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from pagekeep.doors.http.web import static_files
from tests.browser.conftest import Window

Save = Callable[[str], str]
FONTS = Path(static_files.__file__).parent / "static" / "fonts"
LINES = "document.querySelector('#content').getBoundingClientRect().height"


def test_fonts_come_from_our_server_and_fit_their_stand_ins(save: Save, window: Window) -> None:
    item = save("clock")
    page = window("/offline")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"/items/{item}")
    page.evaluate("document.fonts.ready")
    loaded = set(
        page.evaluate("[...document.fonts].filter((font) => font.status === 'loaded').map((font) => font.family)")
    )
    assert {'"Literata"', '"Source Sans"'} <= {f'"{name.strip(chr(34))}"' for name in loaded}
    assert {url.rpartition("/")[2].partition("?")[0] for url in asked if ".woff2" in url} >= {
        "literata-latin.woff2",
        "source-sans-latin.woff2",
    }
    with_fonts = page.evaluate(LINES)

    without = window("/offline")
    without.route(re.compile(r"\.woff2"), lambda route: route.abort())
    without.goto(f"/items/{item}")
    assert without.evaluate(LINES) == pytest.approx(with_fonts, rel=0.06)


def test_fonts_are_small_licensed_and_cached_for_ever(save: Save, window: Window) -> None:
    page = window("/")
    styles = page.request.get("/static/reader.css").text()
    addresses = re.findall(r'url\("(/static/[\w-]+\.woff2\?v=\w+)"\)', styles)
    assert len(addresses) == len(list(FONTS.glob("*.woff2"))) == 11
    sizes = 0
    for address in addresses:
        answer = page.request.get(address)
        assert (answer.status, answer.headers["content-type"]) == (200, "font/woff2")
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
        sizes += len(answer.body())
    assert sizes <= 400 * 1024
    for licence in ("literata-OFL.txt", "source-sans-OFL.txt"):
        assert "SIL Open Font License, Version 1.1" in (FONTS / licence).read_text("utf-8")
    shell = page.request.get("/service-worker.js").text()
    assert "literata-latin.woff2" in shell
    assert "literata-greek.woff2" not in shell
