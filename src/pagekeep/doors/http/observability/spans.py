"""Spans for OpenTelemetry: one per request, one per extracted page, and one per stage of the page.

Only active with the extra `tracing` installed and an endpoint in OpenTelemetry's environment variables.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pagekeep.capture.from_url import ExtractPage
from pagekeep.errors import PagekeepError
from pagekeep.extras import install_command
from pagekeep.model import Fetched, Options, Page
from pagekeep.version import __version__

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span

_ENDPOINT_VARIABLES: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_NANOSECONDS: Final = 1_000_000_000
"""Per second."""
_log: Final = logging.getLogger("pagekeep.spans")


class Spans:
    """Records spans. Like the log, they contain only the host of a page."""

    def __init__(self, provider: TracerProvider) -> None:
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        self._provider = provider
        self._tracer = provider.get_tracer("pagekeep", __version__)
        self._incoming = TraceContextTextMapPropagator()

    def request(self, scope: Scope) -> AbstractContextManager[Span]:
        """Return the span of a request, as part of the client's trace if it sent one."""
        from opentelemetry.trace import SpanKind

        context = self._incoming.extract(dict(Headers(scope=scope).items()))
        return self._tracer.start_as_current_span(scope["method"], context, SpanKind.SERVER)

    def trace(self, read: ExtractPage) -> ExtractPage:
        """Return an extraction function that also records spans."""

        async def read_and_record(fetched: Fetched, options: Options) -> Page:
            start = time.time_ns()
            try:
                page = await read(fetched, replace(options, timer=time.perf_counter))
            except PagekeepError as error:
                self._record(fetched, start, {"error.type": error.type}, ())
                raise
            attributes = {
                "pagekeep.level": page.quality.level,
                "pagekeep.score": page.quality.score,
                "pagekeep.strategy": page.strategy,
                "pagekeep.word_count": page.word_count,
            }
            self._record(fetched, start, attributes, page.trace.seconds.items())
            return page

        return read_and_record

    def _record(
        self, fetched: Fetched, start: int, attributes: dict[str, Any], stages: Iterable[tuple[str, float]]
    ) -> None:
        """Record one span for the page and, inside it, one for fetching and one per stage of the extraction."""
        from opentelemetry.trace import Status, StatusCode, set_span_in_context

        end_time = time.time_ns()
        fetching = int(fetched.seconds.get("total", 0) * _NANOSECONDS)
        attributes = {"server.address": urlsplit(fetched.url).hostname or "", **attributes}
        page_span = self._tracer.start_span("page", start_time=start - fetching, attributes=attributes)
        if "error.type" in attributes:
            page_span.set_status(Status(StatusCode.ERROR))
        inside = set_span_in_context(page_span)
        if fetching:
            self._part("render" if fetched.rendered else "fetch", inside, start - fetching, start)
        reading = self._part("extract", inside, start, end_time)
        inside = set_span_in_context(reading)
        measured = list(stages)
        at = max(
            start, end_time - int(sum(seconds for _, seconds in measured) * _NANOSECONDS)
        )  # before that it waited for a worker
        for stage, seconds in measured:
            self._part(stage, inside, at, at := min(end_time, at + int(seconds * _NANOSECONDS)))
        page_span.end(end_time)

    def _part(self, name: str, inside: Any, start: int, end_time: int) -> Span:
        part = self._tracer.start_span(name, inside, start_time=start)
        part.end(end_time)
        return part

    def close(self) -> None:
        """Send the remaining spans."""
        self._provider.shutdown()


def configure() -> Spans | None:
    """Return spans sent to the configured endpoint; `None` if there is none."""
    if not any(os.environ.get(name) for name in _ENDPOINT_VARIABLES):
        return None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        command = install_command("tracing")
        _log.warning("a tracing endpoint is set, but the package is missing: %s", command)
        return None
    name = os.environ.get("OTEL_SERVICE_NAME") or "pagekeep"
    provider = TracerProvider(resource=Resource.create({"service.name": name}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return Spans(provider)


class RequestSpans:
    """Records a span for every request."""

    def __init__(self, app: ASGIApp, spans: Spans | None) -> None:
        self._app = app
        self._spans = spans

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._spans is None or scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        with self._spans.request(scope) as span:

            async def send_and_record(message: Message) -> None:
                if message["type"] == "http.response.start":
                    span.set_attribute("http.response.status_code", message["status"])
                await send(message)

            try:
                await self._app(scope, receive, send_and_record)
            finally:
                route = str(getattr(scope.get("route"), "path", "none"))
                span.update_name(f"{scope['method']} {route}")
                span.set_attributes({"http.request.method": scope["method"], "http.route": route})
