"""The HTTP client: a page from its server, through the guard, within bounds of time, size and manners."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from time import perf_counter
from types import TracebackType
from typing import Final
from urllib.parse import urlencode

import certifi
import httpcore

from pagekeep.config import Settings
from pagekeep.errors import FetchHttpError, PagekeepError, TooLarge
from pagekeep.fetch import redirects
from pagekeep.fetch.backend import GuardedBackend, connecting
from pagekeep.fetch.content_type import HTML, charset, media_type, page_type, refuse_other
from pagekeep.fetch.cookies import CookieJar
from pagekeep.fetch.deadline import Deadline
from pagekeep.fetch.decoders import ACCEPTED, Body
from pagekeep.fetch.error_mapping import http_error, translated, was_reset
from pagekeep.fetch.guard import Guard
from pagekeep.fetch.headers import Headers, checked, checked_cookies
from pagekeep.fetch.politeness import BUSY, Clock, Gates, SystemClock, pause, retry_after
from pagekeep.fetch.urls import SplitUrl
from pagekeep.model import Fetched

ACCEPT_PAGES: Final = "text/html,application/xhtml+xml,text/markdown;q=0.8,text/plain;q=0.8,*/*;q=0.5"
DRAINED: Final = 16_384
"""A short body that nobody wants is read to its end: cheaper than a new connection."""
KEPT_ALIVE: Final = 10.0
FAIR_SHARE: Final = 256
"""Chunks taken before other pages get their turn. A flood of one-byte chunks held them up for 1.6 s."""
MAX_IDLE: Final = 16
"""Idle connections kept. The HTTP library looks at each pair of them with every request."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What a caller wants of a fetch, apart from where."""

    max_bytes: int
    headers: Mapping[str, str] = field(default_factory=dict)
    cookies: Mapping[str, str] | None = None
    conditional: bool = False
    pages_only: bool = True
    """Whether anything but a page is refused."""
    form: bytes | None = None
    """What is sent along, as a form; nothing is asked for then but the answer to it."""
    spaced: bool = True
    """Whether it waits its turn behind the page before; parts of one page come together, as browsers ask for them."""


@dataclass(slots=True)
class _Visit:
    """A fetch on its way."""

    wish: Wish
    first: SplitUrl
    here: SplitUrl
    jar: CookieJar
    deadline: Deadline
    seconds: dict[str, float]
    hops: int = 0


@dataclass(slots=True)
class _Answer:
    """The head of a response, its body still to come."""

    status: int
    headers: Headers
    response: httpcore.Response


