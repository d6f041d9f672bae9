"""What the page asks for: what is not loaded, and what is added to the request for the page itself."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from playwright.async_api import Error

from pagekeep.errors import PagekeepError
from pagekeep.fetch.browser.proxy import Pass
from pagekeep.fetch.urls import split_url

if TYPE_CHECKING:
    from playwright.async_api import CDPSession

NOT_LOADED: Final = ("Image", "Media", "Font", "Stylesheet")


@dataclass(eq=False)  # no slots: Playwright writes to whom it calls
class Requests:
    """Answers what Chromium stops to ask about; everything else flows without us, which keeps it quick."""

    session: CDPSession
    frame: str
    origin: str
    """Of the page asked for; a caller's headers are for nobody else."""
    headers: Mapping[str, str]
    html: bytes | None
    """Stands in for the server's first answer."""
    held: Pass
    """For the proxy, which asks once a context: Chromium remembers the answer."""
    seen: bool = False
    """Whether the page is to be looked at: then what it looks like is loaded, too."""

    _introduced: set[str] = field(default_factory=set)

    async def watch(self) -> None:
        """Start answering."""
        # Only a request that is stopped can be asked for the proxy's credential. The first to reach the network is the
        # page itself, unless we have that already; then it may be any.
        patterns = [{"resourceType": kind} for kind in (*self._not_loaded, "Document")] if self.html is None else [{}]
        self.session.on("Fetch.requestPaused", self._answer)
        self.session.on("Fetch.authRequired", self._introduce)
        await self.session.send("Fetch.enable", {"patterns": patterns, "handleAuthRequests": True})

    @property
    def _not_loaded(self) -> tuple[str, ...]:
        return () if self.seen else NOT_LOADED

    async def _introduce(self, event: dict[str, Any]) -> None:
        """Show the pass to the proxy; a server that asks for a password gets none."""
        answer = {"response": "CancelAuth"}
        if event["authChallenge"]["source"] == "Proxy" and event["requestId"] not in self._introduced:
            self._introduced.add(event["requestId"])
            answer = {"response": "ProvideCredentials", "username": self.held.user, "password": self.held.password}
        with suppress(Error):
            await self._send("Fetch.continueWithAuth", event, authChallengeResponse=answer)

    async def _answer(self, event: dict[str, Any]) -> None:
        kind = event["resourceType"]
        # The page may be gone by the time we answer.
        with suppress(Error):
            if kind == "Document":
                await self._document(event)
            elif kind not in self._not_loaded:
                await self._send("Fetch.continueRequest", event)
            elif kind == "Stylesheet":
                await self._empty_stylesheet(event)
            else:
                await self._send("Fetch.failRequest", event, errorReason="BlockedByClient")

    async def _empty_stylesheet(self, event: dict[str, Any]) -> None:
        """Not loaded, and not refused either: bundlers give up the part of an app whose style sheet fails."""
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
            await self._send("Fetch.continueRequest", event, headers=_listed(headers))

    async def _fulfil(self, event: dict[str, Any], body: bytes, headers: Mapping[str, str]) -> None:
        await self._send(
            "Fetch.fulfillRequest",
            event,
            responseCode=200,
            responseHeaders=_listed(headers),
            body=base64.b64encode(body).decode("ascii"),
        )

    async def _send(self, method: str, event: dict[str, Any], **parameters: Any) -> None:
        await self.session.send(method, {"requestId": event["requestId"], **parameters})


def _listed(headers: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in headers.items()]


def _origin(url: str) -> str | None:
    try:
        return split_url(url).origin
    except PagekeepError:
        return None
