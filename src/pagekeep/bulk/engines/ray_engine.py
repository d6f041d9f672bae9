"""Run on Ray: files are read, pages extracted and parts written wherever the cluster has free cores.

Files are processed in waves. The output of a wave is complete or absent, so an interrupted run resumes at its first
missing wave. Ray distributes the pages of a wave; each is extracted by the same function as on one machine, in a child
process that can be stopped.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from pagekeep.bulk.counts import Counts
from pagekeep.bulk.engines.local import RESULT_TASK, split_batches
from pagekeep.bulk.input.read import InputRecord, ReadState, decode_line, read_records, require_pyarrow
from pagekeep.bulk.input.records import Line, Record, RefusedRecord
from pagekeep.bulk.output.arrow import build_table
from pagekeep.bulk.plan import Plan
from pagekeep.bulk.progress import ProgressTracker
from pagekeep.bulk.row import Job, OutputFormat, RowResult, failed_result
from pagekeep.errors import UnsupportedContent
from pagekeep.extras import install_command
from pagekeep.workers import Worker

WAVE_FILES: Final = 64
"""How many files one wave has."""
_BATCH_RECORDS: Final = 32
_COUNTED_COLUMNS: Final = ("place", "kind", "level", "language", "words", "error_type", "error")
"""The columns that are counted."""


def run(plan: Plan, tracker: ProgressTracker, address: str | None = None) -> ReadState:
    """Run every wave that is not complete."""
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
        for number, start in enumerate(range(0, len(plan.inputs), WAVE_FILES)):
            folder = plan.out / f"wave-{number:06}"
            if not folder.is_dir() and (plan.limit is None or tracker.records < plan.limit):
                counts = _run_wave(ray, plan, start, folder, tracker.records)
                tracker.share = min(1.0, (start + WAVE_FILES) / len(plan.inputs))
                tracker.add_counts(counts)
    finally:
        if started:
            ray.shutdown()
    return plan.new_read_state()


def _require_ray() -> Any:
    try:
        import ray
        import ray.data
    except ImportError as missing:
        raise UnsupportedContent(
            "The engine ray needs the package Ray.", suggestions=(f"To install: {install_command('ray')}",)
        ) from missing
    return ray


def _run_wave(ray: Any, plan: Plan, start: int, folder: Path, before: int) -> Counts:
    draft = folder.with_name(f"{folder.name}.draft")
    shutil.rmtree(draft, ignore_errors=True)
    files = [{"index": index} for index in range(start, min(start + WAVE_FILES, len(plan.inputs)))]
    pages = ray.data.from_items(files, override_num_blocks=len(files)).map_batches(
        _FileReader(plan), batch_size=1, batch_format="pyarrow"
    )
    if plan.limit is not None:
        ray.data.DataContext.get_current().execution_options.preserve_order = True  # the first ones, as on one machine
        pages = pages.limit(plan.limit - before)
    rows = pages.map_batches(
        RowMaker,
        fn_constructor_args=(plan,),
        batch_size=_BATCH_RECORDS,
        batch_format="pyarrow",
        concurrency=(1, plan.workers),
    )
    write_rows(rows, draft, plan.format)
    draft.rename(folder)
    return count_wave(folder, plan)


def write_rows(rows: Any, folder: Path, format: OutputFormat) -> None:
    """Write the parts of a wave with Ray's writers."""
    if format == "jsonl":
        rows.write_json(str(folder))
    else:
        rows.write_parquet(str(folder), compression="zstd")


class _FileReader:
    """Reads a file's records as tables, which Ray transports faster than single rows."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def __call__(self, files: Any) -> Iterator[Any]:
        for index in files["index"].to_pylist():
            yield from map(_records_table, split_batches(Job(record) for record in self._records(index)))

    def _records(self, index: int) -> Iterator[InputRecord]:
        state = replace(self._plan.new_read_state(), started=index > 0)
        records = read_records(self._plan.inputs[index], state)
        return (record for record in records if self._plan.in_sample(record.place))


def _records_table(jobs: list[Job]) -> Any:
    pyarrow = require_pyarrow()
    types = {
        **dict.fromkeys(("place", "url", "html", "encoding", "error"), pyarrow.large_binary()),
        "status": pyarrow.int32(),
    }
    return pyarrow.Table.from_pylist([_to_columns(job.record) for job in jobs], schema=pyarrow.schema(types.items()))


def _to_columns(source: InputRecord) -> dict[str, Any]:
    """Return a record as a row of bytes: names and addresses may contain what a text column cannot."""
    record = decode_line(source) if isinstance(source, Line) else source
    row: dict[str, Any] = {"place": _encode(record.place), "url": _encode(record.url)}
    if isinstance(record, RefusedRecord):
        return {**row, "error": json.dumps([record.error.type, record.error.message]).encode()}
    encoding = "utf-8" if isinstance(record.html, str) else record.encoding
    return {**row, "html": _encode(record.html), "encoding": _encode(encoding), "status": record.status}


def _encode(text: str | bytes | None) -> bytes | None:
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text


class RowMaker:
    """An actor that extracts pages in its own child process."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._options = replace(plan.row_options(), format="parquet")  # Ray writes tables in either format
        self._worker = Worker(RESULT_TASK, plan.limits)

    def __call__(self, batch: Any) -> Any:
        jobs = [Job(_from_columns(row), self._options) for row in batch.to_pylist()]
        answers = zip(jobs, self._worker.run(jobs), strict=True)
        results: list[RowResult] = [
            result if error is None else failed_result(job, error) for job, (result, error) in answers
        ]
        cells = [result.cells for result in results if not self._plan.skip_reason(result)]
        return build_table(cells, self._plan.columns)


def _from_columns(row: dict[str, Any]) -> Record | RefusedRecord:
    from pagekeep import errors

    place, url = _decode(row["place"]) or "", _decode(row["url"])
    if row["error"]:
        kind, message = json.loads(row["error"])
        return RefusedRecord(place, url, getattr(errors, kind)(message))
    return Record(place, url, row["html"], _decode(row["encoding"]), row["status"])


def _decode(data: bytes | None) -> str | None:
    return None if data is None else data.decode("utf-8", "surrogatepass")


def count_wave(folder: Path, plan: Plan) -> Counts:
    """Return the counts of a wave, from the rows that were written."""
    counts = Counts()
    for row in _read_written(folder, plan):
        values = {name: row[name] for name in _COUNTED_COLUMNS if row.get(name) is not None}
        counts.add_row(RowResult((), **{"place": "", **values}))
    return counts


def _read_written(folder: Path, plan: Plan) -> Iterator[dict[str, Any]]:
    columns = [name for name in _COUNTED_COLUMNS if name in plan.columns]
    for file in sorted(folder.iterdir()):
        if plan.format == "jsonl":
            with file.open(encoding="utf-8") as lines:
                yield from map(json.loads, lines)
        elif file.suffix == ".parquet":
            yield from require_pyarrow().parquet.read_table(file, columns=columns).to_pylist()


def count_waves(plan: Plan) -> Iterator[Counts]:
    """Yield the counts of all complete waves."""
    for folder in sorted(plan.out.glob("wave-??????")):
        yield count_wave(folder, plan)
