"""Numbers for Prometheus. Several processes add theirs up in a folder that `PROMETHEUS_MULTIPROC_DIR` names."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest, multiprocess

from pagekeep.capture.from_url import ExtractPage
from pagekeep.library.queue.runner import JobResult
from pagekeep.model import Fetched, Options, Page

SHARED_FOLDER: Final = "PROMETHEUS_MULTIPROC_DIR"
_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_WORDS: Final = (50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000)
_SCORES: Final = tuple(range(10, 101, 10))


class Metrics:
    """The server's counters, in a registry of their own."""

    def __init__(self) -> None:
        self._registry = mine = CollectorRegistry()
        self._pages = Counter("pagekeep_extract", "Pages read, by the level they came to.", ["level"], registry=mine)
        self._errors = Counter("pagekeep_errors", "Failures, by type.", ["type"], registry=mine)
        self._seconds = Histogram(
            "pagekeep_duration_seconds", "Time for a page, by stage.", ["stage"], buckets=_SECONDS, registry=mine
        )
        self._scores = Histogram("pagekeep_quality_score", "Scores of pages, 0 to 100.", buckets=_SCORES, registry=mine)
        self._words = Histogram("pagekeep_word_count", "Words of pages.", buckets=_WORDS, registry=mine)
        self._rendered = Counter("pagekeep_render", "Pages that came out of the browser.", registry=mine)
        self._jobs = Gauge(
            "pagekeep_jobs", "Saves in the queue, by state.", ["state"], registry=mine, multiprocess_mode="mostrecent"
        )
        self._worked = Counter("pagekeep_jobs_worked", "Turns at jobs, by outcome.", ["outcome"], registry=mine)
        labels = ["method", "route", "status"]
        self._requests = Histogram(
            "pagekeep_request_seconds", "Time for a request.", labels, buckets=_SECONDS, registry=mine
        )

    def measured(self, read: ExtractPage) -> ExtractPage:
        """The same reading of pages, counted."""

        async def counted(fetched: Fetched, options: Options) -> Page:
            began = time.perf_counter()
            page = await read(fetched, options)
            self.read(page, fetched, time.perf_counter() - began)
            return page

        return counted

    def read(self, page: Page, fetched: Fetched, seconds: float) -> None:
        """A page was read."""
        self._seconds.labels("extract").observe(seconds)
        self._pages.labels(page.quality.level).inc()
        self._scores.observe(page.quality.score)
        self._words.observe(page.word_count)
        total = fetched.seconds.get("total")
        if total is not None:
            self._seconds.labels("render" if fetched.rendered else "fetch").observe(total)
        if fetched.rendered and total is not None:  # not one that came so from the caller or the library
            self._rendered.inc()

    def failed(self, kind: str) -> None:
        """Something failed in a way that has a name."""
        self._errors.labels(kind).inc()

    def worked(self, result: JobResult) -> None:
        """A turn at a job is over."""
        if result.error is None:
            self._worked.labels("done").inc()
        else:
            self._worked.labels("again" if result.retry_at else "dead").inc()
            self.failed(str(result.error.get("type")))

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """A request got its answer."""
        self._requests.labels(method, route, str(status)).observe(seconds)

    def text(self, jobs: Mapping[str, int]) -> bytes:
        """All numbers, as Prometheus reads them."""
        for state, count in jobs.items():
            self._jobs.labels(state).set(count)
        if SHARED_FOLDER not in os.environ:
            return generate_latest(self._registry)
        together = CollectorRegistry()
        multiprocess.MultiProcessCollector(together)  # type: ignore[no-untyped-call]
        return generate_latest(together)
