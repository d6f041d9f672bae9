"""`/api/v1/feeds`: subscriptions, the feed inbox, and published feeds."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from pagekeep.doors import published_feeds
from pagekeep.doors.http.api.feeds import models
from pagekeep.doors.http.caller import CallerWithoutToken, ReadLibrary, WriteLibrary
from pagekeep.doors.http.errors import FETCH_STATUSES, error_responses
from pagekeep.doors.http.responses import TaggedRoute
from pagekeep.doors.http.service import CurrentService
from pagekeep.library.feeds import inbox, lists, subscriptions
from pagekeep.library.feeds.discover import find_feeds
from pagekeep.library.feeds.search import find_named
from pagekeep.library.open import Store
from pagekeep.model import EntryCounts, EntryQuery, Feed, FeedSettings
from pagekeep.present.feeds.shapes import entry_shape, feed_shape, published_shape, whole_entry_shape
from pagekeep.present.json_shapes import job_shape

router = APIRouter(prefix="/api/v1/feeds", tags=["feeds"], route_class=TaggedRoute)
_ID = r"^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$"
Id = Annotated[str, Path(pattern=_ID, description="Its ID.")]


def _shape(library: Store, feed: Feed) -> models.OneFeed:
    return {"feed": feed_shape(feed, subscriptions.count_entries(library, feed))}


@router.get("", responses=error_responses())
def list_feeds(library: ReadLibrary) -> models.Feeds:
    """List the feeds, by folder and title."""
    return {"feeds": [feed_shape(one.feed, one.counts) for one in subscriptions.list_feeds(library)]}


@router.post("", status_code=201, responses=error_responses(403, 404, 413, *FETCH_STATUSES))
async def add_feed(body: models.NewFeed, library: WriteLibrary, service: CurrentService) -> models.AddedFeed:
    """Subscribe to a feed, by its address or that of a page that names it."""
    found = await find_feeds(body.url, service.retrieval, guess=body.guess)
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


@router.post("/poll", status_code=202, responses=error_responses(404))
def poll_feeds(body: models.PollRequest, library: WriteLibrary, service: CurrentService) -> models.Polled:
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
    return Response(lists.export_list(library), media_type="text/x-opml; charset=utf-8", headers=headers)


@router.post("/opml", responses=error_responses(413, 415))
async def import_feeds(
    body: models.OpmlRequest, library: WriteLibrary, service: CurrentService
) -> models.ImportedFeeds:
    """Subscribe to the feeds of an OPML document; those that exist stay as they are."""
    outlines = await lists.read_list(body.opml.encode("utf-8", "replace"), service.retrieval)
    report = await run_in_threadpool(lists.import_list, library, outlines)
    service.background.nudge()
    failed: list[models.ImportedFailure] = [{"address": one, "reason": reason} for one, reason in report.failed]
    return {"added": report.added, "known": report.known, "failed": failed}


@router.get("/entries", responses=error_responses())
def list_entries(
    library: ReadLibrary,
    feed: Annotated[str | None, Query(max_length=300, description="ID, name or folder of feeds.")] = None,
    state: Literal["unread", "read", "kept", "all"] = "all",
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    after: Annotated[str | None, Query(max_length=10_000)] = None,
) -> models.Entries:
    """List entries of the feed inbox, newest first. To search them, use `/search` with `feed:`."""
    chosen = None if feed is None else tuple(one.id for one in find_named(library.feeds(), feed))
    page = inbox.list_entries(library, EntryQuery(chosen, state, limit=limit, after=after))
    return {"entries": [entry_shape(entry) for entry in page.entries], "next": page.next}


@router.post("/entries/read", responses=error_responses())
def mark_entries_read(body: models.ReadRequest, library: WriteLibrary) -> models.ReadEntries:
    """Mark entries as read."""
    if body.ids is not None:
        return {"read": inbox.mark_entries(library, body.ids)}
    chosen = None if body.feed is None else tuple(one.id for one in find_named(library.feeds(), body.feed))
    return {"read": inbox.mark_all_read(library, EntryQuery(chosen), before=body.before)}


@router.get("/entries/{entry_id}", responses=error_responses(404))
def read_entry(entry_id: Id, library: ReadLibrary) -> models.OneEntry:
    """Return an entry with its text. This does not mark it as read."""
    return {"entry": whole_entry_shape(inbox.get_entry(library, entry_id))}


@router.patch("/entries/{entry_id}", responses=error_responses(404))
def change_entry(entry_id: Id, body: models.EntryChanges, library: WriteLibrary) -> models.OneEntry:
    """Mark an entry as read or unread."""
    inbox.get_entry(library, entry_id)
    inbox.mark_entries(library, [entry_id], read=body.read)
    return {"entry": whole_entry_shape(inbox.get_entry(library, entry_id))}


@router.post("/entries/{entry_id}/keep", status_code=202, responses=error_responses(404))
def keep_entry(entry_id: Id, library: WriteLibrary, service: CurrentService) -> models.KeptEntry:
    """Keep an entry: a job saves it as an item, with the tags of its feed."""
    job = inbox.request_keep(library, entry_id)
    service.background.nudge()
    return {"entry": entry_shape(inbox.get_entry(library, entry_id)), "job": job_shape(job)}


@router.get("/published", responses=error_responses())
def list_published(library: ReadLibrary, service: CurrentService) -> models.Published:
    """List the lists and searches that are published as feeds, oldest first. Their addresses are not shown again."""
    listed = published_feeds.list_published(library, service.accounts)
    return {"published": [published_shape(one.feed, one.last_used_at) for one in listed]}


@router.post("/published", status_code=201, responses=error_responses())
def publish_feed(
    request: Request,
    response: Response,
    body: models.PublishRequest,
    library: WriteLibrary,
    _caller: CallerWithoutToken,
    service: CurrentService,
) -> models.NewPublished:
    """Publish a list or search as a full-text feed. Its address, which is the key to it, is only in this response."""
    made, secret = published_feeds.publish(library, service.accounts, body.title, body.query)
    response.headers["Cache-Control"] = "no-store"
    address = f"{str(request.base_url).rstrip('/')}/shared/{secret}"
    shape = published_shape(made, None)
    return {"published": shape, "atom": f"{address}/atom.xml", "json": f"{address}/feed.json"}


@router.delete("/published/{published_id}", status_code=204, responses=error_responses(404))
def end_published(
    published_id: Id, library: WriteLibrary, _caller: CallerWithoutToken, service: CurrentService
) -> Response:
    """End a published feed: its address stops working at once."""
    published_feeds.unpublish(library, service.accounts, published_id.lower())
    return Response(status_code=204)


@router.get("/{feed_id}", responses=error_responses(404))
def read_feed(feed_id: Id, library: ReadLibrary) -> models.OneFeed:
    """Return a feed."""
    return _shape(library, subscriptions.get_feed(library, feed_id))


@router.patch("/{feed_id}", responses=error_responses(404))
def change_feed(
    feed_id: Id, body: models.FeedChanges, library: WriteLibrary, service: CurrentService
) -> models.OneFeed:
    """Change a feed's folder, status or settings; what is not named stays."""
    feed = subscriptions.change_feed(library, feed_id, folder=body.folder, status=body.status, changes=body.settings())
    service.background.nudge()
    return _shape(library, feed)


@router.delete("/{feed_id}", status_code=204, responses=error_responses(404))
def remove_feed(feed_id: Id, library: WriteLibrary) -> Response:
    """Unsubscribe from a feed; its entries leave the inbox, items that were kept stay."""
    subscriptions.remove_feed(library, feed_id)
    return Response(status_code=204)
