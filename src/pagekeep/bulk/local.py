"""Run on all cores of one machine: send batches of pages to workers, and write rows in the order of the records."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, NamedTuple

from pagekeep.bulk.duplicates import DuplicateFilter
from pagekeep.bulk.output import Parts, PartWriter
from pagekeep.bulk.plan import Plan
from pagekeep.bulk.progress import ProgressTracker
from pagekeep.bulk.read_records import InputRecord, ReadState, read_records
from pagekeep.bulk.row import Job, RowResult, failed_result
from pagekeep.workers import JobResult, Pool

RESULT_TASK: Final = "pagekeep.bulk.row:make_result"
_BATCH_RECORDS: Final = 16
_BATCH_BYTES: Final = 4_000_000
"""A batch also ends at this size, so that large pages do not wait in memory together."""


def run(plan: Plan, parts: Parts, tracker: ProgressTracker, state: ReadState | None = None) -> ReadState:
    """Extract every record that is not in a complete part. `state` says what was read before, if anything was."""
    state = state or plan.new_read_state()
    duplicates = DuplicateFilter(near=plan.duplicates == "near") if plan.duplicates != "keep" else None
    if duplicates:
        duplicates.remember(parts.signatures())
    total_bytes, pending = _input_bytes(plan), deque[_Pending]()
    jobs = _jobs(plan, _pending_records(plan, parts, state), state, pending)
    with Pool(RESULT_TASK, plan.workers, plan.limits) as pool, PartWriter(parts) as writer:
        for answer in pool.map_batches(split_batches(jobs)):
            result, record = _unwrap(answer), pending.popleft()
            writer.start_part(record.part)
            _write_or_skip(plan, writer, result, duplicates)
            tracker.share = _done_share(plan, tracker, record.position, total_bytes)
            tracker.add(result)
        writer.finish()
        writer.wait()
    tracker.share = 1.0
    tracker.update()
    return state


class _Pending(NamedTuple):
    """What is remembered of a record that a worker extracts."""

    part: int
    position: int
    """How much of the input had been read when the record was sent."""


def _input_bytes(plan: Plan) -> int:
    """Return the size of all files together; 0 when one is not known."""
    sizes = [item.size for item in plan.inputs]
    return 0 if None in sizes else sum(size or 0 for size in sizes)


def _done_share(plan: Plan, tracker: ProgressTracker, position: int, total_bytes: int) -> float | None:
    """Return the share of the input that is done: by bytes, or by the limit of records if that ends first."""
    read_share = min(1.0, position / total_bytes) if total_bytes else None
    if plan.limit is None:
        return read_share
    return max(read_share or 0.0, min(1.0, tracker.records / plan.limit))


def _pending_records(plan: Plan, parts: Parts, state: ReadState) -> Iterator[tuple[int, InputRecord]]:
    """Yield the records of parts that are not complete, each with the number of its part."""
    done: dict[int, bool] = {}
    for index, record in enumerate(islice(_sampled_records(plan, state), plan.limit)):
        number = index // plan.part_size
        if number not in done:
            done = {number: parts.is_done(number)}
        if not done[number]:
            yield number, record


def _sampled_records(plan: Plan, state: ReadState) -> Iterator[InputRecord]:
    for item in plan.inputs:
        yield from (record for record in read_records(item, state) if plan.in_sample(record.place))


def _jobs(
    plan: Plan, records: Iterator[tuple[int, InputRecord]], state: ReadState, pending: deque[_Pending]
) -> Iterator[Job]:
    options = plan.row_options()
    for number, record in records:
        pending.append(_Pending(number, state.position()))
        yield Job(record, options)


def split_batches(jobs: Iterable[Job]) -> Iterator[list[Job]]:
    """Yield lists of jobs that are sent to a worker together."""
    batch: list[Job] = []
    size = 0
    for job in jobs:
        batch.append(job)
        size += job.record.size
        if len(batch) == _BATCH_RECORDS or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _unwrap(answer: JobResult) -> RowResult:
    result: RowResult = answer.result if answer.error is None else failed_result(answer.job, answer.error)
    return result


def _write_or_skip(plan: Plan, writer: PartWriter, result: RowResult, duplicates: DuplicateFilter | None) -> None:
    """Count a row, and write it unless a filter leaves it out."""
    reason = plan.skip_reason(result)
    if duplicates and not reason and result.signature:
        reason = duplicates.add(result.signature)
        if reason is None:
            writer.signatures.append(result.signature)
    if reason:
        writer.counts.add_left_out(reason)
    else:
        writer.counts.add_row(result)
        writer.add(result.cells)
