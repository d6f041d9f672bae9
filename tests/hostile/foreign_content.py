"""Send hostile pages to a server by every way in, and look at the server's own process (H1).

Run: `python -m tests.hostile.foreign_content [SHAPES] [BYTES]`. All work on pages is for the worker processes: one request may
take half a second of the server's own processor time, and afterwards it may have 100 MB more. The exit code is the number of
faults.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final
from urllib.request import Request, urlopen

from tests.hostile.attack.machine import memory, times, wait_until_loaded
from tests.hostile.attack.wire import Wire
from tests.hostile.parser_bombs import SHAPES as BOMBS
from tests.hostile.server import Served, served

SIZE: Final = 170_000
MAX_SERVER_SECONDS: Final = 0.5
MAX_GROWTH_MEGABYTES: Final = 100
_SENTENCE: Final = "The keeper counts the ships in the harbour and writes it down in a book. "
_RULE: Final = "- id: mine\n  phase: pre\n  trigger:\n    host:\n      ends_with: example\n  remove:\n    - li\n"

PAGES: Final[dict[str, Callable[[int], str]]] = {
    "headings": lambda n: "".join(f"<h2>Part {i}</h2><p>{_SENTENCE}" for i in range(n // 90)),
    "list items": lambda n: (
        "<ul>" + "".join(f"<li>Item {i % 7}" for i in range(n // 12)) + "</ul>" + f"<p>{_SENTENCE}" * 9
    ),
    "code": lambda n: (
        f"<p>{_SENTENCE}" * 9
        + "".join(
            f"<pre><code class=language-{name}>{'{(&lt;' * (n // 60)}</code></pre>"
            for name in ("c", "perl", "php", "lua")
        )
    ),
    "a wide table": lambda n: "<table>" + ("<tr>" + "<td>x" * 300) * (n // 1_500) + "</table>" + f"<p>{_SENTENCE}" * 9,
    "quotes": lambda n: "<blockquote>" * 60 + f"<p>{_SENTENCE}" * (n // 80),
    "emphasis": lambda n: f"<p>{_SENTENCE}" * 9 + "<p>" + "*_`[![" * (n // 6),
    "formulas": lambda n: f"<p>{_SENTENCE}" * 9 + "".join(f"<p>$$x^{{{i}}}$$" for i in range(n // 15)),
}
"""Pages that are hostile not to the parser, but to what comes after it."""
SHAPES: Final = {**PAGES, **BOMBS}


def ways(wire: Wire, html: str, number: int) -> Iterator[tuple[str, Callable[[], str]]]:
    """Yield the name of each way in, and a function that sends the page that way and returns the status."""
    url = f"https://bombs.example/{number}"
    page, item = {"url": url, "html": html}, ""

    def save() -> str:
        nonlocal item
        status = wire.post("/api/v1/saves", page)
        found = _get_json(wire, f"api/v1/items/lookup?url={url}")["item"]
        item = found["id"] if found else ""
        return status

    yield "extract", lambda: wire.post("/api/v1/extract", page)
    yield "explain", lambda: wire.post("/api/v1/explain", page)
    yield "selection", lambda: wire.post("/api/v1/extract", {"url": url, "html": "<p>A page.", "selection": html})
    yield "selector", lambda: wire.post("/r", {**page, "targetSelector": "body", "withIframe": True})
    yield "file", lambda: wire.upload("/add", "pages", f"{number}.html", html.encode())
    yield "save", save
    if item:
        yield "read", lambda: wire.send("GET", f"/items/{item}")
        yield "format", lambda: wire.send("GET", f"/api/v1/items/{item}?format=html")
        yield "explain item", lambda: wire.send("GET", f"/items/{item}/explain")
        yield "reparse", lambda: wire.post(f"/api/v1/items/{item}/reparse", {"force": True, "dry_run": True})
        yield "try rules", lambda: wire.post("/api/v1/rules/try", {"yaml": _RULE, "page": item})


def _get_json(wire: Wire, path: str) -> Any:
    with urlopen(Request(wire.address + path), timeout=60) as answer:
        return json.loads(answer.read())


def attack(shapes: list[str], size: int) -> list[str]:
    """Send every shape by every way; return what is wrong."""
    with tempfile.TemporaryDirectory() as folder, served(Path(folder) / "library.db", render="never") as server:
        wire, pid = Wire(server.address), server.process.pid
        wire.send("GET", "/nothing")  # builds the routes, which costs a server half a second once
        for _ in range(3):  # starts the workers
            wire.post("/api/v1/extract", {"html": f"<p>{_SENTENCE}" * 9})
        for _, send in ways(wire, f"<p>{_SENTENCE}" * 9, -1):  # what a way needs is loaded at its first use
            send()
        wait_until_loaded(pid)
        before, faults = memory(pid), list(_attack_with(shapes, size, wire, server))
        grown = memory(pid).main - before.main
    print(f"the server has {grown:+.0f} MB")
    return faults + ([f"memory: {grown:+.0f} MB"] if grown > MAX_GROWTH_MEGABYTES else [])


def _attack_with(shapes: list[str], size: int, wire: Wire, server: Served) -> Iterator[str]:
    sent, slowest = 0, (0.0, "")
    for number, shape in enumerate(shapes):
        for name, send in ways(wire, SHAPES[shape](size), number):
            before = times(server.process.pid)
            status = send()
            seconds = times(server.process.pid).since(before).server
            sent, slowest = sent + 1, max(slowest, (seconds, f"{shape}, {name}"))
            if not status.startswith(("2", "3", "4")):
                yield f"{shape}, {name}: {status}"
            if seconds > MAX_SERVER_SECONDS:
                yield f"{shape}, {name}: {seconds:.2f} s in the server's process"
    print(f"{len(shapes)} shapes, {sent} requests, at most {slowest[0]:.2f} s in the server ({slowest[1]})")


def main() -> int:
    """Attack with all shapes, or with this many."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else len(SHAPES)
    size = int(sys.argv[2]) if len(sys.argv) > 2 else SIZE
    faults = attack(list(islice(SHAPES, count)), size)
    print(f"{len(faults)} faults", *faults, sep="\n  ")
    return len(faults)


if __name__ == "__main__":
    sys.exit(main())
