"""Save a page, or fetch it again: extract it, and store it with its raw page in one step, or not at all."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from pagekeep import clock
from pagekeep.capture.active_rules import fingerprint
from pagekeep.capture.extract import REMOTE_READER_TYPE
from pagekeep.capture.from_url import Captured, NotModified, Progress, Request, Retrieval, ignore_progress, join
from pagekeep.capture.measure import EXTRACTING, STORING, Capture, measure
from pagekeep.capture.modes import capture_by_mode
from pagekeep.capture.pictures import PEEL, PeelTask
from pagekeep.capture.uploads import FILE_HOST, MAIL_TYPE, find_mail_address, sent_page
from pagekeep.errors import NotFound, PagekeepError, RenderError, RetryLimit, StoreError
from pagekeep.fetch.urls import split_url
from pagekeep.library import normal_url
from pagekeep.library.archive import dead_links
from pagekeep.library.archive.copies import request_configured
from pagekeep.library.archive.keep_pictures import keep_uploaded, request_pictures
from pagekeep.library.archive.pictures import normal_source, wanted_sources
from pagekeep.library.archive.timestamps import request_timestamp
from pagekeep.library.archive.versions import is_current, read_text, retention
from pagekeep.library.items import build_item
from pagekeep.library.items.find import get_item
from pagekeep.library.queue import HeldJob, SaveRequest, hold_job
from pagekeep.library.saving.failed_saves import keep_address
from pagekeep.library.saving.reparse import ReparseResult, compare_page
from pagekeep.model import (
    Fetched,
    Item,
    MetadataChanges,
    Options,
    RawPage,
    SaveResult,
    WarningCode,
)
from pagekeep.store import Store
from pagekeep.store.tables.items import Versions
from pagekeep.workers import DOCUMENT

MAX_RETRIES: Final = 3
"""Retries by hand until one succeeds: more would only trouble a site that refuses."""
_SHOWN_WARNINGS: Final[frozenset[WarningCode]] = frozenset(
    {"not_rendered", "not_read_remotely", "read_remotely", "remote_reader", "truncated", "step_failed", "pages_missing"}
)
"""Warnings about how the page was captured and about what is missing; the others are shown by `explain`."""


async def save(
    request: SaveRequest, store: Store, retrieval: Retrieval, *, progress: Progress = ignore_progress
) -> SaveResult:
    """Fetch the page and save it, over the existing item of the page if there is one.

    Everything is stored in one step at the end, so a save that is killed leaves no half of a page behind: it leaves a job in
    the queue, which saves the page later (`hold_job`). A failure is raised, and noted on the existing item, whose content
    stays; if there is none, the address is kept as a failed save. A worse result never replaces a better one unless forced.
    The page's pictures are kept by a job of the queue, later. The store is called in threads, as it waits for the disk.
    """
    url, action, before = request.page.url, request.action, request.known
    if action and before is None:
        before = await to_thread(store.items.by_url, normal_url.normalise(url))
    is_new = before is None or before.deleted_at is not None
    try:
        with measure(url, progress, retrieval.report) as capture:
            saved = await _save(request, store, retrieval, capture)
            capture.outcome = "unchanged" if saved.unchanged else saved.outcome
    except PagekeepError as error:
        if action and is_new and error.item_id is not None:
            await to_thread(store.actions.record_added, action, (error.item_id,))
        raise
    uploaded = request.uploaded
    if uploaded is not None and uploaded.content_type == MAIL_TYPE and not saved.unchanged:
        saved = replace(saved, item=await _keep_attachments(saved.item, uploaded.body, store, retrieval, request.tags))
    if action and is_new:
        from_trash = (saved.item.id,) if before is not None and before.id == saved.item.id else ()
        attachments = saved.item.metadata.attachments if from_trash or saved.outcome == "added" else ()
        await to_thread(store.actions.record_added, action, (*from_trash, *attachments))
    again = not saved.unchanged  # what could not be had before is tried again when the page has changed
    job = await to_thread(request_pictures, store, saved.item, retrieval.settings, again=again)
    await to_thread(request_configured, store, saved.item, retrieval.settings, changed=again)
    await to_thread(request_timestamp, store, saved.item, retrieval.settings)
    return replace(saved, pictures_job=job.id if job else None)


async def _save(request: SaveRequest, store: Store, retrieval: Retrieval, capture: Capture) -> SaveResult:
    url = request.page.url
    if request.uploaded is None:
        split_url(url)  # raises for what cannot be fetched, such as the address of a message
    if request.known is None:
        request = replace(request, known=await to_thread(store.items.by_url, normal_url.normalise(url)))
    if request.uploaded is not None and request.known is not None:
        request = await _keep_apart(request, request.uploaded, request.known, store, retrieval)
    if not _must_hold(request):
        return await _capture_and_store(request, store, retrieval, capture, None)
    async with hold_job(request, store) as held:
        return await _capture_and_store(request, store, retrieval, capture, held)


async def _keep_apart(
    request: SaveRequest, uploaded: Fetched, known: Item, store: Store, retrieval: Retrieval
) -> SaveRequest:
    """Give a message its own address if the one that it names is that of a saved page: its sender can name any."""
    if uploaded.content_type != MAIL_TYPE or build_item.is_unfetched(known):
        return request
    raw = await to_thread(store.items.raw, known.id)
    if raw is not None and raw.content_type == MAIL_TYPE:
        return request
    url = await find_mail_address(uploaded.body, retrieval, on_web=False)
    uploaded = replace(uploaded, url=url, final_url=url)
    known_message = await to_thread(store.items.by_url, url)
    return replace(request, page=replace(request.page, url=url), uploaded=uploaded, known=known_message)


def _must_hold(request: SaveRequest) -> bool:
    """Return whether the address would be lost if the save were killed.

    It is not where an item has it, where a job runs the save (`keep_failed` is false), or where the page is from a feed, a
    message or a crawl (`source`), which has it too. A message and a file have no address that could be fetched, and the files
    of a folder (`action`) stay where they are.
    """
    known, url = request.known, request.page.url
    if not request.keep_failed or request.source or request.action or (known is not None and known.deleted_at is None):
        return False
    if request.uploaded is None:
        return True
    is_on_web = url.startswith(("http://", "https://")) and normal_url.domain(url) != FILE_HOST
    return is_on_web and request.uploaded.content_type != MAIL_TYPE


async def _capture_and_store(
    request: SaveRequest, store: Store, retrieval: Retrieval, capture: Capture, held: HeldJob | None
) -> SaveResult:
    progress, uploaded, known = capture.progress, request.uploaded, request.known
    now = clock.now()
    options = Options(max_bytes=retrieval.settings.max_bytes)
    try:
        if uploaded is None:
            captured = await capture_by_mode(request.page, retrieval, options, progress)
        else:
            captured = await _extract(uploaded, retrieval, replace(options, find_pages=1), progress)
            if request.join_uploaded:
                captured = await join(captured, request.page, retrieval, options, progress, uploaded=True)
    except NotModified:
        if known is None:
            raise
        raw = await to_thread(store.items.raw, known.id)
        if raw is None or is_current(known, retrieval):
            await to_thread(dead_links.note_found, store, known, now, retrieval.settings)
            return SaveResult(await to_thread(_note_success, store, known), "updated", unchanged=True)
        captured = await _extract(build_item.to_fetched(raw), retrieval, options, progress)
    except PagekeepError as error:
        if known is not None or request.keep_failed:
            await to_thread(keep_address, store, request.page.url, error, known=known, tags=request.tags)
        raise
    capture.page, capture.page_bytes = captured.page, len(captured.fetched.body)
    progress(STORING)
    url = known.url if known else await to_thread(_identity, request.page.url, captured, store)
    existing, saved = known, None
    while saved is None:  # again when another save of the page came first: the better of the two stays
        existing = existing or await to_thread(store.items.by_url, url)
        before = await _read_before(existing, store, retrieval) if existing else None
        new = await to_thread(_build, captured, existing, url, request, store, retrieval, now)
        if existing is None:
            saved = await to_thread(_add, new, captured, request, store, held)
        else:
            saved = await to_thread(_update, existing, before, new, captured, request, store, retrieval)
    if saved.outcome == "added":
        await to_thread(_follow_up, saved.item, store, retrieval)
    warnings = tuple(warning for warning in captured.page.trace.warnings if warning.code in _SHOWN_WARNINGS)
    return replace(saved, warnings=warnings)


def _follow_up(item: Item, store: Store, retrieval: Retrieval) -> None:
    """Have the address of a new page checked from now on, and archived elsewhere if the settings say so."""
    if retrieval.settings.check_links_days:
        dead_links.ensure_schedule(store)
    if retrieval.settings.archive_submit and item.domain != FILE_HOST and item.url.startswith(("http://", "https://")):
        dead_links.enqueue_submission(store, item, clock.now())


async def _read_before(existing: Item, store: Store, retrieval: Retrieval) -> Item | None:
    """Return the item as this parser makes it of the stored page: only what the page changed is then a difference.

    `None` when there is no page that a new version could follow: none was kept, or something else was caught.
    """
    if existing.metadata.quality not in ("article", "simplified") or existing.metadata.edited:
        return None
    try:
        raw = await to_thread(store.items.raw, existing.id)
        if raw is None or is_current(existing, retrieval):
            return None if raw is None else existing
        return (await read_text(existing, raw, retrieval)).item
    except PagekeepError:  # damaged, or too slow for this parser: the new page takes its place
        return None


async def _extract(fetched: Fetched, retrieval: Retrieval, options: Options, progress: Progress) -> Captured:
    progress(EXTRACTING)
    return Captured(await retrieval.extract(fetched, options), fetched)


async def _keep_attachments(item: Item, data: bytes, store: Store, retrieval: Retrieval, tags: tuple[str, ...]) -> Item:
    """Save the attachments of a message, and return its item with links to theirs; one that fails is left out."""
    from pagekeep.library.saving.mail_messages import FindAttachments  # it loads the parsers of documents

    found = await retrieval.run(FindAttachments(data, retrieval.settings.max_bytes), DOCUMENT)
    kept: list[str] = []
    for one in found:
        page = Fetched(
            url=one.url, final_url=one.url, status=200, headers={}, body=one.body, content_type=one.content_type
        )
        try:
            saved = await save(SaveRequest(Request(one.url), tags, uploaded=page, source="mail"), store, retrieval)
        except StoreError:
            raise
        except PagekeepError:
            continue
        await to_thread(partial(store.items.set_metadata, saved.item.id, clock.now(), part_of=item.id))
        kept.append(saved.item.id)
    if not kept or tuple(kept) == item.metadata.attachments:
        return item
    return await to_thread(partial(store.items.set_metadata, item.id, clock.now(), attachments=tuple(kept)))


async def retry(
    key: str,
    store: Store,
    retrieval: Retrieval,
    *,
    request: Request | None = None,
    progress: Progress = ignore_progress,
) -> SaveResult:
    """Fetch and extract an item again, at most three times by hand until it succeeds; then raise `RetryLimit`.

    `request` says how to fetch; its address is the item's. If it leaves that open and only a bookmark was made of the page
    that the server sent, the page is rendered: the same page would give the same bookmark.
    """
    item = await to_thread(store.items.get, key)
    if item.deleted_at is not None:
        raise NotFound("The item is deleted.", suggestions=("Restore it first.",))
    tries = item.metadata.retry_count
    if tries >= MAX_RETRIES:
        raise RetryLimit(
            f"The page was already retried {tries} times without success.",
            suggestions=("Save its address again when the site has changed.",),
        )
    # Counted before the attempt: one that is killed counts too.
    item = await to_thread(lambda: store.items.set_metadata(item.id, clock.now(), retry_count=tries + 1))
    request = request or Request("")
    if not await _needs_next_means(item, request, store, retrieval):
        return await refetch_item(item, store, retrieval, request=request, progress=progress)
    try:
        rendered = replace(request, render="force")
        return await refetch_item(item, store, retrieval, request=rendered, progress=progress)
    except RenderError:  # there is no browser, or it fails on this page
        return await refetch_item(item, store, retrieval, request=request, progress=progress)


async def _needs_next_means(item: Item, request: Request, store: Store, retrieval: Retrieval) -> bool:
    """Return whether a retry must render the page: the server's page gave only a bookmark, and no one chose otherwise."""
    chosen = request.render or (retrieval.settings.render if retrieval.settings.render != "auto" else None)
    if chosen or item.metadata.quality != "bookmark" or item.metadata.file_type:
        return False
    raw = await to_thread(store.items.raw, item.id)
    return raw is not None and not raw.rendered


