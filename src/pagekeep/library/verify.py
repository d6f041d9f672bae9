"""Verify the items of a library or of a web archive: derive their texts again in workers, and compare all hashes."""

from __future__ import annotations

import hashlib
import json
import os
from asyncio import to_thread
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO, Final, cast

from pagekeep.capture.active_rules import fingerprint
from pagekeep.capture.from_url import Retrieval
from pagekeep.errors import NotFound, PagekeepError
from pagekeep.library.archive.receipts import Derived, Evidence, Verdict, derive, judge, stated_time, unreadable
from pagekeep.library.imports.input.row import CompleteItem, Fault
from pagekeep.library.imports.input.source import Archive, is_archive
from pagekeep.library.imports.reader import RowReader
from pagekeep.library.items import build_item
from pagekeep.library.items.find import get_item
from pagekeep.library.saving.reparse import MIN_PAGES_FOR_POOL, Stored, StoredPage, extract_all, extract_stored_page
from pagekeep.model import Item, Options
from pagekeep.rules import Rulebook
from pagekeep.store import Store
from pagekeep.workers import Limits, run_alone


def select(store: Store, keys: Iterable[str]) -> Iterator[str]:
    """Return the ids of the named items, or of all, deleted ones too; `NotFound` for an unknown key."""
    ids = [get_item(store, key).id for key in keys]
    return iter(ids) if ids else store.items.all_ids()


def verify(store: Store, ids: Iterable[str], rules: Rulebook, *, processes: int | None = None) -> Iterator[Verdict]:
    """Yield the verdict on every item. Nothing is changed; items that were purged meanwhile are left out."""
    rules_hash = fingerprint(rules)
    return judge_all(_read_all(store, ids), rules, rules_hash, processes)


def judge_all(
    found: Iterable[Evidence | Verdict], rules: Rulebook, rules_hash: str, processes: int | None = None
) -> Iterator[Verdict]:
    """Yield the verdict on every piece of evidence, in order; pages are extracted by workers, a few at a time."""
    waiting: deque[Evidence | Verdict] = deque()
    remaining = iter(found)
    first = list(islice(remaining, MIN_PAGES_FOR_POOL))
    count = (processes or os.cpu_count() or 1) if len(first) == MIN_PAGES_FOR_POOL else 1

    def pages() -> Iterator[Stored]:
        for entry in chain(first, remaining):
            if isinstance(entry, Evidence) and entry.derivable:
                waiting.append(entry)
                yield entry.item, _stored_page(entry)
            else:  # judged at once: no page waits in memory for nothing
                waiting.append(entry if isinstance(entry, Verdict) else judge(entry, None, rules_hash))

    for _, derived in extract_all(pages(), count, rules, _TASK):
        yield from _take_verdicts(waiting)
        entry = waiting.popleft()
        assert isinstance(entry, Evidence)
        yield judge(entry, derived, rules_hash)
    yield from _take_verdicts(waiting)


def derive_stored(sent: tuple[StoredPage | PagekeepError, bytes]) -> Derived:
    """Return the text that a stored page gives now; runs in a worker process."""
    page, job = extract_stored_page(sent)
    return derive(page, job.item)


_TASK: Final = f"{__name__}:{derive_stored.__name__}"


def _take_verdicts(waiting: deque[Evidence | Verdict]) -> Iterator[Verdict]:
    """Take the verdicts from the front, up to the next evidence."""
    while waiting and isinstance(entry := waiting[0], Verdict):
        waiting.popleft()
        yield entry


def _stored_page(evidence: Evidence) -> StoredPage:
    assert evidence.raw is not None
    item = replace(evidence.item, content="", saved_at=stated_time(evidence.item))
    return StoredPage(item, evidence.raw, _options(evidence.item))


def _options(item: Item) -> Options:
    """Return the recorded options of an item's extraction."""
    limit = (item.metadata.options or {}).get("max_bytes")
    return Options(max_bytes=limit) if isinstance(limit, int) else Options()


