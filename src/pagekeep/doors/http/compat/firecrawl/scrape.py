"""`/v2/scrape`, `/v2/search` and `/v2/team`: a page in several formats, searches, and errors in the shape of Firecrawl."""

from __future__ import annotations

from asyncio import to_thread
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from pydantic.alias_generators import to_camel

from pagekeep.capture.extract import ViewOptions
from pagekeep.capture.from_url import Request as CaptureRequest
from pagekeep.capture.source import decode_source
from pagekeep.doors.http.caller import ReadCaller, ReadLibrary
from pagekeep.doors.http.compat.screenshots import store_screenshot
from pagekeep.doors.http.errors import error_responses
from pagekeep.doors.http.observability import log_host
from pagekeep.doors.http.requests import while_connected
from pagekeep.doors.http.responses import Json
from pagekeep.doors.http.service import CurrentService
from pagekeep.errors import InvalidQuery, NotOffered
from pagekeep.library.feeds.inbox import search_items
from pagekeep.library.items.find import look_up_url
from pagekeep.library.open import Store
from pagekeep.library.saving.preview import (
    FRESH_SECONDS,
    PageRequest,
    PageResponse,
    Picture,
    answer_request,
    preview_item,
)
from pagekeep.library.sinks.kinds.firecrawl import RAW
from pagekeep.markdown.frontmatter import split_block
from pagekeep.model import Hit, MadeField, Page
from pagekeep.present.tasks import CompareTask

router = APIRouter(tags=["reader"])
Url = Annotated[str, StringConstraints(min_length=1, max_length=8192)]


Milliseconds = Annotated[int, Field(ge=0, le=180_000)]
Selector = Annotated[str, StringConstraints(min_length=1, max_length=1000)]
_SCREENSHOT: Final = "screenshot"
_FULL_PAGE: Final = "screenshot@fullPage"
ATTRIBUTES: Final = "attributes"
CHANGES: Final = "changeTracking"
FORMATS: Final = ("markdown", "html", RAW, "links", "images", _SCREENSHOT, _FULL_PAGE, ATTRIBUTES, CHANGES)


class ScrapeOptions(BaseModel):
    """How a page is read. Unknown keys are ignored: Firecrawl has many more."""

    model_config = ConfigDict(extra="ignore", alias_generator=to_camel)

    formats: Annotated[list[str | dict[str, Any]], Field(max_length=20)] = Field(
        ["markdown"], description=", ".join(FORMATS), examples=[["markdown", "links"]]
    )
    only_main_content: bool = True
    include_tags: Annotated[list[Selector], Field(max_length=50)] = []
    exclude_tags: Annotated[list[Selector], Field(max_length=50)] = []
    wait_for: Milliseconds = Field(0, description="If above 0, the page is loaded in a browser, if one is available.")
    timeout: Milliseconds | None = None
    parsers: Annotated[list[str | dict[str, Any]], Field(max_length=20)] | None = Field(
        None, description='Without "pdf" in it, a PDF is returned as a file in Base64 instead of Markdown.'
    )
    parse_pdf: bool = Field(True, alias="parsePDF", description="The same in version 1 of Firecrawl's API.")
    max_age: Annotated[int, Field(ge=0)] | None = Field(
        None, description="Milliseconds; 0 always fetches the page again."
    )


class ScrapeRequest(ScrapeOptions):
    """The request body."""

    url: Url = Field(examples=["https://example.com/post"])


class Scraped(BaseModel):
    success: Literal[True]
    data: dict[str, Any]


class Failure(BaseModel):
    success: Literal[False]
    error: str
    code: str = ""
    suggestions: list[str] = []


def failure_responses() -> dict[int | str, dict[str, Any]]:
    """Return the errors of a route for the OpenAPI document."""
    return {status: {"model": Failure} for status in error_responses(404, 408, 409, 429, 500) if status != 422}


