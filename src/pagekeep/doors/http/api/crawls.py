"""`/api/v1/crawls` and `/api/v1/map`: crawl whole sites in the background, and list the addresses of a site."""

from __future__ import annotations

import asyncio
from asyncio import to_thread
from collections.abc import AsyncIterator
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response
from pydantic import Field, StringConstraints
from sse_starlette import EventSourceResponse
from typing_extensions import TypedDict

from pagekeep.doors.http.api.request_models import RenderMode, RequestBody, Tags, Url
from pagekeep.doors.http.caller import ReadCaller, ReadLibrary, WriteLibrary
from pagekeep.doors.http.errors import FETCH_STATUSES, error_responses
from pagekeep.doors.http.observability import log_host
from pagekeep.doors.http.responses import TaggedRoute
from pagekeep.doors.http.service import CurrentService
from pagekeep.doors.http.streams import Event
from pagekeep.library.crawl import crawls
from pagekeep.library.crawl.addresses import CrawlOptions
from pagekeep.library.crawl.map_site import map_site
from pagekeep.library.open import Store
from pagekeep.model.crawl import Crawl as CrawlValue
from pagekeep.model.tags import clean_tags
from pagekeep.present import crawl_shapes
from pagekeep.present.crawl_shapes import Crawl, CrawlPage, CrawlProblem
from pagekeep.present.json_shapes import to_json

router = APIRouter(prefix="/api/v1", tags=["crawls"], route_class=TaggedRoute)
POLL_SECONDS: Final = 1.0
"""How often the library is checked for progress: any process may work on the crawl."""
CrawlId = Annotated[str, Path(max_length=100)]
Glob = Annotated[str, StringConstraints(min_length=1, max_length=500)]
Globs = Annotated[list[Glob], Field(max_length=50)]
After = Annotated[int, Query(ge=-1, le=10**12, description="`next` of the answer before.")]
Limit = Annotated[int, Query(ge=1, le=500)]


class Limits(RequestBody):
    """How much a crawl takes."""

    pages: int | None = Field(None, ge=1, le=10_000_000)
    depth: int | None = Field(None, ge=0, le=100)
    bytes: int | None = Field(None, ge=1, le=10**15)
    minutes: float | None = Field(None, gt=0, le=1_000_000)

    def given(self) -> dict[str, Any]:
        """Return the limits that are set."""
        return {name: getattr(self, name) for name in crawls.LIMITS if getattr(self, name) is not None}


class CrawlRequest(Limits):
    """A crawl: everything below the folder of each URL."""

    urls: list[Url] = Field(min_length=1, max_length=50, examples=[["https://example.org/docs/"]])
    include: Globs = Field(default=[], description="Follow addresses that match, instead of those below the folders.")
    exclude: Globs = Field(default=[], description="Do not follow addresses that match.")
    sitemap: Literal["include", "skip", "only"] = "include"
    render: RenderMode | None = None
    save: bool = Field(False, description="Also save the pages into the library.")
    tags: Tags = Field(default=[], description="Tags of the saved pages.")

    def options(self) -> CrawlOptions:
        """Return the options of the crawl."""
        return CrawlOptions(
            tuple(self.urls),
            include=tuple(self.include),
            exclude=tuple(self.exclude),
            sitemap=self.sitemap,
            render=self.render,
            save=self.save,
            tags=clean_tags(self.tags),
            **self.given(),
        )


class MapRequest(RequestBody):
    """A site whose addresses are wanted."""

    url: Url
    include: Globs = Field(default=[])
    exclude: Globs = Field(default=[])
    sitemap: Literal["include", "skip"] = "include"
    limit: int = Field(5_000, ge=1, le=100_000)


OneCrawl = TypedDict("OneCrawl", {"crawl": Crawl})
Crawls = TypedDict("Crawls", {"crawls": list[Crawl]})
CrawlPages = TypedDict("CrawlPages", {"pages": list[CrawlPage], "next": int | None})
CrawlErrors = TypedDict("CrawlErrors", {"errors": list[CrawlProblem], "next": int | None})
MapLink = TypedDict("MapLink", {"url": str, "via": str, "lastmod": str | None})
SiteLinks = TypedDict("SiteLinks", {"links": list[MapLink], "left_out": dict[str, int]})


@router.post("/crawls", status_code=202, responses=error_responses())
async def start_crawl(body: CrawlRequest, library: WriteLibrary) -> OneCrawl:
    """Start a crawl in the background: a new one, or the next run of the one with the same URLs and patterns."""
    log_host(body.urls[0])
    return {"crawl": to_json(crawl_shapes.Crawl, await to_thread(crawls.start_crawl, library, body.options()))}


