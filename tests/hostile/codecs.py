"""Pages that name every codec of Python, and labels that are not names at all: only encodings of the web are used (H4).

    python -m tests.hostile.codecs [ODD]      # every codec's names and this many odd labels (200)

Each label is declared in the HTTP header of a fetched page, in a `<meta>` of an uploaded one, and for MCP's `fetch` with `raw`. The
page has text that other codecs would change or choke on: with a label that is not in the Encoding Standard it must come out as it
is, quickly, and every response must be a result or one of our errors.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, unquote

from pagekeep.identity import accounts
from pagekeep.store import LOCAL_USER, open_accounts
from tests.hostile.attack.machine import memory, times
from tests.hostile.server import Served, served
from tests.hostile.web_encodings import LABELS, is_web_label, odd_labels, python_names
from tests.site.server import Reply, Request, Site

SENTINEL: Final = "caf\u00e9 \\u0041 \\x41 +AGE- =41 QUJD xn--mnchen-3ya"
PAGE_CHARS: Final = 120_000
"""Python's `punycode` takes about a second for this, and four times that for twice as much."""
MAX_CPU_SECONDS: Final = 2.0
"""For one page, in the server and its workers; an ordinary one of this length takes a tenth of a second."""
MAX_GROWTH_MEGABYTES: Final = 100.0

_TEXT: Final = f"<p>{SENTINEL} {'The keeper counts the ships. ' * 12}</p>" * 3
_FILL: Final = "<p>" + "aaaa " * (PAGE_CHARS // 5) + "-99999</p>"


def page(label: str = "") -> bytes:
    """Return the page, which may declare its encoding itself."""
    declared = f'<meta charset="{label}">' if label else ""
    return f"<!doctype html>{declared}<title>Codecs</title><article>{_TEXT}{_FILL}</article>".encode()


async def _declaring(request: Request, reply: Reply) -> None:
    label = unquote(request.target.rpartition("/")[2])
    await reply.send(page(), content_type=f"text/html; charset={label}")


class Client:
    """Asks a server with a token."""

    def __init__(self, server: Served, token: str, site: Site) -> None:
        self._address = server.address.rstrip("/")
        self._headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Authorization": f"Bearer {token}",
        }
        self._site = site

    def fetch(self, label: str) -> str:
        """Let the server fetch a page whose HTTP header has the label."""
        return self._ask("/api/v1/extract", {"url": self._site.url(f"/declaring/{quote(label, safe='')}")})

    def upload(self, label: str) -> str:
        """Upload a page that declares the label itself."""
        form = b"--b\r\nContent-Disposition: form-data; name=pages; filename=a.html\r\n\r\n%s\r\n--b--\r\n" % page(
            label
        )
        saved = json.loads(self._ask("/add", form, "multipart/form-data; boundary=b"))
        return self._ask(f"/api/v1/items/{saved['items'][0]['id']}") if saved.get("items") else ""

    def raw(self, label: str) -> str:
        """Let an assistant read the page's source."""
        url = self._site.url(f"/declaring/{quote(label, safe='')}")
        arguments = {"url": url, "raw": True}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "fetch", "arguments": arguments}}
        return self._ask("/mcp/", call)

    def _ask(self, path: str, body: Any = None, content_type: str = "application/json") -> str:
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        headers = {**self._headers, "Content-Type": content_type, "X-Part": "1"}
        request = urllib.request.Request(self._address + path, data, headers)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return str(answer.read().decode())
        except urllib.error.HTTPError as error:
            if error.code >= 500:
                raise
            return str(error.read().decode())


WAYS: Final[dict[str, Callable[[Client, str], str]]] = {
    "fetch": Client.fetch,
    "upload": Client.upload,
    "raw": Client.raw,
}


def check(client: Client, way: str, label: str) -> str:
    """Return what is wrong with the response to a page that names this label; empty if nothing is."""
    try:
        answer = WAYS[way](client, label)
    except (OSError, ValueError) as error:
        return f"{type(error).__name__} {error}"
    text = answer.replace("\\\\", "\\")  # Markdown and MCP's JSON in JSON escape backslashes again
    if not is_web_label(label) and SENTINEL.replace("\\\\", "\\") not in text:
        return f"other text: {answer[:300]!r}"
    return ""


def run(labels: Sequence[str]) -> list[str]:
    """Try all labels in all ways; return what is wrong."""
    faults, slowest = [], ("", "", 0.0)
    with tempfile.TemporaryDirectory() as folder, Site({"declaring": _declaring}) as site:
        library = Path(folder) / "library.db"
        with closing(open_accounts(str(library))) as known:
            token = accounts.add_token(known, LOCAL_USER, "codecs", ("read", "write")).secret
        settings = {"allow_hosts": "127.0.0.1", "per_host_delay": "0", "render": "never", "rules": f"{folder}/rules"}
        with served(library, "--log-level", "error", token_requests="0", **settings) as server:
            client, pid = Client(server, token, site), server.process.pid
            for way in WAYS:
                faults += [f"{way}: {fault}" for fault in (check(client, way, "utf-8"),) if fault]
            before = memory(pid)
            for label in labels:
                for way in WAYS:
                    began = times(pid)
                    fault = check(client, way, label)
                    seconds = times(pid).since(began).tree
                    slowest = max(slowest, (way, label, seconds), key=lambda one: one[2])
                    faults += [f"{way} {label[:60]!r}: {fault}"] if fault else []
            grown = memory(pid).tree - before.tree
    print(f"slowest: {slowest[0]} {slowest[1][:60]!r}, {slowest[2]:.2f} s of processor time; {grown:+.0f} MB")
    faults += [f"{slowest} is slow"] if slowest[2] > MAX_CPU_SECONDS else []
    return faults + ([f"{grown:+.0f} MB"] if grown > MAX_GROWTH_MEGABYTES else [])


def main() -> int:
    """Return the number of faults."""
    odd = odd_labels(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
    labels = [*python_names(), *odd, *sorted(LABELS)]
    began = time.monotonic()
    faults = run(labels)
    print(
        f"{len(labels)} labels in {len(WAYS)} ways, {len(faults)} faults, {time.monotonic() - began:.0f} s",
        *faults,
        sep="\n  ",
    )
    return len(faults)


if __name__ == "__main__":
    sys.exit(main())
