"""The formats of Firecrawl: which were asked for, and the page in each of them."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from pydantic.alias_generators import to_camel

from pagekeep.capture.from_url import Request as CaptureRequest
from pagekeep.capture.view_options import ViewOptions
from pagekeep.errors import InvalidQuery, NotOffered
from pagekeep.library.crawl.documents import RAW
from pagekeep.library.page_request import FRESH_SECONDS, PageRequest, PageResponse, Picture
from pagekeep.model import MadeField, Page

Milliseconds = Annotated[int, Field(ge=0, le=180_000)]
Selector = Annotated[str, StringConstraints(min_length=1, max_length=1000)]
_SCREENSHOT: Final = "screenshot"
_FULL_PAGE: Final = "screenshot@fullPage"
ATTRIBUTES: Final = "attributes"
CHANGES: Final = "changeTracking"
FORMATS: Final = ("markdown", "html", RAW, "links", "images", _SCREENSHOT, _FULL_PAGE, ATTRIBUTES, CHANGES)
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
