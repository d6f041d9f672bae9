"""`/feeds`: subscriptions by folder, their settings, lists of feeds (OPML) and published feeds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Depends, Form
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile

from pagekeep.doors import published_feeds
from pagekeep.doors.http.caller import FORM_LIMITS, require_no_token
from pagekeep.doors.http.errors import status_of
from pagekeep.doors.http.web.layout.page import Frame, ReadFrame, WriteFrame
from pagekeep.errors import InvalidQuery, PagekeepError
from pagekeep.library.feeds import lists, subscriptions
from pagekeep.library.feeds.discover import find_feeds
from pagekeep.library.feeds.subscriptions import CountedFeed
from pagekeep.library.schedule import format_interval, parse_interval
from pagekeep.model import FeedContent, FeedSettings

router = APIRouter()

_MAX_OPML_BYTES: Final = 5_000_000
CONTENTS: Final[dict[FeedContent, str]] = {
    "feed": "What the feed carries",
    "page": "The whole article, fetched from its page",
    "link": "A summary and the link",
}


@router.get("/feeds")
def show_feeds(frame: ReadFrame) -> HTMLResponse:
    """Show the feeds by folder, with their unread entries."""
    return _show_page(frame)


def _show_page(frame: Frame, *, status: int = 200, **values: Any) -> HTMLResponse:
    listed = subscriptions.list_feeds(frame.library)
    defaults = {"problem": None, "url": "", "found": (), "report": None, "shared": None}
    return frame.show(
        "feeds.html",
        status=status,
        folders=_by_folder(listed),
        unread=sum(one.counts.unread for one in listed),
        count=len(listed),
        published=published_feeds.list_published(frame.library, frame.service.accounts),
        **{**defaults, **values},
    )


def _by_folder(listed: Sequence[CountedFeed]) -> list[tuple[str, list[CountedFeed]]]:
    return [(folder, list(feeds)) for folder, feeds in groupby(listed, key=lambda one: one.feed.folder)]


@router.post("/feeds")
async def add_feed(
    frame: WriteFrame,
    url: Annotated[str, Form(max_length=8_000)] = "",
    folder: Annotated[str, Form(max_length=300)] = "",
    guess: Annotated[str, Form(max_length=10)] = "",
) -> Response:
    """Subscribe to a feed, by its address or that of a page; of several, the user chooses one."""
    try:
        found = await find_feeds(url, frame.service.retrieval, guess=bool(guess))
        if len(found) > 1:
            return await run_in_threadpool(_show_page, frame, found=found, url=url)
        one = found[0]
        feed, _ = await run_in_threadpool(
            lambda: subscriptions.add_feed(
                frame.library, one.address, title=one.title, site=one.site, folder=folder, settings=FeedSettings()
            )
        )
    except PagekeepError as error:
        return await run_in_threadpool(_show_page, frame, status=status_of(error), problem=error, url=url)
    frame.service.background.nudge()
    return RedirectResponse(f"/feeds/{feed.id}", 303)


@router.post("/feeds/poll")
def poll_feeds(frame: WriteFrame) -> Response:
    """Have all feeds polled now."""
    subscriptions.request_poll(frame.library)
    frame.service.background.nudge()
    return RedirectResponse("/feeds", 303)


@router.get("/feeds/opml")
def export_feeds(frame: ReadFrame) -> Response:
    """Download the feeds as OPML."""
    headers = {"Content-Disposition": "attachment; filename=feeds.opml"}
    return Response(lists.export_list(frame.library), media_type="text/x-opml; charset=utf-8", headers=headers)


@router.post("/feeds/opml")
async def import_feeds(frame: WriteFrame) -> HTMLResponse:
    """Subscribe to the feeds of an OPML file."""
    try:
        async with frame.request.form(**FORM_LIMITS) as form:
            file = form.get("file")
            if not isinstance(file, UploadFile):
                raise InvalidQuery("No file was sent.", suggestions=("Choose an OPML file.",))
            body = await file.read(_MAX_OPML_BYTES + 1)
        if len(body) > _MAX_OPML_BYTES:
            raise InvalidQuery("The file is too large for a list of feeds.", suggestions=("Choose an OPML file.",))
        outlines = await lists.read_list(body, frame.service.retrieval)
        report = await run_in_threadpool(lists.import_list, frame.library, outlines)
    except PagekeepError as error:
        return await run_in_threadpool(_show_page, frame, status=status_of(error), problem=error)
    frame.service.background.nudge()
    return await run_in_threadpool(_show_page, frame, report=report)


@router.post("/feeds/published", dependencies=[Depends(require_no_token)])
def publish(
    frame: WriteFrame,
    title: Annotated[str, Form(max_length=80)],
    query: Annotated[str, Form(max_length=1_000)] = "",
) -> HTMLResponse:
    """Publish a list or search, and show its addresses once."""
    try:
        _, secret = published_feeds.publish(frame.library, frame.service.accounts, title, query)
    except PagekeepError as error:
        return _show_page(frame, status=status_of(error), problem=error)
    response = _show_page(frame, shared=f"{str(frame.request.base_url).rstrip('/')}/shared/{secret}")
    response.headers["Cache-Control"] = "no-store"
    return response


@router.post("/feeds/published/{key}", dependencies=[Depends(require_no_token)])
def end_published(frame: WriteFrame, key: str) -> Response:
    """End a published feed."""
    published_feeds.unpublish(frame.library, frame.service.accounts, key)
    return RedirectResponse("/feeds#published", 303)


@router.get("/feeds/{key}")
def show_feed(frame: ReadFrame, key: str) -> HTMLResponse:
    """Show the settings of a feed."""
    return _show_feed(frame, key)


def _show_feed(frame: Frame, key: str, *, status: int = 200, problem: PagekeepError | None = None) -> HTMLResponse:
    feed = subscriptions.get_feed(frame.library, key)
    every = format_interval(feed.settings.every) if feed.settings.every else ""
    counts = subscriptions.count_entries(frame.library, feed)
    return frame.show(
        "feed.html", status=status, feed=feed, counts=counts, every=every, contents=CONTENTS, problem=problem
    )


@router.post("/feeds/{key}")
def change_feed(
    frame: WriteFrame,
    key: str,
    action: Annotated[Literal["save", "poll", "pause", "resume", "remove"], Form()] = "save",
    name: Annotated[str, Form(max_length=300)] = "",
    folder: Annotated[str, Form(max_length=300)] = "",
    tags: Annotated[str, Form(max_length=2_000)] = "",
    include: Annotated[str, Form(max_length=5_000)] = "",
    exclude: Annotated[str, Form(max_length=5_000)] = "",
    content: Annotated[Literal["feed", "page", "link"], Form()] = "feed",
    keep_count: Annotated[int, Form()] = 200,
    keep_days: Annotated[int, Form()] = 90,
    every: Annotated[str, Form(max_length=20)] = "",
) -> Response:
    """Change a feed, poll it now, pause it, or remove it."""
    library = frame.library
    try:
        if action == "remove":
            subscriptions.remove_feed(library, key)
            return RedirectResponse("/feeds", 303)
        if action == "poll":
            subscriptions.request_poll(library, (key,))
        elif action in ("pause", "resume"):
            subscriptions.change_feed(library, key, status="paused" if action == "pause" else "active")
        else:
            changes = {
                "name": name or None,
                "tags": tuple(tags.split(",")),
                "include": tuple(include.splitlines()),
                "exclude": tuple(exclude.splitlines()),
                "content": content,
                "keep_count": keep_count,
                "keep_days": keep_days,
                "every": parse_interval(every) if every.strip() else None,
            }
            subscriptions.change_feed(library, key, folder=folder, changes=changes)
    except InvalidQuery as error:
        return _show_feed(frame, key, status=status_of(error), problem=error)
    frame.service.background.nudge()
    return RedirectResponse(f"/feeds/{subscriptions.get_feed(library, key).id}", 303)
