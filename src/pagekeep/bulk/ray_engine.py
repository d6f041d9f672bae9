"""Run on Ray: each file is a separate run, on whichever machine of the cluster has free cores.

A machine reads the file, extracts its pages and writes its parts as the local engine does, so no page travels between machines.
A file's folder is marked when it is complete; an interrupted run continues in the parts that are missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from pagekeep.bulk import local
from pagekeep.bulk.counts import Counts
from pagekeep.bulk.output import Parts
from pagekeep.bulk.plan import Plan
from pagekeep.bulk.progress import ProgressTracker, ignore_progress
from pagekeep.bulk.read_records import ReadState, read_records
from pagekeep.errors import PagekeepError, UnsupportedContent
from pagekeep.extras import install_command

_COMPLETE: Final = "_complete"
"""A file in a file's folder, written when all of its parts are there."""
_RETRIES: Final = 3
"""How often a file is started again when its machine is lost."""


class FileResult(NamedTuple):
    """What a machine did with a file."""

    counts: Counts
    """The records that were done now, and their errors."""
    skipped: Counter[str]
    error: PagekeepError | None = None
    """Why the run cannot go on, such as a column that no file has."""


def run(plan: Plan, tracker: ProgressTracker, address: str | None = None) -> ReadState:
    """Run every file that is not complete."""
    ray = _require_ray()
    if plan.duplicates != "keep":
        raise UnsupportedContent(
            "Ray cannot find duplicates: no process of the cluster sees all pages.",
            suggestions=("Leave out --duplicates, or use --engine local.",),
        )
    started = not ray.is_initialized()
    if started:
        ray.init(address=address, log_to_driver=False, include_dashboard=False, configure_logging=False)
    try:
        return _run_files(ray, plan, tracker)
    finally:
        if started:
            ray.shutdown()


def _require_ray() -> Any:
    try:
        import ray
    except ImportError as missing:
        raise UnsupportedContent(
            "The engine ray needs the package Ray.", suggestions=(f"To install: {install_command('ray')}",)
        ) from missing
    return ray


def _run_files(ray: Any, plan: Plan, tracker: ProgressTracker) -> ReadState:
    state, running = plan.new_read_state(), list[Any]()
    cores = _cores_per_file(ray, plan)
    task, shared = ray.remote(run_file).options(num_cpus=cores, max_retries=_RETRIES), ray.put(plan)
    todo, at_once, done = _files(ray, plan), max(1, plan.workers // cores), 0
    while True:
        while len(running) < at_once and (job := next(todo, None)):
            running.append(task.remote(shared, *job, cores))
        if not running:
            return state
        ended, running = ray.wait(running)
        for result in ray.get(ended):
            if result.error:
                raise result.error
            done += 1
            state.skipped.update(result.skipped)
            tracker.share = done / len(plan.inputs)
            tracker.add_counts(result.counts)


def _cores_per_file(ray: Any, plan: Plan) -> int:
    """Return how many workers a file gets: several when there are fewer files than workers, at most those of one machine."""
    largest = max((int(node["Resources"].get("CPU", 1)) for node in ray.nodes() if node["Alive"]), default=1)
    return max(1, min(plan.workers // len(plan.inputs), largest)) if plan.inputs else 1


def _files(ray: Any, plan: Plan) -> Iterator[tuple[int, int | None]]:
    """Yield the files to run, each with how many of its records to read: with a limit the first ones, as on one machine."""
    left = plan.limit
    for index in range(len(plan.inputs)):
        if left is None:
            yield index, None
        elif left > 0:
            count = ray.get(ray.remote(count_records).remote(plan, index, left))
            yield index, count
            left -= count


def count_records(plan: Plan, index: int, most: int) -> int:
    """Return how many records of the file are in the sample, at most as many as asked for."""
    state = replace(plan.new_read_state(), started=True)  # a wrong column is reported by the run itself
    records = (record for record in read_records(plan.inputs[index], state) if plan.in_sample(record.place))
    return sum(1 for _ in zip(range(most), records, strict=False))


def run_file(plan: Plan, index: int, limit: int | None, workers: int) -> FileResult:
    """Extract a file into its own folder, where this is called."""
    folder = _folder(plan, index)
    if (folder / _COMPLETE).exists():
        return FileResult(Counts(), Counter())
    own = replace(plan, inputs=(plan.inputs[index],), out=folder, limit=limit, workers=workers)
    parts = Parts(folder, plan.columns, plan.format)
    state, before, after = replace(plan.new_read_state(), started=index > 0), Counts(), Counts()
    try:
        parts.begin(own.manifest(), resume=True)
        for counts in parts.counts():
            before.add(counts)
        local.run(own, parts, ProgressTracker(before, ignore_progress), state)
    except PagekeepError as error:
        return FileResult(Counts(), Counter(), error)
    for counts in parts.counts():
        after.add(counts)
    (folder / _COMPLETE).touch()
    now = Counts(records=after.records - before.records, errors=after.errors - before.errors)
    return FileResult(now, state.skipped)


def count_files(plan: Plan) -> Iterator[Counts]:
    """Yield the counts of all complete parts."""
    for index in range(len(plan.inputs)):
        yield from Parts(_folder(plan, index), plan.columns, plan.format).counts()


def _folder(plan: Plan, index: int) -> Path:
    return plan.out / f"file-{index:06}"
