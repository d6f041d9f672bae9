"""Preview pages: extract them from the web, from what a caller sends or from the library, without storing them."""

from __future__ import annotations

from asyncio import to_thread

from pagekeep import clock
from pagekeep.capture.from_url import Captured, Progress, Request, Retrieval, capture, ignore_progress
from pagekeep.capture.measure import measure
from pagekeep.errors import PagekeepError
from pagekeep.library import build_item, normal_url
from pagekeep.library.items import get_item_and_raw
from pagekeep.model import Fetched, MadeField, Options, Page, RawPage
from pagekeep.store import Store


async def preview_page(
    request: Request,
    retrieval: Retrieval,
    *,
    needs: tuple[MadeField, ...] = (),
    uploaded: Fetched | None = None,
    progress: Progress = ignore_progress,
) -> Captured:
    """Return the page at an address, or the uploaded one, with the fields that the caller needs."""
    options = preview_options(retrieval, clock.now(), needs)
    with measure(request.url, progress, retrieval.report) as measured:
        if uploaded is None:
            captured = await capture(request, retrieval, options=options, progress=measured.progress)
        else:
            measured.progress("Extracting")
            captured = Captured(await retrieval.extract(uploaded, options), uploaded)
        measured.page, measured.page_bytes = captured.page, len(captured.fetched.body)
        measured.outcome = "extracted"
    return captured


async def preview_item(key: str, store: Store, retrieval: Retrieval, *, needs: tuple[MadeField, ...] = ()) -> Page:
    """Return a saved item, extracted again from its stored page; raise `NotFound` when that was not stored."""
    item, raw = await to_thread(get_item_and_raw, store, key)
    return await retrieval.extract(build_item.to_fetched(raw), preview_options(retrieval, item.saved_at, needs))


async def preview_recent(
    url: str, seconds: float, store: Store, retrieval: Retrieval, *, needs: tuple[MadeField, ...] = ()
) -> Captured | None:
    """Return the saved page at an address if it was fetched within the last `seconds`; nothing is fetched."""
    raw = await to_thread(_find_recent, url, seconds, store)
    if raw is None:
        return None
    fetched = build_item.to_fetched(raw)
    return Captured(await retrieval.extract(fetched, preview_options(retrieval, clock.now(), needs)), fetched)


def _find_recent(url: str, seconds: float, store: Store) -> RawPage | None:
    try:
        item = store.find_url(normal_url.normalise(url))
    except PagekeepError:
        return None
    raw = store.raw(item.id) if item is not None and item.deleted_at is None else None
    if raw is None or raw.fetched_at < clock.add_seconds(clock.now(), -seconds):
        return None
    return raw


def preview_options(retrieval: Retrieval, saved_at: str, needs: tuple[MadeField, ...] = ()) -> Options:
    """Return the options of an extraction whose document shows this time of saving."""
    return Options(saved_at=clock.to_the_second(saved_at), max_bytes=retrieval.settings.max_bytes, needs=needs)