async def refetch_item(
    item: Item,
    store: Store,
    retrieval: Retrieval,
    *,
    request: Request | None = None,
    force: bool = False,
    progress: Progress = ignore_progress,
) -> SaveResult:
    """Fetch an item again and store the result as `save` does.

    The server is asked to send a well extracted page only if it has changed since; otherwise the item stays as it is.
    """
    request = replace(request or Request(""), url=item.url_full, join_pages=item.metadata.join_pages)
    if not force and retrieval.settings.mode != "compare":  # a comparison needs the page
        request = _add_validators(request, item, await to_thread(store.items.raw, item.id))
    return await save(SaveRequest(request, known=item, force=force), store, retrieval, progress=progress)


def _add_validators(request: Request, item: Item, raw: RawPage | None) -> Request:
    """Let the server answer "not modified" where the stored page would give the item as it is.

    Not for a bad result, which a retry must really fetch, nor for a rendered page, whose content may change while the
    document that the server sends does not.
    """
    good = item.metadata.quality in ("article", "simplified") and not item.metadata.edited and item.deleted_at is None
    if raw is None or raw.rendered or not good:
        return request
    return replace(request, etag=raw.etag, last_modified=raw.last_modified)


def _identity(requested: str, captured: Captured, store: Store) -> str:
    """Return the normalised address that identifies the page.

    A login or bot wall says nothing about the page behind it, nor does the address it redirects to: unless that is in the
    library, the page is the requested one.
    """
    page = captured.page
    url = normal_url.identity(requested, captured.fetched.final_url, page.metadata.canonical)
    if page.quality.level == "bookmark" and store.items.by_url(url) is None:
        return normal_url.normalise(requested)
    return url


