"""Dead links: check whether saved pages are still on the web, and find or request copies in web archives."""

from __future__ import annotations

import json
from asyncio import to_thread
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Final, Literal
from urllib.parse import quote, urlencode

from pagekeep import clock
from pagekeep.capture.from_url import Captured, NotModified, Request, Retrieval, capture
from pagekeep.capture.uploads import FILE_HOST
from pagekeep.config import Settings
from pagekeep.errors import (
    BlockedAddress,
    FetchHttpError,
    FetchNetworkError,
    NotFound,
    PagekeepError,
    StoreError,
    UnsupportedContent,
)
from pagekeep.library.items.find import get_item
from pagekeep.library.queue import SliceResult
from pagekeep.model import Item, Job, Options, PageCheck, RawPage
from pagekeep.store import Store

TASK: Final = "links"
EVERY: Final = 3_600
"""Seconds between two runs, each of which checks a few pages."""
FIRST_SECONDS: Final = 300.0
"""Seconds before the first run: a program that just started has better things to do."""
MAX_PAGES: Final = 25
"""Pages checked in one run."""
MIN_FAILURES: Final = 3
MIN_SECONDS: Final = 2 * 86_400.0
"""A page has gone after this many failures, over this time at least."""
RETRY_SECONDS: Final = 86_400.0
"""A page that failed is checked again after this time."""
_GONE: Final = frozenset({404, 410})
_GONE_PAGES: Final = frozenset({"soft_404", "parked_domain"})

State = Literal["ok", "gone", "blocked", "unreachable"]


@dataclass(frozen=True, slots=True)
class LinkResult:
    """What one check found."""

    item: Item
    """As it is now."""
    state: State
    """`gone` of this check alone; whether the page has gone is `item.metadata.link`."""
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """What one request says about an address."""

    state: State
    reason: str | None = None
    answered: bool = True
    """Whether a server answered at all."""


def classify(found: Captured | PagekeepError) -> Finding:
    """Return what a capture says about the address."""
    if isinstance(found, Captured):
        caught = found.page.caught
        if caught is None or caught.kind == "empty_shell":
            return Finding("ok")
        return Finding("gone" if caught.kind in _GONE_PAGES else "blocked", caught.reason)
    if isinstance(found, FetchHttpError):
        return Finding("gone" if found.status in _GONE else "blocked", found.message)
    if isinstance(found, FetchNetworkError) and found.unknown_host:
        return Finding("gone", found.message, answered=False)
    if isinstance(found, UnsupportedContent):
        return Finding("ok")
    if isinstance(found, BlockedAddress):
        return Finding("blocked", found.message)
    return Finding("unreachable", found.message, answered=False)


async def check_one(item: Item, store: Store, retrieval: Retrieval) -> LinkResult:
    """Check the address of one item and note the result; nothing is stored of the page."""
    return await note_finding(item, await _request(item, store, retrieval), store, retrieval)


async def _request(item: Item, store: Store, retrieval: Retrieval) -> Finding:
    raw = await to_thread(store.items.raw, item.id)
    request = Request(item.url_full, render="never", join_pages=False)
    if raw is not None and not raw.rendered:
        request = replace(request, etag=raw.etag, last_modified=raw.last_modified)
    try:
        return classify(await capture(request, retrieval, options=Options(max_bytes=retrieval.settings.max_bytes)))
    except NotModified:
        return Finding("ok")
    except StoreError:
        raise
    except PagekeepError as error:
        return classify(error)


def note_found(store: Store, item: Item, now: str, settings: Settings, raw: RawPage | None = None) -> None:
    """Store that the page was requested now, and is there; `raw` has what the server recognises this version by."""
    days = settings.check_links_days or 30
    store.changes.put_check(PageCheck(item.id, now, clock.add_seconds(now, days * 86_400.0), "ok"), raw)