async def verify_one(key: str, store: Store, retrieval: Retrieval) -> Verdict:
    """Verify one item, extracted by `retrieval`; raise `NotFound` when there is none."""
    item_id = (await to_thread(get_item, store, key)).id
    evidence = await to_thread(_read, store, item_id, set())
    rules = retrieval.rules
    if isinstance(evidence, Verdict):
        return evidence
    if not evidence.derivable or evidence.raw is None:
        return judge(evidence, None, fingerprint(rules))
    fetched, options = build_item.to_fetched(evidence.raw), _options(evidence.item)
    derived: Derived | PagekeepError
    try:
        derived = derive(await retrieval.extract(fetched, options), evidence.item)
    except PagekeepError as error:
        derived = error
    return judge(evidence, derived, fingerprint(rules))


def _read_all(store: Store, ids: Iterable[str]) -> Iterator[Evidence | Verdict]:
    intact: set[str] = set()
    for item_id in ids:
        try:
            yield _read(store, item_id, intact)
        except NotFound:  # it was purged since
            continue


def _read(store: Store, item_id: str, intact: set[str]) -> Evidence | Verdict:
    """Return an item with its raw page, or the verdict that it cannot be read.

    An item that was changed while it was read is read again: its parts would be those of two states. `intact` are the hashes
    of kept files that were found intact: a file that many items use is read once.
    """
    evidence = _read_once(store, item_id, intact)
    for _ in range(_MAX_READS - 1):
        if isinstance(evidence, Verdict) or evidence.raw_fault is not None:
            break
        if store.items.get(item_id) == evidence.item and store.items.raw_hash(item_id) == evidence.raw_name:
            break
        evidence = _read_once(store, item_id, intact)
    return evidence


def _read_once(store: Store, item_id: str, intact: set[str]) -> Evidence | Verdict:
    try:
        item = store.items.get(item_id)
    except NotFound:
        raise
    except _UNREADABLE as error:
        return unreadable(item_id, error)
    try:
        evidence = Evidence(item, store.items.raw(item_id), store.items.raw_hash(item_id))
    except _UNREADABLE as error:
        return Evidence(item, raw_fault=_describe(error))
    evidence = _add_versions(evidence, store)
    return _add_files(evidence, store, intact)


_MAX_READS: Final = 5
_UNREADABLE: Final = (PagekeepError, ValueError, TypeError)


def _describe(error: Exception) -> str:
    return error.message if isinstance(error, PagekeepError) else "Its data is not valid."


def _add_versions(evidence: Evidence, store: Store) -> Evidence:
    """Compare the other versions of the page with their hashes."""
    item_id, count, number = evidence.item.id, 0, 0
    try:
        for snapshot in store.snapshots.list(item_id):
            if snapshot.hash == evidence.raw_name:
                continue
            number, count = snapshot.number, count + 1
            if hashlib.sha256(store.snapshots.raw(item_id, number).body).hexdigest() != snapshot.hash:
                return replace(evidence, version_fault=f"Version {number} of the page does not have its hash.")
    except _UNREADABLE as error:
        fault = f"Version {number} of the page cannot be read: {_describe(error)}"
        return replace(evidence, version_fault=fault)
    return replace(evidence, versions=count)


def _add_files(evidence: Evidence, store: Store, intact: set[str]) -> Evidence:
    """Compare the item's kept files with their hashes."""
    count, source = 0, ""
    try:
        for link in store.blobs.of_item(evidence.item.id):
            if link.hash is None:
                continue
            source, count = link.source, count + 1
            if link.hash not in intact:
                store.blobs.get(link.hash)  # it compares the hash
                intact.add(link.hash)
    except _UNREADABLE as error:
        return replace(evidence, file_fault=f"A kept file cannot be used ({source:.200}): {_describe(error)}")
    return replace(evidence, files=count)


_PACKAGE: Final = "datapackage.json"
_DIGEST: Final = "datapackage-digest.json"
_MAX_PACKAGE_BYTES: Final = 50_000_000
_LIMITS: Final = Limits(cpu_seconds=600.0, wall_seconds=3_600.0, megabytes=1_000)
"""For comparing all files of an archive: 100 MB a second on a slow machine."""
_CHUNK_BYTES: Final = 1_000_000


@dataclass(slots=True)
class ArchiveCheck:
    """What was found in an archive besides the verdicts on its items."""

    files: int = 0
    """Files that have the hash that the list of files gives."""
    faults: list[str] = field(default_factory=list)
    pages: int = 0
    """Pages of other programs, which have no receipt: only the hashes of the files cover them."""


