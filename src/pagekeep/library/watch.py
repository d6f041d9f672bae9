"""Watching pages: they are visited on a schedule, and what changed is stored as a version and put into the inbox of changes."""

from __future__ import annotations

import asyncio
import uuid
from asyncio import to_thread
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from pagekeep import clock
from pagekeep.capture.active_rules import fingerprint
from pagekeep.capture.from_url import Captured, NotModified, Request, Retrieval, ignore_progress
from pagekeep.capture.measure import FETCHING
from pagekeep.capture.modes import capture_by_mode
from pagekeep.errors import NotFound, PagekeepError, StoreError
from pagekeep.library import webhooks
from pagekeep.library.archive import dead_links
from pagekeep.library.archive.keep_pictures import request_pictures
from pagekeep.library.archive.noise import VISITS, Judgement, judge
from pagekeep.library.archive.versions import VersionText, read_text, retention
from pagekeep.library.items import build_item
from pagekeep.library.items.find import get_item
from pagekeep.library.queue import SliceResult, next_time
from pagekeep.library.saving.save import refetch_item
from pagekeep.model import PARSER_VERSION, Change, Item, Job, Options, Schedule, Snapshot
from pagekeep.present.tasks import WordDiffTask
from pagekeep.store import Store
from pagekeep.workers import TEXT

TASK: Final = "watch"
EVERY: Final = 86_400
"""Seconds between two visits, by default."""
CONFIRM_SECONDS: Final = 2.0
"""Seconds between the visits that confirm a change."""
_GOOD: Final = ("article", "simplified")


@dataclass(frozen=True, slots=True)
class Watched:
    """A watched page."""

    item: Item
    schedule: Schedule

    @property
    def error(self) -> str | None:
        """Why the last visit failed, if it did."""
        found: str | None = self.schedule.state.get("error")
        return found


def watch(store: Store, key: str, every: int = EVERY) -> Watched:
    """Watch a page: the first visit is as soon as jobs run. One that is watched already gets the new interval."""
    item, now = get_item(store, key), clock.now()
    if item.deleted_at is not None:
        raise NotFound("The item is deleted.", suggestions=("Restore it first.",))
    return Watched(item, store.schedules.put(TASK, item.id, item.url_full, every, now, now))


def unwatch(store: Store, key: str) -> Item:
    """Watch a page no longer; `NotFound` when it is not watched."""
    item = get_item(store, key)
    if not store.schedules.remove(TASK, item.id):
        raise NotFound("This page is not watched.", suggestions=("Watch it first.",))
    return item


def find_watch(store: Store, item_id: str) -> Schedule | None:
    """Return the schedule of a watched item."""
    return store.schedules.get(TASK, item_id)


def watched_pages(store: Store) -> tuple[Watched, ...]:
    """Return the watched pages, the next to be visited first."""
    found = []
    for schedule in store.schedules.list(TASK):
        try:
            found.append(Watched(store.items.get(schedule.subject), schedule))
        except NotFound:
            continue
    return tuple(found)


def list_changes(store: Store, *, unseen: bool = False, limit: int = 100) -> tuple[tuple[Change, Item], ...]:
    """Return changes of watched pages with their items, newest first."""
    changes = store.changes.list(unseen=unseen, limit=limit)
    items = {item_id: store.items.get(item_id) for item_id in {change.item_id for change in changes}}
    return tuple((change, items[change.item_id]) for change in changes)


def count_unseen(store: Store) -> int:
    """Return how many changes were not seen yet; at most 100 are counted."""
    return len(store.changes.list(unseen=True))


def mark_seen(store: Store, ids: tuple[str, ...] | None = None) -> int:
    """Mark changes as seen, all or those with these ids; return how many were not."""
    return store.changes.mark_seen(ids, clock.now())


async def watch_job(job: Job, store: Store, retrieval: Retrieval, progress: Callable[[str], None]) -> SliceResult:
    """Visit a watched page, as a job."""
    try:
        item = await to_thread(store.items.get, str(job.options.get("subject")))
    except NotFound:
        return SliceResult(report={"visited": 0})
    schedule = await to_thread(store.schedules.get, TASK, item.id)
    if schedule is None or item.deleted_at is not None:
        return SliceResult(report={"visited": 0})
    progress(FETCHING)
    change = await visit(item, schedule, store, retrieval)
    return SliceResult(report={"visited": 1, "changed": int(change is not None)})


async def visit(item: Item, schedule: Schedule, store: Store, retrieval: Retrieval) -> Change | None:
    """Visit a watched page and return the change, if there is one. A failure is noted, and the next visit comes later."""
    baseline, newest = await to_thread(_baseline, store, item)
    try:
        if baseline is None:  # nothing to compare with yet: the page is saved
            await refetch_item(item, store, retrieval)
            await to_thread(_settle, store, schedule, schedule.state)
            return None
        return await _compare(item, baseline, newest, schedule, store, retrieval)
    except StoreError:
        raise
    except NotModified:
        await to_thread(_note_unchanged, store, item, schedule, schedule.state, retrieval)
        return None
    except PagekeepError as error:
        found = error.captured if isinstance(error, Missing) else error
        await dead_links.note_finding(item, dead_links.classify(found), store, retrieval)
        await to_thread(_settle, store, schedule, {**schedule.state, "error": error.message}, failed=True)
        return None


def _baseline(store: Store, item: Item) -> tuple[Snapshot | None, int]:
    """Return the version that the page had when it was last fetched, not one that the user restored since, and the newest."""
    if item.metadata.quality not in _GOOD and not item.metadata.edited:
        return None, 0
    versions = store.snapshots.list(item.id)
    fetched = tuple(version for version in versions if version.source != "restored") or versions
    return (fetched[-1], versions[-1].number) if fetched else (None, 0)


