"""`/feeds` and `/settings/mail`: the feed inbox, subscriptions by folder, published feeds, and newsletters from mailboxes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Form, Path, Query
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile

from pagekeep import clock
from pagekeep.doors import published_feeds
from pagekeep.doors.http.caller import FORM_LIMITS, require_no_token
from pagekeep.doors.http.middleware.origins import own_path
from pagekeep.doors.http.web.layout import Frame, ReadFrame, WriteFrame, image_signer
from pagekeep.errors import InvalidQuery, PagekeepError
from pagekeep.library.feeds import inbox, mail_sources, subscriptions
from pagekeep.library.feeds.inbox import find_named
from pagekeep.library.feeds.subscriptions import find_feeds
from pagekeep.library.queue import format_interval, parse_interval
from pagekeep.model import Entry, EntryPage, EntryQuery, Feed, FeedContent, FeedSettings

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
        page = frame.library.entries.find(view.query(tuple(feeds.values())))
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
    query = View(feed, "all").query(tuple(one.feed for one in subscriptions.list_feeds(frame.library)))
    inbox.mark_all_read(frame.library, query, before=before or None)
    return RedirectResponse(View(feed).address(), 303)


@router.get("/feeds/entries/{key}")
async def read_entry(frame: ReadFrame, key: str) -> HTMLResponse:
    """Show an entry. This changes nothing: our script, or the button, marks it as read."""
    entry = await run_in_threadpool(frame.library.entries.get, key)
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
        entry = frame.library.entries.get(key)
        inbox.mark_entries(frame.library, [entry.id], read=action == "read")
    if frame.wants_part:
        return Response(status_code=204)
    return RedirectResponse(own_path(back), 303)


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


def _show_page(frame: Frame, **values: Any) -> HTMLResponse:
    listed = subscriptions.list_feeds(frame.library)
    defaults = {"problem": None, "url": "", "found": (), "report": None, "shared": None}
    return frame.show(
        "feeds.html",
        folders=[(folder, list(feeds)) for folder, feeds in groupby(listed, key=lambda one: one.feed.folder)],
        unread=sum(one.counts.unread for one in listed),
        count=len(listed),
        published=published_feeds.list_published(frame.library, frame.service.accounts),
        **{**defaults, **values},
    )


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
        return await run_in_threadpool(_show_page, frame, problem=error, url=url)
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
    return Response(subscriptions.export_list(frame.library), media_type="text/x-opml; charset=utf-8", headers=headers)


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
        outlines = await subscriptions.read_list(body, frame.service.retrieval)
        report = await run_in_threadpool(subscriptions.import_list, frame.library, outlines)
    except PagekeepError as error:
        return await run_in_threadpool(_show_page, frame, problem=error)
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
        return _show_page(frame, problem=error)
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


def _show_feed(frame: Frame, key: str, *, problem: PagekeepError | None = None) -> HTMLResponse:
    feed = subscriptions.get_feed(frame.library, key)
    every = format_interval(feed.settings.every) if feed.settings.every else ""
    counts = subscriptions.count_entries(frame.library, feed)
    return frame.show("feed.html", feed=feed, counts=counts, every=every, contents=CONTENTS, problem=problem)


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
        return _show_feed(frame, key, problem=error)
    frame.service.background.nudge()
    return RedirectResponse(f"/feeds/{subscriptions.get_feed(library, key).id}", 303)


_MAIL_PATH: Final = "/settings/mail"
_BLANK_SOURCE: Final = {"host": "", "account": "", "folder": "INBOX", "senders": "", "every": "15m"}
Text = Annotated[str, Form(max_length=20_000)]
SourceId = Annotated[str, Path(min_length=4, max_length=36, pattern=r"^[0-9a-f-]+$")]


@router.get("/settings/mail")
def show_sources(frame: ReadFrame) -> HTMLResponse:
    """Show the mail sources, and a form to add one."""
    return _show_sources(frame)


def _show_sources(frame: Frame, *, problem: PagekeepError | None = None, **typed: Any) -> HTMLResponse:
    settings = frame.service.settings
    found = mail_sources.list_sources(frame.library)
    return frame.show(
        "mail.html",
        sources=[(source, format_interval(source.every)) for source in found],
        problem=problem,
        typed=_BLANK_SOURCE | typed,
        shared=settings.shared,
        account=settings.mail_account if settings.mail_password else None,
        has_command=settings.mail_password_command is not None,
    )


@router.post("/settings/mail")
def add_source(
    frame: WriteFrame,
    host: Text = "",
    account: Text = "",
    folder: Text = "INBOX",
    senders: Text = "",
    every: Text = "15m",
) -> Response:
    """Add a mail source, over an encrypted connection."""
    try:
        mail_sources.add_source(
            frame.library,
            frame.service.settings,
            host,
            account,
            senders=senders.replace(",", " ").split(),
            folder=folder,
            every=parse_interval(every),
        )
    except PagekeepError as error:
        typed = {"host": host, "account": account, "folder": folder, "senders": senders, "every": every}
        return _show_sources(frame, problem=error, **typed)
    frame.service.background.nudge()
    return RedirectResponse(_MAIL_PATH, 303)


@router.post("/settings/mail/{source_id}")
def change_source(
    frame: WriteFrame, source_id: SourceId, action: Text = "", senders: Text = "", sender: Text = ""
) -> Response:
    """Change the senders of a mail source (`save`, or `allow` one more), poll it (`poll`) or remove it (`remove`)."""
    library = frame.library
    source = mail_sources.get_source(library, source_id)
    try:
        if action == "remove":
            mail_sources.remove_source(library, source_id)
        elif action == "poll":
            mail_sources.request_poll(library, source)
        else:
            listed = (*source.senders, sender) if action == "allow" else senders.replace(",", " ").split()
            mail_sources.change_source(library, source_id, senders=listed)
    except PagekeepError as error:
        return _show_sources(frame, problem=error)
    frame.service.background.nudge()
    return RedirectResponse(_MAIL_PATH, 303)
