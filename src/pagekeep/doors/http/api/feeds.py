"""`/api/v1/feeds` and `/api/v1/mail-sources`: subscriptions, newsletters, the feed inbox, and published feeds."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response
from pydantic import Field, StringConstraints
from starlette.concurrency import run_in_threadpool
from typing_extensions import TypedDict

from pagekeep import model
from pagekeep.doors import published_feeds
from pagekeep.doors.http.api.request_models import RequestBody, Tag, Url
from pagekeep.doors.http.api.response_models import MailSources, OneMailSource
from pagekeep.doors.http.caller import CallerWithoutToken, ReadLibrary, WriteLibrary
from pagekeep.doors.http.errors import FETCH_STATUSES, error_responses
from pagekeep.doors.http.responses import TaggedRoute
from pagekeep.doors.http.service import CurrentService
from pagekeep.library.feeds import inbox, mail_sources, subscriptions
from pagekeep.library.open import Store
from pagekeep.library.queue import format_interval, parse_interval
from pagekeep.model import EntryCounts, EntryQuery, FeedSettings
from pagekeep.present.feed_shapes import (
    Entry,
    Feed,
    FoundFeed,
    MailSource,
    PublishedFeed,
    WholeEntry,
    feed_shape,
    whole_entry_shape,
)
from pagekeep.present.json_shapes import Job, to_json

router = APIRouter(prefix="/api/v1/feeds", tags=["feeds"], route_class=TaggedRoute)
_ID = r"^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$"
Id = Annotated[str, Path(pattern=_ID, description="Its ID.")]


def _feed_shape(library: Store, feed: model.Feed) -> OneFeed:
    return {"feed": feed_shape(feed, subscriptions.count_entries(library, feed))}


Feeds = TypedDict("Feeds", {"feeds": list[Feed]})


@router.get("", responses=error_responses())
def list_feeds(library: ReadLibrary) -> Feeds:
    """List the feeds, by folder and title."""
    return {"feeds": [feed_shape(one.feed, one.counts) for one in subscriptions.list_feeds(library)]}


Name = Annotated[str, StringConstraints(max_length=300)]
Words = Annotated[list[Annotated[str, StringConstraints(min_length=1, max_length=300)]], Field(max_length=50)]
Limit = Annotated[int, Field(ge=0, le=10_000)]


class FeedChanges(RequestBody):
    """Changes to a feed; what is not named stays."""

    name: Name | None = Field(None, description="Shown instead of the feed's title; empty for its title.")
    folder: Name | None = Field(
        None, description="Folders from the outermost, separated by `/`.", examples=["News/Sea"]
    )
    tags: Annotated[list[Tag], Field(max_length=50)] | None = Field(
        None, description="Tags of items kept from the feed."
    )
    include: Words | None = Field(None, description="An entry must have one of these words or phrases.")
    exclude: Words | None = Field(None, description="An entry may have none of these words or phrases.")
    content: Literal["feed", "page", "link"] | None = Field(
        None,
        description="What entries show: what the feed carries, the article from its page, or a summary and the link.",
    )
    keep_count: Limit | None = Field(None, description="Entries that stay in the inbox; 0 sets no limit.")
    keep_days: Limit | None = Field(
        None, description="Days that entries stay in the inbox, but for the newest 10; 0 sets no limit."
    )
    every: Annotated[int, Field(ge=0, le=7_776_000)] | None = Field(
        None, description="Seconds between two polls, 300 or more; 0 follows how often the feed has new entries."
    )
    status: Literal["active", "paused"] | None = None

    def settings(self) -> dict[str, Any]:
        """Return the settings that were sent."""
        names = ("name", "tags", "include", "exclude", "content", "keep_count", "keep_days", "every")
        sent = {name: value for name in names if (value := getattr(self, name)) is not None}
        for name in ("tags", "include", "exclude"):
            if name in sent:
                sent[name] = tuple(sent[name])
        return {name: value or None if name in ("every", "name") else value for name, value in sent.items()}


class NewFeed(FeedChanges):
    """A feed to subscribe to."""

    url: Url = Field(
        description="The address of a feed, or of a page that names its feed.", examples=["https://example.com/"]
    )
    guess: bool = Field(False, description="If the page names no feed, try the usual paths of its site.")


class AddedFeed(TypedDict):
    feed: Feed
    added: bool
    """False if it was there already; then it stays as it is."""
    found: list[FoundFeed]
    """All feeds that the page names; the first one was added."""


@router.post("", status_code=201, responses=error_responses(403, 404, 413, *FETCH_STATUSES))
async def add_feed(body: NewFeed, library: WriteLibrary, service: CurrentService) -> AddedFeed:
    """Subscribe to a feed, by its address or that of a page that names it."""
    found = await subscriptions.find_feeds(body.url, service.retrieval, guess=body.guess)
    settings = FeedSettings(**body.settings())
    feed, is_new = await run_in_threadpool(
        lambda: subscriptions.add_feed(
            library,
            found[0].address,
            title=found[0].title,
            site=found[0].site,
            folder=body.folder or "",
            settings=settings,
        )
    )
    service.background.nudge()
    return {
        "feed": feed_shape(feed, EntryCounts()),
        "added": is_new,
        "found": [{"address": one.address, "title": one.title} for one in found],
    }


class PollRequest(RequestBody):
    """The feeds to poll."""

    ids: Annotated[list[Annotated[str, StringConstraints(max_length=100)]], Field(max_length=1000)] | None = Field(
        None, description="IDs of the feeds; without it, all of them."
    )


Polled = TypedDict("Polled", {"feeds": int})


@router.post("/poll", status_code=202, responses=error_responses(404))
def poll_feeds(body: PollRequest, library: WriteLibrary, service: CurrentService) -> Polled:
    """Have feeds polled as soon as possible; a paused or ended one that is named is polled again from now on."""
    wanted = subscriptions.request_poll(library, tuple(body.ids or ()))
    service.background.nudge()
    return {"feeds": len(wanted)}


@router.get(
    "/opml",
    response_class=Response,
    responses={200: {"content": {"text/x-opml": {}}, "description": "OPML 2.0."}, **error_responses()},
)
def export_feeds(library: ReadLibrary) -> Response:
    """Export the feeds with their folders as OPML."""
    headers = {"Content-Disposition": "attachment; filename=feeds.opml"}
    return Response(subscriptions.export_list(library), media_type="text/x-opml; charset=utf-8", headers=headers)


class OpmlRequest(RequestBody):
    """A list of feeds."""

    opml: Annotated[str, StringConstraints(min_length=1, max_length=5_000_000)]


ImportedFailure = TypedDict("ImportedFailure", {"address": str, "reason": str})
ImportedFeeds = TypedDict("ImportedFeeds", {"added": int, "known": int, "failed": list[ImportedFailure]})


@router.post("/opml", responses=error_responses(413, 415))
async def import_feeds(body: OpmlRequest, library: WriteLibrary, service: CurrentService) -> ImportedFeeds:
    """Subscribe to the feeds of an OPML document; those that exist stay as they are."""
    outlines = await subscriptions.read_list(body.opml.encode("utf-8", "replace"), service.retrieval)
    report = await run_in_threadpool(subscriptions.import_list, library, outlines)
    service.background.nudge()
    failed: list[ImportedFailure] = [{"address": one, "reason": reason} for one, reason in report.failed]
    return {"added": report.added, "known": report.known, "failed": failed}


Entries = TypedDict("Entries", {"entries": list[Entry], "next": str | None})


@router.get("/entries", responses=error_responses())
def list_entries(
    library: ReadLibrary,
    feed: Annotated[str | None, Query(max_length=300, description="ID, name or folder of feeds.")] = None,
    state: Literal["unread", "read", "kept", "all"] = "all",
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    after: Annotated[str | None, Query(max_length=10_000)] = None,
) -> Entries:
    """List entries of the feed inbox, newest first. To search them, use `/search` with `feed:`."""
    chosen = None if feed is None else tuple(one.id for one in inbox.find_named(library.feeds.list(), feed))
    page = library.entries.find(EntryQuery(chosen, state, limit=limit, after=after))
    return {"entries": [to_json(Entry, entry) for entry in page.entries], "next": page.next}


class ReadRequest(RequestBody):
    """The entries that were read: by `ids`, all of a `feed`, or all."""

    ids: Annotated[list[Annotated[str, StringConstraints(max_length=100)]], Field(max_length=1000)] | None = None
    feed: Annotated[str, StringConstraints(max_length=300)] | None = Field(None, description="ID, name or folder.")
    before: Annotated[str, StringConstraints(max_length=40)] | None = Field(
        None, description="Only entries that were in the inbox at this time."
    )


ReadEntries = TypedDict("ReadEntries", {"read": int})


@router.post("/entries/read", responses=error_responses())
def mark_entries_read(body: ReadRequest, library: WriteLibrary) -> ReadEntries:
    """Mark entries as read."""
    if body.ids is not None:
        return {"read": inbox.mark_entries(library, body.ids)}
    chosen = None if body.feed is None else tuple(one.id for one in inbox.find_named(library.feeds.list(), body.feed))
    return {"read": inbox.mark_all_read(library, EntryQuery(chosen), before=body.before)}


OneEntry = TypedDict("OneEntry", {"entry": WholeEntry})


@router.get("/entries/{entry_id}", responses=error_responses(404))
def read_entry(entry_id: Id, library: ReadLibrary) -> OneEntry:
    """Return an entry with its text. This does not mark it as read."""
    return {"entry": whole_entry_shape(library.entries.get(entry_id))}


class EntryChanges(RequestBody):
    """Changes to an entry."""

    read: bool


@router.patch("/entries/{entry_id}", responses=error_responses(404))
def change_entry(entry_id: Id, body: EntryChanges, library: WriteLibrary) -> OneEntry:
    """Mark an entry as read or unread."""
    library.entries.get(entry_id)
    inbox.mark_entries(library, [entry_id], read=body.read)
    return {"entry": whole_entry_shape(library.entries.get(entry_id))}


KeptEntry = TypedDict("KeptEntry", {"entry": Entry, "job": Job})


@router.post("/entries/{entry_id}/keep", status_code=202, responses=error_responses(404))
def keep_entry(entry_id: Id, library: WriteLibrary, service: CurrentService) -> KeptEntry:
    """Keep an entry: a job saves it as an item, with the tags of its feed."""
    job = inbox.request_keep(library, entry_id)
    service.background.nudge()
    return {"entry": to_json(Entry, library.entries.get(entry_id)), "job": to_json(Job, job)}


Published = TypedDict("Published", {"published": list[PublishedFeed]})


@router.get("/published", responses=error_responses())
def list_published(library: ReadLibrary, service: CurrentService) -> Published:
    """List the lists and searches that are published as feeds, oldest first. Their addresses are not shown again."""
    listed = published_feeds.list_published(library, service.accounts)
    return {"published": [to_json(PublishedFeed, one.feed, last_used_at=one.last_used_at) for one in listed]}


class PublishRequest(RequestBody):
    """A list or search to publish as a feed."""

    title: Annotated[str, StringConstraints(min_length=1, max_length=80)]
    query: Annotated[str, StringConstraints(max_length=1000)] = Field(
        "", description="Search whose results the feed has; empty for all items.", examples=["tag:reading"]
    )


class NewPublished(TypedDict):
    published: PublishedFeed
    atom: str
    """Its address as Atom, only in this response."""
    json: str
    """Its address as JSON Feed, only in this response."""


@router.post("/published", status_code=201, responses=error_responses())
def publish_feed(
    request: Request,
    response: Response,
    body: PublishRequest,
    library: WriteLibrary,
    _caller: CallerWithoutToken,
    service: CurrentService,
) -> NewPublished:
    """Publish a list or search as a full-text feed. Its address, which is the key to it, is only in this response."""
    made, secret = published_feeds.publish(library, service.accounts, body.title, body.query)
    response.headers["Cache-Control"] = "no-store"
    address = f"{str(request.base_url).rstrip('/')}/shared/{secret}"
    shape = to_json(PublishedFeed, made, last_used_at=None)
    return {"published": shape, "atom": f"{address}/atom.xml", "json": f"{address}/feed.json"}


@router.delete("/published/{published_id}", status_code=204, responses=error_responses(404))
def end_published(
    published_id: Id, library: WriteLibrary, _caller: CallerWithoutToken, service: CurrentService
) -> Response:
    """End a published feed: its address stops working at once."""
    published_feeds.unpublish(library, service.accounts, published_id.lower())
    return Response(status_code=204)


OneFeed = TypedDict("OneFeed", {"feed": Feed})


@router.get("/{feed_id}", responses=error_responses(404))
def read_feed(feed_id: Id, library: ReadLibrary) -> OneFeed:
    """Return a feed."""
    return _feed_shape(library, subscriptions.get_feed(library, feed_id))


@router.patch("/{feed_id}", responses=error_responses(404))
def change_feed(feed_id: Id, body: FeedChanges, library: WriteLibrary, service: CurrentService) -> OneFeed:
    """Change a feed's folder, status or settings; what is not named stays."""
    feed = subscriptions.change_feed(library, feed_id, folder=body.folder, status=body.status, changes=body.settings())
    service.background.nudge()
    return _feed_shape(library, feed)