@router.get("/crawls", responses=error_responses())
def list_crawls(library: ReadLibrary, limit: Limit = 100) -> Crawls:
    """List crawls, the one that was started last first."""
    return {"crawls": [to_json(crawl_shapes.Crawl, one) for one in library.crawls.list(limit)]}


@router.get("/crawls/{crawl_id}", responses=error_responses(404))
def read_crawl(crawl_id: CrawlId, library: ReadLibrary) -> OneCrawl:
    """Return a crawl: its state, and what was found and left out by reason."""
    return {"crawl": to_json(crawl_shapes.Crawl, library.crawls.get(crawl_id))}


@router.get("/crawls/{crawl_id}/pages", responses=error_responses(404))
def list_crawled_pages(crawl_id: CrawlId, library: ReadLibrary, after: After = -1, limit: Limit = 50) -> CrawlPages:
    """List the pages of a crawl in the order of discovery, with their Markdown."""
    found = crawls.list_pages(library, crawl_id, after=after, limit=limit)
    following = found[-1].position if len(found) == limit else None
    return {"pages": [to_json(crawl_shapes.CrawlPage, page) for page in found], "next": following}


@router.get("/crawls/{crawl_id}/errors", responses=error_responses(404))
def list_crawl_errors(crawl_id: CrawlId, library: ReadLibrary, after: After = -1, limit: Limit = 50) -> CrawlErrors:
    """List the addresses that gave no page, with the reason of each."""
    found = crawls.list_problems(library, crawl_id, after=after, limit=limit)
    following = found[-1].position if len(found) == limit else None
    return {"errors": [to_json(crawl_shapes.CrawlProblem, page) for page in found], "next": following}


@router.post("/crawls/{crawl_id}/cancel", responses=error_responses(404))
def cancel_crawl(crawl_id: CrawlId, library: WriteLibrary) -> OneCrawl:
    """End a running crawl; its pages stay."""
    return {"crawl": to_json(crawl_shapes.Crawl, crawls.cancel_crawl(library, crawl_id))}


@router.post("/crawls/{crawl_id}/resume", status_code=202, responses=error_responses(404, 409))
def resume_crawl(crawl_id: CrawlId, body: Limits, library: WriteLibrary) -> OneCrawl:
    """Go on with a crawl that was cancelled or reached a limit."""
    return {"crawl": to_json(crawl_shapes.Crawl, crawls.resume_crawl(library, crawl_id, **body.given()))}


@router.delete("/crawls/{crawl_id}", status_code=204, responses=error_responses(404))
def remove_crawl(crawl_id: CrawlId, library: WriteLibrary) -> Response:
    """Delete a crawl with its pages; pages that were saved into the library stay."""
    crawls.remove_crawl(library, crawl_id)
    return Response(status_code=204)


@router.get(
    "/crawls/{crawl_id}/events",
    response_class=EventSourceResponse,
    responses={
        200: {
            "content": {"text/event-stream": {}},
            "description": "Events `progress` while the crawl runs, then one `done`. The data of each is JSON: `crawl`.",
        },
        **error_responses(404),
    },
)
async def watch_crawl(
    request: Request, crawl_id: CrawlId, library: ReadLibrary, service: CurrentService
) -> EventSourceResponse:
    """Stream the progress of a crawl; ends when it is done or cancelled, and after 10 minutes.

    A user has at most 8 streams open. Open one again with `Last-Event-ID` to get what has changed since.
    """
    crawl = await to_thread(library.crawls.get, crawl_id)
    return service.streams.respond(request, library.user_id, _watch(crawl, library))


async def _watch(crawl: CrawlValue, library: Store) -> AsyncIterator[Event]:
    last: CrawlValue | None = None
    while True:
        if crawl != last:
            last = crawl
            name = "progress" if crawl.state == "running" else "done"
            yield name, {"crawl": to_json(crawl_shapes.Crawl, crawl)}
        if crawl.state != "running":
            return
        await asyncio.sleep(POLL_SECONDS)
        crawl = await to_thread(library.crawls.get, crawl.id)


@router.post("/map", responses=error_responses(*FETCH_STATUSES))
async def list_addresses(body: MapRequest, caller: ReadCaller, service: CurrentService) -> SiteLinks:
    """List the addresses of a site, from its sitemaps and the links of the page; nothing is stored."""
    log_host(body.url)
    options = CrawlOptions((body.url,), include=tuple(body.include), exclude=tuple(body.exclude), sitemap=body.sitemap)
    found = await map_site(options, service.retrieval, limit=body.limit)
    links: list[MapLink] = [{"url": one.url, "via": one.via, "lastmod": one.lastmod} for one in found.entries]
    return {"links": links, "left_out": found.left_out}
