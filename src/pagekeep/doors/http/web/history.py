"""Versions of a page and watching it for changes, `/changes`: the inbox of changes, and the same as an Atom feed."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Depends, Form, Path, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from pagekeep.doors.http.caller import require_no_token
from pagekeep.doors.http.responses import add_etag
from pagekeep.doors.http.service import CurrentService
from pagekeep.doors.http.web.layout import Frame, ReadFrame, WriteFrame, image_signer
from pagekeep.identity import accounts
from pagekeep.library import watch
from pagekeep.library.archive import versions
from pagekeep.library.queue import format_interval, parse_interval
from pagekeep.model import FEED
from pagekeep.present.feed_formats import Entry, write_feed
from pagekeep.present.sections import body_of

router = APIRouter()

INTERVALS: Final = {"1h": "every hour", "6h": "every 6 hours", "1d": "every day", "1w": "every week"}
Number = Annotated[int | None, Query(ge=1, le=1_000_000_000)]


@router.get("/items/{key}/history")
def show_history(frame: ReadFrame, key: str) -> HTMLResponse:
    """Show the versions of a page, newest first."""
    found = versions.get_history(frame.library, key)
    schedule = watch.find_watch(frame.library, found.item.id)
    return frame.show(
        "history.html",
        item=found.item,
        versions=tuple(reversed(found.versions)),
        checked_at=found.checked_at,
        schedule=schedule,
        every=format_interval(schedule.every) if schedule else "",
        intervals=INTERVALS,
    )


@router.get("/items/{key}/diff")
async def show_diff(
    frame: ReadFrame, key: str, before: Number = None, after: Number = None, everything: bool = False
) -> HTMLResponse:
    """Show what changed between two versions, word by word; of a watched page without noise, unless all is wanted."""
    found = await versions.compare_versions(
        frame.library, key, frame.service.retrieval, before, after, everything=everything
    )
    return frame.show("diff.html", item=found.item, found=found, diff=found.diff)


@router.get("/items/{key}/versions/{number}")
async def show_version(frame: ReadFrame, key: str, number: int) -> HTMLResponse:
    """Show a version of a page as it is read today."""
    found = await versions.read_version(frame.library, key, frame.service.retrieval, number=number)
    item = found.text.item
    rendered = await frame.service.renderer.render(
        body_of(item.content), base=item.url, title=item.title, image_url=image_signer(frame.service, frame.caller)
    )
    return frame.show("version.html", item=item, version=found.snapshot, content=rendered.html)


@router.post("/items/{key}/versions/{number}")
async def change_version(
    frame: WriteFrame, key: str, number: int, action: Annotated[Literal["pin", "unpin", "restore"], Form()]
) -> Response:
    """Pin, unpin or restore a version."""
    if action == "restore":
        item = await versions.restore_version(frame.library, key, frame.service.retrieval, number)
        return RedirectResponse(f"/items/{item.id}", 303)
    pinned = action == "pin"
    await run_in_threadpool(versions.pin_version, frame.library, key, number, pinned=pinned)
    return RedirectResponse(f"/items/{key}/history", 303)


@router.post("/items/{key}/watch")
def watch_item(frame: WriteFrame, key: str, every: Annotated[str, Form(max_length=20)] = "1d") -> Response:
    """Watch a page, or stop with the interval `never`."""
    if every == "never":
        watch.unwatch(frame.library, key)
    else:
        watch.watch(frame.library, key, parse_interval(every))
        frame.service.background.nudge()
    return RedirectResponse(f"/items/{key}/history#watch", 303)


_MAX_CHANGES: Final = 100
_FEED_NAME: Final = "Feed of changes"


@router.get("/changes")
def show_changes(frame: ReadFrame) -> HTMLResponse:
    """Show the changes of watched pages, newest first, and the watched pages."""
    return _show_changes(frame)


def _show_changes(frame: Frame, **values: Any) -> HTMLResponse:
    watched = watch.watched_pages(frame.library)
    return frame.show(
        "changes.html",
        changes=watch.list_changes(frame.library, limit=_MAX_CHANGES),
        watched=[(one.item, one.schedule, format_interval(one.schedule.every)) for one in watched],
        **{"feed": None, **values},
    )


@router.post("/changes")
def mark_seen(frame: WriteFrame, ids: Annotated[list[str] | None, Form(max_length=500)] = None) -> Response:
    """Mark changes as seen: those listed, or all."""
    watch.mark_seen(frame.library, tuple(ids) if ids else None)
    return RedirectResponse("/changes", 303)


@router.post("/changes/feed", dependencies=[Depends(require_no_token)])
def add_feed(frame: WriteFrame) -> HTMLResponse:
    """Create the address of a feed, and show it once; it is revoked as other tokens are."""
    made = accounts.add_token(frame.service.accounts, frame.caller.user_id, _FEED_NAME, (FEED,))
    address = f"{str(frame.request.base_url).rstrip('/')}/feeds/changes/{made.secret}"
    response = _show_changes(frame, feed=address)
    response.headers["Cache-Control"] = "no-store"
    return response


@router.get("/feeds/changes/{secret}")
async def read_feed(
    request: Request, service: CurrentService, secret: Annotated[str, Path(max_length=200)]
) -> Response:
    """Return the changes as an Atom feed. The address itself is the key to it."""
    local = None if service.shared else service.settings.user
    user_id = await run_in_threadpool(accounts.feed_user, service.accounts, secret, local=local)
    async with service.libraries.borrow(user_id) as library:
        found = await run_in_threadpool(watch.list_changes, library, limit=_MAX_CHANGES)
    origin = str(request.base_url).rstrip("/")
    entries = [
        Entry(
            id=f"urn:uuid:{change.id}",
            title=item.title,
            link=f"{origin}/items/{item.id}/diff?before={change.before}&after={change.after}",
            updated=change.found_at,
            text=f"{change.added} words added, {change.removed} removed. {change.excerpt}",
            source=item.url_full,
        )
        for change, item in found
    ]
    body = write_feed(f"urn:pagekeep:changes:{user_id}", "Changes of watched pages", f"{origin}/changes", entries)
    return add_etag(request, Response(body, media_type="application/atom+xml"))
