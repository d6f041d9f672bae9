"""How a run goes: told to whoever watches while it goes, kept for the report."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heappushpop
from time import monotonic
from typing import Any, Final

from pagekeep.bulk.row import Made
from pagekeep.bulk.tally import Account

_SLICES: Final = 120
"""Pieces of time of which the rate is kept: their length doubles when there are more."""
_STEPS: Final = 4
"""Classes of times per doubling."""
_SLOWEST: Final = 5
_PAUSE: Final = 0.2
"""Seconds between two words about progress."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run is."""

    records: int
    """Done, those of earlier runs that were taken up again included."""
    new_records: int
    """In this run."""
    errors: Counter[str]
    """Failures by type, all of them."""
    share: float | None
    """Of the input that is done, 0 to 1; `None` where its size is not known."""
    seconds: float
    """Since the run began."""
    rate: float
    """Records a second of late."""
    seconds_left: float | None
    """About; `None` where it cannot be told, or not yet."""


Watcher = Callable[[Progress], None]


def unwatched(_progress: Progress) -> None:
    """Nobody looks."""


@dataclass(slots=True)
class Times:
    """How long things took in one run. None of it decides what is written."""

    slice_seconds: float = 1.0
    slices: list[int] = field(default_factory=list)
    """Records done in each piece of time."""
    classes: Counter[int] = field(default_factory=Counter)
    """Pages by the time they took: classes of which four double it."""
    slowest: list[tuple[float, str]] = field(default_factory=list)
    """Milliseconds and place."""

    def page(self, now: float, made: Made) -> None:
        """A record is done, so many seconds into the run."""
        self._slice(int(now / self.slice_seconds))
        if made.milliseconds <= 0:
            return
        self.classes[math.floor(_STEPS * math.log2(made.milliseconds))] += 1
        entry = (made.milliseconds, made.place)
        if len(self.slowest) < _SLOWEST:
            self.slowest.append(entry)
            self.slowest.sort()
        elif entry > self.slowest[0]:
            heappushpop(self.slowest, entry)

    def _slice(self, number: int) -> None:
        while number >= _SLICES:
            pairs = zip(self.slices[::2], [*self.slices[1::2], 0], strict=False)
            self.slices = [one + other for one, other in pairs]
            self.slice_seconds, number = 2 * self.slice_seconds, number // 2
        self.slices += [0] * (number + 1 - len(self.slices))
        self.slices[number] += 1

    def quantile(self, share: float) -> float:
        """Milliseconds within which this share of the pages was done, to the class."""
        rest = share * self.classes.total()
        for number in sorted(self.classes):
            rest -= self.classes[number]
            if rest <= 0:
                return float(2 ** ((number + 1) / _STEPS))
        return 0.0

    def histogram(self) -> list[tuple[float, int]]:
        """The upper bound of each class in milliseconds, and its pages; none left out in between."""
        if not self.classes:
            return []
        classes = range(min(self.classes), max(self.classes) + 1)
        return [(float(2 ** ((number + 1) / _STEPS)), self.classes[number]) for number in classes]

    def to_json(self) -> dict[str, Any]:
        """As plain JSON types."""
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


class Course:
    """The run as it goes."""

    def __init__(self, before: Account, watcher: Watcher) -> None:
        self.times = Times()
        self.new_records = 0
        self._before = before
        self._errors = Counter(before.errors)
        self._watcher = watcher
        self._started = monotonic()
        self._told = 0.0
        self._first: tuple[float, float] | None = None
        self._recent: tuple[float, int, float] = (0.0, 0, 0.0)
        self.share: float | None = None
        """Of the input that is done, as far as that is known."""

    @property
    def records(self) -> int:
        """Done, in earlier runs and in this one."""
        return self._before.records + self.new_records

    @property
    def seconds(self) -> float:
        """Since the run began."""
        return monotonic() - self._started

    def page(self, made: Made) -> None:
        """A record is done."""
        now = self.seconds
        self.new_records += 1
        if made.error_type:
            self._errors[made.error_type] += 1
        self.times.page(now, made)
        if now - self._told >= _PAUSE:
            self.tell()

    def many(self, account: Account) -> None:
        """Records that were done elsewhere are done, all at once."""
        self.new_records += account.records
        self._errors.update(account.errors)
        self.tell()

    def tell(self) -> None:
        """Tell the watcher."""
        self._told = now = self.seconds
        self._watcher(
            Progress(
                records=self.records,
                new_records=self.new_records,
                errors=Counter(self._errors),
                share=self.share,
                seconds=now,
                rate=self._rate(now),
                seconds_left=self._left(now),
            )
        )

    def _rate(self, now: float) -> float:
        """Over some ten seconds: steady enough to be read, quick enough to be true."""
        since, records, rate = self._recent
        if now - since >= 5 or not rate:
            rate = (self.new_records - records) / (now - since) if now > since else 0.0
        if now - since >= 10:
            self._recent = (now, self.new_records, rate)
        else:
            self._recent = (since, records, rate)
        return rate

    def _left(self, now: float) -> float | None:
        """By the share done since the first new record: what an earlier run did is passed over in no time."""
        share = self.share
        if share is None or not self.new_records:
            return None
        if self._first is None:
            self._first = (now, share)
        began, start = self._first
        if now - began < 2 or share - start <= 0:
            return None
        return (now - began) * (1 - share) / (share - start)
