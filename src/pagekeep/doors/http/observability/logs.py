"""The log: JSON lines, or short lines on a terminal.

Logged: request ID, method, the route's pattern, status, milliseconds, user ID and the host of the page.
Never logged: full URLs, headers, cookies, bodies.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import time
import uuid
from contextlib import suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pagekeep.doors.http.observability.metrics import Metrics
from pagekeep.errors import PagekeepError
from pagekeep.fetch.urls import split_url

_log: Final = logging.getLogger("pagekeep.requests")
_VALID_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_QUIET: Final = frozenset({"/healthz", "/readyz", "/metrics"})
"""Requested every few seconds by monitoring; successes are logged at debug level."""
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

_request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
_extra_fields: ContextVar[dict[str, str] | None] = ContextVar("about", default=None)


def log_host(url: str) -> None:
    """Add the host of a page to the log line of the current request."""
    fields = _extra_fields.get()
    if fields is not None:
        with suppress(PagekeepError):
            fields["host"] = split_url(url).host.name


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
        reset_tokens = _request_id.set(request_id), _extra_fields.set({})
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
            _request_id.reset(reset_tokens[0])
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
        _log.log(logging.DEBUG if quiet else logging.INFO, "request", extra={"fields": fields})


class JsonLines(logging.Formatter):
    """Formats a record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            "logger": record.name,
            "request_id": _request_id.get(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps({name: value for name, value in line.items() if value is not None}, ensure_ascii=True)


class ShortLines(logging.Formatter):
    """Formats a record as a short line for a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        fields = getattr(record, "fields", None)
        at = datetime.fromtimestamp(record.created).strftime("%H:%M:%S")
        if fields is None:
            trace = f"\n{self.formatException(record.exc_info)}" if record.exc_info else ""
            return f"{at} {record.levelname.lower()}: {record.getMessage()}{trace}"
        line = f"{at} {fields['method']} {fields['route']} {fields['status']} {fields['ms']} ms"
        return f"{line} {fields.get('host', '')}".rstrip()


def configure(level: str = "info", *, lines: bool | None = None) -> None:
    """Write the log to stderr: as JSON lines, or as short lines on a terminal; `lines` overrides the choice."""
    as_json = not sys.stderr.isatty() if lines is None else lines
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if as_json else ShortLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]  # also for libraries, some of which have their own handlers
    for name, min_level in (("", "WARNING"), ("pagekeep", level.upper()), ("mcp", "WARNING"), ("asyncio", "ERROR")):
        logging.getLogger(name).setLevel(min_level)
