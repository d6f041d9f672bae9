"""`POST /v2/scrape`: a page in several forms at once, in the way of scraping services."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

from pagekeep.capture.from_url import Request as Wanted
from pagekeep.capture.view_options import ViewOptions
from pagekeep.doors.http.api.models import FETCHING, Address, Error, failures
from pagekeep.doors.http.api.page_requests import Here, note
from pagekeep.doors.http.caller import Reads
from pagekeep.doors.http.compat.screenshots import address_of
from pagekeep.doors.http.errors import headers_of, status_of
from pagekeep.doors.http.responses import Json
from pagekeep.errors import NotOffered, PagekeepError
from pagekeep.library.page_request import FRESH_SECONDS, PageRequest, PageResponse, Picture, decode_source, respond

router = APIRouter(tags=["reader"])
Milliseconds = Annotated[int, Field(ge=0, le=180_000)]
Selector = Annotated[str, StringConstraints(min_length=1, max_length=1000)]
_WINDOW: Final = "screenshot"
_WHOLE: Final = "screenshot@fullPage"
_OFFERED: Final = ("markdown", "html", "rawHtml", "links", _WINDOW, _WHOLE)


class AskedToScrape(BaseModel):
    """Keys that are not known are passed over: services have many more."""

    model_config = ConfigDict(extra="ignore", alias_generator=to_camel)

    url: Address = Field(examples=["https://example.com/post"])
    formats: Annotated[list[str | dict[str, Any]], Field(max_length=20)] = Field(
        ["markdown"],
        description="markdown, html, rawHtml, links, screenshot, screenshot@fullPage",
        examples=[["markdown", "links"]],
    )
    only_main_content: bool = True
    include_tags: Annotated[list[Selector], Field(max_length=50)] = []
    exclude_tags: Annotated[list[Selector], Field(max_length=50)] = []
    wait_for: Milliseconds = Field(0, description="Above 0 the page is opened in a browser, if there is one.")
    timeout: Milliseconds | None = None
    max_age: Annotated[int, Field(ge=0)] | None = Field(None, description="Milliseconds; 0 fetches the page anew.")


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
    # What stands before every route answers in the shape of the whole server.
    responses={status: {"model": Error | NotScraped} for status in failures(404, 409, 429, 501, *FETCHING)},
)
async def scrape(asked: AskedToScrape, request: Request, library: Reads, service: Here) -> Response:
    """A page as Markdown, clean HTML, raw HTML, links and a picture."""
    note(asked.url)
    try:
        wanted = _formats(asked)
        given = await respond(_call(asked, wanted), library, service.retrieval, service.extractor)
    except PagekeepError as error:
        told = {"success": False, "error": error.message, "code": error.type, "suggestions": list(error.suggestions)}
        return Json(told, status_of(error), headers_of(error))
    data = _data(asked, wanted, given)
    if given.picture is not None:
        data["screenshot"] = await address_of(given.picture, request, service)
    return Json({"success": True, "data": data})


def _formats(asked: AskedToScrape) -> list[str]:
    named = [_named(one) if isinstance(one, dict) else one for one in asked.formats]
    unknown = [name for name in named if name not in _OFFERED]
    if unknown:
        raise NotOffered(f"There is no format `{unknown[0]:.40}`.", suggestions=(f"Take {', '.join(_OFFERED)}.",))
    return named


def _named(wish: dict[str, Any]) -> str:
    """A format with its options: `{"type": "screenshot", "fullPage": true}`."""
    name = str(wish.get("type"))
    return _WHOLE if name == _WINDOW and wish.get("fullPage") is True else name


def _picture(wanted: list[str]) -> Picture | None:
    return "whole" if _WHOLE in wanted else "window" if _WINDOW in wanted else None


def _call(asked: AskedToScrape, wanted: list[str]) -> PageRequest:
    seconds = asked.timeout / 1000 if asked.timeout else None
    return PageRequest(
        request=Wanted(asked.url, render_timeout=seconds, timeout=seconds),
        form="content" if asked.only_main_content and not asked.include_tags else "markdown",
        view=ViewOptions(only=tuple(asked.include_tags), without=tuple(asked.exclude_tags)),
        picture=_picture(wanted),
        waits=asked.wait_for > 0,
        tolerance=FRESH_SECONDS if asked.max_age is None else asked.max_age / 1000,
    )


def _data(asked: AskedToScrape, wanted: list[str], given: PageResponse) -> dict[str, Any]:
    page = given.page
    forms: dict[str, Callable[[], Any]] = {
        "markdown": lambda: given.body,
        "html": lambda: page.html,
        "rawHtml": lambda: decode_source(given.fetched),
        "links": lambda: list(dict.fromkeys(link.url for link in page.links)),
    }
    data: dict[str, Any] = {name: forms[name]() for name in dict.fromkeys(wanted) if name in forms}
    about = page.metadata
    told = {
        "title": about.title,
        "description": about.description,
        "language": about.language,
        "sourceURL": asked.url,
        "url": page.url,
        "statusCode": given.fetched.status,
    }
    data["metadata"] = {name: value for name, value in told.items() if value is not None}
    return {**data, "warning": given.warning} if given.warning else data