@router.delete("/{feed_id}", status_code=204, responses=error_responses(404))
def remove_feed(feed_id: Id, library: WriteLibrary) -> Response:
    """Unsubscribe from a feed; its entries leave the inbox, items that were kept stay."""
    subscriptions.remove_feed(library, feed_id)
    return Response(status_code=204)


mail_router = APIRouter(prefix="/api/v1", tags=["mail"], route_class=TaggedRoute)
SourceId = Annotated[
    str, Path(min_length=4, max_length=36, pattern=r"^[0-9a-f-]+$", description="Its id, or the beginning of it.")
]
MailName = Annotated[str, StringConstraints(min_length=1, max_length=300)]
Senders = Annotated[list[Annotated[str, StringConstraints(max_length=320)]], Field(min_length=1, max_length=500)]
Interval = Annotated[str, StringConstraints(min_length=2, max_length=20)]
_SENDERS: str = "Addresses and domains whose messages are taken; `*` takes all."
_EVERY: str = "5m to 90d: a number and m (minutes), h (hours), d (days) or w (weeks)."


class MailSourceRequest(RequestBody):
    """A folder of a mailbox. Its password is a setting of the server, never part of a request."""

    host: MailName
    user: MailName
    senders: Senders = Field(description=_SENDERS)
    folder: MailName = "INBOX"
    port: Annotated[int, Field(ge=1, le=65_535)] | None = None
    security: Literal["tls", "plain"] = Field("tls", description="`plain` only connects to this machine.")
    every: Interval = Field("15m", description=_EVERY)


