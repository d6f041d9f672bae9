"""`/feeds/inbox` and `/feeds/entries`: the feed inbox, and one entry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Form, Query
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from pagekeep import clock
from pagekeep.doors.http.middleware.cross_site import own_path
from pagekeep.doors.http.web.layout.images import image_signer
from pagekeep.doors.http.web.layout.page import Frame, ReadFrame, WriteFrame
from pagekeep.errors import PagekeepError
from pagekeep.library.feeds import inbox, subscriptions
from pagekeep.library.feeds.search import find_named
from pagekeep.model import Entry, EntryPage, EntryQuery, Feed

router = APIRouter()

_PAGE_SIZE: Final = 40
State = Literal["unread", "all", "kept"]
STATES: Final[dict[State, str]] = {"unread": "Unread", "all": "All", "kept": "Kept"}


@dataclass(frozen=True, slots=True)
class View:
    """Which entries are listed, as in the URL."""

    feed: str = ""
    """Id of a feed, or a folder."""
    state: State = "unread"
    after: str | None = None

    def address(self, **changes: Any) -> str:
        """Return the URL of this view with the given changes."""
        values = {"feed": self.feed, "state": self.state, **changes}
        query = urlencode({name: value for name, value in values.items() if value and value != "unread"})
        return f"/feeds/inbox?{query}" if query else "/feeds/inbox"

    def query(self, feeds: tuple[Feed, ...]) -> EntryQuery:
        """Return the query for the entries."""
        chosen = tuple(feed.id for feed in find_named(feeds, self.feed.lower())) if self.feed else None
        return EntryQuery(chosen, self.state, limit=_PAGE_SIZE, after=self.after, content=True)


def parse_view(
    feed: Annotated[str, Query(max_length=300)] = "",
    state: str = "unread",
    after: Annotated[str | None, Query(max_length=10_000)] = None,
) -> View:
    """Return the view of a URL; unknown values become the defaults."""
    return View(feed.strip(), state if state in STATES else "unread", after)


@router.get("/feeds/inbox")
def show_inbox(frame: ReadFrame, view: Annotated[View, Depends(parse_view)]) -> HTMLResponse:
    """Show the entries that wait, newest first."""
    listed = subscriptions.list_feeds(frame.library)
    feeds = {one.feed.id: one.feed for one in listed}
    problem, page = "", EntryPage((), None)
    try:
        page = inbox.list_entries(frame.library, view.query(tuple(feeds.values())))
    except PagekeepError as error:
        problem = error.message
    return frame.show(
        "feed_inbox.html",
        listing=page,
        feeds=feeds,
        counted=[one for one in listed if one.counts.unread],
        folders=sorted({one.feed.folder for one in listed if one.feed.folder}),
        unread=sum(one.counts.unread for one in listed),
        shown=view,
        states=STATES,
        name=feeds[view.feed].label if view.feed in feeds else view.feed,
        problem=problem,
        now=clock.now(),
        pictures=image_signer(frame.service, frame.caller),
    )


@router.post("/feeds/inbox")
def mark_all_read(
    frame: WriteFrame,
    feed: Annotated[str, Form(max_length=300)] = "",
    before: Annotated[str, Form(max_length=40)] = "",
) -> Response:
    """Mark all entries of a view as read that it had when it was shown."""
    query = View(feed, "all").query(subscriptions_of(frame))
    inbox.mark_all_read(frame.library, query, before=before or None)
    return RedirectResponse(View(feed).address(), 303)


def subscriptions_of(frame: Frame) -> tuple[Feed, ...]:
    """Return the feeds of the user."""
    return tuple(one.feed for one in subscriptions.list_feeds(frame.library))


@router.get("/feeds/entries/{key}")
async def read_entry(frame: ReadFrame, key: str) -> HTMLResponse:
    """Show an entry. This changes nothing: our script, or the button, marks it as read."""
    entry = await run_in_threadpool(inbox.get_entry, frame.library, key)
    rendered = await frame.service.renderer.render(
        entry.content, base=entry.url or "", title=entry.title, image_url=image_signer(frame.service, frame.caller)
    )
    page = await run_in_threadpool(_fill_template, frame, entry, rendered.html)
    if rendered.is_temporary:
        page.headers["Cache-Control"] = "no-store"
    return page


def _fill_template(frame: Frame, entry: Entry, html: str) -> HTMLResponse:
    feed = subscriptions.get_feed(frame.library, entry.feed_id)
    item = inbox.kept_item(frame.library, entry)
    return frame.show("entry.html", entry=entry, content=html, feed=feed, item=item, extra=entry.extra)


@router.post("/feeds/entries/{key}")
def change_entry(
    frame: WriteFrame,
    key: str,
    action: Annotated[Literal["read", "unread", "keep"], Form()],
    back: Annotated[str, Form(max_length=2_000)] = "/feeds/inbox",
) -> Response:
    """Mark an entry as read or unread, or keep it: a job saves it as a page."""
    if action == "keep":
        inbox.request_keep(frame.library, key)
        frame.service.background.nudge()
    else:
        entry = inbox.get_entry(frame.library, key)
        inbox.mark_entries(frame.library, [entry.id], read=action == "read")
    if frame.wants_part:
        return Response(status_code=204)
    return RedirectResponse(own_path(back), 303)
