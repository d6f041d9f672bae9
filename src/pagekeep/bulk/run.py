"""A run from beginning to end, and the same for an iterable in a program."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, Literal

from pagekeep.bulk import report
from pagekeep.bulk.engines import local, ray_engine
from pagekeep.bulk.input import files
from pagekeep.bulk.input.records import Record
from pagekeep.bulk.output.parts import Parts
from pagekeep.bulk.plan import Plan
from pagekeep.bulk.progress import Course, Watcher, unwatched
from pagekeep.bulk.report import Report
from pagekeep.bulk.row import DEFAULT, Job, Row, Wanted, failed_row
from pagekeep.bulk.tally import Account
from pagekeep.workers import Limits, Pool

Engine = Literal["local", "ray"]
Source = str | Path
ROW: Final = "pagekeep.bulk.row:make_row"


def run(
    source: Plan | Source | Iterable[Source],
    out: Source | None = None,
    *,
    engine: Engine = "local",
    address: str | None = None,
    resume: bool = False,
    progress: Watcher = unwatched,
    **chosen: Any,
) -> Report:
    """Read everything, write parts and a report. A run that was killed goes on with `resume`: nothing is lost or doubled.

    `source` is a file, a folder, a pattern, an address for fsspec, or several; `out` the folder to write to; further names are
    those of `Plan` (`columns`, `format`, `workers`, `limit`, `sample`, `languages`, `min_score`, `duplicates`...). A `Plan`
    stands for all of these together. `engine` is all cores of this machine, or Ray (at `address`, or one that is started for
    the run). `progress` hears a few times a second where the run is.
    """
    plan = source if isinstance(source, Plan) else _planned(source, out, chosen)
    parts = Parts(plan.out, plan.columns, plan.format)
    parts.begin({**plan.manifest(), "engine": engine}, resume=resume)
    course = Course(_sum(plan, parts, engine), progress)
    course.tell()
    reading = ray_engine.run(plan, course, address) if engine == "ray" else local.run(plan, parts, course)
    done = Report(_sum(plan, parts, engine), dict(reading.skipped), course.seconds, course.new_records, course.times)
    report.write(done, plan.out)
    return done


def _planned(source: Source | Iterable[Source], out: Source | None, chosen: dict[str, Any]) -> Plan:
    if out is None:
        raise TypeError("Say where to write to: run(source, out).")
    places = [source] if isinstance(source, (str, Path)) else source
    return Plan(files.find(map(str, places)), Path(out), **chosen)


def _sum(plan: Plan, parts: Parts, engine: Engine) -> Account:
    account = Account()
    for one in ray_engine.accounts(plan) if engine == "ray" else parts.accounts():
        account.add(one)
    return account


def extract_many(
    pages: Iterable[tuple[str | None, str | bytes]],
    *,
    columns: tuple[str, ...] = DEFAULT,
    workers: int | None = None,
    limits: Limits = Limits(),
) -> Iterator[Row]:
    """A row for each (address, HTML), in their order, made by all cores. A page that fails gives a row that says why."""
    wanted = Wanted(columns)
    jobs = (Job(Record(str(number), url, html), wanted) for number, (url, html) in enumerate(pages))
    with Pool(ROW, workers or os.cpu_count() or 1, limits) as pool:
        for row, error, job in pool.map_batches(local.in_batches(jobs)):
            yield row if error is None else failed_row(job, error)
