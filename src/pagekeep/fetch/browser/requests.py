"""The requests of a page: block what is not needed, add headers to its own, and decide when the page has settled.

A page has settled when its text has stopped growing, and no open request is likely to add more. `networkidle` (no request
for 500 ms) waits for the wrong thing. A page that polls, streams or sends analytics is never idle and costs the whole
timeout; a page that is done costs 500 ms in any case; and a page whose script starts its request late is taken for done
before it has any text. The text is what is needed, so the text is watched: changes too small to be content (a clock, a
counter) do not count, and an open request counts only while it is young, is of a type that brings content, and earlier
requests to the same URL did not end without any effect."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any, Final

from playwright.async_api import Error

from pagekeep.errors import PagekeepError
from pagekeep.fetch.browser.proxy import ProxySession
from pagekeep.fetch.urls import split_url

if TYPE_CHECKING:
    from playwright.async_api import CDPSession


UNNEEDED_TYPES: Final = ("Image", "Media", "Font", "Stylesheet")


@dataclass(eq=False)  # no slots: Playwright sets attributes on its listeners
class Requests:
    """Answers the requests that Chromium pauses; all others pass without us, which is faster."""

    session: CDPSession
    frame: str
    origin: str
    """Origin of the requested page; the caller's headers are sent only there."""
    headers: Mapping[str, str]
    html: bytes | None
    """Used instead of the server's first response."""
    proxy_session: ProxySession
    """For the proxy, which asks once per context: Chromium remembers the answer."""
    visual: bool = False
    """Whether to load images, fonts and style sheets too, for a screenshot."""

    _authenticated: set[str] = field(default_factory=set)

    async def watch(self) -> None:
        """Start to intercept requests."""
        # Only paused requests can send the proxy's credentials. The first request on the network is the page itself,
        # unless we have its HTML already; then it may be any.
        patterns = [{"resourceType": kind} for kind in (*self._unneeded, "Document")] if self.html is None else [{}]
        self.session.on("Fetch.requestPaused", self._answer)
        self.session.on("Fetch.authRequired", self._authenticate)
        await self.session.send("Fetch.enable", {"patterns": patterns, "handleAuthRequests": True})

    @property
    def _unneeded(self) -> tuple[str, ...]:
        return () if self.visual else UNNEEDED_TYPES

    async def _authenticate(self, event: dict[str, Any]) -> None:
        """Send the credentials to the proxy; a server that asks for a password gets none."""
        answer = {"response": "CancelAuth"}
        if event["authChallenge"]["source"] == "Proxy" and event["requestId"] not in self._authenticated:
            self._authenticated.add(event["requestId"])
            login = {"username": self.proxy_session.user, "password": self.proxy_session.password}
            answer = {"response": "ProvideCredentials", **login}
        with suppress(Error):
            await self._send("Fetch.continueWithAuth", event, authChallengeResponse=answer)

    async def _answer(self, event: dict[str, Any]) -> None:
        kind = event["resourceType"]
        # The page may be closed by the time we answer.
        with suppress(Error):
            if kind == "Document":
                await self._document(event)
            elif kind not in self._unneeded:
                await self._send("Fetch.continueRequest", event)
            elif kind == "Stylesheet":
                await self._empty_stylesheet(event)
            else:
                await self._send("Fetch.failRequest", event, errorReason="BlockedByClient")

    async def _empty_stylesheet(self, event: dict[str, Any]) -> None:
        """Answer with an empty style sheet: bundlers do not start parts of an app whose style sheet fails."""
        origin = event["request"]["headers"].get("Origin", "*")
        await self._fulfil(
            event,
            b"",
            {
                "Content-Type": "text/css",
                "Access-Control-Allow-Origin": origin,
                "Access-Control-Allow-Credentials": "true",
            },
        )

    async def _document(self, event: dict[str, Any]) -> None:
        if event["frameId"] != self.frame or _origin(event["request"]["url"]) != self.origin:
            await self._send("Fetch.continueRequest", event)
        elif self.html is not None:
            html, self.html = self.html, None
            await self._fulfil(event, html, {"Content-Type": "text/html"})
        elif not self.headers:
            await self._send("Fetch.continueRequest", event)
        else:
            headers = {**event["request"]["headers"], **self.headers}
            await self._send("Fetch.continueRequest", event, headers=_to_list(headers))

    async def _fulfil(self, event: dict[str, Any], body: bytes, headers: Mapping[str, str]) -> None:
        await self._send(
            "Fetch.fulfillRequest",
            event,
            responseCode=200,
            responseHeaders=_to_list(headers),
            body=base64.b64encode(body).decode("ascii"),
        )

    async def _send(self, method: str, event: dict[str, Any], **parameters: Any) -> None:
        await self.session.send(method, {"requestId": event["requestId"], **parameters})


