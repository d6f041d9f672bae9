"""A run from beginning to end, and the same for an iterable in a program."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from time import monotonic
from typing import Literal

from pagekeep.bulk import local, ray_engine, report
from pagekeep.bulk.parts import Account, Parts
from pagekeep.bulk.plan import Plan
from pagekeep.bulk.records import Record
from pagekeep.bulk.report import Report
from pagekeep.bulk.row import DEFAULT, Job, Row, error_row
from pagekeep.workers import Limits, Pool

Progress = Callable[[Account], None]
Engine = Literal["local", "ray"]


def _silent(_account: Account) -> None:
    """Nobody watches."""


def run(
    plan: Plan,
    *,
    engine: Engine = "local",
    address: str | None = None,
    resume: bool = False,
    progress: Progress = _silent,
) -> Report:
    """Read everything, write parts and a report. A run that was killed goes on with `resume`: nothing is lost or doubled.

    `engine` is all cores of this machine, or Ray (at `address`, or one that is started for the run). `progress` hears of all
    parts that are done: first those of earlier runs together, then each as it is finished.
    """
    parts = Parts(plan.out, plan.columns, plan.format)
    parts.begin({**plan.manifest(), "engine": engine}, resume=resume)
    before = _sum(plan, parts, engine)
    progress(before)
    started = monotonic()
    reading = ray_engine.run(plan, progress, address) if engine == "ray" else local.run(plan, parts, progress)
    whole = _sum(plan, parts, engine)
    done = Report(whole, dict(reading.skipped), monotonic() - started, whole.records - before.records)
    report.write(done, plan.out)
    return done


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
    jobs = (Job(Record(str(number), url, html), columns) for number, (url, html) in enumerate(pages))
    with Pool(local.TASK, workers or os.cpu_count() or 1, limits) as pool:
        for job, row, error in pool.map(jobs):
            row = row if error is None else error_row(job.record.place, job.record.url, error, columns)
            yield {name: row.get(name) for name in columns}