class Client:
    """Fetches pages. Keeps connections and each host's pace, so use one for many pages, as an async context manager.

    Cookies live for one fetch. Nothing is read from the environment: no proxies, no credentials.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        guard: Guard | None = None,
        tls: ssl.SSLContext | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.settings = settings = settings or Settings()
        self.guard = guard or Guard(settings.allow_hosts)
        self._clock = clock or SystemClock()
        self._gates = Gates(settings.per_host_connections, settings.per_host_delay, self._clock)
        self._tls = tls
        self._pools: dict[str, httpcore.AsyncConnectionPool] = {}

    async def fetch(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        cookies: Mapping[str, str] | None = None,
        etag: str | None = None,
        last_modified: str | None = None,
        deadline: float | None = None,
    ) -> Fetched:
        """The page at `url`, whole. With `etag` or `last_modified` it may come back as `not_modified`, without a body.

        `headers` and `cookies` are for the host of `url`. `deadline` in seconds, `settings.timeout` without one. Raises
        what stands under `PagekeepError`; a `FetchHttpError` carries the page that came with it as `page`, if one did.
        """
        asked = {"accept": ACCEPT_PAGES, **checked(headers), **checked(_conditions(etag, last_modified))}
        wish = Wish(self.settings.max_bytes, asked, cookies, conditional=bool(etag or last_modified))
        return await self._run(url, wish, deadline)

    async def download(
        self, url: str, *, accept: str = "*/*", max_bytes: int | None = None, deadline: float | None = None
    ) -> Fetched:
        """Anything at `url`, whatever its type: for images, icons and the like. Same guard, same bounds."""
        wish = Wish(max_bytes or self.settings.max_bytes, {"accept": accept}, pages_only=False, spaced=False)
        return await self._run(url, wish, deadline)

    async def send(
        self,
        url: str,
        form: Mapping[str, str],
        *,
        headers: Mapping[str, str] | None = None,
        deadline: float | None = None,
    ) -> Fetched:
        """What the server answers to a form. It is sent to `url` alone: a redirect is refused."""
        said = {"content-type": "application/x-www-form-urlencoded", "accept": ACCEPT_PAGES, **checked(headers)}
        wish = Wish(self.settings.max_bytes, said, form=urlencode(form, errors="replace").encode("ascii"))
        return await self._run(url, wish, deadline)

    async def _run(self, url: str, wish: Wish, seconds: float | None) -> Fetched:
        first = self.guard.check_url(url)
        began = perf_counter()
        async with Deadline(seconds or self.settings.timeout) as deadline:
            visit = _Visit(wish, first, first, CookieJar(first, checked_cookies(wish.cookies)), deadline, {})
            fetched = await self._follow(url, visit)
        visit.seconds["total"] = perf_counter() - began
        return fetched

    async def _follow(self, url: str, visit: _Visit) -> Fetched:
        """Hop by hop, each checked by the guard, to an answer that is no redirect."""
        while True:
            outcome = await self._ask(url, visit)
            if isinstance(outcome, Fetched):
                return outcome
            visit.here = self.guard.check_url(redirects.target(visit.here, outcome))
            visit.hops += 1

    async def _ask(self, url: str, visit: _Visit) -> Fetched | str:
        """The answer at `visit.here`, or the location it redirects to; asked again while the server is busy."""
        host = visit.here.host.name
        with translated(host):
            for attempt in count():
                try:
                    outcome = await self._ask_once(url, visit, attempt)
                except (httpcore.NetworkError, httpcore.RemoteProtocolError) as error:
                    if not was_reset(error) or not self._may_retry(visit, attempt, wait := pause(attempt)):
                        raise
                    outcome = wait
                if not isinstance(outcome, float):
                    return outcome
                await self._clock.sleep(outcome)
        raise AssertionError  # pragma: no cover: the loop has no end

    def _may_retry(self, visit: _Visit, attempt: int, wait: float) -> bool:
        return attempt < self.settings.retries and wait < visit.deadline.remaining

    async def _ask_once(self, url: str, visit: _Visit, attempt: int) -> Fetched | str | float:
        """The page, the location of a redirect, or seconds to wait before asking again."""
        async with self._turn(visit, attempt), self._answer(visit) as answer:
            visit.jar.keep(answer.headers.cookies, visit.here)
            if answer.status in redirects.STATUSES and "location" in answer.headers.single:
                await _drain(answer)
                if visit.hops >= self.settings.max_redirects or visit.wish.form is not None:
                    raise _too_many(visit, answer.status)
                return answer.headers.single["location"]
            if answer.status in BUSY:
                wait = self._rest(visit, answer, attempt)
                if self._may_retry(visit, attempt, wait):
                    await _drain(answer)
                    return wait
            return await self._receive(url, visit, answer)

    @asynccontextmanager
    async def _turn(self, visit: _Visit, attempt: int) -> AsyncIterator[None]:
        """A seat at the host's gate. Standing in our own queue does not use up the server's time."""
        spaced = visit.wish.spaced and not visit.hops and not attempt
        async with AsyncExitStack() as seat:
            with visit.deadline.paused():
                turn = self._gates.turn(visit.here.host.name, spaced=spaced, patience=visit.deadline.remaining)
                await seat.enter_async_context(turn)
            yield

    def _rest(self, visit: _Visit, answer: _Answer, attempt: int) -> float:
        asked = retry_after(answer.headers.single, self._clock)
        if asked is not None:
            self._gates.rest(visit.here.host.name, asked)
        return max(asked or 0.0, pause(attempt))

    @asynccontextmanager
    async def _answer(self, visit: _Visit) -> AsyncIterator[_Answer]:
        here = visit.here
        began = perf_counter()
        noted = connecting.set(visit.seconds)
        try:
            response = await self._pool(here.scheme).handle_async_request(self._request(visit))
        finally:
            connecting.reset(noted)
        try:
            visit.seconds["first_byte"] = perf_counter() - began
            yield _Answer(response.status, Headers(response.headers), response)
        finally:
            await response.aclose()

    def _request(self, visit: _Visit) -> httpcore.Request:
        here = visit.here
        headers = {
            "host": here.authority,
            "user-agent": self.settings.user_agent,
            "accept-encoding": ACCEPTED,
            **redirects.headers_for(here, visit.first, visit.wish.headers),
        }
        cookies = visit.jar.header(here)
        if cookies is not None:
            headers["cookie"] = f"{headers['cookie']}; {cookies}" if "cookie" in headers else cookies
        # From the guard's own parts: no second parser reads the URL.
        name = f"[{here.host.name}]" if ":" in here.host.name else here.host.name
        form = visit.wish.form
        if form is not None:
            headers["content-length"] = str(len(form))
        return httpcore.Request(
            b"GET" if form is None else b"POST",
            httpcore.URL(
                scheme=here.scheme.encode(), host=name.encode(), port=here.port, target=here.target.encode("ascii")
            ),
            headers=[(key.encode("ascii"), value.encode("utf-8")) for key, value in headers.items()],
            content=form,
        )

    async def _receive(self, url: str, visit: _Visit, answer: _Answer) -> Fetched:
        if answer.status == 304 and visit.wish.conditional:
            return _fetched(url, visit, answer, b"", HTML, not_modified=True)
        if not 200 <= answer.status < 300:
            raise await self._refused(url, visit, answer)
        return await self._page(url, visit, answer)

    async def _refused(self, url: str, visit: _Visit, answer: _Answer) -> FetchHttpError:
        """The error of a status, with the page that came along: a wall or a soft 404 is told by its words."""
        error = http_error(visit.here.host.name, answer.status)
        page: Fetched | None
        try:
            page = await self._page(url, visit, answer)
        except (PagekeepError, httpcore.NetworkError, httpcore.ProtocolError, OSError):
            page = None  # The status says enough.
        error.page = page
        return error

    async def _page(self, url: str, visit: _Visit, answer: _Answer) -> Fetched:
        headers = answer.headers.single
        declared = media_type(headers)
        if visit.wish.pages_only:
            refuse_other(declared)
        body = await _read(answer, visit)
        kind = page_type(declared, body) if visit.wish.pages_only else declared
        return _fetched(url, visit, answer, body, kind)

    def _pool(self, scheme: str) -> httpcore.AsyncConnectionPool:
        pool = self._pools.get(scheme)
        if pool is None:
            pool = self._pools[scheme] = httpcore.AsyncConnectionPool(
                # Certificates cost 20 ms to load: only for those who need them.
                ssl_context=(self._tls or _tls_context()) if scheme == "https" else None,
                max_connections=None,
                max_keepalive_connections=MAX_IDLE,
                keepalive_expiry=KEPT_ALIVE,
                http2=scheme == "https",
                network_backend=GuardedBackend(self.guard),
            )
        return pool

    async def aclose(self) -> None:
        """Close every connection."""
        pools, self._pools = list(self._pools.values()), {}
        for pool in pools:
            await pool.aclose()

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()


def _conditions(etag: str | None, last_modified: str | None) -> dict[str, str]:
    conditions = {"if-none-match": etag, "if-modified-since": last_modified}
    return {name: value for name, value in conditions.items() if value}


def _tls_context() -> ssl.SSLContext:
    """The system's certificates and Mozilla's; always verified."""
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context


def _too_many(visit: _Visit, status: int) -> FetchHttpError:
    return FetchHttpError(
        f"`{visit.first.host.name}` redirects {'a form' if visit.wish.form else f'more than {visit.hops} times'}.",
        status=status,
        suggestions=("Open the page in your browser and give the address it ends at.",),
    )


def _length(answer: _Answer) -> int | None:
    text = answer.headers.single.get("content-length", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else None


async def _drain(answer: _Answer) -> None:
    length = _length(answer)
    if length is not None and length <= DRAINED:
        async for _ in answer.response.aiter_stream():
            pass


async def _read(answer: _Answer, visit: _Visit) -> bytes:
    """The decoded content; `TooLarge` as soon as more is announced or arrives than is wished for."""
    began = perf_counter()
    headers, limit = answer.headers.single, visit.wish.max_bytes
    body = Body(headers.get("content-encoding", ""), limit)
    if (_length(answer) or 0) > limit:
        raise TooLarge(f"The page is larger than the limit of {limit / 1e6:g} MB.")
    taken = 0
    async for chunk in answer.response.aiter_stream():
        body.feed(chunk)
        taken += 1
        if taken % FAIR_SHARE == 0:
            await asyncio.sleep(0)
    content = body.content()
    visit.seconds["body"] = perf_counter() - began
    return content


def _fetched(
    url: str, visit: _Visit, answer: _Answer, body: bytes, kind: str, *, not_modified: bool = False
) -> Fetched:
    headers = answer.headers.single
    return Fetched(
        url=url,
        final_url=visit.here.url,
        status=answer.status,
        headers=headers,
        body=body,
        encoding=charset(headers),
        content_type=kind,
        not_modified=not_modified,
        etag=headers.get("etag"),
        last_modified=headers.get("last-modified"),
        seconds=visit.seconds,
    )