async def note_finding(item: Item, finding: Finding, store: Store, retrieval: Retrieval) -> LinkResult:
    """Store what a request for the item's address found; several failures over days make a page gone."""
    state, reason = finding.state, finding.reason
    now, before = clock.now(), await to_thread(store.changes.get_check, item.id)
    failures, since = (before.failures, before.first_failed_at) if before else (0, None)
    if state == "gone":
        failures, since = failures + 1, since or now
    elif state == "ok":
        failures, since = 0, None
    days = retrieval.settings.check_links_days or 30
    wait = RETRY_SECONDS if state != "ok" and failures < MIN_FAILURES + 1 else days * 86_400.0
    check = PageCheck(item.id, now, clock.add_seconds(now, wait), state, failures, since, reason)
    await to_thread(store.changes.put_check, check)
    is_gone = failures >= MIN_FAILURES and since is not None and clock.add_seconds(since, MIN_SECONDS) <= now
    link = await _describe(item, state, reason, since if is_gone else None, retrieval)
    if link != item.metadata.link:
        item = await to_thread(lambda: store.items.set_metadata(item.id, now, link=link))
    return LinkResult(item, state, reason)


async def _describe(
    item: Item, state: State, reason: str | None, gone_since: str | None, retrieval: Retrieval
) -> dict[str, Any] | None:
    """Return what is noted on the item; `None` when its address works, or may work."""
    known = dict(item.metadata.link or {})
    if state == "ok":
        return None
    if gone_since is not None:
        archived = known.get("archived") or await look_up_copy(item, retrieval)
        link = {"state": "gone", "reason": reason, "since": gone_since, "archived": archived}
        return link if known.get("state") != "gone" else known | {"archived": archived}
    if state == "blocked" and known.get("state") != "gone":
        return (
            known if known.get("state") == "blocked" else {"state": "blocked", "reason": reason, "since": clock.now()}
        )
    return known or None


async def check_links(
    keys: Iterable[str], store: Store, retrieval: Retrieval, report: Callable[[LinkResult], None]
) -> None:
    """Check the addresses of these items one after the other.

    When all of several hosts fail, this machine is offline: then nothing is noted.
    """
    found: list[tuple[Item, Finding]] = []
    for key in keys:
        try:
            item = await to_thread(get_item, store, key)
        except NotFound:  # purged since it was selected
            continue
        if _is_on_web(item):
            found.append((item, await _request(item, store, retrieval)))
    if len({item.domain for item, _ in found}) > 1 and not any(finding.answered for _, finding in found):
        return
    for item, finding in found:
        report(await note_finding(item, finding, store, retrieval))


def _is_on_web(item: Item) -> bool:
    """Return whether an address can be requested; that of a message is not, as its sender would learn of it."""
    is_own = item.domain != FILE_HOST and item.source not in ("mail", "import:mail")
    return is_own and item.url.startswith(("http://", "https://"))


def due_keys(store: Store, retrieval: Retrieval, limit: int = MAX_PAGES) -> tuple[str, ...]:
    """Return ids of items whose addresses are to be checked now."""
    now, days = clock.now(), retrieval.settings.check_links_days
    return store.changes.due_checks(now, clock.add_seconds(now, -days * 86_400.0), limit) if days else ()


async def links_job(job: Job, store: Store, retrieval: Retrieval, progress: Callable[[str], None]) -> SliceResult:
    """Check the addresses that are due, as a job."""
    counts: dict[str, int] = {"ok": 0, "gone": 0, "blocked": 0, "unreachable": 0}

    def count(result: LinkResult) -> None:
        counts[result.state] += 1
        progress(f"Checked {sum(counts.values())} addresses")

    keys = await to_thread(due_keys, store, retrieval)
    await check_links(keys, store, retrieval, count)
    if job.options.get("schedule"):
        await to_thread(
            lambda: store.schedules.settle(str(job.options["schedule"]), counts, failed=False, now=clock.now())
        )
    return SliceResult(report=counts)


def ensure_schedule(store: Store) -> None:
    """Add the schedule that checks the user's addresses, if there is none."""
    if store.writable and store.schedules.get(TASK, "") is None:
        now = clock.now()
        store.schedules.put(TASK, "", "pagekeep:links", EVERY, clock.add_seconds(now, FIRST_SECONDS), now)


SUBMIT_TASK: Final = "archive"
_MAX_ANSWER_BYTES: Final = 1_000_000
_KEPT_CHARS: Final = "/:?=&%#@!$'()*+,;~-._[]"


async def look_up_copy(item: Item, retrieval: Retrieval) -> str | None:
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
    store.jobs.add(f"pagekeep:{SUBMIT_TASK}/{item.id}", f"pagekeep:{SUBMIT_TASK}", options, now)