async def _compare(
    item: Item, baseline: Snapshot, newest: int, schedule: Schedule, store: Store, retrieval: Retrieval
) -> Change | None:
    raw = await to_thread(store.snapshots.raw, item.id, baseline.number)
    before, state = await read_text(item, raw, retrieval), _current_state(schedule.state, retrieval)
    is_same = not raw.rendered and state == schedule.state
    first = await _fetch(item, retrieval, validators=state if is_same else {})
    texts = [await _read(item, first, retrieval)]
    judged = await _judge(before, texts, state, retrieval)
    if judged.verdict == "unsure":
        for _ in range(VISITS - 1):
            await asyncio.sleep(CONFIRM_SECONDS)
            texts.append(await _read(item, await _fetch(item, retrieval), retrieval))
        judged = await _judge(before, texts, state, retrieval)
    after = {
        **judged.state,
        "etag": first.fetched.etag,
        "last_modified": first.fetched.last_modified,
        "error": None,
    }
    if judged.verdict != "changed":
        if judged.verdict == "held":  # the next visit must see the page again
            after |= {"etag": None, "last_modified": None}
        await to_thread(_note_unchanged, store, item, schedule, after, retrieval)
        return None
    return await _record(item, texts[0], first, judged, schedule, after, newest, store, retrieval)


def _current_state(state: Mapping[str, Any], retrieval: Retrieval) -> Mapping[str, Any]:
    """Return what is known about the page; after an update of the parser or rules, what is noise must be seen again."""
    made_by = f"{PARSER_VERSION} {fingerprint(retrieval.rules)}"
    if state.get("made_by") == made_by:
        return state
    noise = {**(state.get("noise") or {}), "visits": 0, "pending": {}}
    return {**state, "made_by": made_by, "noise": noise}


async def _fetch(item: Item, retrieval: Retrieval, validators: Mapping[str, Any] | None = None) -> Captured:
    """Capture the page; raise `NotFound` when it is not there, but something else instead."""
    validators = validators or {}
    request = Request(
        item.url_full,
        etag=validators.get("etag"),
        last_modified=validators.get("last_modified"),
        join_pages=item.metadata.join_pages,
    )
    options = Options(max_bytes=retrieval.settings.max_bytes)
    captured = await capture_by_mode(request, retrieval, options, ignore_progress)
    if captured.page.caught is not None or captured.page.quality.level not in _GOOD:
        raise Missing(captured)
    return captured


class Missing(PagekeepError):
    """Something else came instead of the page, such as a bot wall."""

    def __init__(self, captured: Captured) -> None:
        page = captured.page
        super().__init__(page.caught.reason if page.caught else page.quality.reason or "The page has no content.")
        self.captured = captured


async def _read(item: Item, captured: Captured, retrieval: Retrieval) -> VersionText:
    options = Options(max_bytes=retrieval.settings.max_bytes)
    made = build_item.make_again(item, captured.page, captured.fetched, fingerprint(retrieval.rules), options)
    return VersionText(replace(made, id=item.id))


async def _judge(
    before: VersionText, texts: list[VersionText], state: Mapping[str, Any], retrieval: Retrieval
) -> Judgement:
    return await retrieval.run(JudgeTask(before.markdown, tuple(text.markdown for text in texts), state), TEXT)


@dataclass(frozen=True, slots=True)
class JudgeTask:
    """Tell whether a page has changed."""

    before: str
    visits: tuple[str, ...]
    state: Mapping[str, Any]

    def run(self) -> Judgement:
        """Return the judgement."""
        return judge(self.before, self.visits, self.state)


async def _record(
    item: Item,
    text: VersionText,
    captured: Captured,
    judged: Judgement,
    schedule: Schedule,
    state: Mapping[str, Any],
    newest: int,
    store: Store,
    retrieval: Retrieval,
) -> Change | None:
    """Store the new version, the change, and what the schedule remembers, in one step."""
    diff = await retrieval.run(WordDiffTask(judged.before, judged.after), TEXT)
    now = clock.now()
    raw = build_item.to_raw_page(captured.fetched, now)
    change = Change(str(uuid.uuid4()), item.id, newest, 0, diff.added, diff.removed, diff.excerpt, now)
    new = item if item.metadata.edited else replace(text.item, updated_at=now)
    deliver = webhooks.TASK if webhooks.is_wanted(retrieval.settings, store.user_id) else None
    stored = await to_thread(
        lambda: store.changes.add(
            schedule.id, state, new, raw, change, retention=retention(retrieval.settings), deliver=deliver
        )
    )
    if stored is None:
        return None
    await to_thread(_note_check, store, item, retrieval)
    await to_thread(request_pictures, store, await to_thread(store.items.get, item.id), retrieval.settings, again=True)
    return stored


def _note_unchanged(
    store: Store, item: Item, schedule: Schedule, state: Mapping[str, Any], retrieval: Retrieval
) -> None:
    _settle(store, schedule, {**state, "error": None})
    _note_check(store, item, retrieval)


def _note_check(store: Store, item: Item, retrieval: Retrieval) -> None:
    now = clock.now()
    dead_links.note_found(store, item, now, retrieval.settings)
    if item.metadata.link is not None:
        store.items.set_metadata(item.id, now, link=None)


def _settle(store: Store, schedule: Schedule, state: Mapping[str, Any], *, failed: bool = False) -> None:
    """Store what the schedule remembers; after a failure the next visit is later."""
    now = clock.now()
    later = next_time(replace(schedule, attempts=schedule.attempts + 1), now) if failed else None
    store.schedules.settle(schedule.id, state, failed=failed, now=now, next_at=later)