def _build(
    captured: Captured,
    existing: Item | None,
    url: str,
    request: SaveRequest,
    store: Store,
    retrieval: Retrieval,
    now: str,
) -> Item:
    """Return the item of a captured page."""
    page, fetched, settings = captured.page, captured.fetched, retrieval.settings
    source = request.source
    if source is None and request.uploaded is not None:
        source = "mail" if request.uploaded.content_type == MAIL_TYPE else "html"
    new = build_item.new_item(
        page,
        fetched,
        url=url,
        url_full=request.page.url,
        user_id=store.user_id,
        now=now,
        saved_at=existing.saved_at if existing else now,
        tags=build_item.first_tags(page, existing, request.tags, auto_tags=settings.auto_tags),
        rules_hash=fingerprint(retrieval.rules),
        options=Options(max_bytes=settings.max_bytes),
        source=source or ("remote" if fetched.content_type == REMOTE_READER_TYPE else "web"),
    )
    return replace(new, metadata=replace(new.metadata, join_pages=request.page.join_pages))


def _add(new: Item, captured: Captured, request: SaveRequest, store: Store, held: HeldJob | None) -> SaveResult | None:
    """Store a page that is not in the library; `None` if another save of it came first."""
    raw, held_id = build_item.to_raw_page(captured.fetched, new.updated_at), held.id if held else None
    added = store.items.add(new, raw, held_job=held_id, action_id=request.action)
    if added is None:
        return None
    if held is not None:
        held.dropped = True
    return SaveResult(added, "added")


