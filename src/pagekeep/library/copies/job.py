"""Make copies in the background, as jobs of the queue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pagekeep import clock
from pagekeep.capture.from_url import Progress, Retrieval
from pagekeep.config import Settings
from pagekeep.errors import NotFound, UnsupportedContent
from pagekeep.library.copies.make import list_copies, make_copies
from pagekeep.library.queue.slices import SliceResult
from pagekeep.model import Item, Job
from pagekeep.model.archive import COPY_KINDS, CopyKind
from pagekeep.store import Store

TASK: Final = "copies"
"""The value of `task` in the options of these jobs."""
_ADDRESS: Final = "pagekeep:copies"


def request_copies(store: Store, item: Item, kinds: Sequence[CopyKind]) -> Job:
    """Return a job that makes copies of the item's page."""
    wanted = [kind for kind in COPY_KINDS if kind in kinds]
    address = f"{_ADDRESS}/{item.id}/{'+'.join(wanted)}"
    return store.enqueue(address, _ADDRESS, {"task": TASK, "item": item.id, "kinds": wanted}, clock.now())


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
