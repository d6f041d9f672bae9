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

from pagekeep.bulk.engines.local import TASK, in_batches
from pagekeep.bulk.input.read import Found, Reading, needed_pyarrow, opened, records
from pagekeep.bulk.input.records import Line, Record, Refused
from pagekeep.bulk.output.arrow import table_of
from pagekeep.bulk.plan import Plan
from pagekeep.bulk.progress import Course
from pagekeep.bulk.row import Job, Made, OutputFormat, failed
from pagekeep.bulk.tally import Account
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
    pages = ray.data.from_items(files, override_num_blocks=len(files)).map_batches(
        _Reader(plan), batch_size=1, batch_format="pyarrow"
    )
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
    """A file's records as tables that Ray can carry: row by row it takes longer over them."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def __call__(self, files: Any) -> Iterator[Any]:
        for index in files["index"].to_pylist():
            yield from map(_table, in_batches(Job(record) for record in self._records(index)))

    def _records(self, index: int) -> Iterator[Found]:
        reading = replace(self._plan.reading(), begun=index > 0)
        taken = (record for record in records(self._plan.inputs[index], reading) if self._plan.takes(record.place))
        return taken


def _table(jobs: list[Job]) -> Any:
    pyarrow = needed_pyarrow()
    types = {
        **dict.fromkeys(("place", "url", "html", "encoding", "error"), pyarrow.large_binary()),
        "status": pyarrow.int32(),
    }
    return pyarrow.Table.from_pylist([_carried(job.record) for job in jobs], schema=pyarrow.schema(types.items()))


def _carried(found: Found) -> dict[str, Any]:
    """Text as bytes: names and addresses may hold what a column of text cannot."""
    record = opened(found) if isinstance(found, Line) else found
    row: dict[str, Any] = {"place": _bytes(record.place), "url": _bytes(record.url)}
    if isinstance(record, Refused):
        return {**row, "error": json.dumps([record.error.type, record.error.message]).encode()}
    encoding = "utf-8" if isinstance(record.html, str) else record.encoding
    return {**row, "html": _bytes(record.html), "encoding": _bytes(encoding), "status": record.status}


def _bytes(text: str | bytes | None) -> bytes | None:
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text


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

    place, url = _text(row["place"]) or "", _text(row["url"])
    if row["error"]:
        kind, message = json.loads(row["error"])
        return Refused(place, url, getattr(errors, kind)(message))
    return Record(place, url, row["html"], _text(row["encoding"]), row["status"])


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode("utf-8", "surrogatepass")


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
