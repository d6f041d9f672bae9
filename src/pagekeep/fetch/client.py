"""The HTTP client: fetches pages through the guard, with limits on time, size and requests per host."""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from itertools import count
from time import perf_counter
from types import TracebackType
from typing import Final
from urllib.parse import urlencode

import certifi
import httpcore

from pagekeep.config import Settings
from pagekeep.errors import BlockedAddress, FetchHttpError, FetchTimeout, InvalidUrl, PagekeepError
from pagekeep.fetch.backend import GuardedBackend, Response, make_http_error, map_errors, timings, was_reset
from pagekeep.fetch.decoders import ACCEPT_ENCODING
from pagekeep.fetch.guard import Guard
from pagekeep.fetch.headers import (
    DOCUMENT_TYPES,
    HTML,
    Headers,
    charset,
    check_cookies,
    check_headers,
    media_type,
    page_type,
    refuse_non_page,
)
from pagekeep.fetch.politeness import BUSY_STATUSES, Clock, HostLimits, SystemClock, backoff, retry_after
from pagekeep.fetch.urls import SplitUrl, join
from pagekeep.model import DOCUMENT_FACTOR, Fetched

ACCEPT_PAGES: Final = "text/html,application/xhtml+xml,text/markdown;q=0.8,text/plain;q=0.8,*/*;q=0.5"
REDIRECT_STATUSES: Final = frozenset({301, 302, 303, 307, 308})
PERMANENT_STATUSES: Final = frozenset({301, 308})
PRIVATE_HEADERS: Final = frozenset({"authorization", "cookie", "proxy-authorization"})
"""Headers for one origin. They do not follow a redirect to another."""
KEEPALIVE_SECONDS: Final = 10.0
"""An idle connection is closed after this time."""
MAX_IDLE_CONNECTIONS: Final = 16
"""Few, as the HTTP library compares every pair of idle connections with each request."""


@dataclass(frozen=True, slots=True)
class FetchOptions:
    """The options of one fetch."""

    max_bytes: int
    headers: Mapping[str, str] = field(default_factory=dict)
    cookies: Mapping[str, str] | None = None
    conditional: bool = False
    """Whether a 304 response is expected."""
    pages_only: bool = True
    """Whether everything except pages is refused."""
    form: bytes | None = None
    """A form, or another body, to send with POST."""
    single: bool = False
    """One request: no redirect is followed, nothing is tried again, and a response of any status is returned."""
    method: str | None = None
    """Another method than GET, or POST for a body."""
    any_status: bool = False
    """With `single`: the body of an error is read too."""
    spaced: bool = True
    """Whether to keep the delay per host; the images of a page are loaded together, as browsers do, in their own slots."""


class Deadline:
    """A context manager that raises `FetchTimeout` after `seconds`."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._timeout = asyncio.timeout(seconds)

    @property
    def remaining(self) -> float:
        """Seconds left until the deadline."""
        end = self._timeout.when()
        return self._seconds if end is None else end - asyncio.get_running_loop().time()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stop the clock meanwhile, such as during a wait in our own queue."""
        loop = asyncio.get_running_loop()
        end, start = self._timeout.when(), loop.time()
        self._timeout.reschedule(None)
        try:
            yield
        finally:
            self._timeout.reschedule(None if end is None else end + loop.time() - start)

    async def __aenter__(self) -> Deadline:
        await self._timeout.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            await self._timeout.__aexit__(kind, error, traceback)
        except TimeoutError:
            raise FetchTimeout(f"The server took longer than {self._seconds:g} seconds.") from None


