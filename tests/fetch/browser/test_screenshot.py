"""Pictures of pages, within bounds and behind the guard, with a real Chromium."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Iterator
from typing import Literal

import pytest
from PIL import Image

from pagekeep.config import Settings
from pagekeep.errors import RenderError, TooLarge
from pagekeep.fetch.browser import Browser, PageScreenshot, chromium, visit
from pagekeep.fetch.guard import Guard
from tests.hostile import render_canary
from tests.site.sandbox import SANDBOX
from tests.site.server import Reply, Request, Site

DOT = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><rect width="40" height="40" fill="rgb(9,99,199)"/></svg>'


@pytest.fixture(autouse=True)
def _a_browser() -> None:
    pytest.importorskip("playwright")
    try:
        chromium.find_chromium()
    except RenderError as error:
        pytest.skip(f"{error.message} scripts/install-chromium gets one.")


@pytest.fixture
def elsewhere() -> Iterator[Site]:
    """Where nothing may go."""

    async def dot(_request: Request, reply: Reply) -> None:
        await reply.send(DOT, content_type="image/svg+xml")

    with Site({"dot": dot}, host="127.0.0.2") as site:
        yield site


@pytest.fixture
def site(elsewhere: Site) -> Iterator[Site]:
    async def tall(_request: Request, reply: Reply) -> None:
        await reply.send('<title>Tall</title><body style="margin:0;background:rgb(1,2,3)"><div style="height:90000px">')

    async def lazy(_request: Request, reply: Reply) -> None:
        await reply.send(
            '<title>Lazy</title><body style="margin:0"><div style="height:9000px"></div>'
            f'<img loading="lazy" src="/dot" width="40" height="40"><img src="{elsewhere.url("/dot")}">'
        )

    async def dot(_request: Request, reply: Reply) -> None:
        await reply.send(DOT, content_type="image/svg+xml")

    with Site({"tall": tall, "lazy": lazy, "dot": dot}) as site:
        yield site


def pictured(url: str, part: Literal["window", "whole"]) -> PageScreenshot:
    async def run() -> PageScreenshot:
        async with Browser(Settings(browser_sandbox=SANDBOX), Guard(["127.0.0.1"]), visual=True) as browser:
            return await browser.screenshot(url, part)

    return asyncio.run(run())


def test_a_page_without_end_is_pictured_down_to_the_bound(site: Site) -> None:
    with Image.open(io.BytesIO(pictured(site.url("/tall"), "whole").png)) as image:
        assert image.size == (1280, visit.MAX_HEIGHT)
        assert image.convert("RGB").getpixel((5, visit.MAX_HEIGHT - 1)) == (1, 2, 3)


def test_pictures_that_wait_to_be_seen_are_there_and_forbidden_ones_are_not_asked_for(
    site: Site, elsewhere: Site
) -> None:
    page, picture = pictured(site.url("/lazy"), "whole")
    with Image.open(io.BytesIO(picture)) as image:
        assert image.convert("RGB").getpixel((20, 9020)) == (9, 99, 199)
    assert elsewhere.connections == 0
    assert b"Lazy" in page.body


def test_a_picture_of_too_many_bytes_is_refused(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visit, "MAX_BYTES", 1000)
    with pytest.raises(TooLarge):
        pictured(site.url("/tall"), "window")


def test_no_page_reaches_a_forbidden_place_by_being_pictured() -> None:
    with render_canary.trap() as trap:
        assert asyncio.run(render_canary.guarded(trap, each=False, visual=True)) == set()
