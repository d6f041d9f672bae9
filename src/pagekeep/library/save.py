"""A page into the library: fetched, read, and put in with its raw form in one step, or not at all."""

from __future__ import annotations

from asyncio import to_thread
from dataclasses import dataclass, replace
from typing import Any, Final

from pagekeep import clock
from pagekeep.capture.active_rules import fingerprint
from pagekeep.capture.from_url import REMOTE_READER_TYPE, Captured, Progress, Request, Retrieval
from pagekeep.capture.modes import capture_by_mode
from pagekeep.errors import NotFound, PagekeepError, RetryLimit
from pagekeep.library import build_item, normal_url
from pagekeep.library.domain_memory import preferred, remember
from pagekeep.model import Fetched, Item, MetadataChanges, Options, Page, SaveResult, WarningCode
from pagekeep.store import Store

MOST_RETRIES: Final = 3
"""By hand, until one succeeds."""


_SHOWN_WARNINGS: Final[frozenset[WarningCode]] = frozenset(
    {"not_rendered", "not_read_remotely", "read_remotely", "remote_reader"}
)
"""Warnings about how the page was captured; the others concern the page itself and are shown by `explain`."""


def _silent(_stage: str) -> None:
    """Nobody watches."""


async def save(
    request: Request,
    store: Store,
    retrieval: Retrieval,
    *,
    tags: tuple[str, ...] = (),
    force: bool = False,
    known: Item | None = None,
    given: Fetched | None = None,
    progress: Progress = _silent,
) -> SaveResult:
    """Fetch the page and put it in the library, over the item it already is there, if any.

    Everything is stored in one step at the end, so a save that is killed left nothing behind and can simply be run again.
    A failure is raised, and noted on the item that is there; its content stays. A worse reading never replaces a better
    one unless `force`. `known` is the item that is fetched anew, whatever address the page goes by now; `given` is the page
    itself, as a browser has it, and nothing is fetched. The store is asked in threads: others need not wait for its disk.
    """
    known = known or await to_thread(store.find_url, normal_url.normalise(request.url))
    now = clock.now()
    remembered = preferred(await to_thread(store.memory, normal_url.domain(request.url)), now)
    try:
        options = Options(max_bytes=retrieval.settings.max_bytes, remembered=remembered)
        captured = await _captured(request, given, retrieval, options, progress)
    except PagekeepError as error:
        if known is not None:
            await to_thread(_note_failure, store, known, error)
        raise
    progress("Storing")
    url = known.url if known else await to_thread(_identity, request.url, captured, store)
    there = known or await to_thread(store.find_url, url)
    remote = captured.fetched.content_type == REMOTE_READER_TYPE
    source = "html" if given else "remote" if remote else "web"
    placing = _Placing(url, request.url, now, tags, force, fingerprint(retrieval.rules), source)
    saved = await to_thread(_store, captured, there, store, placing)
    warnings = tuple(warning for warning in captured.page.trace.warnings if warning.code in _SHOWN_WARNINGS)
    return replace(saved, warnings=warnings)


async def _captured(
    request: Request, given: Fetched | None, retrieval: Retrieval, options: Options, progress: Progress
) -> Captured:
    if given is None:
        return await capture_by_mode(request, retrieval, options, progress)
    progress("Extracting")
    return Captured(await retrieval.extract(given, options), given)


async def retry(
    key: str,
    store: Store,
    retrieval: Retrieval,
    *,
    request: Request | None = None,
    progress: Progress = _silent,
) -> SaveResult:
    """Fetch and read an item anew, through the whole chain: at most three times by hand until it succeeds.

    `request` says how to ask; its address is the item's. Raises `RetryLimit` after the third failure.
    """
    item = await to_thread(store.get, key)
    if item.deleted_at is not None:
        raise NotFound("The item is deleted.", suggestions=("First restore it.",))
    tried = item.metadata.retry_count
    if tried >= MOST_RETRIES:
        raise RetryLimit(
            f"The page was already retried {tried} times without success.",
            suggestions=("Save its address anew when the site has changed.",),
        )
    # Counted before it is tried: an attempt that is killed was one.
    item = await to_thread(store.set_metadata, item.id, clock.now(), retry_count=tried + 1)
    asked = replace(request or Request(""), url=item.url_full)
    return await save(asked, store, retrieval, known=item, progress=progress)


@dataclass(frozen=True, slots=True)
class _Placing:
    """Where a captured page goes, and how."""

    url: str
    url_full: str
    now: str
    tags: tuple[str, ...]
    force: bool
    rules_hash: str
    source: str


def _identity(given: str, captured: Captured, store: Store) -> str:
    """A wall says nothing about the page behind it, nor does where it led: unless that is in the library, the page is
    what the user asked for."""
    page = captured.page
    url = normal_url.identity(given, captured.fetched.final_url, page.metadata.canonical)
    if page.quality.level == "bookmark" and store.find_url(url) is None:
        return normal_url.normalise(given)
    return url


def _store(captured: Captured, there: Item | None, store: Store, placing: _Placing) -> SaveResult:
    page, fetched = captured.page, captured.fetched
    new = build_item.new_item(
        page,
        fetched,
        url=placing.url,
        url_full=placing.url_full,
        user_id=store.user_id,
        now=placing.now,
        saved_at=there.saved_at if there else placing.now,
        tags=_tags(page, there, placing.tags),
        rules_hash=placing.rules_hash,
        source=placing.source,
    )
    remember(store, new.domain, page, rendered=fetched.rendered, now=placing.now)
    if there is None:
        return SaveResult(store.upsert(new, build_item.raw_page(fetched, placing.now)), "added")
    if there.metadata.edited:
        return SaveResult(_keep(store, there, new, None), "kept", build_item.EDITED)
    worse = None if placing.force else build_item.why_worse(new.metadata, there.metadata)
    if worse:
        return SaveResult(_keep(store, there, new, worse), "kept", worse)
    if page.quality.level == "bookmark":  # the count of retries goes on while there is no success
        new = replace(new, metadata=replace(new.metadata, retry_count=there.metadata.retry_count))
    same = new.content == there.content
    return SaveResult(store.upsert(new, build_item.raw_page(fetched, placing.now)), "updated", unchanged=same)


def _tags(page: Page, there: Item | None, asked: tuple[str, ...]) -> tuple[str, ...]:
    """The page's own tags come with its first save alone: one that the reader took off must not come back."""
    own = page.metadata.tags if there is None else ()
    return tuple(dict.fromkeys((*asked, *own)))


def _keep(store: Store, there: Item, new: Item, worse: str | None) -> Item:
    """The item as it was, alive, with the tags that were asked for and a note of what came instead, if that was worse."""
    changes: MetadataChanges = {}
    if worse:
        said = f"{worse[0].upper()}{worse[1:]}."
        changes["last_error"] = _failure("Worse", new.metadata.reason or said, new.updated_at)
    if new.metadata.tags:
        changes["tags"] = tuple(dict.fromkeys((*there.metadata.tags, *new.metadata.tags)))
    if there.deleted_at is not None:
        store.restore(there.id, new.updated_at)
    return store.set_metadata(there.id, new.updated_at, **changes)


def _note_failure(store: Store, known: Item, error: PagekeepError) -> None:
    moment = clock.now()
    store.set_metadata(known.id, moment, last_error=_failure(error.type, error.message, moment))
    error.suggestions = (*error.suggestions, f"What was saved before is still there: {known.id[:8]}.")


def _failure(kind: str, message: str, at: str) -> dict[str, Any]:
    return {"type": kind, "message": message, "at": at}
