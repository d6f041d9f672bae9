"""Import an export file into the library in batches, at once or as a job of the queue, and report what became of it."""

from __future__ import annotations

import asyncio
import threading
import uuid
from asyncio import to_thread
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from time import monotonic
from typing import IO, Any, BinaryIO, Final, TextIO

from pagekeep import clock
from pagekeep.capture.active_rules import fingerprint
from pagekeep.capture.extract import ReadTask
from pagekeep.capture.from_url import Request, Retrieval
from pagekeep.config import Settings
from pagekeep.errors import Conflict, InvalidQuery, NotFound, PagekeepError, StoreError
from pagekeep.library import normal_url
from pagekeep.library.archive.keep_pictures import request_many
from pagekeep.library.imports import build
from pagekeep.library.imports.build import ReadPage, add_newer, has_content, merge_items, was_fetched
from pagekeep.library.imports.formats import own_files
from pagekeep.library.imports.input.row import CompleteItem, Fault, KeptFile, Place, SkippedRow
from pagekeep.library.imports.reader import RowReader, copied, copied_stream
from pagekeep.library.imports.rows import CheckedRow, NamedRow, ReadyRow, read_stream
from pagekeep.library.queue import SLICE_SECONDS, SaveRequest, SliceResult
from pagekeep.library.saving.failed_saves import can_pass
from pagekeep.library.saving.save import save
from pagekeep.model import Fetched, Item, Job, NewItem, Options, Page, PutResult
from pagekeep.model.page import MADE_FIELDS
from pagekeep.rules import Rulebook
from pagekeep.store import Store
from pagekeep.store.tables.jobs import SO_FAR
from pagekeep.workers import run_alone

BATCH_ROWS: Final = 500
_BATCH_CHARS: Final = 8_000_000
"""How much page content from the export one batch may hold in memory."""


