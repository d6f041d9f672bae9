"""Import an export file into the library, in batches of some hundred rows.

Every batch is one transaction, and storing a row again has no effect: an import that was interrupted is simply run again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import IO, BinaryIO, Final, TextIO, cast

from pagekeep import clock
from pagekeep.capture.active_rules import fingerprint
from pagekeep.capture.extract import extract_page
from pagekeep.capture.from_url import Request, Retrieval
from pagekeep.errors import NotFound, PagekeepError, StoreError, UnsupportedContent
from pagekeep.library import normal_url
from pagekeep.library.imports import build, failed_rows
from pagekeep.library.imports.build import ReadPage
from pagekeep.library.imports.check import CheckedRow, check_row, limit_item, skip_reason
from pagekeep.library.imports.detect import detect_format, detect_tree_format
from pagekeep.library.imports.input.archive import Archive, is_archive
from pagekeep.library.imports.input.row import CompleteItem, Fault, ParsedRow, Place, Row, SkippedRow
from pagekeep.library.imports.input.source import Folder, Source, Tree, source_from_stream
from pagekeep.library.imports.merge import has_content, merge_items, was_fetched
from pagekeep.library.imports.report import ImportReport
from pagekeep.library.save import save
from pagekeep.model import Fetched, Item, NewItem, Options, Page
from pagekeep.rules import Rulebook
from pagekeep.store import Store

BATCH_ROWS: Final = 500
_BATCH_CHARS: Final = 8_000_000
"""How much page content from the export one batch may hold in memory."""

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
    read: ReadPage | None = None
    """Extracts a page whose content is in the export, for example in a worker; `None` extracts it in this process."""
    progress: Progress = _ignore
    """Called after every batch."""


def import_stream(file: BinaryIO, filename: str, store: Store, plan: ImportPlan) -> ImportReport:
    """Import an open, seekable file; raise `UnsupportedContent` when its format is not known."""
    report = ImportReport()
    for _ in import_batches(file, filename, store, plan, report):
        pass
    return report


def import_batches(
    file: IO[bytes], filename: str, store: Store, plan: ImportPlan, report: ImportReport, *, skip: int = 0
) -> Iterator[list[Item]]:
    """Import a file, without its first `skip` rows, and yield, after each batch, its items that were never fetched."""
    stream = cast("BinaryIO", file)
    if is_archive(stream):
        rows = _read_tree(Archive(stream, filename), plan.format)
    else:
        rows = _read_file(source_from_stream(stream, filename), plan.format)
    return _run(islice(rows, skip, None), store, plan, report)


def import_folder(path: Path, store: Store, plan: ImportPlan, report: ImportReport) -> Iterator[list[Item]]:
    """Import all exports in a folder, like `import_batches`."""
    return _run(_read_tree(Folder(path), plan.format), store, plan, report)


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
                await save(Request(item.url_full), store, retrieval, known=item)
                report.fetched += 1
            except StoreError:
                raise
            except PagekeepError as error:
                report.not_fetched += 1
                report.remark(item.url_full, f"It could not be fetched: {error.message}")

    async with asyncio.TaskGroup() as group:
        for _ in range(parallel):
            group.create_task(fetch_waiting())


_NamedRow = tuple[str, ParsedRow]
"""The name of the format, and what it read."""


def _read_file(source: Source, name: str | None) -> Iterator[_NamedRow]:
    detected = detect_format(source, name)
    try:
        for row in detected.read(source):
            yield detected.name, row
    except PagekeepError as error:
        yield detected.name, Fault(Place(0, 0, source.part or source.name), error.message)


def _read_tree(tree: Tree, name: str | None) -> Iterator[_NamedRow]:
    detected = detect_tree_format(tree, name)
    if detected is not None:
        for row in detected.read(tree):
            yield detected.name, row
        return
    rows = 0
    for part in tree.names():
        try:
            for named_row in _read_file(tree.source(part), name):
                rows += 1
                yield named_row
        except (UnsupportedContent, NotFound) as error:
            yield "", SkippedRow(Place(0, 0, part), error.message)
        except PagekeepError as error:
            yield "", Fault(Place(0, 0, part), error.message)
    if not rows:
        raise UnsupportedContent(f"{tree.name} does not contain an export in a known format.")


def _run(rows: Iterator[_NamedRow], store: Store, plan: ImportPlan, report: ImportReport) -> Iterator[list[Item]]:
    batch = _Batch(store, plan, report)
    for name, row in rows:
        report.read += 1
        batch.add(name, row)
        if batch.is_full:
            yield batch.store_all()
            plan.progress(report)
    yield batch.store_all()
    plan.progress(report)


@dataclass
class _Batch:
    """Rows that will be stored in one transaction."""

    store: Store
    plan: ImportPlan
    report: ImportReport
    entries: list[NewItem] = field(default_factory=list)
    content_chars: int = 0
    seen: set[int] = field(default_factory=set)
    """On a dry run: hashes of the addresses that would be stored by now."""

    @property
    def is_full(self) -> bool:
        return len(self.entries) >= BATCH_ROWS or self.content_chars > _BATCH_CHARS

    def add(self, name: str, row: ParsedRow) -> None:
        """Count a row and keep its entry, unless it is skipped or fails."""
        report = self.report
        if isinstance(row, Row) and (reason := skip_reason(row)):
            row = SkippedRow(row.place, reason)
        if isinstance(row, SkippedRow):
            report.skipped += 1
            report.remark(row.place, row.reason)
            return
        report.rows += 1
        report.formats[name] = report.formats.get(name, 0) + 1
        entry = self._build_entry(name, row, clock.now())
        if isinstance(entry, Fault):
            report.fail(entry)
            if self.plan.failed is not None:
                self.plan.failed.write(failed_rows.format_line(entry, name) + "\n")
            return
        self.entries.append(entry)

    def _build_entry(self, name: str, row: Row | CompleteItem | Fault, now: str) -> NewItem | Fault:
        if isinstance(row, Fault):
            return row
        if isinstance(row, CompleteItem):
            return self._entry_from_item(row)
        for remark in row.remarks:
            self.report.remark(row.place, remark)
        checked = check_row(row, now)
        if isinstance(checked, Fault):
            return checked
        return self._entry_from_content(checked, name, now) or build.build_bookmark(
            checked, name, self.store.user_id, now
        )

    def _entry_from_item(self, row: CompleteItem) -> NewItem | Fault:
        try:
            url = normal_url.normalise(row.item.url)
        except PagekeepError as error:
            return Fault(row.place, error.message, row.item.url[:500])
        item = limit_item(replace(row.item, user_id=self.store.user_id, url=url, domain=normal_url.domain(url)))
        return NewItem(item, row.raw, row.annotations)

    def _entry_from_content(self, checked: CheckedRow, name: str, now: str) -> NewItem | None:
        """Return the row with its content; `None` without usable content, or when the library has content already."""
        if not checked.row.content:
            return None
        stored = self.store.find_url(checked.url)
        if stored is not None and has_content(stored):
            return None
        self.content_chars += len(checked.row.content)
        rules_hash = fingerprint(self.plan.rules)
        try:
            entry = build.build_from_content(
                checked, name, self.store.user_id, now, rules_hash, self._read, auto_tags=self.plan.auto_tags
            )
        except PagekeepError as error:
            self.report.remark(checked.row.place, f"The content in the export could not be used: {error.message}")
            return None
        self.report.carried += 1
        return entry

    def _read(self, fetched: Fetched) -> Page:
        options = Options(max_bytes=self.plan.max_bytes)
        if self.plan.read is not None:
            return self.plan.read(fetched, options)
        return extract_page(fetched, options, self.plan.rules)

    def store_all(self) -> list[Item]:
        """Store the batch and return its items that were never fetched."""
        entries, self.entries, self.content_chars = self.entries, [], 0
        if not entries:
            return []
        self.report.annotations += sum(len(entry.annotations) for entry in entries)
        if self.plan.dry_run:
            self._count_dry_run(entries)
            return []
        items: dict[str, Item] = {}
        for item, outcome in self.store.upsert_many(entries, merge_items):
            self.report.count(outcome)
            items[item.id] = item
        waiting = [item for item in items.values() if not was_fetched(item)]
        if self.plan.queue and waiting:
            pairs = [(item.url, item.url_full) for item in waiting]
            self.report.queued += self.store.enqueue_many(pairs, {}, clock.now())
        return waiting

    def _count_dry_run(self, entries: list[NewItem]) -> None:
        for entry in entries:
            stored = self.store.find_url(entry.item.url)
            key = hash(entry.item.url)
            if stored is not None:
                self.report.count("unchanged" if merge_items(stored, entry.item) == stored else "updated")
            else:
                self.report.count("updated" if key in self.seen else "added")
            self.seen.add(key)
