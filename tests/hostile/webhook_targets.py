"""The receiver of a webhook as the attacker: it redirects, answers without end, slowly or wrongly, and repeats secrets.

`python -m tests.hostile.webhook_targets [--full]`. By every way something is posted to an address of a user: a sink, the
webhook of a crawl, Readwise, the test of a sink, the webhook of watched pages. One request reaches the receiver, none
another host, a canary at private addresses sees no connection, and no secret is in what is stored or shown.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import sys
import zlib
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from pagekeep import PagekeepError, clock
from pagekeep.capture.from_url import Retrieval
from pagekeep.config import Settings
from pagekeep.library.open import open_library
from pagekeep.library.sinks.manage import check_sink, event_sink, list_deliveries, list_sinks, remove_sink
from pagekeep.library.sinks.outbox import Pace
from pagekeep.library.sinks.runner import open_clients
from pagekeep.library.webhooks import new_secret
from tests.library.sinks.conftest import Bench
from tests.site.address_forms import ALL
from tests.site.server import Canary, Reply, Request, Site

SECONDS = 0.8
"""Of one request; answers without end are ended by it."""
PATIENCE = 60.0
MAX_GROWTH_MB = 80
PACE = Pace(lease_seconds=60.0, first_pause=1_000.0, request_seconds=SECONDS, max_wait=1_000.0)
HEADER_SECRET, TOKEN = "header-secret-4711", "readwise-token-4711"
SIGNING = new_secret()
STATUSES = (301, 302, 303, 307, 308)
Handler = Callable[[Request, Reply], Awaitable[None]]


async def _redirect(status: int, location: str, request: Request, reply: Reply) -> None:
    await reply.send("", status, location=location)


async def _raw(parts: tuple[bytes, ...], request: Request, reply: Reply) -> None:
    for part in parts:
        await reply.raw(part)


async def _for_ever(first: bytes, part: bytes, pause: float, request: Request, reply: Reply) -> None:
    await reply.raw(first)
    while True:
        await reply.raw(part)
        await asyncio.sleep(pause)


async def _status(status: int, headers: dict[str, str], body: bytes, request: Request, reply: Reply) -> None:
    await reply.send(body, status, **headers)


async def _echo(status: int, before: str, request: Request, reply: Reply) -> None:
    headers = "".join(f"{name}: {value} " for name, value in reversed(request.headers.items()))
    await reply.send(before + headers * 3, status)


async def _silence(request: Request, reply: Reply) -> None:
    await asyncio.sleep(3600)


async def _reset(request: Request, reply: Reply) -> None:
    reply.reset()


async def _compressed(megabytes: int, layers: int, request: Request, reply: Reply) -> None:
    await reply.send(_pack(megabytes, layers), content_encoding="gzip")


BOMBS = ((200, 2), (100, 1))
"""Megabytes, and how often they are packed; before the attack, because the receiver answers nothing else meanwhile."""


@cache
def _pack(megabytes: int, layers: int) -> bytes:
    packer = zlib.compressobj(9, wbits=31)  # a part at a time: the memory of this process is measured
    data = b"".join(packer.compress(bytes(1_000_000)) for _ in range(megabytes)) + packer.flush()
    for _ in range(layers - 1):
        data = gzip.compress(data, 9)
    return data


_OK = b"HTTP/1.1 200 OK\r\n"
BEHAVIOURS: dict[str, Handler] = {
    "endless body": partial(_for_ever, _OK + b"\r\n", b"x" * 65_536, 0),
    "endless chunks": partial(
        _for_ever, _OK + b"Transfer-Encoding: chunked\r\n\r\n", b"ffff\r\n" + b"x" * 65_535 + b"\r\n", 0
    ),
    "chunk of 16 exabytes": partial(
        _for_ever, _OK + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", b"x" * 65_536, 0
    ),
    "endless headers": partial(_for_ever, _OK, b"X-More: " + b"y" * 1_000 + b"\r\n", 0),
    "endless header": partial(_for_ever, _OK + b"X-More: ", b"y" * 65_536, 0),
    "endless status": partial(_for_ever, b"HTTP/1.1 200 ", b"y" * 65_536, 0),
    "endless hints": partial(_for_ever, b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 100, 0),
    "endless continue": partial(_for_ever, b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100, 0),
    "drip of the body": partial(_for_ever, _OK + b"Content-Length: 1000000\r\n\r\n", b"x", 0.01),
    "drip of the head": partial(_for_ever, b"HTTP/1.1 200 OK\r\nX: ", b"x", 0.01),
    "silence": _silence,
    "reset": _reset,
    "nothing": partial(_raw, ()),
    "another protocol": partial(_raw, (b"SSH-2.0-OpenSSH_9\r\n",)),
    "binary": partial(_raw, (bytes(range(256)) * 100,)),
    "negative length": partial(_raw, (_OK + b"Content-Length: -1\r\n\r\nabc",)),
    "two lengths": partial(_raw, (_OK + b"Content-Length: 3\r\nContent-Length: 30000000\r\n\r\nabc",)),
    "length of an exabyte": partial(_raw, (_OK + b"Content-Length: 1000000000000000000\r\n\r\nabc",)),
    "no such status": partial(_raw, (b"HTTP/1.1 999 X\r\nContent-Length: 0\r\n\r\n",)),
    "switch of protocols": partial(_raw, (b"HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\n\r\n",)),
    "200 MB compressed twice": partial(_compressed, *BOMBS[0]),
    "100 MB compressed": partial(_compressed, *BOMBS[1]),
    "many lists": partial(_status, 200, {}, b"[" + b"[]," * 600_000 + b"[]]"),
    "deep lists": partial(_status, 200, {}, b"[" * 1_000_000),
    "a number of a million digits": partial(_status, 200, {}, b"9" * 1_000_000),
    "later, for ever": partial(_status, 429, {"retry_after": "9" * 400}, b""),
    "later, never": partial(_status, 429, {"retry_after": "-5"}, b""),
    "later, not a number": partial(_status, 503, {"retry_after": "nan"}, b""),
    "later, in the year 9999": partial(_status, 429, {"retry_after": "Fri, 31 Dec 9999 23:59:59 GMT"}, b""),
    "asks for a password": partial(_status, 401, {"www_authenticate": 'Basic realm="x"'}, b""),
    "asks for a proxy's password": partial(_status, 407, {"proxy_authenticate": "Basic"}, b""),
    "repeats what was sent": partial(_echo, 400, ""),
    "repeats what was sent, later": partial(_echo, 422, " " * 700),
    "repeats what was sent, much later": partial(_echo, 500, "\n" * 100_000),
    "sets cookies": partial(_status, 500, {"set_cookie": "a=b; Domain=127.0.0.1"}, b""),
    "reloads": partial(_status, 500, {"refresh": "0; url=http://127.0.0.1/"}, b"<meta http-equiv=refresh content=0>"),
}
"""What the receiver does, by what it is."""


@dataclass
class Field:
    """A library, a receiver, another host that may be reached but must not be, and a canary that must not."""

    bench: Bench
    receiver: Site
    other: Site
    canary: Canary
    behaviour: Handler = _silence
    attacks: int = 0
    faults: list[str] = field(default_factory=list)

    async def answer(self, request: Request, reply: Reply) -> None:
        """Do what the attack of the moment does."""
        await self.behaviour(request, reply)

    def attack(self, way: str, name: str, behaviour: Handler) -> None:
        """Send something by one way, and note what is wrong."""
        self.attacks += 1
        self.behaviour = behaviour
        self.receiver.requests.clear()
        before, begun = _memory(reset=True), monotonic()
        said = ""
        try:
            said = WAYS[way](self)
        except PagekeepError as error:
            said = str(error.to_json())
        except Exception as error:
            self._note(way, name, f"{type(error).__name__}: {error}")
        store = self.bench.store
        kept = [str(one.delivery.error) for one in list_deliveries(store)]
        kept += [str(one.sink.error) for one in list_sinks(store)]
        if len(self.receiver.requests) > 1:
            self._note(way, name, f"{len(self.receiver.requests)} requests")
        if not self.receiver.requests:
            self._note(way, name, "no request: this shows nothing")
        if self.other.requests or self.other.connections:
            self._note(way, name, "another host got a request")
        if self.canary.connections:
            self._note(way, name, "a private address was reached")
        if any(secret in text for text in (said, *kept) for secret in (HEADER_SECRET, TOKEN, SIGNING)):
            self._note(way, name, "a secret is in the error")
        if any("Unexpected" in text or "while sending" in text for text in (said, *kept)):
            self._note(way, name, f"a fault of ours: {said} {kept}")
        if (grown := _memory() - before) > MAX_GROWTH_MB:
            self._note(way, name, f"{grown} MB more")
        if (took := monotonic() - begun) > PATIENCE:
            self._note(way, name, f"{took:.0f} s")
        for view in list_sinks(store):
            remove_sink(store, view.sink.id)

    def _note(self, way: str, name: str, text: str) -> None:
        self.faults.append(f"{name} by {way}: {text}")

    def deliver(self) -> str:
        """Deliver what waits, once."""
        self.bench.deliver(PACE)
        return ""

    @property
    def address(self) -> str:
        """The receiver's."""
        return self.receiver.url("/hook")