@router.post("/v2/scrape", response_model=Scraped, responses=failure_responses())
async def scrape(
    body: ScrapeRequest, request: Request, library: ReadLibrary, service: CurrentService
) -> dict[str, Any]:
    """Return a page as Markdown, clean HTML, raw HTML, links, images, attributes, changes and a screenshot."""
    log_host(body.url)
    wanted = Wanted(body)
    result = await while_connected(
        request, answer_request(make_call(body.url, body, wanted), library, service.retrieval)
    )
    source = await decode_source(result.fetched, service.retrieval) if RAW in wanted.names else ""
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


search_router = APIRouter(tags=["search"])
_MAX_LIMIT: Final = 100


class SearchRequest(BaseModel):
    """The request body. Sources, categories and places are ignored: there is one library."""

    model_config = ConfigDict(extra="ignore", alias_generator=to_camel)

    query: Annotated[str, Field(min_length=1, max_length=1000, examples=["lighthouse -storm"])]
    limit: Annotated[int, Field(ge=1, le=_MAX_LIMIT)] = 10
    scrape_options: ScrapeOptions | None = None


class Found(BaseModel):
    success: Literal[True]
    data: dict[str, list[dict[str, Any]]]


@search_router.post("/v2/search", name="search_v2", response_model=Found, responses=failure_responses())
def search(body: SearchRequest, library: ReadLibrary) -> dict[str, Any]:
    """Return items of the library that match; with the format `markdown`, each with its stored text."""
    with_text = body.scrape_options is not None and "markdown" in Wanted(body.scrape_options).names
    page = search_items(library, body.query, limit=body.limit)
    return {"success": True, "data": {"web": [_result(hit, with_text=with_text) for hit in page.hits]}}


def _result(hit: Hit, *, with_text: bool) -> dict[str, Any]:
    item = hit.item
    snippet = (hit.snippet or "").replace("[[", "").replace("]]", "")
    result: dict[str, Any] = {"url": item.url_full or item.url, "title": item.title or item.url, "description": snippet}
    if with_text:
        result["markdown"] = split_block(item.content)[1].lstrip("\n")
        result["metadata"] = {"title": item.title, "sourceURL": item.url, "url": item.url, "statusCode": 200}
    return result


team_router = APIRouter(prefix="/v2", tags=["reader"])
_CREDITS: Final = 1_000_000_000
"""A number instead of "unlimited", which the SDKs do not know."""
_CONCURRENCY: Final = 2
"""Pages of one client that are read at the same time, on a server with two cores."""


@team_router.get("/team/credit-usage", responses=failure_responses())
def get_credit_usage(_caller: ReadCaller) -> dict[str, Any]:
    """Return that nothing is used up."""
    period = {"billingPeriodStart": None, "billingPeriodEnd": None}
    return {"success": True, "data": {"remainingCredits": _CREDITS, "planCredits": _CREDITS, **period}}


@team_router.get("/concurrency-check", responses=failure_responses())
def check_concurrency(_caller: ReadCaller) -> dict[str, Any]:
    """Return how many pages can be read at the same time."""
    return {"success": True, "concurrency": 0, "maxConcurrency": _CONCURRENCY}


_NEEDS: Final[dict[str, MadeField]] = {"html": "html", "links": "links", "images": "media"}
"""The field of the page that a format is made of."""
_RESPELLED: Final = {"change_tracking": CHANGES, "raw_html": RAW}
"""Names that some versions of the SDK send."""


class WantedAttribute(BaseModel):
    """A selector and the attribute to read of the elements that match."""

    selector: Selector
    attribute: Annotated[str, StringConstraints(min_length=1, max_length=100)]


class _AttributesFormat(BaseModel):
    selectors: Annotated[list[WantedAttribute], Field(min_length=1, max_length=20)]


class _ChangesFormat(BaseModel):
    modes: Annotated[list[str], Field(max_length=10)] = []


