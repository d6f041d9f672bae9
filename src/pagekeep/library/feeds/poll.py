"""Polling feeds: which are due, fetching them, and putting what is new into the feed inbox."""

from __future__ import annotations

import asyncio
import hashlib
import random
import re
from asyncio import to_thread
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from time import monotonic
from typing import Any, Final

from pagekeep import clock
from pagekeep.capture.from_url import Request, Retrieval, ignore_progress
from pagekeep.capture.modes import capture_by_mode
from pagekeep.errors import FetchHttpError, NotFound, PagekeepError, StoreError
from pagekeep.library.feeds import subscriptions
from pagekeep.library.feeds.inbox import add_entries
from pagekeep.library.feeds.parse.tasks import CleanEntries
from pagekeep.library.feeds.subscriptions import ACCEPT, parse_response
from pagekeep.library.items import build_item
from pagekeep.library.queue import SLICE_SECONDS, SliceResult
from pagekeep.model import AddedEntries, Feed, Fetched, Job, NewEntry, Options, PollOutcome, RawPage
from pagekeep.model.feeds import ParsedEntry, ParsedFeed
from pagekeep.store import Store
from pagekeep.store.tables.entries import guid_hash

MAX_POLLS: Final = 200
"""Feeds that are polled in one go."""
AT_A_TIME: Final = 16
SETTLED_AT_A_TIME: Final = 50
"""Polls whose outcomes are stored in one transaction."""
MAX_ARTICLES: Final = 20
"""Articles that are fetched for one poll of a feed with whole articles; the others show what the feed carries."""
MOVED_TIMES: Final = 3
"""Polls in a row that are redirected permanently to the same address before it is adopted."""
MIN_PAUSE: Final = 60.0
"""Seconds at least between two looks for due feeds."""
_FAR_SECONDS: Final = 100 * 86_400.0
_GONE: Final = 410


@dataclass(slots=True)
class PollReport:
    """What polls found."""

    polled: int = 0
    unchanged: int = 0
    failed: int = 0
    added: int = 0
    updated: int = 0
    left_out: int = 0
    """New entries that are not in the inbox, by their feeds' limits on number and age."""
    failures: dict[str, str] = field(default_factory=dict)
    """Feed id to the reason."""

    def counts(self) -> dict[str, int]:
        """Return the numbers."""
        return {name: getattr(self, name) for name in ("polled", "unchanged", "failed", "added", "updated", "left_out")}


async def feeds_job(job: Job, store: Store, retrieval: Retrieval, progress: Callable[[str], None]) -> SliceResult:
    """Poll the feeds that are due, as a job, in slices."""
    report, end = PollReport(), monotonic() + SLICE_SECONDS
    before = {name: int(value) for name, value in job.options.items() if name in report.counts()}
    while due := await to_thread(due_feeds, store):
        await poll_feeds(due, store, retrieval, report, progress=progress)
        if monotonic() > end:
            break
    counts = {name: count + before.get(name, 0) for name, count in report.counts().items()}
    if due:
        return SliceResult(so_far={**job.options, **counts})
    schedule = job.options.get("schedule")
    if schedule:
        await to_thread(_settle_schedule, store, str(schedule), counts)
    return SliceResult(report=counts)


def due_feeds(store: Store) -> tuple[Feed, ...]:
    """Return feeds to poll now."""
    now = clock.now()
    return store.feeds.due(now, clock.add_seconds(now, _FAR_SECONDS), MAX_POLLS)


def _settle_schedule(store: Store, schedule_id: str, counts: Mapping[str, int]) -> None:
    now = clock.now()
    soonest = clock.add_seconds(now, MIN_PAUSE)
    next_at = max(store.feeds.next_poll() or clock.add_seconds(now, MAX_SECONDS), soonest)
    store.schedules.settle(schedule_id, counts, failed=False, now=now, next_at=next_at)