def _by_sink(place: Field) -> str:
    place.bench.add("webhook", place.address, SIGNING)
    place.bench.save(place.attacks)
    return place.deliver()


def _by_readwise(place: Field) -> str:
    place.bench.add("readwise", place.address, TOKEN)
    place.bench.save(place.attacks)
    return place.deliver()


def _by_crawl(place: Field) -> str:
    bench, headers = place.bench, {"X-Key": HEADER_SECRET, "Authorization": f"Bearer {HEADER_SECRET}"}
    sink = event_sink(bench.store, "firecrawl", "crawl", place.address, bench.settings, json.dumps(headers))
    bench.store.outbox.post_event(sink.id, "started", {"type": "started", "crawl": sink.id, "run": 1}, clock.now())
    return place.deliver()


def _by_test(place: Field) -> str:
    sink = place.bench.add("webhook", place.address, SIGNING)

    async def check() -> str:
        async with Retrieval(place.bench.settings) as retrieval, open_clients(retrieval, SECONDS) as clients:
            return await check_sink(place.bench.store, sink.id, clients)

    return asyncio.run(check())


def _by_change(place: Field) -> str:
    async def post() -> str:
        headers = {"webhook-id": "1", "webhook-signature": "v1," + HEADER_SECRET}
        async with Retrieval(place.bench.settings) as retrieval:
            await retrieval.client.post_json(place.address, b"{}", headers=headers, deadline=SECONDS)
        return ""

    return asyncio.run(post())


