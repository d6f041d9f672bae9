"""The progress and timings of a run, for the caller while it runs and for its report."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heappushpop
from time import monotonic
from typing import Any, Final

from pagekeep.bulk.counts import Counts
from pagekeep.bulk.row import RowResult

_MAX_SLICES: Final = 120
"""The rate is stored per slice of time, whose length doubles when there are more slices than this."""
_CLASSES_PER_DOUBLING: Final = 4
"""How many classes of the histogram of page times lie between a time and its double."""
_MAX_SLOWEST: Final = 5
_UPDATE_SECONDS: Final = 0.2
"""The shortest time between two progress updates."""
_MIN_RATE_SECONDS: Final = 5
_MAX_RATE_SECONDS: Final = 10
"""The rate is averaged over five to ten seconds: long enough to be steady, short enough to be current."""
_MIN_ESTIMATE_SECONDS: Final = 2
"""No time left is estimated before this."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The state of a run."""

    records: int
    """Records done, with those of the interrupted run that this one resumes."""
    new_records: int
    """Records done in this run."""
    errors: Counter[str]
    """Failures by type."""
    share: float | None
    """Share of the input that is done, 0 to 1; `None` when the input's size is not known."""
    seconds: float
    """Time since the run began."""
    rate: float
    """Recent records per second."""
    seconds_left: float | None
    """Estimated time left; `None` when it cannot be estimated."""


ShowProgress = Callable[[Progress], None]


def ignore_progress(_progress: Progress) -> None:
    """Show no progress."""


@dataclass(slots=True)
class Timings:
    """The timings of one run; they have no effect on the output."""

    slice_seconds: float = 1.0
    slices: list[int] = field(default_factory=list)
    """Records done in each slice of time."""
    classes: Counter[int] = field(default_factory=Counter)
    """Number of pages by class of time."""
    slowest: list[tuple[float, str]] = field(default_factory=list)
    """Milliseconds and place of the slowest pages."""

    def add(self, now: float, result: RowResult) -> None:
        """Count a record that was done `now` seconds after the start."""
        self._count_slice(int(now / self.slice_seconds))
        if result.milliseconds <= 0:
            return
        self.classes[math.floor(_CLASSES_PER_DOUBLING * math.log2(result.milliseconds))] += 1
        entry = (result.milliseconds, result.place)
        if len(self.slowest) < _MAX_SLOWEST:
            self.slowest.append(entry)
            self.slowest.sort()
        elif entry > self.slowest[0]:
            heappushpop(self.slowest, entry)

    def _count_slice(self, number: int) -> None:
        while number >= _MAX_SLICES:
            pairs = zip(self.slices[::2], [*self.slices[1::2], 0], strict=False)
            self.slices = [first + second for first, second in pairs]
            self.slice_seconds, number = 2 * self.slice_seconds, number // 2
        self.slices += [0] * (number + 1 - len(self.slices))
        self.slices[number] += 1

    def quantile(self, share: float) -> float:
        """Return the milliseconds within which this share of the pages was done, as a class's upper bound."""
        rest = share * self.classes.total()
        for number in sorted(self.classes):
            rest -= self.classes[number]
            if rest <= 0:
                return float(2 ** ((number + 1) / _CLASSES_PER_DOUBLING))
        return 0.0

    def histogram(self) -> list[tuple[float, int]]:
        """Return the upper bound in milliseconds and the number of pages of each class, empty ones included."""
        if not self.classes:
            return []
        classes = range(min(self.classes), max(self.classes) + 1)
        return [(float(2 ** ((number + 1) / _CLASSES_PER_DOUBLING)), self.classes[number]) for number in classes]

    def to_json(self) -> dict[str, Any]:
        """Return the timings as plain JSON types."""
        return {
            "over_time": {"seconds": self.slice_seconds, "records": self.slices},
            "milliseconds": {
                "median": round(self.quantile(0.5), 1),
                "p95": round(self.quantile(0.95), 1),
                "histogram": [[round(bound, 2), number] for bound, number in self.histogram()],
                "slowest": [
                    {"place": place, "milliseconds": time} for time, place in sorted(self.slowest, reverse=True)
                ],
            },
        }


class ProgressTracker:
    """Counts what is done and shows it now and then."""

    def __init__(self, before: Counts, show: ShowProgress) -> None:
        self.timings = Timings()
        self.new_records = 0
        self._before = before
        self._errors = Counter(before.errors)
        self._show = show
        self._started = monotonic()
        self._last_update = 0.0
        self._first: tuple[float, float] | None = None
        """Time and share at the first new record."""
        self._recent: tuple[float, int, float] = (0.0, 0, 0.0)
        """Time, new records and rate at the start of the current average."""
        self.share: float | None = None
        """Share of the input that is done, if known."""

    @property
    def records(self) -> int:
        """Records done, with those of the interrupted run that this one resumes."""
        return self._before.records + self.new_records

    @property
    def seconds(self) -> float:
        """Time since the run began."""
        return monotonic() - self._started

    def add(self, result: RowResult) -> None:
        """Count a record that is done."""
        now = self.seconds
        self.new_records += 1
        if result.error_type:
            self._errors[result.error_type] += 1
        self.timings.add(now, result)
        if now - self._last_update >= _UPDATE_SECONDS:
            self.update()

    def add_counts(self, counts: Counts) -> None:
        """Count many records at once, which were done on other machines."""
        self.new_records += counts.records
        self._errors.update(counts.errors)
        self.update()

    def update(self) -> None:
        """Show the progress."""
        self._last_update = now = self.seconds
        self._show(
            Progress(
                records=self.records,
                new_records=self.new_records,
                errors=Counter(self._errors),
                share=self.share,
                seconds=now,
                rate=self._rate(now),
                seconds_left=self._estimate_seconds_left(now),
            )
        )

    def _rate(self, now: float) -> float:
        """Return the average of the last seconds."""
        since, records, rate = self._recent
        if now - since >= _MIN_RATE_SECONDS or not rate:
            rate = (self.new_records - records) / (now - since) if now > since else 0.0
        if now - since >= _MAX_RATE_SECONDS:
            self._recent = (now, self.new_records, rate)
        else:
            self._recent = (since, records, rate)
        return rate

    def _estimate_seconds_left(self, now: float) -> float | None:
        """Estimate by the share done since the first new record: skipping what an earlier run did takes no time."""
        share = self.share
        if share is None or not self.new_records:
            return None
        if self._first is None:
            self._first = (now, share)
        first_time, first_share = self._first
        if now - first_time < _MIN_ESTIMATE_SECONDS or share - first_share <= 0:
            return None
        return (now - first_time) * (1 - share) / (share - first_share)
