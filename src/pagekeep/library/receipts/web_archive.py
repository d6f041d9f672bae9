"""Verify a WARC or WACZ file: the hashes of its files and records, and the texts of the items that Pagekeep wrote to it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final, cast

from pagekeep.capture.active_rules import fingerprint
from pagekeep.errors import PagekeepError
from pagekeep.library.imports.input.archive import Archive, is_archive
from pagekeep.library.imports.input.row import CompleteItem, Fault
from pagekeep.library.imports.reader import RowReader
from pagekeep.library.receipts.verdict import Evidence, Verdict
from pagekeep.library.receipts.verify import judge_all
from pagekeep.rules import Rulebook
from pagekeep.workers import Limits, run_alone

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
        data = _read(archive, _PACKAGE)
        listed = {entry["path"]: entry["hash"] for entry in json.loads(data)["resources"]}
        if _DIGEST in archive.names():
            if json.loads(_read(archive, _DIGEST))["hash"] != f"sha256:{hashlib.sha256(data).hexdigest()}":
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


def _read(archive: Archive, name: str) -> bytes:
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
