"""Write the pages of a crawl to a file: from the store and in order, so that the same crawl gives the same bytes."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeVar

from pagekeep import clock
from pagekeep.capture.from_url import Retrieval
from pagekeep.errors import Conflict, StoreError
from pagekeep.library.crawl.crawls import read_pages, read_raw
from pagekeep.library.crawl.known_site import read_known_pages
from pagekeep.model.crawl import Crawl, CrawledPage
from pagekeep.store import Store

T = TypeVar("T")
DATE_VARIABLE: Final = "SOURCE_DATE_EPOCH"
"""Seconds since 1970 that are written as the time of all WARC records, as reproducible-builds.org defines it."""


async def write_output(store: Store, crawl: Crawl, kind: str, path: Path, retrieval: Retrieval) -> int:
    """Write the pages of a crawl; return how many."""
    if kind == "warc":
        return await asyncio.to_thread(write_file, path, lambda file: _write_warc(store, crawl, file))
    with _open_draft(path) as file:
        return await _write_jsonl(store, crawl, file, retrieval)


def write_file(path: Path, write: Callable[[BinaryIO], T]) -> T:
    """Write a file, in a folder that may be new, and return what `write` returns. It gets its name when it is complete."""
    with _open_draft(path) as file:
        return write(file)


@contextmanager
def _open_draft(path: Path) -> Iterator[BinaryIO]:
    """Open a file that gets its name when the block ends without an error."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be written: {error.strerror or 'disk error'}.",
            suggestions=("Check the path and the free disk space.",),
        ) from error
    finally:
        with suppress(OSError):  # its folder may not exist
            draft.unlink(missing_ok=True)


def page_shape(page: CrawledPage) -> dict[str, Any]:
    """Return a page as JSON: nothing in it depends on when it was fetched."""
    return {
        "url": page.url,
        "requested": page.requested,
        "depth": page.depth,
        "via": page.via,
        "status": page.status,
        "lastmod": page.lastmod,
        **page.content,
    }


async def _write_jsonl(store: Store, crawl: Crawl, file: BinaryIO, retrieval: Retrieval) -> int:
    """Write one page per line, each with what is known about its site."""
    written = 0
    async for page in read_known_pages(store, crawl, retrieval):
        file.write(json.dumps(page_shape(page), ensure_ascii=False).encode("utf-8", "replace") + b"\n")
        written += 1
    return written


def _write_warc(store: Store, crawl: Crawl, file: BinaryIO) -> int:
    """Write the responses that the pages were read from, as `bulk` reads them."""
    from pagekeep.library.exports.warc_records import RecordWriter

    writer = RecordWriter(file)
    day = _fixed_time()
    about = (("description", f"Crawl of {crawl.url}"), ("format", "WARC File Format 1.1"))
    writer.write_info("crawl.warc.gz", day or crawl.started_at, about, _record_id("info", crawl.url))
    written = 0
    for page in read_pages(store, crawl.id):
        writer.write(_record(store, crawl, page, day))
        written += 1
    return written


def _record(store: Store, crawl: Crawl, page: CrawledPage, day: str | None) -> Any:
    from pagekeep.library.exports.warc_records import Http, Record, http_headers, status_line

    raw = read_raw(store, crawl.id, page)
    if raw is None:
        raise Conflict(
            f"The raw page of {page.url} was not kept.",
            suggestions=("Set `keep_raw = true` and crawl the site again, or write JSONL.",),
        )
    media_type = f"{raw.content_type}; charset={raw.encoding}" if raw.encoding else raw.content_type
    digest = hashlib.sha256(raw.body).hexdigest()
    record_id, at = _record_id(page.requested, digest), day or raw.fetched_at
    if raw.rendered:
        return Record("resource", page.requested, record_id, at, raw.body, media_type)
    http = Http(status_line(raw.status or 200), tuple(http_headers(raw, media_type)))
    return Record("response", page.requested, record_id, at, raw.body, media_type, http)


def _record_id(*parts: str) -> str:
    """Return an id that is the same for the same page."""
    return f"<urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, ' '.join(('pagekeep:crawl', *parts)))}>"


def _fixed_time(environ: Mapping[str, str] = os.environ) -> str | None:
    seconds = environ.get(DATE_VARIABLE, "")
    return clock.format_time(datetime.fromtimestamp(int(seconds), UTC)) if seconds.isdigit() else None


OUTPUTS: Final = ("jsonl", "warc")
"""Kinds of output files."""
