"""The log of requests: one line each, as `doors.logs` formats it.

Logged: request ID, method, the route's pattern, status, milliseconds, user ID, the page's host, and why the library failed.
Never logged: full URLs, headers, cookies, bodies.
"""

from __future__ import annotations

import logging
import re
import time
import uuid
from contextlib import suppress
from contextvars import ContextVar
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pagekeep.doors.http.observability.metrics import Metrics
from pagekeep.doors.logs import request_id as request_ids
from pagekeep.errors import InvalidQuery, PagekeepError, StoreError
from pagekeep.fetch.urls import split_url

_log: Final = logging.getLogger("pagekeep.requests")
_VALID_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_QUIET: Final = frozenset({"/healthz", "/readyz", "/metrics"})
"""Requested every few seconds by monitoring; successes are logged at debug level."""
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

_extra_fields: ContextVar[dict[str, str] | None] = ContextVar("about", default=None)


def log_host(url: str) -> None:
    """Add the host of a page to the log line of the current request."""
    fields = _extra_fields.get()
    if fields is not None:
        with suppress(PagekeepError):
            fields["host"] = split_url(url).host.name


def log_reason(error: PagekeepError) -> None:
    """Add why the library failed to the log line of the current request. Other errors may name what the user reads."""
    fields = _extra_fields.get()
    if fields is not None and isinstance(error, StoreError) and not isinstance(error, InvalidQuery):
        fields["reason"] = error.message


class RequestLog:
    """Gives every request an ID, returns it in a header, and logs the request when it ends."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sent_id = Headers(scope=scope).get("x-request-id", "")
        request_id = sent_id if _VALID_ID.fullmatch(sent_id) else uuid.uuid4().hex
        reset_tokens = request_ids.set(request_id), _extra_fields.set({})
        began, status = time.perf_counter(), 0

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["X-Request-Id"] = request_id
            await send(message)

        try:
            await self._app(scope, receive, send_with_id)
        finally:
            self._log(scope, status or 499, time.perf_counter() - began)
            request_ids.reset(reset_tokens[0])
            _extra_fields.reset(reset_tokens[1])

    def _log(self, scope: Scope, status: int, seconds: float) -> None:
        method = scope["method"] if scope["method"] in _METHODS else "other"
        route = str(getattr(scope.get("route"), "path", "none"))
        self._metrics.record_request(method, route, status, seconds)
        quiet = route in _QUIET and status < 400
        fields = {
            "method": method,
            "route": route,
            "status": status,
            "ms": round(seconds * 1000, 1),
            "user": scope.get("state", {}).get("user_id"),
            **(_extra_fields.get() or {}),
        }
        level = logging.WARNING if "reason" in fields else logging.DEBUG if quiet else logging.INFO
        _log.log(level, "request", extra={"fields": fields})
