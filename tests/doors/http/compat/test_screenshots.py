"""Pictures of pages from a real Chromium, and the addresses they have."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient
from PIL import Image

from pagekeep.config import Settings
from pagekeep.doors.http import service as service_module
from pagekeep.doors.http.compat import screenshots
from tests.doors.http.conftest import service_of
from tests.site.fixtures import a_browser
from tests.site.server import Reply, Request, Site

__all__ = ["a_browser"]
RED, BLUE = (200, 30, 40), (20, 60, 220)
PAGE = """<title>Two fields</title><link rel="stylesheet" href="/look"><div id="top"></div>
<p>The upper field is red, the lower one is blue.</p><div id="low"></div>"""
LOOK = "body{margin:0} div{height:1500px} #top{background:rgb(200,30,40)} #low{background:rgb(20,60,220)}"


async def _page(_request: Request, reply: Reply) -> None:
    await reply.send(PAGE)


async def _look(_request: Request, reply: Reply) -> None:
    await reply.send(LOOK, content_type="text/css")


@pytest.fixture(scope="module")
def fields() -> Iterator[str]:
    with Site({"fields": _page, "look": _look}) as site:
        yield site.url("/fields")


def colours(png: bytes) -> tuple[tuple[int, int], object, object]:
    """The size, and what is at the top and at the bottom."""
    with Image.open(io.BytesIO(png)) as image:
        assert image.format == "PNG"
        plain = image.convert("RGB")
        return plain.size, plain.getpixel((640, 10)), plain.getpixel((640, plain.height - 10))


@pytest.mark.usefixtures("a_browser")
def test_a_screenshot_is_what_a_window_shows_and_a_pageshot_the_whole(client: TestClient, fields: str) -> None:
    shown = client.get(f"/r/{fields}", headers={"x-return-format": "screenshot"})
    assert (shown.status_code, shown.headers["content-type"]) == (200, "image/png")
    assert "sandbox" in shown.headers["content-security-policy"]
    assert colours(shown.content) == ((1280, 800), RED, RED)
    whole = client.get(f"/r/{fields}", headers={"x-respond-with": "pageshot"})
    (width, height), top, bottom = colours(whole.content)
    assert (width, top, bottom) == (1280, RED, BLUE)
    assert height > 3000


@pytest.mark.usefixtures("a_browser")
def test_programs_get_an_address_that_needs_no_token(
    settings: Settings, serve: Callable[..., TestClient], fields: str
) -> None:
    client = serve(settings)
    data = client.get(f"/r/{fields}", headers={"x-respond-with": "screenshot", "accept": "application/json"}).json()[
        "data"
    ]
    assert data["title"] == "Two fields"
    assert "content" not in data
    client.cookies.clear()
    answer = client.get(data["screenshotUrl"])
    assert answer.headers["content-type"] == "image/png"
    assert colours(answer.content)[1] == RED
    for spoilt in (data["screenshotUrl"][:-1] + "x", data["screenshotUrl"].replace("until=", "until=9")):
        assert client.get(spoilt).status_code == 404


@pytest.mark.usefixtures("a_browser")
@pytest.mark.parametrize("option", ["screenshot@fullPage", {"type": "screenshot", "fullPage": True}])
def test_scraping_gives_text_and_picture_of_one_visit(client: TestClient, fields: str, option: object) -> None:
    data = client.post("/v2/scrape", json={"url": fields, "formats": ["markdown", option]}).json()["data"]
    assert "The upper field is red" in data["markdown"]
    assert colours(client.get(data["screenshot"]).content)[2] == BLUE


@pytest.mark.usefixtures("a_browser")
def test_the_page_may_be_sent(client: TestClient, fields: str) -> None:
    html = PAGE.replace("#top", "#other").replace('<div id="top">', '<div id="low">')
    answer = client.post("/r", json={"url": fields, "html": html, "respondWith": "screenshot"})
    assert colours(answer.content)[1] == BLUE
    alone = client.post("/r", json={"html": html, "respondWith": "screenshot"})
    assert (alone.status_code, alone.json()["error"]["type"]) == (422, "InvalidQuery")


def test_without_a_browser_the_error_says_how_to_get_one(
    settings: Settings, serve: Callable[..., TestClient], fields: str
) -> None:
    client = serve(replace(settings, chromium="no-such-browser"))
    answer = client.get(f"/r/{fields}", headers={"x-respond-with": "screenshot"})
    assert (answer.status_code, answer.json()["error"]["type"]) == (502, "RenderError")
    assert answer.json()["error"]["suggestions"]
    scraped = client.post("/v2/scrape", json={"url": fields, "formats": ["screenshot"]})
    assert (scraped.status_code, scraped.json()["code"]) == (500, "RenderError")


def test_forbidden_addresses_are_not_pictured(client: TestClient) -> None:
    answer = client.get("/r/http://127.0.0.2:9/", headers={"x-respond-with": "screenshot"})
    assert (answer.status_code, answer.json()["error"]["type"]) == (403, "BlockedAddress")


def kept(client: TestClient, name: str, until: int) -> str:
    service = service_of(client)
    service.screenshots.store(name, b"a picture")
    return f"/screenshots/{quote(name)}?until={until}&sig={screenshots._signature(service.secret, name, until)}"


def test_an_address_is_good_for_its_time_and_no_other_name(client: TestClient) -> None:
    name, now = f"{'a1' * 16}.png", int(time.time())
    assert client.get(kept(client, name, now + 60)).content == b"a picture"
    assert client.get(kept(client, name, now - 1)).status_code == 404
    assert client.get(kept(client, "server.secret", now + 60)).status_code == 404


def test_pictures_do_not_stay(
    settings: Settings, serve: Callable[..., TestClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither while the server runs nor over its end, though no client asks for another picture."""
    monkeypatch.setattr(service_module, "_CLEANUP_SECONDS", 0.02)
    client = serve(settings)
    for name, age in (("b2", 3700), ("c3", 3500)):
        kept(client, f"{name * 16}.png", 0)
        [path] = shots(settings, name)
        os.utime(path, (time.time() - age,) * 2)
    assert goes(lambda: shots(settings, "b2"))
    assert shots(settings, "c3")


def test_pictures_of_a_server_that_ended_go_when_it_starts_again(
    settings: Settings, serve: Callable[..., TestClient]
) -> None:
    folder = Path(str(settings.library)).parent / "screenshot-cache" / "b2"
    folder.mkdir(parents=True)
    old = folder / f"{'b2' * 16}.png"
    old.write_bytes(b"a picture")
    os.utime(old, (1, 1))
    serve(settings)
    assert goes(old.exists)


def goes(is_there: Callable[[], object]) -> bool:
    """Whether it goes away by itself, sooner or later."""
    for _ in range(1000):
        if not is_there():
            return True
        time.sleep(0.02)
    return False


def shots(settings: Settings, name: str) -> list[Path]:
    return list(Path(str(settings.library)).parent.rglob(f"{name * 16}.png"))
