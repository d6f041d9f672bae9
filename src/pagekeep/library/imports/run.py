"""An import from its file to the library, some hundred rows at a time.

Every batch is one transaction and every row can be put in again without effect: a run that was killed is simply run again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, Final, Literal, TextIO

from pagekeep import clock
from pagekeep.capture.active_rules import fingerprint
from pagekeep.errors import NotFound, PagekeepError, UnsupportedContent
from pagekeep.library import normal_url
from pagekeep.library.imports import build, failed_rows
from pagekeep.library.imports.build import ReadPage
from pagekeep.library.imports.check import Checked, checked, why_left_out
from pagekeep.library.imports.detect import recognise, recognise_tree
from pagekeep.library.imports.input.archive import Archive, is_archive
from pagekeep.library.imports.input.row import Fault, Found, Place, Row, Skipped, Whole
from pagekeep.library.imports.input.source import Folder, Source, Tree, of_stream
from pagekeep.library.imports.merge import has_content, merged, was_fetched
from pagekeep.library.imports.report import Report
from pagekeep.model import Entry, Fetched, Item, Options, Page
from pagekeep.rules import Rulebook
from pagekeep.store import Store

BATCH: Final = 500
_BATCH_CHARACTERS: Final = 8_000_000
"""Of carried pages in one batch."""

Fetch = Literal["now", "queue", "never"]
Progress = Callable[[Report], None]


def _silent(_report: Report) -> None:
    """Nobody watches."""


@dataclass(frozen=True)
class Plan:
    """How to import."""

    rules: Rulebook
    """By which carried pages are read."""
    format: str | None = None
    """`None` looks at the content."""
    queue: bool = False
    """Whether pages that were never fetched are queued."""
    dry_run: bool = False
    failed: TextIO | None = None
    """Where failed rows are written."""
    read: ReadPage | None = None
    """Reads a carried page; here, by the rules, without one."""
    progress: Progress = _silent


def import_stream(file: BinaryIO, filename: str, store: Store, plan: Plan) -> Report:
    """Import an open file that can be read from its start; `UnsupportedContent` when its format is not known."""
    report = Report()
    for _ in import_batches(file, filename, store, plan, report):
        pass
    return report


def import_batches(file: BinaryIO, filename: str, store: Store, plan: Plan, report: Report) -> Iterator[list[Item]]:
    """The same step by step: after each batch, the items in it that were never fetched."""
    if is_archive(file):
        return _run(_of_tree(Archive(file, filename), plan.format), store, plan, report)
    return _run(_of_file(of_stream(file, filename), plan.format), store, plan, report)


def import_folder(path: Path, store: Store, plan: Plan, report: Report) -> Iterator[list[Item]]:
    """All exports in a folder."""
    return _run(_of_tree(Folder(path), plan.format), store, plan, report)


_Named = tuple[str, Found]


def _of_file(source: Source, name: str | None) -> Iterator[_Named]:
    known = recognise(source, name)
    try:
        for found in known.rows(source):
            yield known.name, found
    except PagekeepError as error:
        yield known.name, Fault(Place(0, 0, source.part or source.name), error.message)


def _of_tree(tree: Tree, name: str | None) -> Iterator[_Named]:
    known = recognise_tree(tree, name)
    if known is not None:
        for found in known.rows(tree):
            yield known.name, found
        return
    recognised = 0
    for part in tree.names():
        try:
            for named in _of_file(tree.source(part), name):
                recognised += 1
                yield named
        except (UnsupportedContent, NotFound) as error:
            yield "", Skipped(Place(0, 0, part), error.message)
        except PagekeepError as error:
            yield "", Fault(Place(0, 0, part), error.message)
    if not recognised:
        raise UnsupportedContent(f"There is no export in {tree.name}.")


def _run(named: Iterator[_Named], store: Store, plan: Plan, report: Report) -> Iterator[list[Item]]:
    batch = _Batch(store, plan, report)
    for name, found in named:
        batch.take(name, found)
        if batch.is_full:
            yield batch.store_all()
            plan.progress(report)
    yield batch.store_all()
    plan.progress(report)


@dataclass
class _Batch:
    """Rows that wait to be put in together."""

    store: Store
    plan: Plan
    report: Report
    entries: list[Entry] = field(default_factory=list)
    characters: int = 0
    seen: set[int] = field(default_factory=set)
    """On a dry run: the pages that would be there by now."""

    @property
    def is_full(self) -> bool:
        return len(self.entries) >= BATCH or self.characters > _BATCH_CHARACTERS

    def take(self, name: str, found: Found) -> None:
        """One row more."""
        report = self.report
        if isinstance(found, Row) and (reason := why_left_out(found)):
            found = Skipped(found.place, reason)
        if isinstance(found, Skipped):
            report.skipped += 1
            report.remark(found.place, found.reason)
            return
        report.rows += 1
        report.formats[name] = report.formats.get(name, 0) + 1
        now = clock.now()
        entry = self._entry(name, found, now)
        if isinstance(entry, Fault):
            report.fail(entry)
            if self.plan.failed is not None:
                self.plan.failed.write(failed_rows.written(entry, name) + "\n")
            return
        self.entries.append(entry)

    def _entry(self, name: str, found: Row | Whole | Fault, now: str) -> Entry | Fault:
        if isinstance(found, Fault):
            return found
        if isinstance(found, Whole):
            return self._whole(found)
        for remark in found.remarks:
            self.report.remark(found.place, remark)
        good = checked(found, now)
        if isinstance(good, Fault):
            return good
        return self._carried(good, name, now) or build.bookmark(good, name, self.store.user_id, now)

    def _whole(self, found: Whole) -> Entry | Fault:
        try:
            url = normal_url.normalise(found.item.url)
        except PagekeepError as error:
            return Fault(found.place, error.message, found.item.url[:500])
        item = replace(found.item, user_id=self.store.user_id, url=url, domain=normal_url.domain(url))
        return Entry(item, found.raw, found.annotations)

    def _carried(self, good: Checked, name: str, now: str) -> Entry | None:
        """The row with its content, unless there is none, none is needed, or it is none."""
        if not good.row.content:
            return None
        there = self.store.find_url(good.url)
        if there is not None and has_content(there):
            return None
        self.characters += len(good.row.content)
        try:
            entry = build.carried(good, name, self.store.user_id, now, fingerprint(self.plan.rules), self._read)
        except PagekeepError as error:
            self.report.remark(good.row.place, f"The content in the export could not be kept: {error.message}")
            return None
        self.report.carried += 1
        return entry

    def _read(self, fetched: Fetched, options: Options) -> Page:
        if self.plan.read is not None:
            return self.plan.read(fetched, options)
        from pagekeep.capture.from_url import read_page

        return read_page(fetched, options, self.plan.rules)

    def store_all(self) -> list[Item]:
        """Put them in; those that were never fetched come back."""
        entries, self.entries, self.characters = self.entries, [], 0
        if not entries:
            return []
        self.report.annotations += sum(len(entry.annotations) for entry in entries)
        if self.plan.dry_run:
            self._pretend(entries)
            return []
        items: dict[str, Item] = {}
        for item, outcome in self.store.upsert_many(entries, merged):
            self.report.count(outcome)
            items[item.id] = item
        waiting = [item for item in items.values() if not was_fetched(item)]
        if self.plan.queue and waiting:
            pairs = [(item.url, item.url_full) for item in waiting]
            self.report.queued += self.store.enqueue_many(pairs, {}, clock.now())
        return waiting

    def _pretend(self, entries: list[Entry]) -> None:
        for entry in entries:
            there = self.store.find_url(entry.item.url)
            key = hash(entry.item.url)
            if there is not None:
                self.report.count("unchanged" if merged(there, entry.item) == there else "updated")
            else:
                self.report.count("updated" if key in self.seen else "added")
            self.seen.add(key)