async def poll_now(
    keys: tuple[str, ...], store: Store, retrieval: Retrieval, *, progress: Callable[[str], None] = ignore_progress
) -> PollReport:
    """Poll these feeds, or all that are active, and report what was found since.

    A server or worker that runs may poll some of them first, or at the same time; the report has what they found too.
    """
    since = clock.now()
    wanted = {feed.id: feed for feed in await to_thread(subscriptions.request_poll, store, keys)}
    while due := [feed for feed in await to_thread(store.feeds.list) if feed.id in wanted and _is_due(feed)]:
        await poll_feeds(tuple(due[:MAX_POLLS]), store, retrieval, PollReport(), progress=progress)
    changes = await to_thread(store.entries.since, since)
    report = PollReport()
    for feed in await to_thread(store.feeds.list):
        if feed.id not in wanted or feed.polled_at == wanted[feed.id].polled_at:
            continue
        added, updated, left_out = changes.get(feed.id, (0, 0, 0))
        report.polled += 1
        report.added += added
        report.updated += updated
        report.left_out += left_out
        if feed.error is not None:
            report.failed += 1
            report.failures[feed.id] = feed.error
        elif not (added or updated):
            report.unchanged += 1
    return report


def _is_due(feed: Feed) -> bool:
    return feed.status == "active" and feed.next_at <= clock.now()


async def poll_feeds(
    feeds: tuple[Feed, ...],
    store: Store,
    retrieval: Retrieval,
    report: PollReport,
    *,
    progress: Callable[[str], None] = ignore_progress,
) -> PollReport:
    """Poll these feeds, some at a time, and store what they found."""
    slots, outcomes = asyncio.Semaphore(AT_A_TIME), list[PollOutcome]()

    async def one(feed: Feed) -> None:
        async with slots:
            outcome = await poll_feed(feed, store, retrieval, report)
        report.polled += 1
        progress(f"Polled {report.polled} feeds")
        outcomes.append(outcome)
        if len(outcomes) >= SETTLED_AT_A_TIME:
            batch, outcomes[:] = list(outcomes), []
            await to_thread(store.feeds.settle_polls, batch, clock.now())

    async with asyncio.TaskGroup() as group:
        for feed in feeds:
            group.create_task(one(feed))
    if outcomes:
        await to_thread(store.feeds.settle_polls, outcomes, clock.now())
    return report


async def poll_feed(feed: Feed, store: Store, retrieval: Retrieval, report: PollReport) -> PollOutcome:
    """Poll one feed; return what it changes about the feed. A failure is part of that, unless it is the library's."""
    state = feed.state
    try:
        fetched = await retrieval.client.download(
            feed.address,
            accept=ACCEPT,
            etag=state.get("etag"),
            last_modified=state.get("last_modified"),
            spaced=True,
        )
        digest = state.get("hash") if fetched.not_modified else hashlib.sha256(fetched.body).hexdigest()
        if digest == state.get("hash") and not state.get("error_in"):
            report.unchanged += 1
            return _unchanged(feed, fetched)
        parsed = await parse_response(fetched, retrieval)
        added = await _store_entries(feed, parsed, store, retrieval)
    except StoreError:
        raise
    except PagekeepError as error:
        report.failed += 1
        report.failures[feed.id] = error.message
        return _failed(feed, error)
    report.added += len(added.added)
    report.updated += len(added.updated)
    report.left_out += len(added.left_out)
    return _changed(feed, fetched, parsed, digest)


def _unchanged(feed: Feed, fetched: Fetched) -> PollOutcome:
    now, state = clock.now(), {**feed.state, **_validators(feed, fetched), **_redirected(feed, fetched), "error": None}
    return PollOutcome(feed.id, feed.next_at, state, _next_time(feed, state, fetched, now), address=_adopted(state))


def _changed(feed: Feed, fetched: Fetched, parsed: ParsedFeed, digest: str | None) -> PollOutcome:
    now = clock.now()
    times = [entry.published_at for entry in parsed.entries if entry.published_at]
    state = {
        **feed.state,
        **_validators(feed, fetched),
        **_redirected(feed, fetched),
        "hash": digest,
        "every": seconds_between(times, now),
        "ttl": parsed.ttl_seconds,
        "format": parsed.format,
        "language": parsed.language,
        "error": None,
        "error_in": None,
    }
    next_at = _next_time(feed, state, fetched, now)
    return PollOutcome(
        feed.id, feed.next_at, state, next_at, title=parsed.title, site=parsed.site, address=_adopted(state)
    )


