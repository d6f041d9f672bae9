"""All cores of one machine: pages in batches to killable workers, rows in the order of the records into parts."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from pagekeep.bulk.duplicates import Seen, Signature
from pagekeep.bulk.parts import Account, Parts
from pagekeep.bulk.plan import Plan
from pagekeep.bulk.reading import Reading, records
from pagekeep.bulk.records import Record, Refused
from pagekeep.bulk.row import Job, Row, error_row
from pagekeep.workers import Answer, Pool

TASK: Final = "pagekeep.bulk.row:make_row"
_BATCH: Final = 16
_BATCH_BYTES: Final = 2_000_000
"""A batch ends here too, so that a few large pages do not wait in memory together."""

Progress = Callable[[Account], None]


@dataclass(slots=True)
class _Part:
    """A part that is being filled."""

    number: int
    rows: list[Row] = field(default_factory=list)
    new: list[Signature] = field(default_factory=list)
    account: Account = field(default_factory=Account)


def run(plan: Plan, parts: Parts, progress: Progress) -> Reading:
    """Work through everything that is not done yet; `progress` hears of every part."""
    reading = plan.reading()
    seen = Seen(near=plan.duplicates == "near") if plan.duplicates != "keep" else None
    if seen:
        seen.join(parts.seen())
    todo = _todo(plan, parts, reading)
    with Pool(TASK, plan.workers, plan.limits) as pool, ThreadPoolExecutor(1) as writer:
        writing: Future[None] | None = None
        for part in _filled(plan, pool, todo, seen):
            if writing:
                writing.result()  # one part waits at most: a slow disk holds the workers back instead of filling memory
            writing = writer.submit(parts.write, part.number, part.rows, part.account, part.new)
            progress(part.account)
        if writing:
            writing.result()
    return reading


def _todo(plan: Plan, parts: Parts, reading: Reading) -> Iterator[tuple[int, Record | Refused]]:
    """Records of parts that are not done, each with the number of its part."""
    done: dict[int, bool] = {}
    for index, record in enumerate(islice(_taken(plan, reading), plan.limit)):
        number = index // plan.part_size
        if number not in done:
            done = {number: parts.is_done(number)}
        if not done[number]:
            yield number, record


def _taken(plan: Plan, reading: Reading) -> Iterator[Record | Refused]:
    for item in plan.inputs:
        yield from (record for record in records(item, reading) if plan.takes(record.place))


def _filled(plan: Plan, pool: Pool, todo: Iterator[tuple[int, Record | Refused]], seen: Seen | None) -> Iterator[_Part]:
    """Parts with all their rows, one after another."""
    numbers: deque[int] = deque()
    part: _Part | None = None
    for answer in pool.map_batches(_batches(plan, todo, numbers)):
        number = numbers.popleft()
        if part and part.number != number:
            yield part
            part = None
        part = part or _Part(number)
        _place(plan, part, _row(answer), seen)
    if part:
        yield part


def _batches(plan: Plan, todo: Iterator[tuple[int, Record | Refused]], numbers: deque[int]) -> Iterator[list[Job]]:
    """Jobs in batches; the number of each one's part is put aside, to be met again when its answer comes."""
    batch: list[Job] = []
    size = 0
    for number, record in todo:
        numbers.append(number)
        batch.append(Job(record, plan.columns, plan.rules, plan.duplicates != "keep"))
        size += len(record.html) if isinstance(record, Record) else 0
        if len(batch) == _BATCH or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _row(answer: Answer) -> Row:
    if answer.error is None:
        row: Row = answer.result
        return row
    job: Job = answer.job
    return error_row(job.record.place, job.record.url, answer.error, job.columns)


def _place(plan: Plan, part: _Part, row: Row, seen: Seen | None) -> None:
    """The row into its part, unless a filter leaves it out; counted in any case."""
    account = part.account
    account.records += 1
    left_out = plan.why_left_out(row)
    if seen and not left_out and "signature" in row:
        left_out = seen.add(row["signature"])
        if left_out is None:
            part.new.append(row["signature"])
    if left_out:
        account.left_out[left_out] += 1
        return
    part.rows.append(row)
    account.rows += 1
    if row.get("error_type"):
        account.errors[row["error_type"]] += 1
    else:
        account.words += row["words"]
        account.kinds[row["kind"]] += 1
        account.levels[row["level"]] += 1
        account.languages[row["language"] or "unknown"] += 1
