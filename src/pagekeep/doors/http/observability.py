"""What the owner of a server sees of it: the log of requests, metrics for Prometheus and spans for OpenTelemetry."""

from __future__ import annotations

import logging
import os
import re
import time
import uuid
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, suppress
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest, multiprocess
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pagekeep.capture.from_url import ExtractPage
from pagekeep.capture.measure import Capture
from pagekeep.doors.logs import request_id as request_ids
from pagekeep.errors import InvalidQuery, PagekeepError, StoreError
from pagekeep.extras import install_command
from pagekeep.fetch.urls import split_url
from pagekeep.library.run_jobs import JobResult
from pagekeep.model import Fetched, Options, Page
from pagekeep.version import __version__

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span


_request_log: Final = logging.getLogger("pagekeep.requests")
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
        self._metrics.requests.labels(method, route, str(status)).observe(seconds)
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
        _request_log.log(level, "request", extra={"fields": fields})


SHARED_FOLDER: Final = "PROMETHEUS_MULTIPROC_DIR"
_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_WORDS: Final = (50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000)
_PARSE_STEPS: Final = ("decode", "parse")
"""The steps of the pipeline that make a tree of the page's bytes; the others extract from it."""
_SCORES: Final = tuple(range(10, 101, 10))


class Metrics:
    """The server's metrics, in their own registry."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        self._pages = Counter("pagekeep_extract", "Extracted pages, by quality level.", ["level"], registry=registry)
        self._captures = Counter(
            "pagekeep_captures",
            "Captures of pages, one per line in the log, by outcome.",
            ["outcome"],
            registry=registry,
        )
        self._errors = Counter("pagekeep_errors", "Errors, by type.", ["type"], registry=registry)
        self._seconds = Histogram(
            "pagekeep_duration_seconds", "Time per page, by stage.", ["stage"], buckets=_SECONDS, registry=registry
        )
        self._scores = Histogram(
            "pagekeep_quality_score", "Quality scores, 0 to 100.", buckets=_SCORES, registry=registry
        )
        self._words = Histogram("pagekeep_word_count", "Words per page.", buckets=_WORDS, registry=registry)
        self._rendered = Counter("pagekeep_render", "Pages rendered in a browser.", registry=registry)
        self._jobs = Gauge(
            "pagekeep_jobs",
            "Jobs in the queue, by state.",
            ["state"],
            registry=registry,
            multiprocess_mode="mostrecent",
        )
        self._worked = Counter("pagekeep_jobs_worked", "Job attempts, by outcome.", ["outcome"], registry=registry)
        labels = ["method", "route", "status"]
        self.requests = Histogram(
            "pagekeep_request_seconds", "Time per request.", labels, buckets=_SECONDS, registry=registry
        )

    def measure(self, read: ExtractPage) -> ExtractPage:
        """Return an extraction function that also records metrics."""

        async def read_and_record(fetched: Fetched, options: Options) -> Page:
            start = time.perf_counter()
            page = await read(fetched, replace(options, stopwatch=time.perf_counter))
            self.record_page(page, fetched, time.perf_counter() - start)
            return page

        return read_and_record

    def record_page(self, page: Page, fetched: Fetched, seconds: float) -> None:
        """Record an extracted page."""
        parsing = sum(page.trace.seconds.get(step, 0.0) for step in _PARSE_STEPS)
        if parsing:
            self._seconds.labels("parse").observe(parsing)
        self._seconds.labels("extract").observe(max(0.0, seconds - parsing))
        self._pages.labels(page.quality.level).inc()
        self._scores.observe(page.quality.score)
        self._words.observe(page.word_count)
        total = fetched.seconds.get("total")
        if total is not None:
            self._seconds.labels("render" if fetched.rendered else "fetch").observe(total)
        if fetched.rendered and total is not None:  # not a page sent by a client or stored in the library
            self._rendered.inc()

    def record_capture(self, capture: Capture) -> None:
        """Record a capture, and its stages other than those of `record_page`."""
        self._captures.labels(capture.outcome).inc()
        for stage, seconds in capture.seconds.items():
            if stage not in ("fetch", "render", "extract"):
                self._seconds.labels(stage).observe(seconds)

    def record_error(self, kind: str) -> None:
        """Record an error by its type."""
        self._errors.labels(kind).inc()

    def record_job(self, result: JobResult) -> None:
        """Record an attempt at a job."""
        if result.error is None:
            self._worked.labels("done").inc()
        else:
            self._worked.labels("again" if result.retry_at else "dead").inc()
            self.record_error(str(result.error.get("type")))

    def render(self, jobs: Mapping[str, int]) -> bytes:
        """Return all metrics in the format of Prometheus."""
        for state, count in jobs.items():
            self._jobs.labels(state).set(count)
        if SHARED_FOLDER not in os.environ:
            return generate_latest(self._registry)
        combined = CollectorRegistry()
        multiprocess.MultiProcessCollector(combined)  # type: ignore[no-untyped-call]
        return generate_latest(combined)


_ENDPOINT_VARIABLES: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_NANOSECONDS: Final = 1_000_000_000
"""Per second."""
_span_log: Final = logging.getLogger("pagekeep.spans")


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


def configure_spans() -> Spans | None:
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
        _span_log.warning("a tracing endpoint is set, but the package is missing: %s", command)
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