WAYS: dict[str, Callable[[Field], str]] = {
    "a sink": _by_sink,
    "the webhook of a crawl": _by_crawl,
    "Readwise": _by_readwise,
    "the test of a sink": _by_test,
    "the webhook of watched pages": _by_change,
}


def _memory(*, reset: bool = False) -> int:
    """Return the peak of this process's memory in megabytes since the last reset."""
    if reset:
        Path("/proc/self/clear_refs").write_text("5")
    found = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
    return int(found[1]) // 1024 if found else 0


@contextmanager
def _field() -> Iterator[Field]:
    made: list[Field] = []

    async def answer(request: Request, reply: Reply) -> None:
        await made[0].answer(request, reply)

    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory())
        settings = Settings(
            library=str(Path(folder) / "library.db"),
            allow_hosts=("127.0.0.1", "127.0.0.2"),
            retries=0,
            per_host_delay=0,
        )
        store = open_library(settings)
        stack.callback(store.close)
        receiver = stack.enter_context(Site({"hook": answer}))
        other = stack.enter_context(Site({"hook": answer}, host="127.0.0.2"))
        made.append(Field(Bench(settings, store), receiver, other, stack.enter_context(Canary())))
        yield made[0]


def locations(place: Field) -> dict[str, str]:
    """Where a receiver redirects to: a host that may be reached, private addresses, other schemes, itself."""
    others = {
        "another host": place.other.url("/hook"),
        "another host, by its name": f"http://user:pass@127.0.0.2:{place.other.port}/hook",
        "another host, without a scheme": f"//127.0.0.2:{place.other.port}/hook",
        "another port": f"http://127.0.0.1:{place.canary.port}/hook",
        "itself": place.address,
        "its path": "/hook",
        "its query": "?again",
        "nothing": "",
        "TLS": place.address.replace("http:", "https:"),
        "a file": "file:///etc/passwd",
        "FTP": f"ftp://127.0.0.1:{place.canary.port}/",
        "a script": "javascript:alert(1)",
        "data": "data:text/plain,x",
        "gopher": f"gopher://127.0.0.1:{place.canary.port}/_x",
        "half an address": "http://[::1",
        "the metadata of a cloud": "http://169.254.169.254/latest/meta-data/",
    }
    return others | {name: form.format(port=place.canary.port) for name, form in ALL.items()}


def run(*, full: bool) -> tuple[int, list[str]]:
    """Attack by every way; return how many attacks there were, and what went wrong."""
    for bomb in BOMBS:
        _pack(*bomb)
    with _field() as place:
        targets = locations(place)
        for number, way in enumerate(WAYS):
            for index, (name, target) in enumerate(targets.items()):
                if not full and (index + number) % 12:
                    continue
                target = target.encode("ascii", "backslashreplace").decode()
                for status in STATUSES if full else (STATUSES[(number + index) % 5],):
                    place.attack(way, f"{status} to {name}", partial(_redirect, status, target))
            for index, (name, behaviour) in enumerate(BEHAVIOURS.items()):
                if full or (index + number) % 5 == 0:
                    place.attack(way, name, behaviour)
        return place.attacks, place.faults


if __name__ == "__main__":
    made, found = run(full="--full" in sys.argv)
    print(f"webhook targets: {made} attacks, {len(found)} faults", *found, sep="\n  ")
    sys.exit(bool(found))
