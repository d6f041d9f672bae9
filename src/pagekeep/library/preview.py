"""Pages that are only looked at: read from the web, from what a caller has, or from the library, and not stored."""

from __future__ import annotations

from asyncio import to_thread
from dataclasses import replace

from pagekeep import clock
from pagekeep.capture.from_url import Captured, Progress, Request, Retrieval, capture
from pagekeep.errors import PagekeepError
from pagekeep.library import build_item, normal_url
from pagekeep.library.items import get_item_and_raw
from pagekeep.model import Fetched, Options, Page, RawPage
from pagekeep.store import Store


def _silent(_stage: str) -> None:
    """Nobody watches."""


async def look(
    request: Request, retrieval: Retrieval, *, given: Fetched | None = None, progress: Progress = _silent
) -> Captured:
    """The page at an address, or the one that is given."""
    options = _options(retrieval)
    if given is None:
        captured = await capture(request, retrieval, options=options, progress=progress)
    else:
        progress("Extracting")
        captured = Captured(await retrieval.extract(given, options), given)
    return replace(captured, page=_with_document(captured.page, clock.now()))


async def look_again(key: str, store: Store, retrieval: Retrieval) -> Page:
    """A saved page read again as it was kept; `NotFound` when it was not."""
    item, raw = await to_thread(get_item_and_raw, store, key)
    page = await retrieval.extract(build_item.fetched_again(raw), _options(retrieval))
    return _with_document(page, item.saved_at)


async def look_fresh_enough(url: str, seconds: float, store: Store, retrieval: Retrieval) -> Captured | None:
    """The saved page at an address, when it was fetched no longer ago than so many seconds; nothing is fetched."""
    raw = await to_thread(_fresh, url, seconds, store)
    if raw is None:
        return None
    fetched = build_item.fetched_again(raw)
    page = await retrieval.extract(fetched, _options(retrieval))
    return Captured(_with_document(page, clock.now()), fetched)


def _fresh(url: str, seconds: float, store: Store) -> RawPage | None:
    try:
        item = store.find_url(normal_url.normalise(url))
    except PagekeepError:
        return None
    raw = store.raw(item.id) if item is not None and item.deleted_at is None else None
    if raw is None or raw.fetched_at < clock.add_seconds(clock.now(), -seconds):
        return None
    return raw


def _options(retrieval: Retrieval) -> Options:
    return Options(max_bytes=retrieval.settings.max_bytes)


def _with_document(page: Page, saved_at: str) -> Page:
    from pagekeep.markdown import write_document  # it loads the parser

    return replace(page, document=write_document(page, saved_at=clock.to_the_second(saved_at)))
