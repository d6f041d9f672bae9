"""Where a run is, for a caller that watches."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from pagekeep import bulk
from pagekeep.bulk import Counts, Progress
from pagekeep.bulk import progress as course
from pagekeep.bulk.progress import ProgressTracker
from pagekeep.bulk.row import RowResult
from tests.bulk.making import jsonl, page


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_rate_and_time_left_follow_what_was_done(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, reported = Clock(), list[Progress]()
    monkeypatch.setattr(course, "monotonic", clock)
    going = ProgressTracker(Counts(records=1_000, errors=Counter(ParseError=3)), reported.append)
    for number in range(1, 101):
        clock.now += 0.5
        going.share = 0.5 + number / 400  # an earlier run had done the first half
        going.add(RowResult((), "place", "TooLarge" if number == 7 else None))
    last = reported[-1]
    assert (last.records, last.new_records) == (1_100, 100)
    assert last.errors == {"ParseError": 3, "TooLarge": 1}
    assert last.rate == pytest.approx(2, rel=0.1)
    assert last.seconds_left == pytest.approx(50, rel=0.05)


def test_nothing_is_promised_before_anything_is_known() -> None:
    reported = list[Progress]()
    ProgressTracker(Counts(), reported.append).update()
    assert (reported[0].rate, reported[0].share, reported[0].seconds_left) == (0.0, None, None)


def test_the_share_grows_to_the_whole_and_what_was_done_before_counts(tmp_path: Path) -> None:
    source = jsonl(tmp_path / "pages.jsonl", [page(number) for number in range(30)])
    reported = list[Progress]()
    bulk.run(source, tmp_path / "out", workers=1, part_size=10, progress=reported.append)
    shares = [progress.share for progress in reported if progress.share is not None]
    assert shares == sorted(shares)
    assert (shares[-1], reported[-1].records) == (1.0, 30)
    (tmp_path / "out" / "_accounts" / "000002.json").unlink()
    bulk.run(source, tmp_path / "out", workers=1, part_size=10, resume=True, progress=reported.append)
    assert (reported[-1].records, reported[-1].new_records) == (30, 10)
