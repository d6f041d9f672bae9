"""`/changes`: the inbox of changes of watched pages, and `/feeds/changes`: the same as an Atom feed."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Form, Path, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from pagekeep import accounts
from pagekeep.doors.http.caller import require_no_token
from pagekeep.doors.http.responses import add_etag
from pagekeep.doors.http.service import CurrentService
from pagekeep.doors.http.web.layout.page import Frame, ReadFrame, WriteFrame
from pagekeep.library.history import watch
from pagekeep.library.schedule import format_interval
from pagekeep.model import FEED
from pagekeep.present.history.atom import Entry, write_feed

router = APIRouter()

_MAX_CHANGES: Final = 100
_FEED_NAME: Final = "Feed of changes"


@router.get("/changes")
def show_changes(frame: ReadFrame) -> HTMLResponse:
    """Show the changes of watched pages, newest first, and the watched pages."""
    return _show_page(frame)


def _show_page(frame: Frame, **values: Any) -> HTMLResponse:
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
    response = _show_page(frame, feed=address)
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
