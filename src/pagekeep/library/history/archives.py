"""Copies in web archives: looked up and requested only if the settings say so, as the archive then gets the page's URL."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import quote, urlencode

from pagekeep.capture.from_url import Retrieval
from pagekeep.errors import FetchHttpError, PagekeepError
from pagekeep.library.items import get_item
from pagekeep.library.queue.slices import SliceResult
from pagekeep.model import Item, Job
from pagekeep.store import Store

SUBMIT_TASK: Final = "archive"
_MAX_ANSWER_BYTES: Final = 1_000_000
_KEPT_CHARS: Final = "/:?=&%#@!$'()*+,;~-._[]"


async def look_up(item: Item, retrieval: Retrieval) -> str | None:
    """Return the address of a copy of the page in the configured archive; `None` without one, or if that is switched off."""
    settings = retrieval.settings
    if not settings.archive_lookup:
        return None
    try:
        if settings.archive_service.endswith("/"):
            return await _ask_time_gate(item, retrieval)
        return await _ask_wayback(item, retrieval)
    except PagekeepError:  # the next check asks again
        return None


async def _ask_wayback(item: Item, retrieval: Retrieval) -> str | None:
    """Return the copy nearest to the time of saving, from an availability service."""
    stamp = "".join(filter(str.isdigit, item.saved_at))[:14]
    query = urlencode({"url": item.url_full, "timestamp": stamp})
    answer = await retrieval.client.download(
        f"{retrieval.settings.archive_service}?{query}", accept="application/json", max_bytes=_MAX_ANSWER_BYTES
    )
    try:
        found: Any = json.loads(answer.body)
        closest = found["archived_snapshots"]["closest"]
        address = closest["url"] if closest.get("available") else None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return _checked(address)


async def _ask_time_gate(item: Item, retrieval: Retrieval) -> str | None:
    """Return the copy to which a Memento TimeGate (RFC 7089) redirects."""
    address = f"{retrieval.settings.archive_service}{quote(item.url_full, safe=_KEPT_CHARS)}"
    try:
        answer = await retrieval.client.download(address, accept="text/html", max_bytes=retrieval.settings.max_bytes)
    except FetchHttpError as error:
        if error.status == 404:
            return None
        raise
    is_copy = "memento-datetime" in answer.headers and answer.final_url != address
    return _checked(answer.final_url) if is_copy else None


def _checked(address: object) -> str | None:
    """Return the address if it is a link that a reader may follow."""
    is_link = isinstance(address, str) and address.startswith(("http://", "https://")) and len(address) <= 10_000
    return str(address) if is_link and str(address).isprintable() else None


async def submit_job(job: Job, store: Store, retrieval: Retrieval, progress: Callable[[str], None]) -> SliceResult:
    """Ask the configured archive to keep a page, as a job."""
    settings = retrieval.settings
    if not settings.archive_submit:
        return SliceResult(report={"submitted": 0})
    item = get_item(store, str(job.options.get("subject")))
    progress("Sending the address to the archive")
    address = f"{settings.archive_submit_service}{quote(item.url_full, safe=_KEPT_CHARS)}"
    await retrieval.client.download(address, accept="text/html", max_bytes=settings.max_bytes, deadline=120.0)
    return SliceResult(report={"submitted": 1})


def enqueue_submission(store: Store, item: Item, now: str) -> None:
    """Add a job that sends the item's address to the archive."""
    options = {"task": SUBMIT_TASK, "subject": item.id}
    store.enqueue(f"pagekeep:{SUBMIT_TASK}/{item.id}", f"pagekeep:{SUBMIT_TASK}", options, now)
