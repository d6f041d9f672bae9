"""The versions of an item: list, read, compare, restore and pin them; their texts are made by the current parser."""

from __future__ import annotations

import asyncio
import hashlib
from asyncio import to_thread
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from threading import Lock
from typing import Any, Final

from pagekeep import clock
from pagekeep.capture.active_rules import fingerprint
from pagekeep.capture.from_url import Retrieval
from pagekeep.config import Settings
from pagekeep.errors import Conflict, InvalidQuery, NotFound
from pagekeep.library.archive.noise import leave_out_noise
from pagekeep.library.items import build_item
from pagekeep.library.items.find import get_item
from pagekeep.model import PARSER_VERSION, Annotation, Item, Options, RawPage, Retention, Snapshot
from pagekeep.present.diff import WordDiff
from pagekeep.present.sections import body_of
from pagekeep.present.tasks import FindQuotesTask, WordDiffTask
from pagekeep.store import Store
from pagekeep.workers import TEXT

_DAY: Final = len("2025-03-19")


@dataclass(frozen=True, slots=True)
class History:
    """An item and its versions, oldest first."""

    item: Item
    versions: tuple[Snapshot, ...]
    checked_at: str | None = None
    """When the page was last requested, with whatever result."""


@dataclass(frozen=True, slots=True)
class VersionText:
    """A version of a page as Markdown, and the item that it would make."""

    item: Item

    @property
    def markdown(self) -> str:
        """The title, as a heading, and the Markdown without frontmatter: what differences are found in."""
        return f"# {self.item.title}\n\n{body_of(self.item.content)}"


@dataclass(frozen=True, slots=True)
class Version:
    """One version of an item, read by the current parser."""

    snapshot: Snapshot
    text: VersionText


@dataclass(frozen=True, slots=True)
class Comparison:
    """The differences between two versions of an item."""

    item: Item
    before: Snapshot
    after: Snapshot
    diff: WordDiff
    lost: tuple[Annotation, ...] = ()
    """Annotations whose words are in the version before and not in the one after."""
    without_noise: bool = False
    """Whether what changes on every visit of a watched page is left out."""


@dataclass(frozen=True, slots=True)
class NoiseFreeDiffTask:
    """Compare two versions of a watched page without what changes on every visit."""

    before: str
    after: str
    state: Mapping[str, Any]

    def run(self) -> WordDiff:
        """Return the differences."""
        return WordDiffTask(*leave_out_noise(self.before, self.after, self.state)).run()


def retention(settings: Settings) -> Retention:
    """Return which versions stay, by the settings."""
    days = settings.keep_versions_days
    return Retention(settings.keep_versions, clock.add_seconds(clock.now(), -days * 86_400.0) if days else None)


def get_history(store: Store, key: str) -> History:
    """Return an item and its versions; none when raw pages are not kept."""
    item = get_item(store, key)
    check = store.changes.get_check(item.id)
    return History(item, store.snapshots.list(item.id), check.checked_at if check else None)


def find_version(versions: tuple[Snapshot, ...], number: int) -> Snapshot:
    """Return the version with this number; `NotFound` when there is none."""
    for version in versions:
        if version.number == number:
            return version
    known = ", ".join(str(version.number) for version in versions[-20:])
    suggestion = f"Its versions: {known}." if known else "Raw pages are not kept: see the setting `keep_raw`."
    raise NotFound(f"There is no version {number} of this page.", suggestions=(suggestion,))


def find_at(versions: tuple[Snapshot, ...], date: str) -> Snapshot:
    """Return the version that was the newest at a time, or at the end of a day."""
    moment = _parse_time(date)
    fitting = [version for version in versions if version.fetched_at <= moment]
    if not fitting:
        first = f"The oldest is of {versions[0].fetched_at[:_DAY]}." if versions else "Raw pages are not kept."
        raise NotFound(f"There is no version of {date} or earlier.", suggestions=(first,))
    return fitting[-1]


def _parse_time(date: str) -> str:
    try:
        moment = datetime.fromisoformat(date)
    except ValueError:
        raise InvalidQuery(f"There is no date {date:.40}.", suggestions=("Write it as 2025-03-19.",)) from None
    if len(date) <= _DAY:
        moment = moment.replace(hour=23, minute=59, second=59, microsecond=999_999)
    return clock.format_time(moment if moment.tzinfo else moment.replace(tzinfo=UTC))


async def read_version(
    store: Store, key: str, retrieval: Retrieval, *, number: int | None = None, at: str | None = None
) -> Version:
    """Return one version of an item, by number or date, by default the current one."""
    history = await to_thread(get_history, store, key)
    return await _read(store, history.item, _choose(history, number, at), retrieval)


def _choose(history: History, number: int | None, at: str | None) -> Snapshot:
    if at is not None:
        return find_at(history.versions, at)
    return find_version(
        history.versions, history.versions[-1].number if number is None and history.versions else number or 0
    )


async def _read(store: Store, item: Item, snapshot: Snapshot, retrieval: Retrieval) -> Version:
    raw = await to_thread(store.snapshots.raw, item.id, snapshot.number)
    return Version(snapshot, await read_text(item, raw, retrieval))


