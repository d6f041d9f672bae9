"""The process that writes one export to its standard output, within limits: a server does not render pages of others itself."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any, BinaryIO, Final, cast
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from pagekeep import config
from pagekeep.errors import NotFound, PagekeepError, StoreError
from pagekeep.library.backup import back_up_folder
from pagekeep.library.exports import markdown_files
from pagekeep.library.exports.run import ExportOptions, ExportReport, Format, choose_name, export, select_items
from pagekeep.store import Store, open_store
from pagekeep.workers.heap import address_space, limit_memory

MEGABYTES: Final = 1_500
CPU_SECONDS: Final = 1_800
"""An export of 100,000 pages takes about ten minutes."""
_REPORT_SECONDS: Final = 0.3


def write_zip(store: Store, out: BinaryIO, options: ExportOptions) -> None:
    """Write the items as Markdown files in a ZIP archive, with the names that a folder of them has."""
    taken: dict[str, str] = {}
    with ZipFile(out, "w") as archive:
        for one in select_items(store, options, ExportReport()):
            info = ZipInfo(choose_name(one.item, taken), (1980, 1, 1, 0, 0, 0))
            info.compress_type = ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            text = markdown_files.write(one.item, one.annotations, options.profile)
            archive.writestr(info, text.encode("utf-8", "replace"))


def write_backup(store: Store, out: BinaryIO, settings: config.Settings, folder: Path) -> None:
    """Back up the library into a new folder, and write that as a ZIP archive; its files are compressed already."""
    report = back_up_folder(store, settings, folder)
    if not report.complete:
        parts = len(report.damaged) + len(report.damaged_texts)
        raise StoreError(
            f"{parts:,} parts of the library are missing or damaged, so a backup of it would not be complete.",
            suggestions=("`pagekeep verify` lists them, and `pagekeep backup FOLDER` backs up everything else.",),
        )
    with ZipFile(out, "w") as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            info = ZipInfo(f"pagekeep-backup/{path.relative_to(folder).as_posix()}", (1980, 1, 1, 0, 0, 0))
            info.external_attr = 0o600 << 16
            with path.open("rb") as source, archive.open(info, "w", force_zip64=True) as target:
                shutil.copyfileobj(source, target, 1_000_000)


def _report_to(path: str | None) -> Callable[[int], None]:
    """Return a function that writes the number of exported pages to a file, a few times per second."""
    last = 0.0

    def report(pages: int) -> None:
        nonlocal last
        if path is not None and (pages == 1 or monotonic() - last > _REPORT_SECONDS):
            last = monotonic()
            Path(path).write_text(str(pages), "ascii")

    return report


def _limit() -> None:
    limit_memory(MEGABYTES, address_space())
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    soft = CPU_SECONDS if hard == resource.RLIM_INFINITY else min(CPU_SECONDS, hard)
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def _run(request: dict[str, Any], out: BinaryIO) -> None:
    settings = replace(config.Settings(), library=request["library"], rules=request.get("rules"))
    options = ExportOptions(
        cast("Format", request["format"]),
        request["query"],
        cast("markdown_files.Profile", request["profile"]),
        progress=_report_to(request.get("progress_file")),
        ids=None if request.get("ids") is None else tuple(request["ids"]),
    )
    with closing(open_store(settings.library, str(request["user"]))) as store:
        if folder := request.get("backup_folder"):
            write_backup(store, out, settings, Path(folder))
        elif options.format == "markdown":
            write_zip(store, out, options)
        else:
            if options.format == "epub" and next(select_items(store, options, ExportReport()), None) is None:
                raise NotFound("No items match, so the book would be empty.")  # known before the first byte is sent
            asyncio.run(export(store, out, options, settings))
        out.flush()


def main() -> None:
    """Read the request from standard input as JSON; a failure is written to standard error as JSON."""
    out = os.fdopen(os.dup(1), "wb", 64_000)
    os.dup2(2, 1)  # printed text must not get into the export
    request = json.load(sys.stdin.buffer)
    _limit()
    try:
        _run(request, out)
    except PagekeepError as error:
        sys.stderr.write(json.dumps(error.to_json()["error"]))
        os._exit(2)
    except BrokenPipeError:  # the client has gone
        os._exit(1)


if __name__ == "__main__":
    main()
