"""Intercept the requests of a page: block what is not needed, and add headers to the request for the page itself."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
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
