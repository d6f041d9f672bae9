"""Copies of whole pages, made with the browser, at once or as jobs: a screenshot, a PDF, or one HTML file."""

from __future__ import annotations

import struct
from asyncio import to_thread
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from pagekeep import clock
from pagekeep.capture.from_url import Progress, Retrieval, ignore_progress
from pagekeep.capture.joined_file import PAGES_TYPE
from pagekeep.capture.measure import STARTING_BROWSER
from pagekeep.capture.single_file import DecodeTask, SingleFile, SingleFileTask
from pagekeep.config import Settings
from pagekeep.errors import NotFound, TooLarge, UnsupportedContent
from pagekeep.library.items.build_item import first_raw_page
from pagekeep.library.items.find import get_item_and_raw
from pagekeep.library.queue import SliceResult
from pagekeep.model import Item, Job, RawPage
from pagekeep.model.archive import COPY_KINDS, COPY_ROLES, CopyKind, ItemBlob
from pagekeep.store import Store
from pagekeep.workers import Limits

TIMEOUT_SECONDS: Final = 60.0
"""For one page: loading, settling and all copies."""
MAX_HTML_BYTES: Final = 60_000_000
MEDIA_TYPES: Final[dict[CopyKind, str]] = {"screenshot": "image/png", "pdf": "application/pdf", "html": "text/html"}
_LIMITS: Final = Limits(cpu_seconds=60.0, wall_seconds=120.0, megabytes=1_500)
"""For making the single file: a page with 25 MB of pictures needs some hundred megabytes."""
_MISSING: Final = "resource"
"""The role under which what is missing in an HTML copy is noted with the item."""


@dataclass(frozen=True, slots=True)
class CopyReport:
    """What was made."""

    item_id: str
    made: dict[str, int] = field(default_factory=dict)
    """Kind to bytes."""
    missing: tuple[str, ...] = ()
    """Addresses of what the HTML copy lacks."""


async def make_copies(
    key: str,
    kinds: Sequence[CopyKind],
    store: Store,
    retrieval: Retrieval,
    progress: Progress = ignore_progress,
) -> CopyReport:
    """Make copies of the page as it was saved, and keep them in place of earlier ones of the same kinds.

    The browser gets the stored HTML and loads pictures, styles and scripts from the web through the address guard. Raises
    `NotFound` without a raw page, `UnsupportedContent` for text that is not HTML, and what the browser raises.
    """
    item, raw = await to_thread(get_item_and_raw, store, key)
    raw = await retrieval.run(_FirstPage(raw)) if raw.content_type == PAGES_TYPE else raw
    if "html" not in raw.content_type:
        raise UnsupportedContent("Only web pages can be copied as a whole.", suggestions=())
    wanted = tuple(kind for kind in COPY_KINDS if kind in kinds)
    html = await retrieval.run(DecodeTask(raw.body, raw.encoding))
    progress(STARTING_BROWSER)
    browser = await retrieval.screenshots()
    progress("Copying the page")
    taken = await browser.copy(item.user_id, raw.final_url, wanted, timeout=TIMEOUT_SECONDS, html=html)
    now, made, missing = clock.now(), dict[str, int](), tuple[str, ...]()
    for kind in wanted:
        body = taken.copies[kind]
        if kind == "html":
            file = await retrieval.run(SingleFileTask(body, raw.final_url, now), _LIMITS)
            body, missing = file.html, tuple(entry.url for entry in file.missing)
            await to_thread(_note_missing, store, item, file, now)
        await to_thread(_keep, store, item, raw.final_url, kind, body, now)
        made[kind] = len(body)
    return CopyReport(item.id, made, missing)


@dataclass(frozen=True, slots=True)
class _FirstPage:
    raw: RawPage

    def run(self) -> RawPage:
        """Return the first page of an article over several pages: it is the one that a browser can show."""
        return first_raw_page(self.raw)


def _keep(store: Store, item: Item, source: str, kind: CopyKind, body: bytes, now: str) -> None:
    if len(body) > MAX_HTML_BYTES:
        raise TooLarge(f"The copy is larger than {MAX_HTML_BYTES // 1_000_000} MB.", suggestions=())
    name = store.blobs.put(body, now, compress=kind == "html")
    width, height = struct.unpack(">II", body[16:24]) if kind == "screenshot" else (None, None)
    role = COPY_ROLES[kind]
    link = ItemBlob(role, source, "kept", now, MEDIA_TYPES[kind], name, len(body), width, height)
    store.blobs.replace_links(item.id, [role], [link])


def _note_missing(store: Store, item: Item, file: SingleFile, now: str) -> None:
    links = [
        ItemBlob(_MISSING, entry.url, "left_out", now, size=entry.size, reason=entry.reason, position=number)
        for number, entry in enumerate(file.missing)
    ]
    store.blobs.replace_links(item.id, [_MISSING], links)


def list_copies(store: Store, item_id: str) -> dict[CopyKind, ItemBlob]:
    """Return the copies that are kept with an item, by kind."""
    links = {link.role: link for link in store.blobs.of_item(item_id, tuple(COPY_ROLES.values())) if link.hash}
    return {kind: links[role] for kind, role in COPY_ROLES.items() if role in links}


def read_copy(store: Store, item_id: str, kind: CopyKind) -> bytes:
    """Return the newest copy of a kind; `NotFound` when there is none."""
    link = list_copies(store, item_id).get(kind)
    if link is None or link.hash is None:
        raise NotFound(f"There is no {kind} copy of this page.", suggestions=("Make one of the saved page first.",))
    return store.blobs.get(link.hash)


def missing_parts(store: Store, item_id: str) -> tuple[ItemBlob, ...]:
    """Return what is missing in the HTML copy of an item."""
    return store.blobs.of_item(item_id, (_MISSING,))


TASK: Final = "copies"
"""The value of `task` in the options of these jobs."""
_ADDRESS: Final = "pagekeep:copies"


def request_copies(store: Store, item: Item, kinds: Sequence[CopyKind]) -> Job:
    """Return a job that makes copies of the item's page."""
    wanted = [kind for kind in COPY_KINDS if kind in kinds]
    address = f"{_ADDRESS}/{item.id}/{'+'.join(wanted)}"
    return store.jobs.add(address, _ADDRESS, {"task": TASK, "item": item.id, "kinds": wanted}, clock.now())


def request_configured(store: Store, item: Item, settings: Settings, *, changed: bool) -> Job | None:
    """Return a job for the copies that the settings ask for after a save; `None` when there is nothing to make."""
    known = item.metadata
    if not settings.keep or item.deleted_at is not None or known.quality not in ("article", "simplified"):
        return None
    if known.file_type:  # a document's file is its copy
        return None
    present = {} if changed else list_copies(store, item.id)
    wanted = [kind for kind in COPY_KINDS if kind in settings.keep and kind not in present]
    return request_copies(store, item, wanted) if wanted else None


async def copies_job(job: Job, store: Store, retrieval: Retrieval, progress: Progress) -> SliceResult:
    """Make the copies of a job; there is nothing to do when its page was deleted, or is not HTML."""
    kinds = [kind for kind in COPY_KINDS if kind in job.options.get("kinds", ())]
    try:
        report = await make_copies(str(job.options.get("item")), kinds, store, retrieval, progress)
    except (NotFound, UnsupportedContent) as error:
        return SliceResult(report={"made": {}, "missing": 0, "note": error.message})
    return SliceResult(report={"made": report.made, "missing": len(report.missing)})
