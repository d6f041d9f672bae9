"""The attacks: the table of ways in that once took the server's own process, each as one request to repeat."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Final

from tests.hostile.attack.place import Place
from tests.hostile.attack.wire import Wire
from tests.hostile.parser_bombs import SHAPES
from tests.site.server import Handler, Reply, Request

BODY_BYTES: Final = 30_000_000
BOMB_BYTES: Final = 200_000
LARGE_BOMB_BYTES: Final = 1_900_000
DRIP_SECONDS: Final = 0.5
RULE: Final = "- id: draft\n  trigger: {host: {equals: lists.example}}\n  remove: ['li:nth-child(odd)']\n"


@dataclass(frozen=True)
class Target:
    """What an attacker knows."""

    server: str
    site: str
    place: Place

    @property
    def anonymous(self) -> Wire:
        """Without a token."""
        return Wire(self.server)

    @property
    def reader(self) -> Wire:
        """With a token that may only read."""
        return Wire(self.server, self.place.read_token)

    @property
    def writer(self) -> Wire:
        """With a token that may write."""
        return Wire(self.server, self.place.write_token)

    def item(self, kind: str, number: int) -> str:
        """Return the ID of a hostile item of the attacker."""
        keys = self.place.items[kind]
        return keys[number % len(keys)]


Send = Callable[[Target, int], str]


@cache
def bomb(number: int) -> str:
    """Return a parser bomb, of all shapes in turn: small ones, and every fourth a large one."""
    size = LARGE_BOMB_BYTES if number % 4 == 3 else BOMB_BYTES
    return list(SHAPES.values())[number % len(SHAPES)](size)


def _selection(target: Target, number: int) -> str:
    body = {"url": "https://bombs.example/", "html": "<p>x</p>", "selection": bomb(number % 48)}
    return target.reader.post("/api/v1/extract", body)


def _frames(target: Target, number: int) -> str:
    path = f"/r/{target.site}/bomb/{number % 48}"
    return target.reader.send("GET", path, x_with_iframe="true", accept="text/plain")


def _file(target: Target, number: int) -> str:
    return target.writer.upload("/add", "pages", f"{number % 48}.html", bomb(number % 48).encode())


def _punycode(target: Target, number: int) -> str:
    return target.reader.call_tool("fetch", url=f"{target.site}/punycode/{number % 5}", raw=True)


def _rules_try(target: Target, number: int) -> str:
    return target.reader.post("/api/v1/rules/try", {"yaml": RULE, "page": target.item("lists", number)})


def _reparse(target: Target, number: int) -> str:
    path = f"/api/v1/items/{target.item('lists', number)}/reparse"
    return target.writer.post(path, {"dry_run": True, "force": True})


def _unfinished(target: Target, number: int) -> str:
    """Begin a large body and send little of it, until the server closes the connection."""
    wire = target.anonymous
    with suppress(OSError), wire.connect() as line:
        line.sendall(wire.head("POST", "/api/v1/saves", BODY_BYTES, content_type="application/json") + b"[" * 60_000)
        line.settimeout(DRIP_SECONDS)
        until = time.monotonic() + 20
        while time.monotonic() < until:
            with suppress(TimeoutError):
                return (line.recv(4096).split(b" ", 2) + [b"closed"] * 2)[1].decode("latin-1")
            line.sendall(b"[")
    return "closed"


@cache
def _large_json() -> bytes:
    return b'{"url": "https://a.example/", "tags": [' + b'"a",' * ((BODY_BYTES - 60) // 4) + b'""]}'


@cache
def _large_form() -> bytes:
    return (b"a=%41&" * (BODY_BYTES // 6 + 1))[:BODY_BYTES]


def _json_body(target: Target, number: int) -> str:
    path = ("/api/v1/saves", "/r", "/mcp/", "/v2/scrape")[number % 4]
    return target.anonymous.send("POST", path, _large_json(), content_type="application/json")


def _form_body(target: Target, number: int) -> str:
    path = ("/sign-in", "/add", "/r", "/import")[number % 4]
    return target.anonymous.send("POST", path, _large_form(), content_type="application/x-www-form-urlencoded")


def _signed_in_body(target: Target, number: int) -> str:
    """The same with a read-only token, beyond the table: such a body is read, but must not be parsed at others' cost."""
    path = ("/api/v1/extract", "/r", "/mcp/", "/v2/scrape", "/api/v1/rules/try")[number % 5]
    if path == "/r" and number % 2:
        return target.reader.send("POST", path, _large_form(), content_type="application/x-www-form-urlencoded")
    return target.reader.send("POST", path, _large_json(), content_type="application/json")


