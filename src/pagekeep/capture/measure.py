"""Measure every capture: one line in the log, which names the host and never the whole address, and the same for metrics."""

from __future__ import annotations

import logging
import time
from asyncio import CancelledError
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final, Self

from pagekeep.errors import PagekeepError
from pagekeep.fetch.urls import split_url
from pagekeep.model import Page

CAPTURES: Final = "pagekeep.captures"
"""The name of the log with one line for each capture."""
_log: Final = logging.getLogger(CAPTURES)
logging.getLogger("pagekeep").addHandler(logging.NullHandler())  # a command without a log prints nothing
INTERRUPTED: Final = "Interrupted"
"""The error of a capture that was cancelled."""


class Stage(str):
    """What a capture does at the moment: a text for users, with the code by which logs, metrics and clients know it."""

    code: str

    def __new__(cls, code: str, text: str) -> Self:
        stage = super().__new__(cls, text)
        stage.code = code
        return stage


FETCHING: Final = Stage("fetch", "Fetching")
STARTING_BROWSER: Final = Stage("browser", "Starting the browser")
RENDERING: Final = Stage("render", "Rendering")
WAITING_FOR_READER: Final = Stage("remote", "Waiting for the remote reader")
JOINING: Final = Stage("join", "Joining the pages")
EXTRACTING: Final = Stage("extract", "Extracting")
COMPARING: Final = Stage("compare", "Comparing")
STORING: Final = Stage("store", "Storing")


@dataclass(slots=True)
class Capture:
    """What is known of one capture: also its progress, which measures the time of each stage."""

    host: str
    show: Callable[[str], None]
    """Shows the stage to the user."""
    outcome: str = "failed"
    """`added`, `updated`, `unchanged`, `kept` (the stored version is better), `extracted` (not stored) or `failed`."""
    error: str | None = None
    """Type of the error."""
    page: Page | None = None
    page_bytes: int | None = None
    """Size of the page as it came, after decompression."""
    seconds: dict[str, float] = field(default_factory=dict)
    """By stage."""
    _stage: str | None = None
    _since: float = 0.0

    def progress(self, stage: str) -> None:
        """End the stage before, and begin this one."""
        self._end_stage()
        self._stage = stage.code if isinstance(stage, Stage) else "other"
        self.show(stage)

    def _end_stage(self) -> None:
        now = time.perf_counter()
        if self._stage is not None:
            self.seconds[self._stage] = self.seconds.get(self._stage, 0.0) + now - self._since
        self._stage, self._since = None, now

    def finish(self) -> None:
        """End the last stage and write the line."""
        self._end_stage()
        _log.log(self.log_level, "capture", extra={"fields": self.fields()})

    @property
    def log_level(self) -> int:
        """How serious the outcome is: a failure, a strategy that fell back to the next one, or neither.

        A capture that its user or client ended is not a failure.
        """
        if self.error is not None:
            return logging.INFO if self.error == INTERRUPTED else logging.ERROR
        attempts = self.page.trace.attempts if self.page else ()
        return (
            logging.WARNING if attempts and self.page and attempts[0].strategy != self.page.strategy else logging.INFO
        )

    def fields(self) -> dict[str, Any]:
        """Return what is logged."""
        fields: dict[str, Any] = {"host": self.host, "outcome": self.outcome, "error": self.error}
        if self.page_bytes is not None:
            fields["bytes"] = self.page_bytes
        if self.page is not None:
            fields |= {
                "strategy": self.page.strategy,
                "score": self.page.quality.score,
                "words": self.page.word_count,
                "kind": self.page.kind,
                "rules": list(dict.fromkeys(match.id for match in self.page.trace.rules)),
            }
        return fields | {"ms": {stage: round(seconds * 1000, 1) for stage, seconds in self.seconds.items()}}


@contextmanager
def measure(
    url: str, show: Callable[[str], None], report: Callable[[Capture], None] | None = None
) -> Iterator[Capture]:
    """Measure what is done inside as one capture; log it, and pass it to `report`."""
    capture = Capture(_host(url), show)
    try:
        yield capture
    except (PagekeepError, CancelledError) as error:
        capture.error = error.type if isinstance(error, PagekeepError) else INTERRUPTED
        raise
    except Exception:
        capture.error = "Unexpected"
        raise
    finally:
        capture.finish()
        if report is not None:
            report(capture)


def _host(url: str) -> str:
    with suppress(PagekeepError):
        return split_url(url).host.name
    return ""
