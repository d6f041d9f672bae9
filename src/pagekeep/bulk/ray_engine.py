"""The same run on Ray: files are read, pages read and parts written wherever the cluster has room.

Files go through in waves. A wave is there wholly or not at all, which is what a run that was killed goes on from. The pages of
a wave are spread, held back and scaled by Ray; each is read by the same function as on one machine, in a killable child.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from pagekeep.bulk.accounts import Account
from pagekeep.bulk.arrow import table_of
from pagekeep.bulk.course import Course
from pagekeep.bulk.local import TASK
from pagekeep.bulk.plan import Plan
from pagekeep.bulk.reading import Found, Reading, needed_pyarrow, opened, records
from pagekeep.bulk.records import Line, Record, Refused
from pagekeep.bulk.row import Job, Made, OutputFormat, failed
from pagekeep.errors import UnsupportedContent
from pagekeep.workers import Worker

WAVE: Final = 64
"""Files a wave."""
_BATCH: Final = 32
_NEEDED: Final = ("place", "kind", "level", "language", "words", "error_type", "error")
"""Columns of which the account is made."""


def run(plan: Plan, course: Course, address: str | None = None) -> Reading:
    """Work through every wave that is not done."""
    ray = _ray()
    if plan.duplicates != "keep":
        raise UnsupportedContent(
            "On Ray duplicates are not looked for: nobody there sees all pages.",
            suggestions=("Leave out --duplicates, or use --engine local.",),
        )
    started = not ray.is_initialized()
    if started:
        ray.init(address=address, log_to_driver=False, include_dashboard=False, configure_logging=False)
    try:
        for number, start in enumerate(range(0, len(plan.inputs), WAVE)):
            done = plan.out / f"wave-{number:06}"
            if not done.is_dir() and (plan.limit is None or course.records < plan.limit):
                account = _wave(ray, plan, start, done, course.records)
                course.share = min(1.0, (start + WAVE) / len(plan.inputs))
                course.many(account)
    finally:
        if started:
            ray.shutdown()
    return plan.reading()


def _ray() -> Any:
    try:
        import ray
        import ray.data
    except ImportError as missing:
        raise UnsupportedContent(
            "That engine needs Ray.", suggestions=("Install it: pip install 'pagekeep[ray]'.",)
        ) from missing
    return ray


def _wave(ray: Any, plan: Plan, start: int, done: Path, before: int) -> Account:
    draft = done.with_name(f"{done.name}.draft")
    shutil.rmtree(draft, ignore_errors=True)
    files = [{"index": index} for index in range(start, min(start + WAVE, len(plan.inputs)))]
    pages = ray.data.from_items(files, override_num_blocks=len(files)).flat_map(_Reader(plan))
    if plan.limit is not None:
        ray.data.DataContext.get_current().execution_options.preserve_order = True  # the first ones, as on one machine
        pages = pages.limit(plan.limit - before)
    rows = pages.map_batches(
        RowMaker, fn_constructor_args=(plan,), batch_size=_BATCH, batch_format="pyarrow", concurrency=(1, plan.workers)
    )
    write(rows, draft, plan.format)
    draft.rename(done)
    return account_of(done, plan)


def write(rows: Any, folder: Path, format: OutputFormat) -> None:
    """Parts of a wave, by Ray's own writers."""
    if format == "jsonl":
        rows.write_json(str(folder))
    else:
        rows.write_parquet(str(folder), compression="zstd")


class _Reader:
    """A file's records as rows that Ray can carry. What was refused travels as its error."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def __call__(self, file: dict[str, Any]) -> Iterator[dict[str, Any]]:
        reading = replace(self._plan.reading(), begun=int(file["index"]) > 0)
        for record in records(self._plan.inputs[int(file["index"])], reading):
            if self._plan.takes(record.place):
                yield _carried(record)


def _carried(found: Found) -> dict[str, Any]:
    record = opened(found) if isinstance(found, Line) else found
    row: dict[str, Any] = {
        "place": record.place,
        "url": record.url or "",
        "html": b"",
        "encoding": "",
        "status": 0,
        "error": "",
    }
    if isinstance(record, Refused):
        return row | {"error": json.dumps([record.error.type, record.error.message])}
    html = record.html.encode("utf-8", "surrogatepass") if isinstance(record.html, str) else record.html
    encoding = "utf-8" if isinstance(record.html, str) else record.encoding or ""
    return row | {"html": html, "encoding": encoding, "status": record.status or 0}


class RowMaker:
    """An actor with a killable child of its own."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._wanted = replace(plan.wanted(), format="parquet")  # Ray writes what it is given as a table
        self._worker = Worker(TASK, plan.limits)

    def __call__(self, batch: Any) -> Any:
        jobs = [Job(_record(row), self._wanted) for row in batch.to_pylist()]
        answers = zip(jobs, self._worker.ask(jobs), strict=True)
        rows: list[Made] = [made if error is None else failed(job, error) for job, (made, error) in answers]
        return table_of([made.cells for made in rows if not self._plan.why_left_out(made)], self._plan.columns)


def _record(row: dict[str, Any]) -> Record | Refused:
    from pagekeep import errors

    if row["error"]:
        kind, message = json.loads(row["error"])
        return Refused(row["place"], row["url"] or None, getattr(errors, kind)(message))
    return Record(row["place"], row["url"] or None, row["html"], row["encoding"] or None, row["status"] or None)


def account_of(folder: Path, plan: Plan) -> Account:
    """What a wave holds, counted from what was written."""
    account = Account()
    for row in _written(folder, plan):
        told = {name: row[name] for name in _NEEDED if row.get(name) is not None}
        account.count(Made((), **{"place": "", **told}))
    return account


def _written(folder: Path, plan: Plan) -> Iterator[dict[str, Any]]:
    wanted = [name for name in _NEEDED if name in plan.columns]
    for file in sorted(folder.iterdir()):
        if plan.format == "jsonl":
            with file.open(encoding="utf-8") as lines:
                yield from map(json.loads, lines)
        elif file.suffix == ".parquet":
            yield from needed_pyarrow().parquet.read_table(file, columns=wanted).to_pylist()


def accounts(plan: Plan) -> Iterator[Account]:
    """Of all waves that are done."""
    for folder in sorted(plan.out.glob("wave-??????")):
        yield account_of(folder, plan)
