"""Metrics for Prometheus. Several processes combine theirs in the folder of `PROMETHEUS_MULTIPROC_DIR`."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest, multiprocess

from pagekeep.capture.from_url import ExtractPage
from pagekeep.capture.measure import Capture
from pagekeep.library.queue.runner import JobResult
from pagekeep.model import Fetched, Options, Page

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
        self._requests = Histogram(
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

    def record_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Record a request."""
        self._requests.labels(method, route, str(status)).observe(seconds)

    def render(self, jobs: Mapping[str, int]) -> bytes:
        """Return all metrics in the format of Prometheus."""
        for state, count in jobs.items():
            self._jobs.labels(state).set(count)
        if SHARED_FOLDER not in os.environ:
            return generate_latest(self._registry)
        combined = CollectorRegistry()
        multiprocess.MultiProcessCollector(combined)  # type: ignore[no-untyped-call]
        return generate_latest(combined)