class CookieJar:
    """The caller's cookies, for the first host only, and those that servers set during the fetch."""

    def __init__(self, first: SplitUrl, cookies: Mapping[str, str] | None) -> None:
        self._jar: dict[tuple[str, str], _Cookie] = {}
        for name, value in (cookies or {}).items():
            # Not sent over http when an https page redirects there.
            self._jar[first.host.name, name] = _Cookie(value, subdomains=False, secure=first.scheme == "https")

    def header(self, to: SplitUrl) -> str | None:
        """Return the `Cookie` header of a request, or `None`."""
        pairs = [
            f"{name}={cookie.value}"
            for (host, name), cookie in self._jar.items()
            if (
                host == to.host.name or (cookie.subdomains and to.host.ip is None and to.host.name.endswith("." + host))
            )
            and (to.scheme == "https" or not cookie.secure)
        ]
        return "; ".join(pairs) or None

    def keep(self, lines: Iterable[str], sender: SplitUrl) -> None:
        """Store the cookies that a server set. Faulty, oversized and foreign ones are ignored, as browsers do."""
        for line in lines:
            self._keep(line, sender)

    def _keep(self, line: str, sender: SplitUrl) -> None:
        pair, *rest = line.split(";")
        name, equals, value = (part.strip() for part in pair.partition("="))
        if not equals or not name or len(pair) > MAX_COOKIE_CHARS or _UNSAFE.search(pair):
            return
        attributes = {key.strip().lower(): text.strip() for key, _, text in (part.partition("=") for part in rest)}
        owner = _owner(attributes.get("domain", ""), sender)
        if owner is None:
            return
        if _expired(attributes):
            self._jar.pop((owner, name), None)
        elif len(self._jar) < MAX_COOKIES or (owner, name) in self._jar:
            self._jar[owner, name] = _Cookie(value, subdomains="domain" in attributes, secure="secure" in attributes)


@dataclass(slots=True)
class FetchState:
    """A fetch in progress."""

    options: FetchOptions
    first: SplitUrl
    current: SplitUrl
    jar: CookieJar
    deadline: Deadline
    seconds: dict[str, float]
    redirects: int = 0
    is_moved: bool = True
    """Whether all redirects so far were permanent."""
    moved_to: str | None = None


