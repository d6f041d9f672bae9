"""`POST /v2/scrape`: the Firecrawl-compatible endpoint, a page in several formats."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

from pagekeep.capture.from_url import Request as CaptureRequest
from pagekeep.capture.source import decode_source
from pagekeep.capture.view_options import ViewOptions
from pagekeep.doors.http.caller import ReadLibrary
from pagekeep.doors.http.compat.screenshots import store_screenshot
from pagekeep.doors.http.connected import while_connected
from pagekeep.doors.http.errors import FETCH_STATUSES, Error, error_responses, headers_of, status_of
from pagekeep.doors.http.observability.logs import log_host
from pagekeep.doors.http.responses import Json
from pagekeep.doors.http.service import CurrentService
from pagekeep.errors import NotOffered, PagekeepError
from pagekeep.library.page_request import FRESH_SECONDS, PageRequest, PageResponse, Picture, respond

router = APIRouter(tags=["reader"])
Milliseconds = Annotated[int, Field(ge=0, le=180_000)]
Url = Annotated[str, StringConstraints(min_length=1, max_length=8192)]
Selector = Annotated[str, StringConstraints(min_length=1, max_length=1000)]
_SCREENSHOT: Final = "screenshot"
_FULL_PAGE: Final = "screenshot@fullPage"
_FORMATS: Final = ("markdown", "html", "rawHtml", "links", _SCREENSHOT, _FULL_PAGE)


class ScrapeRequest(BaseModel):
    """The request body. Unknown keys are ignored: Firecrawl has many more."""

    model_config = ConfigDict(extra="ignore", alias_generator=to_camel)

    url: Url = Field(examples=["https://example.com/post"])
    formats: Annotated[list[str | dict[str, Any]], Field(max_length=20)] = Field(
        ["markdown"],
        description="markdown, html, rawHtml, links, screenshot, screenshot@fullPage",
        examples=[["markdown", "links"]],
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


class Scraped(BaseModel):
    success: Literal[True]
    data: dict[str, Any]


class NotScraped(BaseModel):
    success: Literal[False]
    error: str
    code: str
    suggestions: list[str]


@router.post(
    "/v2/scrape",
    response_model=Scraped,
    # Errors of the middleware have the shape of Pagekeep's API.
    responses={
        status: {"model": Error | NotScraped} for status in error_responses(404, 409, 429, 501, *FETCH_STATUSES)
    },
)
async def scrape(
    body: ScrapeRequest, request: Request, library: ReadLibrary, service: CurrentService
) -> dict[str, Any] | Response:
    """Return a page as Markdown, clean HTML, raw HTML, links and a screenshot."""
    log_host(body.url)
    try:
        formats = _parse_formats(body)
        call = _make_call(body, formats)
        result = await while_connected(request, respond(call, library, service.retrieval))
        source = await decode_source(result.page, result.fetched, service.retrieval) if "rawHtml" in formats else ""
    except PagekeepError as error:
        failure = {
            "success": False,
            "error": error.message,
            "code": error.type,
            "suggestions": list(error.suggestions),
        }
        return Json(failure, status_of(error), headers_of(error))
    data = _make_data(body, formats, result, source)
    if result.picture is not None:
        data["screenshot"] = await store_screenshot(result.picture, request, service)
    return {"success": True, "data": data}


def _parse_formats(body: ScrapeRequest) -> list[str]:
    names = [_format_name(one) if isinstance(one, dict) else one for one in body.formats]
    unknown = [name for name in names if name not in _FORMATS]
    if unknown:
        raise NotOffered(f"Unknown format `{unknown[0]:.40}`.", suggestions=(f"Use one of {', '.join(_FORMATS)}.",))
    return names


def _format_name(options: dict[str, Any]) -> str:
    """Return the name of a format given with options: `{"type": "screenshot", "fullPage": true}`."""
    name = str(options.get("type"))
    return _FULL_PAGE if name == _SCREENSHOT and options.get("fullPage") is True else name


def _picture(formats: list[str]) -> Picture | None:
    return "whole" if _FULL_PAGE in formats else "window" if _SCREENSHOT in formats else None


def _make_call(body: ScrapeRequest, formats: list[str]) -> PageRequest:
    seconds = body.timeout / 1000 if body.timeout else None
    return PageRequest(
        request=CaptureRequest(body.url, render_timeout=seconds, timeout=seconds),
        form="content" if body.only_main_content and not body.include_tags else "markdown",
        view=ViewOptions(only=tuple(body.include_tags), without=tuple(body.exclude_tags)),
        picture=_picture(formats),
        waits=body.wait_for > 0,
        tolerance=FRESH_SECONDS if body.max_age is None else body.max_age / 1000,
    )


def _wants_file(body: ScrapeRequest, result: PageResponse) -> bool:
    """Return whether the page is a PDF that the caller wants as it is."""
    if result.page.file_type != "PDF":
        return False
    names = (
        ["pdf"]
        if body.parsers is None
        else [_format_name(one) if isinstance(one, dict) else one for one in body.parsers]
    )
    return not body.parse_pdf or "pdf" not in names


def _make_data(body: ScrapeRequest, formats: list[str], result: PageResponse, source: str) -> dict[str, Any]:
    page = result.page
    file = b64encode(result.fetched.body).decode() if _wants_file(body, result) else None
    contents: dict[str, Callable[[], Any]] = {
        "markdown": lambda: file or result.body,
        "html": lambda: file or page.html,
        "rawHtml": lambda: source,
        "links": lambda: list(dict.fromkeys(link.url for link in page.links)),
    }
    data: dict[str, Any] = {name: contents[name]() for name in dict.fromkeys(formats) if name in contents}
    about = page.metadata
    metadata = {
        "title": about.title,
        "description": about.description,
        "language": about.language,
        "sourceURL": body.url,
        "url": page.url,
        "statusCode": result.fetched.status,
        "contentType": result.fetched.content_type if page.file_type else None,
        "numPages": page.page_count,
    }
    data["metadata"] = {name: value for name, value in metadata.items() if value is not None}
    return {**data, "warning": result.warning} if result.warning else data