def _failed(feed: Feed, error: PagekeepError) -> PollOutcome:
    now, attempts = clock.now(), feed.attempts + 1
    headers = error.page.headers if isinstance(error, FetchHttpError) and error.page else {}
    is_gone = isinstance(error, FetchHttpError) and error.status == _GONE
    # A document that could not be read is read again, even if the server says that it has not changed.
    is_document = not isinstance(error, FetchHttpError) and type(error).__name__ in ("UnsupportedContent", "ParseError")
    state = {**feed.state, "error": error.message, "error_type": type(error).__name__, "error_in": is_document or None}
    next_at = after_failure(_base(feed, state), attempts, retry_seconds(headers, now), now)
    return PollOutcome(feed.id, feed.next_at, state, next_at, attempts=attempts, status="gone" if is_gone else "active")


def _base(feed: Feed, state: Mapping[str, Any]) -> float:
    return float(feed.settings.every or state.get("every") or MIN_SECONDS)


def _next_time(feed: Feed, state: Mapping[str, Any], fetched: Fetched, now: str) -> str:
    hints = (float(state.get("ttl") or 0), server_seconds(fetched.headers, now))
    return after_success(_base(feed, state), hints, now)


def _validators(feed: Feed, fetched: Fetched) -> dict[str, str | None]:
    """Return what the server recognises this version by; with "not modified" it need not repeat it."""
    if fetched.not_modified:
        known = feed.state
        return {
            "etag": fetched.etag or known.get("etag"),
            "last_modified": fetched.last_modified or known.get("last_modified"),
        }
    return {"etag": fetched.etag, "last_modified": fetched.last_modified}


def _redirected(feed: Feed, fetched: Fetched) -> dict[str, Any]:
    """Return to where the feed was redirected permanently, and how many times in a row."""
    if fetched.moved_to is None or fetched.moved_to == feed.address:
        return {"moved": None}
    before = feed.state.get("moved") or {}
    times = int(before.get("times", 0)) if before.get("to") == fetched.moved_to else 0
    return {"moved": {"to": fetched.moved_to, "times": times + 1}}


def _adopted(state: Mapping[str, Any]) -> str | None:
    """Return the address that a feed has from now on, if it has moved for good."""
    moved = state.get("moved") or {}
    return moved["to"] if moved.get("times", 0) >= MOVED_TIMES else None


async def _store_entries(feed: Feed, parsed: ParsedFeed, store: Store, retrieval: Retrieval) -> AddedEntries:
    """Put the entries of a document into the inbox: texts are made of those that are new or have changed."""
    known = await to_thread(store.entries.fingerprints, feed.id)
    fresh = [entry for entry in parsed.entries if known.get(guid_hash(entry.guid)) != entry.fingerprint]
    settings = feed.settings
    cleaned = await retrieval.run(CleanEntries(tuple(fresh), settings.content, settings.include, settings.exclude))
    now = clock.now()
    entries = [
        _new_entry(entry, text.markdown, text.page, now)
        for entry, text in zip(fresh, cleaned, strict=True)
        if text is not None
    ]
    listed = {entry.guid for entry in parsed.entries}
    added = await to_thread(lambda: add_entries(store, feed, entries, listed=listed))
    if settings.content == "page":
        await _fetch_articles((*added.added, *added.updated), store, retrieval)
    return added


def _new_entry(entry: ParsedEntry, text: str, page: str | None, now: str) -> NewEntry:
    url = entry.url or entry.base or ""
    raw = RawPage(page.encode("utf-8", "replace"), "utf-8", "text/html", url, 200, False, now) if page and url else None
    return NewEntry(
        guid=entry.guid,
        title=entry.title,
        url=entry.url,
        author=entry.author,
        published_at=entry.published_at,
        content=text,
        page=raw,
        extra=entry.extra,
        fingerprint=entry.fingerprint,
    )