def _to_list(headers: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in headers.items()]


def _origin(url: str) -> str | None:
    try:
        return split_url(url).origin
    except PagekeepError:
        return None


ENOUGH_TEXT: Final = 500
"""Characters of text from which a page is taken to have content, and not only its navigation."""
QUIET_SECONDS: Final = 0.15
"""Seconds without growth after which a page with enough text has settled."""
QUIET_SECONDS_LITTLE_TEXT: Final = 0.5
"""The same for a page with little text: more may come from a timer or a socket, which cannot be observed."""
QUIET_SECONDS_AWAITED: Final = 0.03
"""The same once the caller's selector matches."""
MAX_REQUEST_AGE: Final = 3.0
"""Seconds for which a page with enough text waits for an open request. Older ones are streams and long polls. A page with
little text waits until the deadline."""
MAX_GROWTH_SECONDS: Final = 8.0
"""Seconds after which a page that has enough text and still grows is assumed to grow forever."""
MAX_REQUEST_DELAY: Final = 1.0
"""A page with enough text waits only for requests that began within this many seconds of its last growth."""
POLL_REPEATS: Final = 3
"""After this many responses from one URL without growth it is not waited for any more: it is being polled."""

# Frames, pings, sockets and event streams add no text to the page.
_TEXT_TYPES: Final = frozenset(["document", "script", "fetch", "xhr"])


@dataclass(slots=True)
class Traffic:
    """The requests of a page that may still bring text."""

    _open: dict[Hashable, tuple[float, str]] = field(default_factory=dict)
    _without_effect: Counter[str] = field(default_factory=Counter)

    def add(self, request: Hashable, kind: str, place: str, now: float) -> None:
        """Add a request that started. `place` is its method and URL; the query is ignored."""
        if kind in _TEXT_TYPES:
            self._open[request] = (now, place.partition("?")[0])

    def remove(self, request: Hashable) -> None:
        """Remove a request that was answered or failed."""
        entry = self._open.pop(request, None)
        if entry is not None:
            self._without_effect[entry[1]] += 1

    def note_growth(self) -> None:
        """Note that the text grew: the responses so far had an effect."""
        self._without_effect.clear()

    def has_pending(self, after: float, before: float) -> bool:
        """Return whether an open request that started between the two times is worth waiting for."""
        return any(
            after < start < before and self._without_effect[place] < POLL_REPEATS
            for start, place in self._open.values()
        )


@dataclass(slots=True)
class Settling:
    """Follows the length of a page's text from the time `start`."""

    start: float
    traffic: Traffic
    selector_matched: bool = False
    """The caller gave a selector to wait for, and it matches."""
    _length: int = -1
    _grew_at: float = 0.0

    def is_settled(self, now: float, length: int) -> bool:
        """Return whether a page whose text is `length` characters long at `now` has settled."""
        if self._length < 0 or abs(length - self._length) > self._length // 100:
            self._length, self._grew_at = length, now
            self.traffic.note_growth()
        enough = length >= ENOUGH_TEXT or self.selector_matched
        if enough and now - self.start >= MAX_GROWTH_SECONDS:
            return True
        return now - self._grew_at >= self._quiet_seconds(enough) and not self._is_waiting(now, enough)

    def _is_waiting(self, now: float, enough: bool) -> bool:
        if enough:
            return self.traffic.has_pending(after=now - MAX_REQUEST_AGE, before=self._grew_at + MAX_REQUEST_DELAY)
        return self.traffic.has_pending(after=-inf, before=inf)

    def _quiet_seconds(self, enough: bool) -> float:
        if self.selector_matched:
            return QUIET_SECONDS_AWAITED
        return QUIET_SECONDS if enough else QUIET_SECONDS_LITTLE_TEXT
