"""Extract a corpus into a folder, an iterable of pages into rows, or a batch of columns into columns."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal

from pagekeep.bulk import input_files, local, ray_engine
from pagekeep.bulk.counts import Counts
from pagekeep.bulk.input_files import Record, RefusedRecord
from pagekeep.bulk.local import split_batches
from pagekeep.bulk.output import Parts
from pagekeep.bulk.plan import Plan
from pagekeep.bulk.progress import ProgressTracker, ShowProgress, ignore_progress
from pagekeep.bulk.report import Report, write_report
from pagekeep.bulk.row import DEFAULT_COLUMNS, Job, Row, RowOptions, failed_row
from pagekeep.errors import ParseError
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
    return Plan(input_files.find_files(map(str, paths)), Path(out), **options)


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


def extract_batch(
    batch: Mapping[str, Sequence[Any]],
    *,
    html: str = "html",
    url: str = "url",
    columns: tuple[str, ...] = DEFAULT_COLUMNS,
) -> dict[str, list[Any]]:
    """Return a list for each of `columns`, with a value for each page in the batch's column `html`, in order.

    The batch is any mapping of columns, such as a dict of lists or arrays or a data frame; its own columns are not returned.
    Pages are extracted in a child process. A page that fails, hangs or crashes gives a row with the error.
    """
    options = RowOptions(columns)
    pages = list(batch[html])
    addresses = list(batch[url]) if url in batch else [None] * len(pages)
    jobs = [
        Job(_record(number, page, address), options)
        for number, (page, address) in enumerate(zip(pages, addresses, strict=True))
    ]
    answers = _pool(os.getpid()).map_batches(split_batches(jobs))
    rows = [row if error is None else failed_row(job, error) for row, error, job in answers]
    return {name: [row[name] for row in rows] for name in columns}


def _record(number: int, page: Any, address: Any) -> Record | RefusedRecord:
    url = str(address) if isinstance(address, str) and address else None  # data frames use NaN for a missing value
    if not isinstance(page, (str, bytes)):
        return RefusedRecord(str(number), url, ParseError("The row contains no HTML."))
    return Record(str(number), url, page)


@lru_cache(maxsize=1)
def _pool(_process: int) -> Pool:
    """Return a pool with one child per process; a forked process gets its own."""
    return Pool(ROW_TASK, 1)
