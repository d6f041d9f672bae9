"""The extension is connected by one click on the server's own page, and other pages cannot connect anything."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.browser.extended import Browser, Server, full_chromium, until
from tests.site.server import Reply, Request, Site

playwright_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
expect = playwright_api.expect
pytest.importorskip("fastapi", reason="the server's packages are not installed")
if full_chromium() is None:
    pytest.skip("no full Chromium here; scripts/install-chromium full gets one", allow_module_level=True)

SENTENCE = "The keeper counts the ships before breakfast, writes the number down, and only then puts the kettle on. "
PAGE = f"<!doctype html><title>The pier</title><article><h1>The pier</h1>{f'<p>{SENTENCE * 3}</p>' * 5}</article>"
TOKEN = "chrome.storage.local.get('settings').then((all) => all.settings?.token ?? '')"


async def _page(_request: Request, reply: Reply) -> None:
    await reply.send(PAGE)


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site({"page": _page}) as running:
        yield running


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("server"))
    try:
        yield running
    finally:
        running.stop()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """The package; that the server may be reached is answered beforehand, as a browser without a window cannot ask."""
    from scripts.package_extension import make

    folder = tmp_path_factory.mktemp("extension")
    make("chromium", folder)
    path = folder / "chromium" / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "host_permissions": ["http://127.0.0.1/*"]}))
    with (
        playwright_api.sync_playwright() as playwright,
        Browser(playwright, path.parent, tmp_path_factory.mktemp("profile")) as started,
    ):
        yield started


def test_one_click_connects_and_the_next_saves(browser: Browser, server: Server, site: Site) -> None:
    browser.set_up(server, token="")
    popup = browser.popup()
    expect(popup.locator("#setup p")).to_have_text("Connect to your Pagekeep server to save the pages you read.")
    assert popup.locator("main:visible button").all_inner_texts() == ["Connect"]
    with browser.context.expect_page() as opened:
        popup.click("#connect")
    asked = opened.value
    expect(asked.locator("h1")).to_have_text("Connect the browser extension?")
    assert browser.worker.evaluate(TOKEN) == ""
    asked.click("button:text('Connect')")
    asked.wait_for_url("chrome-extension://*/options/options.html")
    expect(asked.locator("#message")).to_have_text("Connected.")
    token = browser.worker.evaluate(TOKEN)
    assert token.startswith("pk_")
    assert token != server.token
    url = site.url("/page/pier").replace("127.0.0.1", "localhost")
    browser.popup(browser.click_button(browser.open(url)))
    assert "The keeper counts the ships" in server.content(url)
    listed = browser.open(f"{server.address}/settings/tokens")
    expect(listed.locator("th", has_text="Browser extension (")).to_have_count(1)


def test_a_page_that_opens_the_servers_page_connects_nothing(browser: Browser, server: Server, site: Site) -> None:
    browser.set_up(server, token="")
    stranger = browser.open(site.url("/page/stranger"))
    with browser.context.expect_page() as opened:
        stranger.evaluate(f"void (window.mine = open('{server.address}/pair?challenge={'x' * 43}&client=Pagekeep'))")
    asked = opened.value
    expect(asked.locator("h1")).to_have_text("Connect the browser extension?")
    asked.click("button:text('Connect')")
    asked.wait_for_url(f"{server.address}/pair/done#code=*")
    assert stranger.evaluate("mine.closed")  # the opener lost the window, and with it its address
    framed = stranger.evaluate(
        """(address) => new Promise((done) => {
             const frame = document.body.appendChild(document.createElement("iframe"));
             frame.onload = () => { try { done(frame.contentDocument?.body?.textContent ?? "refused"); } catch { done("refused"); } };
             frame.src = address;
           })""",
        f"{server.address}/pair?challenge={'x' * 43}",
    )
    assert framed == "refused"
    assert browser.worker.evaluate(TOKEN) == ""


def test_without_a_server_the_options_say_so(browser: Browser) -> None:
    browser.worker.evaluate("() => chrome.storage.local.set({ settings: { server: 'http://127.0.0.1:9', token: '' } })")
    options = browser.own("options/options.html")
    options.click("#connect")
    expect(options.locator("#message")).to_contain_text("No Pagekeep server answers at http://127.0.0.1:9.")
    assert until(lambda: options.locator("#server").is_visible())
