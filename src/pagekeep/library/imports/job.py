"""Import an uploaded file as a job of the queue, in slices, with progress; any process that runs jobs can do it."""

from __future__ import annotations

import asyncio
import threading
import uuid
from asyncio import to_thread
from collections.abc import AsyncIterator, Callable
from functools import partial
from time import monotonic
from typing import IO, Any, Final

from pagekeep import clock
from pagekeep.capture.from_url import Retrieval
from pagekeep.errors import Conflict, InvalidQuery, NotFound, PagekeepError
from pagekeep.library.failed_saves import can_pass
from pagekeep.library.imports.reader import RowReader, copied
from pagekeep.library.imports.report import ImportReport
from pagekeep.library.imports.run import ImportPlan, import_rows
from pagekeep.library.queue.slices import SLICE_SECONDS, SliceResult
from pagekeep.model import Fetched, Job, Options, Page
from pagekeep.store import Store
from pagekeep.store.tables.jobs import SO_FAR

TASK: Final = "import"
"""The value of `task` in the options of these jobs."""
PART_BYTES: Final = 1_000_000
"""A file is stored in parts of this size, so that it is never in memory as a whole."""
MAX_WAITING: Final = 5
"""Imports of one user that wait at the same time: their files take space in the library."""
_UPLOAD_DAYS: Final = 1
"""A file that no job needs is deleted after this long: its upload was interrupted."""


async def store_upload(chunks: AsyncIterator[bytes], store: Store) -> str:
    """Store a file as it arrives and return its id; a file that does not arrive completely is deleted."""
    await to_thread(_clean_up, store)
    upload_id, part, buffer = str(uuid.uuid4()), 0, bytearray()
    try:
        async for chunk in chunks:
            buffer += chunk
            while len(buffer) >= PART_BYTES:
                await to_thread(store.put_part, upload_id, part, bytes(buffer[:PART_BYTES]), clock.now())
                del buffer[:PART_BYTES]
                part += 1
        if buffer:
            await to_thread(store.put_part, upload_id, part, bytes(buffer), clock.now())
        elif part == 0:
            raise InvalidQuery("The file is empty.", suggestions=("Send the file as the body of the request.",))
    except BaseException:
        await asyncio.shield(to_thread(store.drop_upload, upload_id))
        raise
    return upload_id


def _clean_up(store: Store) -> None:
    """Refuse one more import while others wait; delete files of uploads that were interrupted."""
    waiting = [job for state in ("queued", "running") for job in store.jobs(state, 10_000) if _is_import(job)]
    if len(waiting) >= MAX_WAITING:
        raise Conflict(
            f"{len(waiting)} imports are waiting already.", suggestions=("Send the file again when one is done.",)
        )
    needed = {str(job.options.get("upload")) for job in waiting}
    store.drop_old_uploads(clock.add_seconds(clock.now(), -_UPLOAD_DAYS * 86_400), needed)


def _is_import(job: Job) -> bool:
    return job.options.get("task") == TASK


def enqueue_import(
    store: Store, upload_id: str, filename: str, *, format: str | None = None, fetch: bool = True
) -> Job:
    """Return a job that imports an uploaded file; with `fetch`, pages that were never fetched are queued."""
    options: dict[str, Any] = {"task": TASK, "upload": upload_id, "filename": filename, "fetch": fetch}
    if format is not None:
        options["format"] = format
    return store.enqueue(f"pagekeep:import/{upload_id}", "pagekeep:import", options, clock.now())


async def import_job(job: Job, store: Store, retrieval: Retrieval, progress: Callable[[str], None]) -> SliceResult:
    """Import the file of a job, or the next part of it; the report lists every row that failed with the reason."""
    loop, stopped, reader = asyncio.get_running_loop(), threading.Event(), RowReader()
    upload_id = str(job.options.get("upload"))

    def show(report: ImportReport) -> None:
        loop.call_soon_threadsafe(progress, f"Imported {report.rows - report.failed:,} rows, {report.failed:,} failed")

    def read(fetched: Fetched, options: Options) -> Page:
        return asyncio.run_coroutine_threadsafe(retrieval.extract(fetched, options), loop).result()

    plan = ImportPlan(
        retrieval.rules,
        format=job.options.get("format"),
        queue=bool(job.options.get("fetch")),
        max_bytes=retrieval.settings.max_bytes,
        auto_tags=retrieval.settings.auto_tags,
        pictures=retrieval.settings,
        read=read,
        progress=show,
    )
    try:
        report, finished = await to_thread(_import_slice, job, store, plan, reader, stopped)
    except PagekeepError as error:
        if not can_pass(error):
            await to_thread(store.drop_upload, upload_id)
        raise
    finally:
        stopped.set()
        reader.interrupt()
    if not finished:
        return SliceResult(so_far=report.to_json() | {"read": report.read})
    await to_thread(store.drop_upload, upload_id)
    return SliceResult(report=report.to_json())


def _import_slice(
    job: Job, store: Store, plan: ImportPlan, reader: RowReader, stopped: threading.Event
) -> tuple[ImportReport, bool]:
    """Import for some seconds, from where the last slice ended; return the report and whether the file is done."""
    report = ImportReport.from_json(job.options.get(SO_FAR, {}))
    begin, began, until = report.read, monotonic(), 0.0
    with copied(partial(_copy, store, str(job.options.get("upload")))) as path, reader:
        rows = reader.read(path, str(job.options.get("filename")), plan.format, skip=begin, is_copy=True)
        for _ in import_rows(rows, store, plan, report):
            plan.progress(report)
            # What is done is read again in every slice: at least four fifths of the time are for the rest.
            until = until or monotonic() + SLICE_SECONDS + 4 * (monotonic() - began)
            if stopped.is_set() or (monotonic() >= until and report.read > begin):
                return report, False
    return report, True


def _copy(store: Store, upload_id: str, file: IO[bytes]) -> None:
    """Copy an upload to an open file."""
    part = 0
    while (body := store.get_part(upload_id, part)) is not None:
        file.write(body)
        part += 1
    if part == 0:
        raise NotFound("The uploaded file is no longer there.", suggestions=("Send it again.",))
