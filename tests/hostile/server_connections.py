"""H6, P12: thousands of hostile connections beside 20 readers. Sign-in, list, read and save go on without an error.

    python -m tests.hostile.server_connections 2000 60      # connections, seconds

Each hostile client opens its connection again as soon as it was ended. None is signed in. They leave bodies unfinished, send a
byte per second, send slow heads, stay idle or silent, and send 30 MB of JSON or form data.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from typing import Final
from urllib.parse import urlencode, urlsplit

import psutil

from pagekeep.identity import accounts as app
from pagekeep.store import open_accounts
from tests.hostile.server import served

PASSWORD: Final = "nine stoves and a kettle"
READERS: Final = 20
LARGE: Final = 30_000_000
FORM: Final = "application/x-www-form-urlencoded"
BRACKETS: Final = memoryview(b"[" * LARGE)
FIELDS: Final = memoryview(b"a=b&" * (LARGE // 4))
KINDS: Final = (
    "unfinished sign-in",
    "unfinished 30 MB JSON",
    "unfinished 30 MB form",
    "slow head",
    "slow sign-in body",
    "slow JSON body",
    "idle keep-alive",
    "silent",
    "30 MB JSON",
    "30 MB form",
)


@dataclass
class Counts:
    """What happened; errors are of the readers."""

    answers: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    opened: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    """Statuses that hostile clients got."""
    open_at_once: int = 0
    """Hostile connections open at the same time, at most."""

    @property
    def faults(self) -> list[str]:
        """Hostile clients that were answered with a fault of the server."""
        return [kind for kind in self.refused if kind.rpartition(" ")[2].startswith("5")]


class Hostile:
    """A hostile client."""

    def __init__(self, host: str, port: int, kind: str, counts: Counts) -> None:
        self._host, self._port, self._kind, self._counts = host, port, kind, counts

    async def run(self, ending: threading.Event, alive: Counter[str]) -> None:
        while not ending.is_set():
            with suppress(OSError, TimeoutError):
                await self._connect(ending, alive)
            await asyncio.sleep(0.1)

    async def _connect(self, ending: threading.Event, alive: Counter[str]) -> None:
        reader, writer = await asyncio.open_connection(self._host, self._port)
        self._counts.opened[self._kind] += 1
        alive["open"] += 1
        self._counts.open_at_once = max(self._counts.open_at_once, alive["open"])
        answer = asyncio.create_task(reader.read(12))
        try:
            await self._send(writer, answer, ending)
            while not ending.is_set() and not reader.at_eof():
                await asyncio.sleep(0.2)
                if answer.done() and self._kind != "idle keep-alive":
                    break
        finally:
            alive["open"] -= 1
            writer.close()
            with suppress(OSError):
                status = (await answer if answer.done() else b"")[9:12].decode() or "closed"
                self._counts.refused[f"{self._kind}: {status}"] += 1
            answer.cancel()

    async def _send(self, writer: asyncio.StreamWriter, answer: asyncio.Task[bytes], ending: threading.Event) -> None:
        head, body, drip = self._request()
        writer.write(head)
        for start in range(0, len(body), 65_536):
            writer.write(body[start : start + 65_536])
            await writer.drain()
        while drip and not ending.is_set() and not answer.done():
            writer.write(drip)
            await writer.drain()
            await asyncio.sleep(1)

    def _request(self) -> tuple[bytes, bytes | memoryview, bytes]:
        """The head, the body as far as it is sent at once, and what is sent every second."""

        def head(path: str, kind: str, length: int) -> bytes:
            line = f"POST {path} HTTP/1.1\r\nHost: {self._host}:{self._port}\r\n"
            return (line + f"Content-Type: {kind}\r\nContent-Length: {length}\r\n\r\n").encode()

        get = f"GET /healthz HTTP/1.1\r\nHost: {self._host}:{self._port}\r\n".encode()
        return {
            "unfinished sign-in": (head("/sign-in", FORM, 5_000), b"name=ada&password=", b""),
            "unfinished 30 MB JSON": (head("/api/v1/saves", "application/json", LARGE), BRACKETS[:100_000], b""),
            "unfinished 30 MB form": (head("/add", FORM, LARGE), FIELDS[:100_000], b""),
            "slow head": (get, b"", b"x"),
            "slow sign-in body": (head("/sign-in", FORM, 5_000), b"", b"x"),
            "slow JSON body": (head("/api/v1/extract", "application/json", 50_000), b"", b" "),
            "idle keep-alive": (get + b"\r\n", b"", b""),
            "silent": (b"", b"", b""),
            "30 MB JSON": (head("/api/v1/extract", "application/json", LARGE), BRACKETS, b""),
            "30 MB form": (head("/sign-in", FORM, LARGE), FIELDS, b""),
        }[self._kind]


class Reader(threading.Thread):
    """A user who signs in once, then lists, reads and saves with one token, and signs in again now and then."""

    def __init__(self, host: str, port: int, number: int, token: str, counts: Counts, ending: threading.Event) -> None:
        super().__init__(daemon=True)
        self._host, self._port, self._number, self._counts, self._ending = host, port, number, counts, ending
        self._headers = {"Authorization": f"Bearer {token}"}

    def run(self) -> None:
        round_number = 0
        while not self._ending.is_set():
            for name, act in (("sign-in", self._sign_in), ("save", self._save), ("list", self._list)):
                if name != "sign-in" or round_number % 5 == 0:
                    self._count(name, partial(act, round_number))
            round_number += 1
            self._ending.wait(0.3)

    def _count(self, name: str, act: Callable[[], None]) -> None:
        began = time.perf_counter()
        try:
            act()
        except (OSError, AssertionError, ValueError, KeyError) as error:
            self._counts.errors.append(f"{name}: {type(error).__name__} {error}")
        else:
            self._counts.answers[name] += 1
            self._counts.seconds.append(time.perf_counter() - began)

    def _sign_in(self, _round: int) -> None:
        form = urlencode({"name": f"reader{self._number}", "password": PASSWORD})
        self._ask("POST", "/sign-in", form, {"Content-Type": FORM}, 303)

    def _save(self, number: int) -> None:
        page = f"<title>Page {number}</title><article><h1>Page {number}</h1>" + "<p>He counts the ships.</p>" * 200
        body = json.dumps({"url": f"https://example.com/{self._number}/{number % 3}", "html": page})
        headers = {**self._headers, "Content-Type": "application/json"}
        item = json.loads(self._ask("POST", "/api/v1/saves", body, headers, 200, 201))["item"]["id"]
        self._count("read", lambda: self._read(item))

    def _read(self, item: str) -> None:
        self._ask("GET", f"/api/v1/items/{item}", None, self._headers, 200)

    def _list(self, _round: int) -> None:
        self._ask("GET", "/api/v1/items?limit=5", None, self._headers, 200)

    def _ask(self, method: str, path: str, body: str | None, headers: dict[str, str], *expected: int) -> bytes:
        with closing(HTTPConnection(self._host, self._port, timeout=60)) as connection:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            text = answer.read()
            assert answer.status in expected, f"{answer.status} {text[:200]!r}"
            return text


def allow_files(count: int) -> None:
    """Let this process open that many files, if the system allows it: each connection takes one, and the usual limit is 1,024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < count:
        most = count if hard == resource.RLIM_INFINITY else min(count, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def attack(host: str, port: int, connections: int, counts: Counts, ending: threading.Event) -> threading.Thread:
    """Start the hostile clients, in a thread."""

    async def run() -> None:
        alive: Counter[str] = Counter()
        clients = [Hostile(host, port, KINDS[number % len(KINDS)], counts) for number in range(connections)]
        await asyncio.gather(*(client.run(ending, alive) for client in clients))

    thread = threading.Thread(target=lambda: asyncio.run(run()), daemon=True)
    thread.start()
    return thread


def run(folder: Path, connections: int, seconds: float, readers: int = READERS) -> tuple[Counts, int]:
    """What happened, and by how many bytes the server has grown."""
    library, counts, ending = folder / "library.db", Counts(), threading.Event()
    with closing(open_accounts(str(library))) as accounts:
        users = [app.add_user(accounts, f"reader{number}", PASSWORD) for number in range(readers)]
        tokens = [app.add_token(accounts, user.id, "reader").secret for user in users]
    with served(library, "--shared", render="never") as server:
        address = urlsplit(server.address)
        host, port = str(address.hostname), int(address.port or 0)
        process = psutil.Process(server.process.pid)
        attacking = attack(host, port, connections, counts, ending)
        time.sleep(1)
        before = process.memory_info().rss
        threads = [Reader(host, port, number, token, counts, ending) for number, token in enumerate(tokens)]
        for thread in threads:
            thread.start()
        time.sleep(seconds)
        ending.set()
        for thread in [*threads, attacking]:
            thread.join(90)
        return counts, process.memory_info().rss - before


def report(counts: Counts, connections: int, grown: int) -> str:
    """The counts in words."""
    times = sorted(counts.seconds) or [0.0]
    return "\n  ".join(
        [
            f"{connections} hostile connections, {sum(counts.opened.values())} opened, {counts.open_at_once} at once",
            f"refused: {dict(sorted(counts.refused.items()))}",
            f"readers: {dict(counts.answers)}, {len(counts.errors)} errors {counts.errors[:5]}",
            f"median {1000 * times[len(times) // 2]:.0f} ms, p95 {1000 * times[len(times) * 95 // 100]:.0f} ms",
            f"memory of the server: {grown / 1e6:+.0f} MB",
        ]
    )


def main() -> None:
    allow_files(8_192)
    connections = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 60
    with tempfile.TemporaryDirectory() as folder:
        counts, grown = run(Path(folder), connections, seconds)
    print(report(counts, connections, grown))
    assert not counts.errors
    assert not counts.faults
    assert min(counts.answers[name] for name in ("sign-in", "list", "read", "save")) > 0


if __name__ == "__main__":
    main()