def _update(
    existing: Item,
    before: Item | None,
    new: Item,
    captured: Captured,
    request: SaveRequest,
    store: Store,
    retrieval: Retrieval,
) -> SaveResult:
    """Store a page that is in the library; `before` is the stored version as this parser makes it."""
    if existing.metadata.edited:
        return SaveResult(_keep(store, existing, new, None), "kept", build_item.EDITED)
    worse = None if request.force else build_item.why_worse(new.metadata, existing.metadata)
    if worse:
        return SaveResult(_keep(store, existing, new, worse), "kept", worse)
    if captured.page.quality.level == "bookmark":  # retries count until one succeeds
        new = replace(new, metadata=replace(new.metadata, retry_count=existing.metadata.retry_count))
    raw = build_item.to_raw_page(captured.fetched, new.updated_at)
    if before is not None and before.content == new.content:
        item = _store_unchanged(store, existing, before, new, raw)
    else:
        versions: Versions = "replace" if before is None else "add"
        item = store.items.save(new, raw, versions=versions, retention=retention(retrieval.settings))
    dead_links.note_found(store, item, new.updated_at, retrieval.settings, raw)
    return SaveResult(item, "updated", unchanged=new.content == existing.content)


def _store_unchanged(store: Store, existing: Item, before: Item, new: Item, raw: RawPage) -> Item:
    """Keep the stored page of an item whose content is the same; a fetch that found nothing new takes no space."""
    known = existing.metadata
    tags = build_item.merge_tags(existing, new)
    is_clean = not (known.retry_count or known.last_error or known.link or existing.deleted_at)
    if before is existing and is_clean and tags == known.tags:
        return existing
    metadata = replace(before.metadata, tags=new.metadata.tags, retry_count=0, last_error=None, link=None)
    return store.items.save(replace(before, metadata=metadata, updated_at=new.updated_at), raw, versions="keep")


