"""Take the pictures of docs/guides/first-page.md: the clicks from an empty library to a page that the extension saved.

They are real: a server, Chromium and the extension, clicked through in this order. Needs `scripts/install-chromium full`.
"""

from __future__ import annotations

import functools
import io
import json
import sys
import tempfile
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from scripts.package_extension import make  # noqa: E402
from tests.browser.extended import Browser, Server  # noqa: E402

OUT = ROOT / "docs" / "images" / "guide"
SIZE = {"width": 1080, "height": 700}
COLOURS = 96
"""Enough for flat pages; a picture then has about 40 KB."""


class Quiet(SimpleHTTPRequestHandler):
    """Serves the example page without a log."""

    def log_message(self, format: str, *arguments: object) -> None:
        """Write nothing."""


def take(page: Page, name: str, *, size: dict[str, int] = SIZE) -> None:
    """Write what a page shows as a small picture."""
    page.set_viewport_size(size)  # type: ignore[arg-type]
    page.wait_for_timeout(300)
    with Image.open(io.BytesIO(page.screenshot())) as shot:
        shot.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(OUT / f"{name}.png", optimize=True)


def main() -> None:
    """Click through the guide and take its pictures."""
    OUT.mkdir(parents=True, exist_ok=True)
    handler = functools.partial(Quiet, directory=str(ROOT / "docs" / "examples"))
    with tempfile.TemporaryDirectory() as name, ThreadingHTTPServer(("127.0.0.1", 0), handler) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        folder = Path(name)
        make("chromium", folder)
        manifest = folder / "chromium" / "manifest.json"
        # A browser without a window cannot ask for the permission.
        manifest.write_text(
            json.dumps({**json.loads(manifest.read_text()), "host_permissions": ["http://127.0.0.1/*"]})
        )
        server = Server(folder)
        try:
            with sync_playwright() as playwright, Browser(playwright, manifest.parent, folder / "profile") as browser:
                click_through(browser, server, f"http://localhost:{site.server_port}/tide-clock.html")
        finally:
            server.stop()
            site.shutdown()


def click_through(browser: Browser, server: Server, url: str) -> None:
    """Do what the guide says."""
    browser.context.pages[0].wait_for_timeout(3_000)  # the options open by themselves, in a tab that is empty
    reader = browser.open(server.address)
    take(reader, "1-library")
    reader.goto(f"{server.address}/settings/extension")
    take(reader, "2-extension")
    browser.set_up(server, token="")
    options = browser.own("options/options.html")
    take(options, "3-connect", size={"width": 720, "height": 360})
    with browser.context.expect_page() as opened:
        options.click("#connect")
    asked = opened.value
    asked.wait_for_selector("h1:text('Connect the browser extension?')")
    take(asked, "4-confirm")
    asked.click("button:text('Connect')")
    asked.wait_for_url("**/options.html")
    popup = browser.popup(browser.click_button(browser.open(url)))
    popup.wait_for_selector("#reader:visible")
    take(popup, "5-saved", size={"width": 400, "height": 460})
    reader.goto(str(popup.get_attribute("#reader", "href")))
    take(reader, "6-reader")


if __name__ == "__main__":
    main()
