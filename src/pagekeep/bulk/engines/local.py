"""All cores of one machine: pages in batches to killable workers, rows in the order of the records into parts."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, NamedTuple

from pagekeep.bulk.duplicates import Seen
from pagekeep.bulk.input.read import Found, Reading, records
from pagekeep.bulk.output.parts import Parts
from pagekeep.bulk.output.write import Writing
from pagekeep.bulk.plan import Plan
from pagekeep.bulk.progress import Course
from pagekeep.bulk.row import Job, Made, failed
from pagekeep.workers import Answer, Pool

TASK: Final = "pagekeep.bulk.row:make"
_BATCH: Final = 16
_BATCH_BYTES: Final = 4_000_000
"""A batch ends here too, so that large pages do not wait in memory together."""


def run(plan: Plan, parts: Parts, course: Course) -> Reading:
    """Work through everything that is not done yet."""
    reading = plan.reading()
    seen = Seen(near=plan.duplicates == "near") if plan.duplicates != "keep" else None
    if seen:
        seen.join(parts.seen())
    whole, asked = _size(plan), deque[_Asked]()
    jobs = _jobs(plan, _todo(plan, parts, reading), reading, asked)
    with Pool(TASK, plan.workers, plan.limits) as pool, Writing(parts) as writing:
        for answer in pool.map_batches(in_batches(jobs)):
            made, where = _made(answer), asked.popleft()
            writing.turn_to(where.part)
            _place(plan, writing, made, seen)
            course.share = _share(plan, course, where.position, whole)
            course.page(made)
        writing.finish()
        writing.wait()
    course.share = 1.0
    course.tell()
    return reading


class _Asked(NamedTuple):
    """A record that was handed to a worker: what is put aside of it until the answer comes."""

    part: int
    position: int
    """How much of the input had been read by then."""


def _size(plan: Plan) -> int:
    """Bytes of all files together; 0 when one does not say."""
    sizes = [item.size for item in plan.inputs]
    return 0 if None in sizes else sum(size or 0 for size in sizes)


def _share(plan: Plan, course: Course, position: int, whole: int) -> float | None:
    """Of the input, by bytes or by the number of records asked for, whichever is through first."""
    read = min(1.0, position / whole) if whole else None
    if plan.limit is None:
        return read
    return max(read or 0.0, min(1.0, course.records / plan.limit))


def _todo(plan: Plan, parts: Parts, reading: Reading) -> Iterator[tuple[int, Found]]:
    """Records of parts that are not done, each with the number of its part."""
    done: dict[int, bool] = {}
    for index, record in enumerate(islice(_taken(plan, reading), plan.limit)):
        number = index // plan.part_size
        if number not in done:
            done = {number: parts.is_done(number)}
        if not done[number]:
            yield number, record


def _taken(plan: Plan, reading: Reading) -> Iterator[Found]:
    for item in plan.inputs:
        yield from (record for record in records(item, reading) if plan.takes(record.place))


def _jobs(plan: Plan, todo: Iterator[tuple[int, Found]], reading: Reading, asked: deque[_Asked]) -> Iterator[Job]:
    wanted = plan.wanted()
    for number, record in todo:
        asked.append(_Asked(number, reading.position()))
        yield Job(record, wanted)


def in_batches(jobs: Iterable[Job]) -> Iterator[list[Job]]:
    """Jobs that go to a worker together."""
    batch: list[Job] = []
    size = 0
    for job in jobs:
        batch.append(job)
        size += job.record.size
        if len(batch) == _BATCH or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _made(answer: Answer) -> Made:
    made: Made = answer.result if answer.error is None else failed(answer.job, answer.error)
    return made


def _place(plan: Plan, writing: Writing, made: Made, seen: Seen | None) -> None:
    """The row into its part, unless a filter leaves it out; counted in any case."""
    left_out = plan.why_left_out(made)
    if seen and not left_out and made.signature:
        left_out = seen.add(made.signature)
        if left_out is None:
            writing.new.append(made.signature)
    if left_out:
        writing.account.leave_out(left_out)
    else:
        writing.account.count(made)
        writing.add(made.cells)
