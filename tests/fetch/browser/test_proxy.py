"""The filtering proxy, over real sockets."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from pagekeep.errors import BlockedAddress, FetchNetworkError, InvalidUrl, PagekeepError
from pagekeep.fetch.browser import proxy as proxies
from pagekeep.fetch.browser.proxy import Proxy, ProxySession
from pagekeep.fetch.guard import Guard
from tests.site.server import Canary, Reply, Request, Site

Talk = Callable[[Proxy, ProxySession], Awaitable[Any]]


async def echo(request: Request, reply: Reply) -> None:
    lines = [f"{name}={value}" for name, value in request.headers.items()]
    await reply.send("\n".join([request.target, *lines]))


async def early(request: Request, reply: Reply) -> None:
    await reply.raw(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
    await reply.send("after the hints")


async def bare_lines(request: Request, reply: Reply) -> None:
    await reply.raw(b"HTTP/1.0 200 OK\nContent-Type: text/plain\n\nlines that end in LF")


async def flood(request: Request, reply: Reply) -> None:
    await reply.head(200, ["Content-Type: text/plain", "Connection: close"])
    for _ in range(10_000):
        await reply.raw(b"x" * 10_000)


async def endless(request: Request, reply: Reply) -> None:
    await reply.head(200, ["Connection: close"])
    await asyncio.sleep(60)


HANDLERS = {"echo": echo, "early": early, "bare": bare_lines, "flood": flood, "endless": endless}


def through(talk: Talk, allow: tuple[str, ...] = ("127.0.0.1",)) -> Any:
    """What a talk with a running proxy gives."""

    async def main() -> Any:
        proxy = Proxy(Guard(allow))
        await proxy.start()
        try:
            return await asyncio.wait_for(talk(proxy, proxy.open_session()), 10)
        finally:
            await proxy.close()

    return asyncio.run(main())


async def connect(proxy: Proxy) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", int(proxy.address.rpartition(":")[2]))


async def say(proxy: Proxy, start: str, *headers: str) -> bytes:
    """All that is answered to one request. The site keeps its connections open, so an answer ends where it says."""
    reader, writer = await connect(proxy)
    writer.write("\r\n".join([start, *headers, "", ""]).encode())
    reported = b""
    try:
        while line := await reader.readline():
            reported += line
            length = re.search(rb"content-length: (\d+)\r\n\r\n$", reported.replace(b"Connection: close\r\n", b""))
            if length:
                return reported + await reader.readexactly(int(length[1]))
        return reported
    finally:
        writer.close()


def shown(session: ProxySession) -> str:
    return f"Proxy-Authorization: {session.header.decode()}"


@pytest.fixture(scope="module")
def site() -> Any:
    with Site(HANDLERS) as running:
        yield running


def test_a_plain_request_is_forwarded_without_what_is_ours(site: Site) -> None:
    async def talk(proxy: Proxy, session: ProxySession) -> bytes:
        start = f"GET {site.url('/echo?a=%20b')} HTTP/1.1"
        return await say(proxy, start, "Host: h", "X-Page: kept", "Proxy-Connection: keep-alive", shown(session))

    head, _, body = through(talk).partition(b"\r\n\r\n")
    assert body.startswith(b"/echo?a=%20b\n")
    assert b"x-page=kept" in body
    assert b"proxy-" not in body.lower()
    assert b"connection: close" in head.lower()


def test_a_tunnel_carries_both_ways(site: Site) -> None:
    async def talk(proxy: Proxy, session: ProxySession) -> tuple[bytes, bytes]:
        reader, writer = await connect(proxy)
        writer.write(f"CONNECT {site.host}:{site.port} HTTP/1.1\r\n{shown(session)}\r\n\r\n".encode())
        opened = await reader.readuntil(b"\r\n\r\n")
        writer.write(b"GET /echo HTTP/1.1\r\nHost: h\r\nX-Inside: yes\r\n\r\n")
        answer = await reader.readuntil(b"x-inside=yes")
        writer.close()
        return opened, answer

    opened, answer = through(talk)
    assert opened.startswith(b"HTTP/1.1 200 ")
    assert answer.startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("start", ["GET {url} HTTP/1.1", "CONNECT 127.0.0.1:{port} HTTP/1.1"])
@pytest.mark.parametrize("credential", [None, "Basic Zm9vOmJhcg==", "Bearer x", "", "Basic"])
def test_without_a_pass_nothing_is_forwarded(start: str, credential: str | None) -> None:
    async def talk(proxy: Proxy, session: ProxySession) -> bytes:
        headers = [] if credential is None else [f"Proxy-Authorization: {credential}"]
        return await say(proxy, start.format(url=f"http://127.0.0.1:{canary.port}/", port=canary.port), *headers)

    with Canary() as canary:
        assert through(talk).startswith(b"HTTP/1.1 407 ")
        assert canary.connections == 0


def test_a_revoked_pass_is_worth_nothing_and_its_connections_end(site: Site) -> None:
    async def talk(proxy: Proxy, session: ProxySession) -> tuple[bytes, bytes]:
        waiting = asyncio.ensure_future(say(proxy, f"GET {site.url('/endless')} HTTP/1.1", shown(session)))
        while not session.tasks:
            await asyncio.sleep(0.01)
        await proxy.close_session(session)
        ended = await asyncio.gather(waiting, return_exceptions=True)
        return repr(ended[0]).encode(), await say(proxy, f"GET {site.url('/echo')} HTTP/1.1", shown(session))

    ended, refused = through(talk)
    assert b"echo" not in ended
    assert refused.startswith(b"HTTP/1.1 407 ")


@pytest.mark.parametrize(
    ("start", "kind"),
    [
        ("GET http://127.0.0.2:{port}/ HTTP/1.1", BlockedAddress),
        ("CONNECT 127.0.0.2:{port} HTTP/1.1", BlockedAddress),
        ("CONNECT [::1]:{port} HTTP/1.1", BlockedAddress),
        ("CONNECT [::ffff:127.0.0.2]:{port} HTTP/1.1", BlockedAddress),
        ("CONNECT localhost:{port} HTTP/1.1", BlockedAddress),
        ("CONNECT 2130706434:{port} HTTP/1.1", BlockedAddress),
        ("CONNECT 127.0.0.1:22 HTTP/1.1", BlockedAddress),
        ("CONNECT 127.0.0.1:25 HTTP/1.1", BlockedAddress),
        ("GET http://127.0.0.1:25/ HTTP/1.1", BlockedAddress),
        ("GET http://127.0.0.1:{proxy}/ HTTP/1.1", BlockedAddress),
        ("CONNECT 127.0.0.1:{proxy} HTTP/1.1", BlockedAddress),
        ("GET http://a@127.0.0.2:{port}/ HTTP/1.1", InvalidUrl),
        ("GET ftp://127.0.0.1:{port}/ HTTP/1.1", InvalidUrl),
        ("GET file:///etc/passwd HTTP/1.1", InvalidUrl),
        ("GET / HTTP/1.1", InvalidUrl),
        ("GET", InvalidUrl),
        ("CONNECT no-such-host.invalid:443 HTTP/1.1", FetchNetworkError),
    ],
)
def test_what_the_guard_refuses_is_not_reached_and_noted(start: str, kind: type[PagekeepError]) -> None:
    async def talk(proxy: Proxy, session: ProxySession) -> tuple[bytes, list[PagekeepError]]:
        line = start.format(port=canary.port, proxy=proxy.address.rpartition(":")[2])
        return await say(proxy, line, shown(session)), session.failures

    with Canary() as canary:
        answer, failures = through(talk)
        assert canary.connections == 0
    assert [type(failure) for failure in failures] == [kind]
    assert answer == b"" or answer.startswith(b"HTTP/1.1 502 ")


def test_interim_answers_and_old_line_ends_pass(site: Site) -> None:
    async def talk(proxy: Proxy, session: ProxySession) -> list[bytes]:
        return [await say(proxy, f"GET {site.url(path)} HTTP/1.1", shown(session)) for path in ("/early", "/bare")]

    hinted, bare = through(talk)
    assert hinted.startswith(b"HTTP/1.1 103 ")
    assert hinted.endswith(b"after the hints")
    assert bare.endswith(b"lines that end in LF")


def test_a_page_cannot_bring_in_without_end(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proxies, "MAX_PAGE_BYTES", 1_000_000)

    async def talk(proxy: Proxy, session: ProxySession) -> tuple[int, list[PagekeepError]]:
        reader, writer = await connect(proxy)
        writer.write(f"GET {site.url('/flood')} HTTP/1.1\r\n{shown(session)}\r\n\r\n".encode())
        size = 0
        while data := await reader.read(65536):
            size += len(data)
        writer.close()
        return size, session.failures

    size, failures = through(talk)
    assert size < 2_000_000
    assert [type(failure) for failure in failures] == [FetchNetworkError]


@pytest.mark.parametrize(
    "junk", [b"\x16\x03\x01\x02\x00" * 50, b"GET " + b"a" * 400_000, b"\r\n\r\n", b"A: b\r\n" * 60_000]
)
def test_junk_ends_the_connection_and_not_the_proxy(site: Site, junk: bytes) -> None:
    async def talk(proxy: Proxy, session: ProxySession) -> bytes:
        reader, writer = await connect(proxy)
        writer.write(junk)
        if writer.can_write_eof():
            writer.write_eof()
        await asyncio.gather(reader.read(), return_exceptions=True)
        writer.close()
        return await say(proxy, f"GET {site.url('/echo')} HTTP/1.1", shown(session))

    assert through(talk).startswith(b"HTTP/1.1 200 ")