class MailSourceChanges(RequestBody):
    """What changes; what is not named stays."""

    senders: Senders | None = Field(None, description=_SENDERS)
    every: Interval | None = Field(None, description=_EVERY)


@mail_router.get("/mail-sources")
def list_mail_sources(library: ReadLibrary) -> MailSources:
    """List the mail sources, with what came from them and which other senders were left out."""
    return {"sources": [_source_shape(source) for source in mail_sources.list_sources(library)]}


@mail_router.post("/mail-sources", status_code=201, responses=error_responses(403))
def add_mail_source(body: MailSourceRequest, library: WriteLibrary, service: CurrentService) -> OneMailSource:
    """Add a folder of a mailbox; adding it again changes its senders and interval."""
    source, _ = mail_sources.add_source(
        library,
        service.settings,
        body.host,
        body.user,
        senders=body.senders,
        folder=body.folder,
        port=body.port,
        security=body.security,
        every=parse_interval(body.every),
    )
    service.background.nudge()
    return {"source": _source_shape(source)}


@mail_router.patch("/mail-sources/{source_id}", responses=error_responses(404))
def change_mail_source(
    source_id: SourceId, body: MailSourceChanges, library: WriteLibrary, service: CurrentService
) -> OneMailSource:
    """Change the senders or the interval of a mail source."""
    every = parse_interval(body.every) if body.every is not None else None
    changed = mail_sources.change_source(library, source_id, senders=body.senders, every=every)
    service.background.nudge()
    return {"source": _source_shape(changed)}


@mail_router.post("/mail-sources/{source_id}/poll", status_code=202, responses=error_responses(404))
def poll_mail_source(source_id: SourceId, library: WriteLibrary, service: CurrentService) -> OneMailSource:
    """Have new messages read as soon as jobs run."""
    source = mail_sources.get_source(library, source_id)
    mail_sources.request_poll(library, source)
    service.background.nudge()
    return {"source": _source_shape(source)}


@mail_router.delete("/mail-sources/{source_id}", status_code=204, responses=error_responses(404))
def remove_mail_source(source_id: SourceId, library: WriteLibrary) -> Response:
    """Remove a mail source; its newsletters stay in the feed inbox."""
    mail_sources.remove_source(library, source_id)
    return Response(status_code=204)


def _source_shape(source: model.MailSource) -> MailSource:
    return to_json(MailSource, source, every=format_interval(source.every))