def is_web_archive(path: Path) -> bool:
    """Return whether a path looks like a WARC or WACZ file."""
    return path.name.lower().endswith((".wacz", ".warc", ".warc.gz")) and path.is_file()


def verify_archive(
    path: Path, rules: Rulebook, check: ArchiveCheck, *, processes: int | None = None
) -> Iterator[Verdict]:
    """Yield the verdict on every item of the archive; what else is found goes to `check`."""
    found = run_alone(PackageTask(path), _LIMITS)
    check.files, check.faults = found.files, found.faults
    yield from judge_all(_evidence(path, check), rules, fingerprint(rules), processes)


@dataclass(frozen=True, slots=True)
class PackageTask:
    """Compare the files of a WACZ with their hashes, in a worker; a WARC has none."""

    path: Path

    def run(self) -> ArchiveCheck:
        """Return what was found."""
        check = ArchiveCheck()
        with self.path.open("rb") as file:
            if is_archive(cast("BinaryIO", file)):
                _check_package(Archive(cast("BinaryIO", file), self.path.name), check)
        return check


def _check_package(archive: Archive, check: ArchiveCheck) -> None:
    """Compare the files of a WACZ with its list of hashes, and the list with its own hash."""
    try:
        data = _read_part(archive, _PACKAGE)
        listed = {entry["path"]: entry["hash"] for entry in json.loads(data)["resources"]}
        if _DIGEST in archive.names():
            if json.loads(_read_part(archive, _DIGEST))["hash"] != f"sha256:{hashlib.sha256(data).hexdigest()}":
                check.faults.append("The list of files does not have its recorded hash.")
        elif str(json.loads(data).get("software", "")).startswith("pagekeep/"):  # others need not write it
            check.faults.append(f"The hash of the list of files ({_DIGEST}) is missing.")
    except (PagekeepError, ValueError, KeyError, TypeError):
        check.faults.append("The list of files (datapackage.json) is missing or damaged.")
        return
    for name in set(archive.names()) - {_PACKAGE, _DIGEST}:
        if name not in listed:
            check.faults.append(f"The file {name:.200} is not in the list of files.")
    for name, recorded in sorted(listed.items()):
        try:
            if _hash(archive, name, str(recorded)) == recorded:
                check.files += 1
            else:
                check.faults.append(f"The file {name:.200} does not have its recorded hash.")
        except (PagekeepError, ValueError) as error:
            message = error.message if isinstance(error, PagekeepError) else "unknown kind of hash"
            check.faults.append(f"The file {name:.200} cannot be compared: {message}")


def _read_part(archive: Archive, name: str) -> bytes:
    with archive.source(name).open() as stream:
        return stream.read(_MAX_PACKAGE_BYTES)


def _hash(archive: Archive, name: str, recorded: str) -> str:
    kind = recorded.partition(":")[0]
    if kind not in ("sha256", "md5", "sha1"):
        raise ValueError
    digest = hashlib.new(kind)
    with archive.source(name).open() as stream:
        while part := stream.read(_CHUNK_BYTES):
            digest.update(part)
    return f"{kind}:{digest.hexdigest()}"


def _evidence(path: Path, check: ArchiveCheck) -> Iterator[Evidence | Verdict]:
    """Yield the items of the archive, which a worker process reads."""
    with RowReader() as reader:
        reader.fork()
        try:
            for _, row in reader.read(path, path.name, None):
                if isinstance(row, CompleteItem):
                    kept = sum(1 for file in row.files if file.body is not None)
                    lost = next((file.link.source for file in row.files if file.is_damaged), None)
                    fault = None if lost is None else f"A kept file is missing or does not have its hash: {lost:.200}"
                    raw_hash = row.item.metadata.raw_hash if row.raw is not None else None
                    yield Evidence(row.item, row.raw, raw_hash, files=kept, file_fault=fault)
                elif isinstance(row, Fault):
                    check.faults.append(f"{row.place}: {row.reason}")
                else:
                    check.pages += 1
        except PagekeepError as error:
            check.faults.append(error.message)