def _keep(store: Store, existing: Item, new: Item, worse: str | None) -> Item:
    """Leave the content, restore the item if deleted, add the requested tags, and note why the new result was worse."""
    changes: MetadataChanges = {}
    if existing.metadata.fetch_again is not None:  # it was fetched now
        changes["fetch_again"] = None
    if existing.metadata.failed:
        changes["failed"] = False
    if worse:
        reason = f"{worse[0].upper()}{worse[1:]}."
        message = new.metadata.reason or reason
        changes["last_error"] = {"type": "Worse", "message": message, "at": new.updated_at}
    if existing.deleted_at is not None:
        store.items.restore(existing.id, new.updated_at)
    return store.items.set_metadata(existing.id, clock.now(), add_tags=new.metadata.tags, **changes)


def _note_success(store: Store, item: Item) -> Item:
    """Reset the retry count and the last error, if there are any."""
    known = item.metadata
    if not known.retry_count and known.last_error is None and known.link is None:
        return item
    return store.items.set_metadata(item.id, clock.now(), retry_count=0, last_error=None, link=None)


async def save_single_file(
    path: Path, url: str, store: Store, retrieval: Retrieval, *, tags: tuple[str, ...] = ()
) -> SaveResult:
    """Save the page in a file under its address. The file is read in a worker, and never parsed with its pictures inside."""
    empty = sent_page(url, "")
    peeled = await retrieval.run(PeelTask(str(path)), PEEL)
    request = SaveRequest(Request(url), tags, uploaded=replace(empty, body=peeled.html))
    saved = await save(request, store, retrieval)
    wanted = set(wanted_sources(saved.item, retrieval.settings))
    for address, data in peeled.pictures.items():
        if normal_source(address) in wanted:
            await keep_uploaded(saved.item, store, retrieval, address, data)
    return replace(saved, item=await to_thread(get_item, store, saved.item.id))


async def refetch(
    store: Store, ids: Iterable[str], retrieval: Retrieval, *, force: bool = False, dry_run: bool = False
) -> AsyncIterator[ReparseResult]:
    """Fetch these items again and store the results; a failure leaves its item's content as it is.

    With `dry_run` the pages are fetched and nothing is stored, not even that one failed.
    """
    for item_id in ids:
        item = await to_thread(store.items.get, item_id)
        try:
            if dry_run:
                yield await _preview_refetch(item, retrieval, force)
                continue
            saved = await refetch_item(item, store, retrieval, force=force)
        except PagekeepError as error:
            yield ReparseResult(item, "failed", error.message)
            continue
        if saved.outcome == "kept":
            yield ReparseResult(item, "kept", saved.note)
        else:
            same = saved.item.content == item.content
            yield ReparseResult(item, "unchanged" if same else "updated", None, saved.item.content)


async def _preview_refetch(item: Item, retrieval: Retrieval, force: bool) -> ReparseResult:
    """Return what fetching the item again would change."""
    options = Options(max_bytes=retrieval.settings.max_bytes)
    request = Request(item.url_full, join_pages=item.metadata.join_pages)
    captured = await capture_by_mode(request, retrieval, options, ignore_progress)
    return compare_page(item, captured, retrieval.rules, force=force)