class Client:
    """Fetches pages. It reuses connections and limits the requests per host: use one for many pages, with `async with`.

    Cookies are kept during one fetch only. Proxies and credentials in the environment are ignored.
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
        self._hosts = HostLimits(settings.per_host_connections, settings.per_host_delay, self._clock)
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
        """Fetch the page at `url`. With `etag` or `last_modified` the result may be `not_modified`, without a body.

        `headers` and `cookies` are sent to the host of `url` only. `deadline` is in seconds; the default is
        `settings.timeout`. Raises only `PagekeepError`; a `FetchHttpError` has the page that came with it as `page`.
        """
        all_headers = {"accept": ACCEPT_PAGES, **check_headers(headers)}
        all_headers |= check_headers(_conditions(etag, last_modified))
        options = FetchOptions(self.settings.max_bytes, all_headers, cookies, conditional=bool(etag or last_modified))
        return await self._run(url, options, deadline)

    async def visit(
        self,
        url: str,
        *,
        etag: str | None = None,
        last_modified: str | None = None,
        pages_only: bool = True,
        max_bytes: int | None = None,
    ) -> Fetched:
        """Make one request, as a crawl does: return a redirect or an error status as it is, without the pause per host."""
        headers = {"accept": ACCEPT_PAGES if pages_only else "*/*", **check_headers(_conditions(etag, last_modified))}
        options = FetchOptions(
            max_bytes or self.settings.max_bytes,
            headers,
            conditional=bool(etag or last_modified),
            pages_only=pages_only,
            single=True,
        )
        return await self._run(url, options, None)

    async def download(
        self,
        url: str,
        *,
        accept: str = "*/*",
        max_bytes: int | None = None,
        deadline: float | None = None,
        etag: str | None = None,
        last_modified: str | None = None,
        spaced: bool = False,
    ) -> Fetched:
        """Fetch anything at `url`, whatever its type, such as an image, with the same guard and limits.

        `spaced` keeps the delay per host, as for a page; `etag` and `last_modified` are as in `fetch`.
        """
        conditions = check_headers(_conditions(etag, last_modified))
        headers, limit = {"accept": accept, **conditions}, max_bytes or self.settings.max_bytes
        options = FetchOptions(limit, headers, conditional=bool(conditions), pages_only=False, spaced=spaced)
        return await self._run(url, options, deadline)

    async def post_form(
        self,
        url: str,
        form: Mapping[str, str],
        *,
        headers: Mapping[str, str] | None = None,
        deadline: float | None = None,
    ) -> Fetched:
        """Send a form to `url` and return the response. A redirect is refused."""
        all_headers = {"content-type": "application/x-www-form-urlencoded", "accept": ACCEPT_PAGES}
        all_headers |= check_headers(headers)
        encoded = urlencode(form, errors="replace").encode("ascii")
        return await self._run(url, FetchOptions(self.settings.max_bytes, all_headers, form=encoded), deadline)

    async def post_json(
        self, url: str, body: bytes, *, headers: Mapping[str, str] | None = None, deadline: float | None = None
    ) -> Fetched:
        """Send JSON to `url` and return the response, of any type. A redirect is refused."""
        all_headers = {"content-type": "application/json", "accept": "*/*", **check_headers(headers)}
        options = FetchOptions(self.settings.max_bytes, all_headers, pages_only=False, form=body)
        return await self._run(url, options, deadline)

    async def send(
        self,
        method: str,
        url: str,
        body: bytes | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        max_bytes: int,
        deadline: float,
    ) -> Fetched:
        """Make one request to another program's API and return the response, of any status and type.

        Nothing is followed or tried again: a request that changes something is not repeated behind the caller's back.
        """
        typed = {} if body is None else {"content-type": "application/json"}
        options = FetchOptions(
            max_bytes,
            {**typed, "accept": "application/json, */*;q=0.5", **check_headers(headers)},
            pages_only=False,
            form=body,
            single=True,
            method=method,
            any_status=True,
        )
        return await self._run(url, options, deadline)

    async def _run(self, url: str, options: FetchOptions, seconds: float | None) -> Fetched:
        first = self.guard.check_url(url)
        start = perf_counter()
        async with Deadline(seconds or self.settings.timeout) as deadline:
            jar = CookieJar(first, check_cookies(options.cookies))
            state = FetchState(options, first, first, jar, deadline, {})
            fetched = await self._follow_redirects(url, state)
        state.seconds["total"] = perf_counter() - start
        return fetched

    async def _follow_redirects(self, url: str, state: FetchState) -> Fetched:
        """Follow redirects, each checked by the guard, to the page."""
        while True:
            result = await self._request_with_retries(url, state)
            if isinstance(result, Fetched):
                return result
            state.current = self._check_redirect(state.current, result)
            state.redirects += 1
            state.moved_to = state.current.url if state.is_moved else state.moved_to

    def _check_redirect(self, current: SplitUrl, location: str) -> SplitUrl:
        if not location.strip():
            raise InvalidUrl("The page redirects to an empty URL.")
        try:
            return self.guard.check_url(join(current.url, location))
        except BlockedAddress as error:
            blocked = BlockedAddress(f"`{current.host.name}` redirects to a private address.")
            blocked.host = error.host
            raise blocked from None

    async def _request_with_retries(self, url: str, state: FetchState) -> Fetched | str:
        """Return the page at `state.current`, or the location it redirects to; retry while the server is busy."""
        host = state.current.host.name
        with map_errors(host):
            if state.options.single:
                return await self._request_alone(url, state)
            for attempt in count():
                try:
                    result = await self._request_once(url, state, attempt)
                except (httpcore.NetworkError, httpcore.RemoteProtocolError) as error:
                    if not was_reset(error) or not self._may_retry(state, attempt, wait := backoff(attempt)):
                        raise
                    result = wait
                if not isinstance(result, float):
                    return result
                await self._clock.sleep(result)
        raise AssertionError  # pragma: no cover: the loop has no end

    async def _request_alone(self, url: str, state: FetchState) -> Fetched:
        """Return the response to one request, whatever its status; a body that is not wanted stays empty."""
        async with self._host_slot(state, 1), self._send(state) as response:
            if 200 <= response.status < 300 or state.options.any_status:
                return await self._read_page(url, state, response)
            await response.drain()
            not_modified = response.status == 304 and state.options.conditional
            return make_fetched(url, state, response, b"", HTML, not_modified=not_modified)

    def _may_retry(self, state: FetchState, attempt: int, wait: float) -> bool:
        return attempt < self.settings.retries and wait < state.deadline.remaining

    async def _request_once(self, url: str, state: FetchState, attempt: int) -> Fetched | str | float:
        """Return the page, the location of a redirect, or the seconds to wait before the next try."""
        async with self._host_slot(state, attempt), self._send(state) as response:
            state.jar.keep(response.headers.cookies, state.current)
            if response.status in REDIRECT_STATUSES and "location" in response.headers.fields:
                await response.drain()
                state.is_moved = state.is_moved and response.status in PERMANENT_STATUSES
                if state.redirects >= self.settings.max_redirects or state.options.form is not None:
                    raise _redirect_error(state, response.status)
                return response.headers.fields["location"]
            if response.status in BUSY_STATUSES:
                wait = self._retry_wait(state, response, attempt)
                if self._may_retry(state, attempt, wait):
                    await response.drain()
                    return wait
            return await self._receive(url, state, response)

    @asynccontextmanager
    async def _host_slot(self, state: FetchState, attempt: int) -> AsyncIterator[None]:
        """Hold one of the host's slots. The wait for it does not count towards the deadline."""
        spaced = state.options.spaced and not state.redirects and not attempt
        async with AsyncExitStack() as stack:
            with state.deadline.paused():
                host = state.current.host.name
                part = not state.options.spaced
                slot = self._hosts.slot(host, spaced=spaced, max_wait=state.deadline.remaining, part=part)
                await stack.enter_async_context(slot)
            yield

    def _retry_wait(self, state: FetchState, response: Response, attempt: int) -> float:
        requested = retry_after(response.headers.fields, self._clock)
        if requested is not None:
            self._hosts.hold(state.current.host.name, requested)
        return max(requested or 0.0, backoff(attempt))

    @asynccontextmanager
    async def _send(self, state: FetchState) -> AsyncIterator[Response]:
        start = perf_counter()
        token = timings.set(state.seconds)
        try:
            raw = await self._pool(state.current.scheme).handle_async_request(self._build_request(state))
        finally:
            timings.reset(token)
        try:
            state.seconds["first_byte"] = perf_counter() - start
            yield Response(raw.status, Headers(raw.headers), raw)
        finally:
            await raw.aclose()

    def _build_request(self, state: FetchState) -> httpcore.Request:
        current, form = state.current, state.options.form
        headers = {
            "host": current.authority,
            "user-agent": self.settings.user_agent,
            "accept-encoding": ACCEPT_ENCODING,
            **_headers_for(state),
        }
        cookies = state.jar.header(current)
        if cookies is not None:
            headers["cookie"] = f"{headers['cookie']}; {cookies}" if "cookie" in headers else cookies
        if form is not None:
            headers["content-length"] = str(len(form))
        # Built from the parts that the guard checked: no second parser reads the URL.
        name = f"[{current.host.name}]" if ":" in current.host.name else current.host.name
        target = current.target.encode("ascii")
        return httpcore.Request(
            (state.options.method or ("GET" if form is None else "POST")).encode("ascii"),
            httpcore.URL(scheme=current.scheme.encode(), host=name.encode(), port=current.port, target=target),
            headers=[(key.encode("ascii"), value.encode("utf-8")) for key, value in headers.items()],
            content=form,
        )

    async def _receive(self, url: str, state: FetchState, response: Response) -> Fetched:
        if response.status == 304 and state.options.conditional:
            return make_fetched(url, state, response, b"", HTML, not_modified=True)
        if 200 <= response.status < 300:
            return await self._read_page(url, state, response)
        error = make_http_error(state.current.host.name, response.status)
        # Login walls and soft 404s are recognised by the text of the page, if there is one.
        with suppress(PagekeepError, httpcore.NetworkError, httpcore.ProtocolError, OSError):
            error.page = await self._read_page(url, state, response)
        raise error

    async def _read_page(self, url: str, state: FetchState, response: Response) -> Fetched:
        declared = media_type(response.headers.fields)
        if state.options.pages_only:
            refuse_non_page(declared, documents=True)
        start = perf_counter()
        is_document = state.options.pages_only and declared in DOCUMENT_TYPES
        body = await response.read(state.options.max_bytes * (DOCUMENT_FACTOR if is_document else 1))
        state.seconds["body"] = perf_counter() - start
        content_type = page_type(declared, body) if state.options.pages_only else declared
        return make_fetched(url, state, response, body, content_type)

    def _pool(self, scheme: str) -> httpcore.AsyncConnectionPool:
        pool = self._pools.get(scheme)
        if pool is None:
            pool = self._pools[scheme] = httpcore.AsyncConnectionPool(
                # Certificates take 20 ms to load: only when they are needed.
                ssl_context=(self._tls or tls_context()) if scheme == "https" else None,
                max_connections=None,
                max_keepalive_connections=MAX_IDLE_CONNECTIONS,
                keepalive_expiry=KEEPALIVE_SECONDS,
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


def tls_context() -> ssl.SSLContext:
    """Return a TLS context that verifies against the system's certificates and Mozilla's."""
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context


def _headers_for(state: FetchState) -> dict[str, str]:
    """Return the caller's headers for the current URL; private ones are only for the first origin."""
    headers = state.options.headers
    if state.current.origin == state.first.origin:
        return dict(headers)
    return {name: value for name, value in headers.items() if name not in PRIVATE_HEADERS}


def _redirect_error(state: FetchState, status: int) -> FetchHttpError:
    host = state.first.host.name
    what = "redirects a form" if state.options.form else f"redirects more than {state.redirects} times"
    hint = "Open the page in your browser and use the URL it ends at."
    return FetchHttpError(f"`{host}` {what}.", status=status, suggestions=(hint,))


def make_fetched(
    url: str, state: FetchState, response: Response, body: bytes, content_type: str, *, not_modified: bool = False
) -> Fetched:
    """Return the result of a fetch."""
    headers = response.headers.fields
    return Fetched(
        url=url,
        final_url=state.current.url,
        status=response.status,
        headers=headers,
        body=body,
        encoding=charset(headers),
        content_type=content_type,
        not_modified=not_modified,
        etag=headers.get("etag"),
        last_modified=headers.get("last-modified"),
        moved_to=state.moved_to,
        seconds=state.seconds,
    )


MAX_COOKIES: Final = 64
"""More than any page sets; a hostile server must not fill the memory."""
MAX_COOKIE_CHARS: Final = 4096
"""Of name and value, as in browsers."""
_UNSAFE = re.compile(r"[\x00-\x1f\x7f;]")


@dataclass(frozen=True, slots=True)
class _Cookie:
    value: str
    subdomains: bool
    """Whether subdomains of its host get it too."""
    secure: bool


def _owner(domain: str, sender: SplitUrl) -> str | None:
    """Return the host that the cookie is for, or `None` when the sender may not set it."""
    domain = domain.lower().removeprefix(".")
    if not domain or domain == sender.host.name:
        return sender.host.name
    is_parent = sender.host.ip is None and "." in domain and sender.host.name.endswith("." + domain)
    return domain if is_parent else None


def _expired(attributes: Mapping[str, str]) -> bool:
    if "max-age" in attributes:
        age = attributes["max-age"]
        return age.startswith("-") or age == "0"
    try:
        # The jar lives for seconds, so a date matters only if it deletes the cookie, and that is mostly 1970.
        return parsedate_to_datetime(attributes["expires"]).year < 2000
    except (KeyError, ValueError, TypeError, IndexError):
        return False