class Wanted:
    """The formats that a request asks for; raises `NotOffered` for one that we do not have."""

    def __init__(self, options: ScrapeOptions) -> None:
        asked = [_read_format(one) for one in options.formats]
        self.names = list(dict.fromkeys(name for name, _ in asked))
        unknown = [name for name in self.names if name not in FORMATS]
        if unknown:
            raise NotOffered(
                f"The format `{unknown[0]:.40}` is not offered.", suggestions=(f"Use one of {', '.join(FORMATS)}.",)
            )
        try:
            self.attributes = [
                pair for name, how in asked if name == ATTRIBUTES for pair in _AttributesFormat(**how).selectors
            ]
            self.modes = [mode for name, how in asked if name == CHANGES for mode in _ChangesFormat(**how).modes]
        except (ValidationError, TypeError):
            raise InvalidQuery(
                "A format has invalid options.",
                suggestions=('Send {"type": "attributes", "selectors": [{"selector": "a", "attribute": "href"}]}.',),
            ) from None

    @property
    def picture(self) -> Picture | None:
        """Which screenshot is wanted."""
        return "whole" if _FULL_PAGE in self.names else "window" if _SCREENSHOT in self.names else None


def _read_format(one: str | dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the name of a format and its options: `{"type": "screenshot", "fullPage": true}`."""
    options = one if isinstance(one, dict) else {"type": one}
    name = str(options.get("type"))
    name = _FULL_PAGE if name == _SCREENSHOT and options.get("fullPage") is True else _RESPELLED.get(name, name)
    return name, options


def make_call(url: str, options: ScrapeOptions, wanted: Wanted) -> PageRequest:
    """Return the request for a page."""
    seconds = options.timeout / 1000 if options.timeout else None
    return PageRequest(
        request=CaptureRequest(url, render_timeout=seconds, timeout=seconds),
        form="content" if options.only_main_content and not options.include_tags else "markdown",
        view=ViewOptions(only=tuple(options.include_tags), without=tuple(options.exclude_tags)),
        picture=wanted.picture,
        waits=options.wait_for > 0,
        needs=tuple(field for name, field in _NEEDS.items() if name in wanted.names),
        tolerance=FRESH_SECONDS if options.max_age is None else options.max_age / 1000,
    )


def make_data(url: str, options: ScrapeOptions, wanted: Wanted, result: PageResponse, source: str) -> dict[str, Any]:
    """Return the page in the formats that need nothing else, with its metadata."""
    page = result.page
    file = b64encode(result.fetched.body).decode() if _wants_file(options, page) else None
    contents: dict[str, Callable[[], Any]] = {
        "markdown": lambda: file or result.body,
        "html": lambda: file or page.html,
        RAW: lambda: source,
        "links": lambda: list(dict.fromkeys(link.url for link in page.links)),
        "images": lambda: list(dict.fromkeys(_images(page))),
    }
    data: dict[str, Any] = {name: contents[name]() for name in wanted.names if name in contents}
    status, content_type = result.fetched.status, result.fetched.content_type if page.file_type else None
    data["metadata"] = make_metadata(page, url, status, content_type)
    return {**data, "warning": result.warning} if result.warning else data


def make_metadata(page: Page, url: str, status: int | None, content_type: str | None = None) -> dict[str, Any]:
    """Return what the page says about itself; what it does not say is left out."""
    about = page.metadata
    metadata = {
        "title": about.title,
        "description": about.description,
        "language": about.language,
        "sourceURL": url,
        "url": page.url,
        "statusCode": status,
        "contentType": content_type,
        "numPages": page.page_count,
    }
    return {name: value for name, value in metadata.items() if value is not None}


def _images(page: Page) -> Iterator[str]:
    if page.metadata.hero_image:
        yield page.metadata.hero_image
    yield from (media.url for media in page.media if media.kind == "image")


def _wants_file(options: ScrapeOptions, page: Page) -> bool:
    """Return whether the page is a PDF that the caller wants as it is."""
    if page.file_type != "PDF":
        return False
    names = ["pdf"] if options.parsers is None else [_read_format(one)[0] for one in options.parsers]
    return not options.parse_pdf or "pdf" not in names


_STATUSES: Final = {415: 400, 422: 400, 501: 400, 502: 500, 504: 408}
"""Statuses that Firecrawl does not use, each with the one that it does; its SDKs repeat a request after 502."""


def write_failure(
    status: int, message: str, code: str, suggestions: Sequence[str], headers: Mapping[str, str]
) -> Response:
    """Return an error."""
    body = {"success": False, "error": message, "code": code, "suggestions": list(suggestions)}
    return Json(body, _STATUSES.get(int(status), int(status)), dict(headers))
