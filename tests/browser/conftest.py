"""The reader in a real Chromium: a real server, a library with pages of ours, and a site to save from."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pagekeep.config import Settings
from pagekeep.errors import RenderError
from pagekeep.fetch.browser import chromium
from tests.browser.pages import PICTURE, SITE
from tests.browser.serving import Server
from tests.capture.documents.samples import PDF
from tests.site.sandbox import SANDBOX
from tests.site.server import Reply, Request, Site

playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
playwright.expect.set_options(timeout=15_000)  # machines that test have other things to do

SIZES = {"desktop": {"width": 1280, "height": 860}, "phone": {"width": 360, "height": 740}}


async def _page(request: Request, reply: Reply) -> None:
    name = request.path.rpartition("/")[2]
    if name in SITE:
        await reply.send(SITE[name].replace("{here}", f"http://{request.headers['host']}"))
    elif name.endswith(".pdf"):
        await reply.send(PDF, content_type="application/pdf")
    elif name.endswith(".png"):
        await reply.send(PICTURE, content_type="image/png")
    else:
        await reply.send("<title>Gone</title><p>Gone.</p>", status=404)


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    """Pages to save."""
    with Site({"pages": _page}) as running:
        yield running


@pytest.fixture(scope="module")
def chrome() -> Iterator[Any]:
    """The browser; a test gets its own windows.

    It ends with its module: while Playwright runs, nothing else in this process can start an event loop.
    """
    try:
        found = chromium.find_chromium()
    except RenderError as error:
        pytest.skip(f"{error.message} scripts/install-chromium gets one.")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=str(found.path), args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
        )
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reader")


@pytest.fixture(scope="session")
def settings(shelf: Path) -> Settings:
    return Settings(
        browser_sandbox=SANDBOX,
        library=str(shelf / "library.db"),
        rules=str(shelf / "rules"),
        allow_hosts=("127.0.0.1",),
        per_host_delay=0,
        timeout=10,
        retries=0,
        render="never",
    )


@pytest.fixture(scope="session")
def server(settings: Settings) -> Iterator[Server]:
    with Server(settings) as running:
        yield running


@pytest.fixture
def fresh(server: Server, settings: Settings) -> Server:
    """The server with an empty library."""
    from pagekeep.model import ItemQuery, item_filters
    from pagekeep.store import open_store

    with closing(open_store(settings.library)) as store:
        for state in (item_filters(), item_filters(failed=True), item_filters(deleted=True)):
            for item in store.search.find(ItemQuery(filters=state, limit=1_000)).items:
                store.items.delete(item.id, "2026-01-01T00:00:00.000000Z")
        store.items.purge()
        for job in store.jobs.list("dead"):
            store.jobs.remove(job.id)
    return server


@pytest.fixture
def save(fresh: Server, site: Site, chrome: Any) -> Callable[..., str]:
    """Puts a page of the site into the library, and returns its ID."""

    def save(name: str, tags: Sequence[str] = ()) -> str:
        url = site.url(f"/pages/{name}")
        asked = urllib.request.Request(
            f"{fresh.url}/api/v1/saves",
            data=json.dumps({"url": url, "tags": list(tags)}).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(asked) as answer:
            return str(json.load(answer)["item"]["id"])

    return save


Window = Callable[..., Any]


@pytest.fixture
def window(chrome: Any, server: Server) -> Iterator[Window]:
    """Opens a page of the reader in its own window.

    At the end no window must have asked another server for anything, nor had a fault in a script.
    """
    contexts: list[Any] = []
    faults: list[str] = []

    def open_window(path: str = "/", size: str = "desktop", **how: Any) -> Any:
        context = chrome.new_context(viewport=SIZES[size], base_url=server.url, **{"service_workers": "block", **how})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on("pageerror", lambda error: faults.append(f"script: {error}"))
        page.on("request", lambda request: _note_foreign(request.url, server.url, faults))
        page.on("console", lambda said: faults.append(said.text) if "Content Security Policy" in said.text else None)
        page.goto(path)
        return page

    yield open_window
    for context in contexts:
        context.close()
    assert faults == []


def _note_foreign(url: str, own: str, faults: list[str]) -> None:
    if not url.startswith((own, "data:", "blob:")):
        faults.append(f"asked elsewhere: {url}")
