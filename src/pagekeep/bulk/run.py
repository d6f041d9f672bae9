"""Extract a corpus into a folder, or an iterable of pages into rows."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, Literal

from pagekeep.bulk.counts import Counts
from pagekeep.bulk.engines import local, ray_engine
from pagekeep.bulk.input import files
from pagekeep.bulk.input.records import Record
from pagekeep.bulk.output.parts import Parts
from pagekeep.bulk.plan import Plan
from pagekeep.bulk.progress import ProgressTracker, ShowProgress, ignore_progress
from pagekeep.bulk.report import Report, write_report
from pagekeep.bulk.row import DEFAULT_COLUMNS, Job, Row, RowOptions, failed_row
from pagekeep.workers import Limits, Pool

Engine = Literal["local", "ray"]
Source = str | Path
ROW_TASK: Final = "pagekeep.bulk.row:make_row"


def run(
    source: Plan | Source | Iterable[Source],
    out: Source | None = None,
    *,
    engine: Engine = "local",
    address: str | None = None,
    resume: bool = False,
    progress: ShowProgress = ignore_progress,
    **options: Any,
) -> Report:
    """Extract every page of the source into parts, and write a report.

    `source` is a file, a folder, a pattern, an address for fsspec, or several of these; `out` is the folder to write to;
    further names are those of `Plan` (`columns`, `format`, `workers`, `limit`, `sample`, `languages`, `min_score`,
    `duplicates`...). A `Plan` as the source has all of these. `engine` uses all cores of this machine, or Ray (at `address`,
    or started for the run). `resume` continues an interrupted run: no record is lost or written twice. `progress` is called
    a few times per second.
    """
    plan = source if isinstance(source, Plan) else _make_plan(source, out, options)
    parts = Parts(plan.out, plan.columns, plan.format)
    parts.begin({**plan.manifest(), "engine": engine}, resume=resume)
    tracker = ProgressTracker(_sum_counts(plan, parts, engine), progress)
    tracker.update()
    state = ray_engine.run(plan, tracker, address) if engine == "ray" else local.run(plan, parts, tracker)
    report = Report(
        _sum_counts(plan, parts, engine), dict(state.skipped), tracker.seconds, tracker.new_records, tracker.timings
    )
    write_report(report, plan.out)
    return report


def _make_plan(source: Source | Iterable[Source], out: Source | None, options: dict[str, Any]) -> Plan:
    if out is None:
        raise TypeError("The output folder is missing: call run(source, out).")
    paths = [source] if isinstance(source, (str, Path)) else source
    return Plan(files.find_files(map(str, paths)), Path(out), **options)


def _sum_counts(plan: Plan, parts: Parts, engine: Engine) -> Counts:
    total = Counts()
    for counts in ray_engine.count_files(plan) if engine == "ray" else parts.counts():
        total.add(counts)
    return total


def extract_many(
    pages: Iterable[tuple[str | None, str | bytes]],
    *,
    columns: tuple[str, ...] = DEFAULT_COLUMNS,
    workers: int | None = None,
    limits: Limits = Limits(),
) -> Iterator[Row]:
    """Yield a row for each (address, HTML) pair, in order, using all cores. A page that fails gives a row with the error."""
    options = RowOptions(columns)
    jobs = (Job(Record(str(number), url, html), options) for number, (url, html) in enumerate(pages))
    with Pool(ROW_TASK, workers or os.cpu_count() or 1, limits) as pool:
        for row, error, job in pool.map_batches(local.split_batches(jobs)):
            yield row if error is None else failed_row(job, error)
