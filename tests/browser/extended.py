"""A real Chromium with our extension in it, and a real server beside it that can be stopped.

The extension is the package that `make extension` makes. Only what a person would be asked is answered beforehand: leave to reach
the server, at 127.0.0.1. Pages under test are at `localhost`, which that does not cover: there, only `activeTab` helps, granted by
a real click on the button.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self
from urllib.parse import quote

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page, Playwright, Worker

ROOT = Path(__file__).parents[2]
NAMES = ("chromium", "chromium-browser")


def full_chromium() -> str | None:
    """The headless shell runs no extensions, and Chrome loads none by switch."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def until(wanted: Callable[[], Any], seconds: float = 40) -> Any:
    """What comes of it, once it is something."""
    end = time.monotonic() + seconds
    while not (got := wanted()):
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.1)
    return got


class Server:
    """`pagekeep serve`, as people run it."""

    def __init__(self, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = int(free.getsockname()[1])
        self.address = f"http://127.0.0.1:{self.port}"
        self._env = {
            **{name: value for name, value in os.environ.items() if not name.startswith("PAGEKEEP_")},
            "PYTHONPATH": str(ROOT / "src"),
            "PAGEKEEP_LIBRARY": str(folder / "library.db"),
            "PAGEKEEP_RULES": str(folder / "rules"),
            "PAGEKEEP_ALLOW_HOSTS": "127.0.0.1,localhost",
            "PAGEKEEP_PER_HOST_DELAY": "0",
            "PAGEKEEP_RENDER": "never",
            "XDG_CONFIG_HOME": str(folder / "config"),
        }
        made = subprocess.run(
            self._command("token", "add", "extension"), env=self._env, capture_output=True, check=True
        )
        self.token = made.stdout.decode().strip()
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def _command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "pagekeep", *words]

    def start(self) -> None:
        quiet = subprocess.DEVNULL
        command = self._command("serve", "--port", str(self.port), "--log-level", "error")
        self._process = subprocess.Popen(command, env=self._env, stdout=quiet, stderr=quiet)
        until(self._answers)

    def _answers(self) -> bool:
        try:
            self.ask("/items?limit=1")
        except OSError:
            return False
        return True

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(30)
            self._process = None

    def ask(self, path: str, body: object = None) -> Any:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.address}/api/v1{path}", data, headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def file(self, key: str) -> bytes:
        """The file that an item was made from."""
        headers = {"Authorization": f"Bearer {self.token}"}
        request = urllib.request.Request(f"{self.address}/api/v1/items/{key}/file", headers=headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return bytes(answer.read())

    def find(self, url: str) -> Any:
        return self.ask(f"/items/lookup?url={quote(url, safe='')}")["item"]

    def content(self, url: str) -> str:
        """What is stored of a page, once it is."""
        item = until(lambda: self.find(url))
        return str(self.ask(f"/items/{item['id']}")["item"]["content"])

    def fetched(self, url: str) -> str:
        """What the server itself can see of it."""
        return str(self.ask("/extract", {"url": url})["page"]["document"])


class Address(Protocol):
    """A server as the options name it."""

    address: str
    token: str


class Browser:
    """Chromium with the extension and maybe others, set up for a server. A context manager."""

    def __init__(self, playwright: Playwright, extension: Path, profile: Path, *others: Path) -> None:
        self._playwright = playwright
        self._extensions = ",".join(map(str, (extension, *others)))
        self._profile = profile
        self.context: BrowserContext
        self.worker: Worker

    def __enter__(self) -> Self:
        self.context = self._playwright.chromium.launch_persistent_context(
            str(self._profile),
            executable_path=full_chromium(),
            headless=True,
            args=[
                "--no-sandbox",
                f"--disable-extensions-except={self._extensions}",
                f"--load-extension={self._extensions}",
                "--enable-unsafe-extension-debugging",  # to click on its button
            ],
        )
        self.worker = self.worker_named("background.js")
        self.id = self.worker.url.split("/")[2]
        return self

    def worker_named(self, script: str) -> Worker:
        """The background worker that runs this script, once it is there."""

        def found() -> Worker | None:
            self.context.cookies()  # lets Playwright handle what has happened
            return next((one for one in self.context.service_workers if one.url.endswith(f"/{script}")), None)

        worker: Worker = until(found)
        return worker

    def __exit__(self, *exception: object) -> None:
        self.context.close()

    def set_up(self, server: Address, token: str | None = None, **more: object) -> None:
        """As the options page keeps it."""
        kept = {"server": server.address, "token": server.token if token is None else token, **more}
        self.worker.evaluate("(settings) => chrome.storage.local.set({ settings })", kept)

    def waiting(self) -> int:
        """How many pages are in the queue."""
        found = self.worker.evaluate(
            """() => new Promise((done) => {
                 const opening = indexedDB.open("pagekeep", 1);
                 opening.onupgradeneeded = () => opening.transaction.abort();
                 opening.onerror = () => done(0);
                 opening.onsuccess = () => {
                   const asked = opening.result.transaction("queue").objectStore("queue").count();
                   asked.onsuccess = () => { opening.result.close(); done(asked.result); };
                 };
               })"""
        )
        return int(found)

    def open(self, url: str) -> Page:
        page = self.context.new_page()
        page.goto(url)
        page.bring_to_front()
        return page

    def click_button(self, page: Page) -> int:
        """A click on the extension's button while the page is in front, which opens the popup; gives the tab's number."""
        page.bring_to_front()
        assert self.context.browser
        session = self.context.browser.new_browser_cdp_session()

        def front() -> Any:
            tabs = session.send("Target.getTargets", {"filter": [{"type": "tab"}]})["targetInfos"]
            active = [tab for tab in tabs if tab.get("embedderData", {}).get("tabActive")]
            return next((tab["targetId"] for tab in active if tab["url"] == page.url), None)

        target = until(front)
        session.send("Extensions.triggerAction", {"id": self.id, "targetId": target})
        found = self.worker.evaluate(
            "(url) => chrome.tabs.query({}).then((tabs) => tabs.find((t) => t.url === url).id)", page.url
        )
        return int(found)

    def popup(self, tab: int | None = None) -> Page:
        """The button's popup for a tab, where a test can see it: in its own tab, which it must not know."""
        page = self.context.new_page()
        page.add_init_script("if (globalThis.chrome?.tabs) chrome.tabs.getCurrent = async () => undefined;")
        if tab is not None:
            find = f"async () => [await chrome.tabs.get({tab})]"
            page.add_init_script(f"if (globalThis.chrome?.tabs) chrome.tabs.query = {find};")
        return self._load(page, "popup/popup.html")

    def own(self, path: str) -> Page:
        return self._load(self.context.new_page(), path)

    def _load(self, page: Page, path: str) -> Page:
        page.goto(f"chrome-extension://{self.id}/{path}")
        return page
