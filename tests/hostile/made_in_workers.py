"""Send pages whose clean HTML is five times as large, and look at the server's own process (P1).

Run: `python -m tests.hostile.made_in_workers [--full]`. A caller with a read-only token sends 10 MB (otherwise 1 MB) of `&` in
`<pre>`, and the same as links and as pictures, by every route that shows `html`, `links` or `media`. Meanwhile another caller
asks for the server's health again and again: each answer must come within a second, and the server may grow by 50 MB. The exit
code is the number of faults.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from pagekeep.config import Settings
from pagekeep.identity import accounts
from tests.hostile.attack.machine import Memory, memory, rested_memory, wait_until_loaded
from tests.hostile.attack.wire import Wire
from tests.hostile.server import served
from tests.site.server import Reply, Request, Site

MAX_SECONDS: Final = 1.0
MAX_GROWTH_MEGABYTES: Final = 50
_SENTENCE: Final = "<p>The keeper counts the ships in the harbour and writes it down in a book.</p>"
_RULE: Final = "- id: mine\n  phase: pre\n  trigger:\n    host:\n      ends_with: example\n  remove:\n    - li\n"
PAGES: Final[dict[str, Callable[[int], str]]] = {
    "&": lambda n: f"{_SENTENCE * 9}<pre>{'&' * (n - 900)}</pre>",
    "links": lambda n: _SENTENCE * 9 + "<p>" + "<a href=/b>The ships &amp; all</a> " * (n // 40),
    "pictures": lambda n: _SENTENCE * 9 + "<img src=/c.png alt='a ship'>" * (n // 40),
}


def ways(wire: Wire, html: str, url: str) -> Iterator[tuple[str, Callable[[], str]]]:
    """Yield the name of each way in, and a function that sends the page that way and returns the status."""
    page = {"url": "https://bombs.example/1", "html": html}
    yield "extract", lambda: wire.post("/api/v1/extract", page)
    yield "explain", lambda: wire.post("/api/v1/explain", page)
    yield "rules", lambda: wire.post("/api/v1/rules/try", {"yaml": _RULE, "page": url})
    yield "scrape", lambda: wire.post("/v2/scrape", {"url": url, "formats": ["html", "links", "images", "rawHtml"]})
    yield "reader", lambda: wire.post("/r", {**page, "withLinksSummary": True, "withImagesSummary": True})
    yield "reader, html", lambda: wire.post("/r", {**page, "respondWith": "html"})
    yield "tool", lambda: wire.call_tool("fetch", url=url)
    yield "tool, raw", lambda: wire.call_tool("fetch", url=url, raw=True)


class Health:
    """Asks for the server's health every 20 ms, and notes the slowest answer; and the most memory of the server."""

    def __init__(self, address: str, pid: int) -> None:
        self.slowest, self.peak = 0.0, 0.0
        self._wire, self._pid = Wire(address), pid

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Ask until the end of the block."""
        self.slowest, self.peak = 0.0, 0.0
        ending = threading.Event()

        def look() -> None:
            while not ending.wait(0.02):
                began = time.monotonic()
                self._wire.send("GET", "/health")
                self.slowest = max(self.slowest, time.monotonic() - began)
                self.peak = max(self.peak, memory(self._pid).main)

        thread = threading.Thread(target=look)
        thread.start()
        try:
            yield
        finally:
            ending.set()
            thread.join()


def attack(size: int) -> list[str]:
    """Send every page by every way; return what is wrong."""
    faults, requests, slowest, most = [], 0, 0.0, 0.0
    bodies: dict[str, str] = {}

    async def show(request: Request, reply: Reply) -> None:
        await reply.send(bodies["now"])

    with tempfile.TemporaryDirectory() as folder, Site({"page": show}) as site:
        library = Path(folder) / "library.db"
        settings = {"render": "never", "allow_hosts": "127.0.0.1", "per_host_delay": "0"}
        with closing(accounts.open_accounts(Settings(library=str(library)))) as users:
            user = accounts.add_user(users, "mallory", "nine stoves and a kettle").id
            secret = accounts.add_token(users, user, "reader", ("read",)).secret
        with served(library, "--shared", **settings) as server:
            wire, pid = Wire(server.address, secret), server.process.pid
            bodies["now"] = _SENTENCE * 9
            for _ in range(3):  # starts the workers, and loads what the ways need
                for name, send in ways(wire, bodies["now"], site.url("/page")):
                    assert send() == "200", name
            wait_until_loaded(pid)
            start = memory(pid).main
            health = Health(server.address, pid)
            for shape, make in PAGES.items():
                bodies["now"] = make(size)
                for name, send in ways(wire, bodies["now"], site.url("/page")):
                    with health.watch():
                        status = send()
                    requests += 1
                    grown = health.peak - start
                    slowest, most = max(slowest, health.slowest), max(most, grown)
                    print(
                        f"{shape}, {name}: {status}, health {health.slowest:.2f} s, server {grown:+.0f} MB", flush=True
                    )
                    if not status.startswith(("2", "4")):
                        faults.append(f"{shape}, {name}: {status}")
                    if health.slowest > MAX_SECONDS:
                        faults.append(f"{shape}, {name}: health took {health.slowest:.2f} s")
                    if grown > MAX_GROWTH_MEGABYTES:
                        faults.append(f"{shape}, {name}: {grown:+.0f} MB")
            rested = rested_memory(pid, Memory(start + 30, 1e9), 10).main - start
    print(f"{requests} requests of {size / 1e6:g} MB: health at most {slowest:.2f} s, server at most {most:+.0f} MB,")
    print(f"afterwards {rested:+.0f} MB")
    return faults


def main() -> int:
    """Attack with 1 MB, or in full with 10 MB."""
    faults = attack(9_900_000 if "--full" in sys.argv else 1_000_000)
    print(f"{len(faults)} faults", *faults, sep="\n  ")
    return len(faults)


if __name__ == "__main__":
    raise SystemExit(main())