@cache
def _archives() -> tuple[tuple[str, bytes], ...]:
    """A WARC with one page of 50 MB, and an export of another program whose pages are bombs."""
    page = gzip.compress(b"<p>words </p>" * 4_000_000)
    http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n" + page
    head = (
        f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: https://a.example/\r\nContent-Length: {len(http)}\r\n\r\n"
    )
    entries = [{"url": f"https://a.example/{n}", "is_archived": 0, "content": bomb(n)} for n in range(6)]
    return ("page.warc", head.encode() + http + b"\r\n\r\n"), ("wallabag.json", json.dumps(entries).encode())


def _archive(target: Target, number: int) -> str:
    name, body = _archives()[number % 2]
    return target.writer.upload("/import", "file", name, body, fetch="bookmark")


def _outline(target: Target, number: int) -> str:
    key = target.item("headings", number)
    if number % 2:
        return target.reader.call_tool("get_metadata", key=key)
    return target.reader.call_tool("read", key=key, outline=True)


def _code(target: Target, number: int) -> str:
    return target.reader.send("GET", f"/items/{target.item('code', number)}")


def _extract(html: Callable[[], str]) -> Send:
    made = cache(html)
    return lambda target, _: target.reader.post("/api/v1/extract", {"url": "https://a.example/", "html": made()})


def _sign_ins(target: Target, number: int) -> str:
    """Send large bombs as one user with three kinds of sign-in by turns (P2)."""
    page = {"url": "https://bombs.example/", "html": bomb(4 * number % 48 + 3)}
    if number % 3 == 2:
        path = f"/r/{target.site}/bomb/{4 * number % 48 + 3}"
        return target.anonymous.send(
            "GET", path, cookie=f"pagekeep_session={target.place.session}", accept="text/plain"
        )
    return (target.writer if number % 3 else target.reader).post("/api/v1/extract", page)


def _stream(target: Target, number: int) -> str:
    """Follow a job that waits, for some seconds (P3)."""
    wire = target.reader
    with suppress(OSError), wire.connect() as line:
        line.sendall(wire.head("GET", f"/api/v1/jobs/{target.place.job}/events", 0))
        line.settimeout(5)
        answer = (line.recv(4096).split(b" ", 2) + [b"closed"] * 2)[1].decode("latin-1")
        with suppress(TimeoutError):
            while line.recv(4096):
                pass
        return answer
    return "closed"


@dataclass(frozen=True)
class Row:
    """One row of the table."""

    name: str
    send: Send
    connections: int | None = None
    """Connections at a time; `None` uses the script's argument."""


ROWS: Final = (
    Row("selection", _selection),
    Row("frames", _frames),
    Row("file", _file),
    Row("punycode", _punycode),
    Row("rules-try", _rules_try),
    Row("reparse", _reparse),
    Row("unfinished", _unfinished, 11),
    Row("json-body", _json_body),
    Row("form-body", _form_body),
    Row("signed-in-body", _signed_in_body),
    Row("archive", _archive),
    Row("outline", _outline),
    Row("code", _code),
    Row("formulas", _extract(lambda: "<p>" + "\\(a " * 475_000)),
    Row("sign-ins", _sign_ins, 8),
    Row("streams", _stream, 100),
    Row(
        "clean-html",
        _extract(lambda: f"{'<p>The keeper counts the ships in a book.</p>' * 20}<pre>{'&' * 9_800_000}</pre>"),
    ),
    Row("font", _extract(lambda: "".join(islice((f"<font size={n}><p>" for n in range(20_000)), 11_000)))),
)


async def _bomb_page(request: Request, reply: Reply) -> None:
    number = int(request.path.rpartition("/")[2])
    await reply.send(f"<iframe srcdoc='x'></iframe>{bomb(number)}")


async def _punycode_page(request: Request, reply: Reply) -> None:
    kind = ("punycode", "idna", "uu_codec", "no-such-codec", "unicode_escape")[int(request.path.rpartition("/")[2])]
    page = "<title>x</title><p>" + "aaaa" * 125_000 + "-" + "99999" * 10
    await reply.send(page, content_type=f"text/html; charset={kind}")


PAGES: Final[dict[str, Handler]] = {"bomb": _bomb_page, "punycode": _punycode_page}
"""The attacker's own site."""