async def compare_versions(
    store: Store,
    key: str,
    retrieval: Retrieval,
    before: int | None = None,
    after: int | None = None,
    *,
    everything: bool = False,
) -> Comparison:
    """Compare two versions, both read by the current parser; by default the one before with the current one.

    With one number, that version is compared with the current one. Of a watched page, what changes on every visit is left
    out, unless `everything` is wanted.
    """
    history = await to_thread(get_history, store, key)
    versions = history.versions
    if before is None and len(versions) < 2:
        raise NotFound("There is only one version of this page.", suggestions=("Fetch it again, or watch it.",))
    old = versions[-2] if before is None else find_version(versions, before)
    new = versions[-1] if after is None else find_version(versions, after)
    read_old, read_new = await asyncio.gather(
        _read(store, history.item, old, retrieval), _read(store, history.item, new, retrieval)
    )
    texts = read_old.text.markdown, read_new.text.markdown
    schedule = None if everything else await to_thread(store.schedules.get, "watch", history.item.id)
    is_noisy = schedule is not None and bool(schedule.state.get("noise"))
    task = NoiseFreeDiffTask(*texts, schedule.state) if schedule and is_noisy else WordDiffTask(*texts)
    diff = await retrieval.run(task, TEXT)
    annotations = await to_thread(store.annotations.of_item, history.item.id)
    lost = await _find_lost(annotations, *texts, retrieval) if annotations else ()
    return Comparison(history.item, old, new, diff, lost, is_noisy)


async def _find_lost(
    annotations: tuple[Annotation, ...], before: str, after: str, retrieval: Retrieval
) -> tuple[Annotation, ...]:
    quotes = tuple(annotation.quote for annotation in annotations)
    was = await retrieval.run(FindQuotesTask(before, quotes), TEXT)
    now = await retrieval.run(FindQuotesTask(after, quotes), TEXT)
    return tuple(one for one, had, has in zip(annotations, was, now, strict=True) if had and not has)


async def find_lost(item: Item, annotations: tuple[Annotation, ...], retrieval: Retrieval) -> tuple[str, ...]:
    """Return the ids of annotations whose words are not in the item's text."""
    if not annotations:
        return ()
    quotes = tuple(annotation.quote for annotation in annotations)
    found = await retrieval.run(FindQuotesTask(f"{item.title}\n\n{item.content}", quotes), TEXT)
    return tuple(one.id for one, has in zip(annotations, found, strict=True) if not has)


async def restore_version(store: Store, key: str, retrieval: Retrieval, number: int) -> Item:
    """Make an earlier version the current one again, as a new version; what the user set stays."""
    history = await to_thread(get_history, store, key)
    item, chosen = history.item, find_version(history.versions, number)
    if item.metadata.edited:
        raise Conflict("The text is your own version.", suggestions=("Remove your changes first.",))
    if chosen.current:
        return item
    raw = await to_thread(store.snapshots.raw, item.id, number)
    text, now = await read_text(item, raw, retrieval), clock.now()
    # Without what the server recognises it by: the page that it has now is another one.
    restored = replace(raw, fetched_at=now, etag=None, last_modified=None)
    new = replace(text.item, updated_at=now, source=item.source)
    return await to_thread(
        lambda: store.items.save(
            new, restored, versions="add", retention=retention(retrieval.settings), version_source="restored"
        )
    )


def pin_version(store: Store, key: str, number: int, *, pinned: bool = True) -> Snapshot:
    """Keep a version whatever the limits on the number and age of versions are, or no longer."""
    return store.snapshots.pin(get_item(store, key).id, number, pinned)


_MAX_TEXTS: Final = 64
_MAX_CHARS: Final = 500_000
"""Longer texts are made again each time."""


_Key = tuple[str | int | bool | None, ...]


class _Cache:
    """The texts that were made last, by the hash of the raw page, the parser's version and the rules. For all threads."""

    def __init__(self) -> None:
        self._texts: OrderedDict[_Key, VersionText] = OrderedDict()
        self._lock = Lock()

    def get(self, key: _Key) -> VersionText | None:
        """Return a text that was made before."""
        with self._lock:
            found = self._texts.get(key)
            if found is not None:
                self._texts.move_to_end(key)
            return found

    def put(self, key: _Key, text: VersionText) -> None:
        """Keep a text, unless it is very long."""
        if len(text.item.content) > _MAX_CHARS:
            return
        with self._lock:
            self._texts[key] = text
            while len(self._texts) > _MAX_TEXTS:
                self._texts.popitem(last=False)


_cache: Final = _Cache()


async def read_text(item: Item, raw: RawPage, retrieval: Retrieval) -> VersionText:
    """Return the text of a raw page of this item, as the current parser and rules make it."""
    rules = fingerprint(retrieval.rules)
    facts = (raw.final_url, raw.encoding, raw.content_type, raw.rendered, item.id, item.saved_at, item.url_full)
    key = (hashlib.sha256(raw.body).hexdigest(), *facts, PARSER_VERSION, rules, retrieval.settings.max_bytes)
    found = _cache.get(key)
    if found is not None:
        return found
    fetched = build_item.to_fetched(raw)
    options = Options(max_bytes=retrieval.settings.max_bytes)
    page = await retrieval.extract(fetched, options)
    made = build_item.make_again(item, page, fetched, rules, options)
    text = VersionText(replace(made, id=item.id))
    _cache.put(key, text)
    return text


def is_current(item: Item, retrieval: Retrieval) -> bool:
    """Return whether this parser and these rules extracted the item."""
    about = item.metadata
    return about.parser_version == PARSER_VERSION and about.rules_hash == fingerprint(retrieval.rules)