async def _fetch_articles(ids: tuple[str, ...], store: Store, retrieval: Retrieval) -> None:
    """Replace the texts of entries by the articles at their addresses, as a save would get them."""
    for entry_id in ids[:MAX_ARTICLES]:
        try:
            entry = await to_thread(store.entries.get, entry_id)
        except NotFound:  # over the limits of the feed
            continue
        if entry.url is not None:
            await _fetch_article(entry_id, entry.url, store, retrieval)


async def _fetch_article(entry_id: str, url: str, store: Store, retrieval: Retrieval) -> None:
    options = Options(max_bytes=retrieval.settings.max_bytes)
    try:
        captured = await capture_by_mode(Request(url), retrieval, options, ignore_progress)
    except StoreError:
        raise
    except PagekeepError:  # the text of the feed stays; keeping the entry tries again
        return
    page = captured.page
    if page.caught is None and page.quality.level in ("article", "simplified"):
        raw = replace(build_item.to_raw_page(captured.fetched, clock.now()), headers=None)
        await to_thread(store.entries.set_text, entry_id, page.markdown, raw, {"full": True})


MIN_SECONDS: Final = 1_800.0
"""No feed is polled more often, unless the user set so."""
MAX_SECONDS: Final = 86_400.0
"""Without failures every feed is polled once a day at least, unless the user set so or its server asks for more."""
MAX_HINT_SECONDS: Final = 7 * 86_400.0
"""What a feed or its server asks for is cut to this."""
MAX_BACKOFF_SECONDS: Final = 7 * 86_400.0
FIRST_BACKOFF_SECONDS: Final = 3_600.0
WINDOW_SECONDS: Final = 7 * 86_400.0
JITTER: Final = 0.1
_MAX_AGE: Final = re.compile(r"(?<![\w-])max-age\s*=\s*\"?(\d{1,9})")


def seconds_between(published: Sequence[str], now: str) -> float:
    """Return the usual time between two entries, by those of the last week."""
    since = clock.add_seconds(now, -WINDOW_SECONDS)
    recent = sum(since <= time <= now for time in published)
    return min(MAX_SECONDS, max(MIN_SECONDS, WINDOW_SECONDS / recent)) if recent else MAX_SECONDS


def server_seconds(headers: Mapping[str, str], now: str) -> float:
    """Return how long the response is fresh, by `Cache-Control: max-age` or `Expires`; 0 when neither says so."""
    control = headers.get("cache-control", "").lower()
    if found := _MAX_AGE.search(control):
        return min(float(found[1]), MAX_HINT_SECONDS)
    if "no-cache" in control or "no-store" in control:
        return 0.0
    return min(_seconds_until(headers.get("expires", ""), now), MAX_HINT_SECONDS)


def retry_seconds(headers: Mapping[str, str], now: str) -> float:
    """Return how long the server asks to wait, in either form of `Retry-After`; 0 when it does not."""
    text = headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        return min(float(text[:9]), MAX_HINT_SECONDS)
    return min(_seconds_until(text, now), MAX_HINT_SECONDS)


def _seconds_until(date: str, now: str) -> float:
    try:
        time = clock.format_time(parsedate_to_datetime(date))
    except (ValueError, TypeError, OverflowError, IndexError):
        return 0.0
    return max(0.0, clock.days_between(now, time) * 86_400.0)


def after_success(base: float, hints: Sequence[float], now: str) -> str:
    """Return the next time: after the longest of the feed's own interval and the hints, and not quite on time."""
    return _later(max(base, *(min(hint, MAX_HINT_SECONDS) for hint in hints)), now)


def after_failure(base: float, attempts: int, retry: float, now: str) -> str:
    """Return the next time after this many failures in a row: later each time, and not before the server wants it."""
    backoff = min(max(base, FIRST_BACKOFF_SECONDS) * 2 ** min(max(0, attempts - 1), 12), MAX_BACKOFF_SECONDS)
    # Never before the time that the server asked for: the spread is added to it.
    return _later(backoff, now) if backoff > retry else clock.add_seconds(now, retry * random.uniform(1, 1 + JITTER))


def _later(seconds: float, now: str) -> str:
    return clock.add_seconds(now, seconds * random.uniform(1 - JITTER, 1 + JITTER))
