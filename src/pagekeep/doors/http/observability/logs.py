"""The log: one JSON object a line, or a short line for a person at a terminal.

What stands in it: request id, method, the route's pattern, status, milliseconds, user id, and of the page that was asked for
the host alone. What does not: addresses in full, headers, cookies, bodies.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import time
import uuid
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pagekeep.doors.http.observability.metrics import Metrics

_log: Final = logging.getLogger("pagekeep.requests")
_GOOD_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_QUIET: Final = frozenset({"/healthz", "/readyz", "/metrics"})
"""Asked every few seconds by machines; their successes are told at debug level."""
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

_request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
_about: ContextVar[dict[str, str] | None] = ContextVar("about", default=None)


def about(host: str) -> None:
    """The request at hand is about a page of this host."""
    told = _about.get()
    if told is not None:
        told["host"] = host


class Logged:
    """Gives every request an id, tells it in the answer, and writes a line when the answer is out."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get("x-request-id", "")
        request_id = given if _GOOD_ID.fullmatch(given) else uuid.uuid4().hex
        held = _request_id.set(request_id), _about.set({})
        began, status = time.perf_counter(), 0

        async def named(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["X-Request-Id"] = request_id
            await send(message)

        try:
            await self._app(scope, receive, named)
        finally:
            self._tell(scope, status or 499, time.perf_counter() - began)
            _request_id.reset(held[0])
            _about.reset(held[1])

    def _tell(self, scope: Scope, status: int, seconds: float) -> None:
        method = scope["method"] if scope["method"] in _METHODS else "other"
        route = str(getattr(scope.get("route"), "path", "none"))
        self._metrics.answered(method, route, status, seconds)
        quiet = route in _QUIET and status < 400
        told = {
            "method": method,
            "route": route,
            "status": status,
            "ms": round(seconds * 1000, 1),
            "user": scope.get("state", {}).get("user_id"),
            **(_about.get() or {}),
        }
        _log.log(logging.DEBUG if quiet else logging.INFO, "request", extra={"told": told})


class JsonLines(logging.Formatter):
    """A record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            "logger": record.name,
            "request_id": _request_id.get(),
            **getattr(record, "told", {}),
        }
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps({name: value for name, value in line.items() if value is not None}, ensure_ascii=True)


class ShortLines(logging.Formatter):
    """A record for someone who watches."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        told = getattr(record, "told", None)
        at = datetime.fromtimestamp(record.created).strftime("%H:%M:%S")
        if told is None:
            trace = f"\n{self.formatException(record.exc_info)}" if record.exc_info else ""
            return f"{at} {record.levelname.lower()}: {record.getMessage()}{trace}"
        return f"{at} {told['method']} {told['route']} {told['status']} {told['ms']} ms {told.get('host', '')}".rstrip()


def configure(level: str = "info", *, lines: bool | None = None) -> None:
    """Write the log to stderr: as JSON lines, or short ones on a terminal unless `lines` says otherwise."""
    as_json = not sys.stderr.isatty() if lines is None else lines
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if as_json else ShortLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]  # also for libraries, some of which would otherwise write in ways of their own
    for name, least in (("", "WARNING"), ("pagekeep", level.upper()), ("mcp", "WARNING"), ("asyncio", "ERROR")):
        logging.getLogger(name).setLevel(least)