@dataclass(slots=True)
class ImportReport:
    """Counts that grow while an import runs."""

    rows: int = 0
    added: int = 0
    updated: int = 0
    unchanged: int = 0
    skipped: int = 0
    failed: int = 0
    carried: int = 0
    """Pages whose content was in the export."""
    annotations: int = 0
    queued: int = 0
    fetched: int = 0
    not_fetched: int = 0
    formats: dict[str, int] = field(default_factory=dict)
    """Rows by format."""
    failures: list[tuple[str, str, str]] = field(default_factory=list)
    """Place, reason and excerpt of the first `MAX_DETAILS` failures."""
    remarks: list[tuple[str, str]] = field(default_factory=list)
    """Place and text of the first `MAX_DETAILS` remarks on what was left out of imported rows."""

    read: int = 0
    """Entries of the file that were read, whatever became of them."""

    @classmethod
    def from_json(cls, shape: Mapping[str, Any]) -> ImportReport:
        """Return the report of an import that goes on, from its JSON form."""
        counts = {name: shape[name] for name in (*_COUNTS, "read") if name in shape}
        return cls(
            **counts,
            formats=dict(shape.get("formats", {})),
            failures=[(one["place"], one["reason"], one["excerpt"]) for one in shape.get("failures", ())],
            remarks=[(one["place"], one["remark"]) for one in shape.get("remarks", ())],
        )

    def count(self, outcome: PutResult) -> None:
        """Count an imported row by its outcome."""
        setattr(self, outcome, getattr(self, outcome) + 1)

    def fail(self, fault: Fault) -> None:
        """Count and list a row that cannot be imported."""
        self.failed += 1
        if len(self.failures) < MAX_DETAILS:
            self.failures.append((str(fault.place), fault.reason, fault.excerpt[:200]))

    def remark(self, place: Place | str, text: str) -> None:
        """List something that was left out."""
        if len(self.remarks) < MAX_DETAILS:
            self.remarks.append((str(place), text))

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain JSON types."""
        counts = {name: getattr(self, name) for name in _COUNTS}
        failures = [{"place": place, "reason": reason, "excerpt": text} for place, reason, text in self.failures]
        remarks = [{"place": place, "remark": text} for place, text in self.remarks]
        return {**counts, "formats": dict(self.formats), "failures": failures, "remarks": remarks}


Progress = Callable[[ImportReport], None]


def _ignore(_report: ImportReport) -> None:
    """Show no progress."""


@dataclass(frozen=True)
class ImportPlan:
    """The options of an import."""

    rules: Rulebook
    """Site rules for pages whose content is in the export."""
    format: str | None = None
    """A name from `detect.FORMAT_NAMES`; `None` detects the format."""
    queue: bool = False
    """Whether to queue pages that were never fetched."""
    dry_run: bool = False
    failed: TextIO | None = None
    """Where failed rows are written."""
    max_bytes: int = Options().max_bytes
    """The size of the largest page that is extracted."""
    auto_tags: bool = False
    """Whether suggested tags are added to those of a page whose content is in the export."""
    pictures: Settings | None = None
    """With `queue`: the settings by which the pictures of pages whose content is in the export are kept, by jobs."""
    read: ReadPage | None = None
    """Extracts a page whose content is in the export, for example in a worker; `None` extracts it in this process."""
    progress: Progress = _ignore
    """Called after every batch."""


def import_stream(file: BinaryIO, filename: str, store: Store, plan: ImportPlan) -> ImportReport:
    """Import an open, seekable file that the caller trusts; raise `UnsupportedContent` when its format is not known."""
    report = ImportReport()
    for _ in import_batches(file, filename, store, plan, report):
        pass
    return report


def import_batches(
    file: IO[bytes], filename: str, store: Store, plan: ImportPlan, report: ImportReport
) -> Iterator[list[Item]]:
    """Import a file that the caller trusts and yield, after each batch, its items that were never fetched."""
    return import_rows(read_stream(file, filename, plan.format), store, plan, report)


def import_upload(file: IO[bytes], filename: str, store: Store, plan: ImportPlan) -> ImportReport:
    """Import a file of others as `import_stream` does; a worker process reads it."""
    report = ImportReport()
    with copied(copied_stream(file)) as path, RowReader() as reader:
        rows = reader.read(path, filename, plan.format, is_copy=True)
        for _ in import_rows(rows, store, plan, report):
            pass
    return report


async def fetch_items(
    items: Iterable[Item], store: Store, retrieval: Retrieval, report: ImportReport, parallel: int = 8
) -> None:
    """Fetch the live pages of imported items, several at a time.

    Where a page is gone or worse than the imported one, the imported one stays and the item records the reason.
    """
    waiting = iter(items)

    async def fetch_waiting() -> None:
        for item in waiting:
            try:
                await save(SaveRequest(Request(item.url_full), known=item), store, retrieval)
                report.fetched += 1
            except StoreError:
                raise
            except PagekeepError as error:
                report.not_fetched += 1
                report.remark(item.url_full, f"It could not be fetched: {error.message}")

    async with asyncio.TaskGroup() as group:
        for _ in range(parallel):
            group.create_task(fetch_waiting())


def import_rows(rows: Iterator[NamedRow], store: Store, plan: ImportPlan, report: ImportReport) -> Iterator[list[Item]]:
    """Import rows and yield, after each batch, its items that were never fetched.

    When the rows end with an error, those before it are stored first.
    """
    batch = _Batch(store, plan, report)
    fault: PagekeepError | None = None
    try:
        for name, row in rows:
            report.read += 1
            batch.add(name, row)
            if batch.is_full:
                yield batch.store_all()
                plan.progress(report)
    except StoreError:
        raise
    except PagekeepError as error:
        fault = error
    yield batch.store_all()
    plan.progress(report)
    if fault is not None:
        raise fault


@dataclass
class _Batch:
    """Rows that will be stored in one transaction."""

    store: Store
    plan: ImportPlan
    report: ImportReport
    entries: list[NewItem] = field(default_factory=list)
    files: dict[int, tuple[KeptFile, ...]] = field(default_factory=dict)
    """Kept files by the position of their entry."""
    content_chars: int = 0
    seen: set[int] = field(default_factory=set)
    """On a dry run: hashes of the addresses that would be stored by now."""

    @property
    def is_full(self) -> bool:
        return len(self.entries) >= BATCH_ROWS or self.content_chars > _BATCH_CHARS

    def add(self, name: str, row: ReadyRow) -> None:
        """Count a row and keep its entry, unless it is skipped or fails."""
        report = self.report
        if isinstance(row, SkippedRow):
            report.skipped += 1
            report.remark(row.place, row.reason)
            return
        report.rows += 1
        report.formats[name] = report.formats.get(name, 0) + 1
        if isinstance(row, CheckedRow | Fault) and row.row is not None:
            for remark in row.row.remarks:
                report.remark(row.row.place, remark)
        if isinstance(row, Fault):
            report.fail(row)
            if self.plan.failed is not None:
                self.plan.failed.write(own_files.format_failed(row, name) + "\n")
            return
        if isinstance(row, CompleteItem) and row.files:
            self.files[len(self.entries)] = row.files
            self.content_chars += sum(len(file.body) for file in row.files if file.body is not None)
        self.entries.append(self._build_entry(name, row, clock.now()))

    def _build_entry(self, name: str, row: CheckedRow | CompleteItem, now: str) -> NewItem:
        user_id = self.store.user_id
        if isinstance(row, CompleteItem):
            return NewItem(replace(row.item, user_id=user_id), row.raw, row.annotations, row.reading)
        return self._entry_from_content(row, name, now) or build.build_bookmark(row, name, user_id, now)

    def _entry_from_content(self, checked: CheckedRow, name: str, now: str) -> NewItem | None:
        """Return the row with its content; `None` without usable content, or when the library has content already."""
        if not checked.row.content and checked.row.page is None:
            return None
        stored = self.store.items.by_url(checked.url)
        if stored is not None and has_content(stored):
            return None
        self.content_chars += len(checked.row.content) + (len(checked.row.page.body) if checked.row.page else 0)
        rules_hash = fingerprint(self.plan.rules)
        try:
            entry = build.build_from_content(
                checked,
                name,
                self.store.user_id,
                now,
                rules_hash,
                self._read,
                options=self._options,
                auto_tags=self.plan.auto_tags,
            )
        except PagekeepError as error:
            self.report.remark(checked.row.place, f"The content in the export could not be used: {error.message}")
            return None
        self.report.carried += 1
        return entry

    @property
    def _options(self) -> Options:
        return Options(max_bytes=self.plan.max_bytes)

    def _read(self, fetched: Fetched) -> Page:
        if self.plan.read is not None:
            return self.plan.read(fetched, self._options)
        task = ReadTask.prepare(fetched, replace(self._options, needs=MADE_FIELDS), Settings(), self.plan.rules)
        return run_alone(task, task.limits) if task.file_type else task.read()

    def store_all(self) -> list[Item]:
        """Store the batch and return its items that were never fetched."""
        entries, self.entries, self.content_chars = self.entries, [], 0
        files, self.files = self.files, {}
        if not entries:
            return []
        self.report.annotations += sum(len(entry.annotations) for entry in entries)
        if self.plan.dry_run:
            self._count_dry_run(entries)
            return []
        items: dict[str, Item] = {}
        changed: list[Item] = []
        for number, (stored, merged) in enumerate(self.store.items.save_many(entries, merge_items)):
            newer = None if merged == "added" else self._add_newer(stored, entries[number])
            item = newer or stored
            outcome: PutResult = "updated" if newer else merged
            self.report.count(outcome)
            items[item.id] = item
            if outcome != "unchanged":
                changed.append(item)
            self._keep_files(item, files.get(number, ()))
        waiting = [item for item in items.values() if not was_fetched(item) and not normal_url.is_mail(item.url)]
        if self.plan.queue and waiting:
            pairs = [(item.url, item.url_full) for item in waiting]
            self.report.queued += self.store.jobs.add_many(pairs, {}, clock.now())
        if self.plan.queue and self.plan.pictures is not None:
            request_many(self.store, changed, self.plan.pictures)  # also if the live page has gone by now
        return waiting

    def _add_newer(self, stored: Item, entry: NewItem) -> Item | None:
        options = Options(max_bytes=self.plan.max_bytes)
        return add_newer(stored, entry.raw, self.store, self._read, fingerprint(self.plan.rules), options)

    def _keep_files(self, item: Item, files: tuple[KeptFile, ...]) -> None:
        """Keep the files that came with an item, unless it has files in their role already."""
        present = {link.role for link in self.store.blobs.of_item(item.id)} if files else set()
        links = []
        for file in files:
            if file.link.role in present:
                continue
            try:
                if file.body is not None:
                    self.store.blobs.put(file.body, clock.now(), compress=file.link.role == "page_copy")
                elif file.link.hash is not None:
                    self.store.blobs.get(file.link.hash)  # it came with an earlier item
                links.append(file.link)
            except NotFound:
                self.report.remark(item.url, f"A kept file is missing in the archive: {file.link.source:.200}")
        if links:
            self.store.blobs.link(item.id, links)

    def _count_dry_run(self, entries: list[NewItem]) -> None:
        for entry in entries:
            stored = self.store.items.by_url(entry.item.url)
            key = hash(entry.item.url)
            if stored is not None:
                self.report.count("unchanged" if merge_items(stored, entry.item) == stored else "updated")
            else:
                self.report.count("updated" if key in self.seen else "added")
            self.seen.add(key)


MAX_DETAILS: Final = 1_000
"""How many failures and remarks are listed; the rest are only counted. The file of failed rows has all failures."""


_COUNTS: Final = (
    *("rows", "added", "updated", "unchanged", "skipped", "failed", "carried", "annotations"),
    *("queued", "fetched", "not_fetched"),
)


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
                await to_thread(store.uploads.put_part, upload_id, part, bytes(buffer[:PART_BYTES]), clock.now())
                del buffer[:PART_BYTES]
                part += 1
        if buffer:
            await to_thread(store.uploads.put_part, upload_id, part, bytes(buffer), clock.now())
        elif part == 0:
            raise InvalidQuery("The file is empty.", suggestions=("Send the file as the body of the request.",))
    except BaseException:
        await asyncio.shield(to_thread(store.uploads.remove, upload_id))
        raise
    return upload_id


def _clean_up(store: Store) -> None:
    """Refuse one more import while others wait; delete files of uploads that were interrupted."""
    waiting = [
        job
        for state in ("queued", "running")
        for job in store.jobs.list(state, 10_000)
        if (job.options.get("task") == TASK)
    ]
    if len(waiting) >= MAX_WAITING:
        raise Conflict(
            f"{len(waiting)} imports are waiting already.", suggestions=("Send the file again when one is done.",)
        )
    needed = {str(job.options.get("upload")) for job in waiting}
    store.uploads.remove_old(clock.add_seconds(clock.now(), -_UPLOAD_DAYS * 86_400), needed)


def enqueue_import(
    store: Store, upload_id: str, filename: str, *, format: str | None = None, fetch: bool = True
) -> Job:
    """Return a job that imports an uploaded file; with `fetch`, pages that were never fetched are queued."""
    options: dict[str, Any] = {"task": TASK, "upload": upload_id, "filename": filename, "fetch": fetch}
    if format is not None:
        options["format"] = format
    return store.jobs.add(f"pagekeep:import/{upload_id}", "pagekeep:import", options, clock.now())


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
            await to_thread(store.uploads.remove, upload_id)
        raise
    finally:
        stopped.set()
        reader.interrupt()
    if not finished:
        return SliceResult(so_far=report.to_json() | {"read": report.read})
    await to_thread(store.uploads.remove, upload_id)
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
    while (body := store.uploads.get_part(upload_id, part)) is not None:
        file.write(body)
        part += 1
    if part == 0:
        raise NotFound("The uploaded file is no longer there.", suggestions=("Send it again.",))
