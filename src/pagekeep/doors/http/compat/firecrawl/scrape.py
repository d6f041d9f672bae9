"""`POST /v2/scrape`: a page in several formats."""

from __future__ import annotations

from asyncio import to_thread
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field, StringConstraints

from pagekeep.capture.source import decode_source
from pagekeep.doors.http.caller import ReadLibrary
from pagekeep.doors.http.compat.firecrawl.errors import failure_responses
from pagekeep.doors.http.compat.firecrawl.formats import (
    ATTRIBUTES,
    CHANGES,
    ScrapeOptions,
    Wanted,
    make_call,
    make_data,
)
from pagekeep.doors.http.compat.screenshots import store_screenshot
from pagekeep.doors.http.connected import while_connected
from pagekeep.doors.http.observability.logs import log_host
from pagekeep.doors.http.service import CurrentService
from pagekeep.library.crawl.documents import RAW
from pagekeep.library.items import look_up_url
from pagekeep.library.open import Store
from pagekeep.library.page_request import PageResponse, respond
from pagekeep.library.preview import preview_item
from pagekeep.present.tasks import CompareTask

router = APIRouter(tags=["reader"])
Url = Annotated[str, StringConstraints(min_length=1, max_length=8192)]


class ScrapeRequest(ScrapeOptions):
    """The request body."""

    url: Url = Field(examples=["https://example.com/post"])


class Scraped(BaseModel):
    success: Literal[True]
    data: dict[str, Any]


@router.post("/v2/scrape", response_model=Scraped, responses=failure_responses())
async def scrape(
    body: ScrapeRequest, request: Request, library: ReadLibrary, service: CurrentService
) -> dict[str, Any]:
    """Return a page as Markdown, clean HTML, raw HTML, links, images, attributes, changes and a screenshot."""
    log_host(body.url)
    wanted = Wanted(body)
    result = await while_connected(request, respond(make_call(body.url, body, wanted), library, service.retrieval))
    source = await decode_source(result.page, result.fetched, service.retrieval) if RAW in wanted.names else ""
    data = make_data(body.url, body, wanted, result, source)
    if wanted.attributes:
        data[ATTRIBUTES] = await _read_attributes(wanted, result, service)
    if CHANGES in wanted.names:
        data[CHANGES] = await _track_changes(body.url, wanted, result, library, service)
    if result.picture is not None:
        data["screenshot"] = await store_screenshot(result.picture, request, service)
    return {"success": True, "data": data}


async def _read_attributes(wanted: Wanted, result: PageResponse, service: CurrentService) -> list[dict[str, Any]]:
    from pagekeep.capture.view import AttributesTask  # it loads the pipeline

    pairs = tuple((pair.selector, pair.attribute) for pair in wanted.attributes)
    found = await service.retrieval.run(AttributesTask(result.fetched, pairs))
    return [
        {"selector": selector, "attribute": attribute, "values": list(values)}
        for (selector, attribute), values in zip(pairs, found, strict=True)
    ]


async def _track_changes(
    url: str, wanted: Wanted, result: PageResponse, library: Store, service: CurrentService
) -> dict[str, Any]:
    """Compare the page with the one in the library, both as the parser of today reads them."""
    item = await to_thread(look_up_url, library, url)
    if item is None:
        return {"previousScrapeAt": None, "changeStatus": "new", "visibility": "visible"}
    before = (await preview_item(item.id, library, service.retrieval)).markdown
    after = result.page.markdown
    is_same = before.strip() == after.strip()
    changes: dict[str, Any] = {
        "previousScrapeAt": item.saved_at,
        "changeStatus": "same" if is_same else "changed",
        "visibility": "visible",
    }
    if not is_same and "git-diff" in wanted.modes:
        lines = await service.retrieval.run(CompareTask(before, after))
        changes["diff"] = {"text": "\n".join(lines)}
    return changes
