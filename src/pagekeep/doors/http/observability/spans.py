"""Spans for OpenTelemetry: one a request, one a page that is read, and in it one a stage.

Only where somebody asked for them: with the extra `tracing`, and an address in OpenTelemetry's own variables.
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
from pagekeep.model import Fetched, Options, Page
from pagekeep.version import __version__

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span

_ADDRESSES: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_SECOND: Final = 1_000_000_000
_log: Final = logging.getLogger("pagekeep.spans")


class Spans:
    """Tells what happened when. Like the log, it tells of a page only the host."""

    def __init__(self, provider: TracerProvider) -> None:
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        self._provider = provider
        self._tracer = provider.get_tracer("pagekeep", __version__)
        self._incoming = TraceContextTextMapPropagator()

    def request(self, scope: Scope) -> AbstractContextManager[Span]:
        """The span of a request, in the trace that its sender began, if one did."""
        from opentelemetry.trace import SpanKind

        context = self._incoming.extract(dict(Headers(scope=scope).items()))
        return self._tracer.start_as_current_span(scope["method"], context, SpanKind.SERVER)

    def traced(self, read: ExtractPage) -> ExtractPage:
        """The same reading of pages, told of."""

        async def told(fetched: Fetched, options: Options) -> Page:
            began = time.time_ns()
            try:
                page = await read(fetched, replace(options, timer=time.perf_counter))
            except PagekeepError as error:
                self._tell(fetched, began, {"error.type": error.type}, ())
                raise
            about = {
                "pagekeep.level": page.quality.level,
                "pagekeep.score": page.quality.score,
                "pagekeep.strategy": page.strategy,
                "pagekeep.word_count": page.word_count,
            }
            self._tell(fetched, began, about, page.trace.seconds.items())
            return page

        return told

    def _tell(self, fetched: Fetched, began: int, about: dict[str, Any], stages: Iterable[tuple[str, float]]) -> None:
        """One span for the page, with what was measured on its way laid end to end: fetching, then the reader's stages."""
        from opentelemetry.trace import Status, StatusCode, set_span_in_context

        ended = time.time_ns()
        fetching = int(fetched.seconds.get("total", 0) * _SECOND)
        about = {"server.address": urlsplit(fetched.url).hostname or "", **about}
        whole = self._tracer.start_span("page", start_time=began - fetching, attributes=about)
        if "error.type" in about:
            whole.set_status(Status(StatusCode.ERROR))
        inside = set_span_in_context(whole)
        if fetching:
            self._part("render" if fetched.rendered else "fetch", inside, began - fetching, began)
        reading = self._part("extract", inside, began, ended)
        inside = set_span_in_context(reading)
        measured = list(stages)
        at = max(
            began, ended - int(sum(seconds for _, seconds in measured) * _SECOND)
        )  # before that it waited its turn
        for stage, seconds in measured:
            self._part(stage, inside, at, at := min(ended, at + int(seconds * _SECOND)))
        whole.end(ended)

    def _part(self, name: str, inside: Any, began: int, ended: int) -> Span:
        part = self._tracer.start_span(name, inside, start_time=began)
        part.end(ended)
        return part

    def close(self) -> None:
        """Send what is left."""
        self._provider.shutdown()


def configured() -> Spans | None:
    """Spans that go where the variables say; `None` when they name no place."""
    if not any(os.environ.get(name) for name in _ADDRESSES):
        return None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        _log.warning("an address for spans is set, but not the package: pip install 'pagekeep[tracing]'")
        return None
    name = os.environ.get("OTEL_SERVICE_NAME") or "pagekeep"
    provider = TracerProvider(resource=Resource.create({"service.name": name}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return Spans(provider)


class Traced:
    """A span around every request."""

    def __init__(self, app: ASGIApp, spans: Spans | None) -> None:
        self._app = app
        self._spans = spans

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._spans is None or scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        with self._spans.request(scope) as span:

            async def watched(message: Message) -> None:
                if message["type"] == "http.response.start":
                    span.set_attribute("http.response.status_code", message["status"])
                await send(message)

            try:
                await self._app(scope, receive, watched)
            finally:
                route = str(getattr(scope.get("route"), "path", "none"))
                span.update_name(f"{scope['method']} {route}")
                span.set_attributes({"http.request.method": scope["method"], "http.route": route})
