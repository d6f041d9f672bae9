"""Pagekeep keeps any web page as clean Markdown.

>>> import pagekeep
>>> page = pagekeep.extract("<title>Hello</title><p>Hello, world.", "https://example.com/")
>>> page.metadata.title
'Hello'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pagekeep.errors import (
    Abandoned,
    AccessError,
    BlockedAddress,
    Conflict,
    DatabaseUnreachable,
    FetchError,
    FetchHttpError,
    FetchNetworkError,
    FetchTimeout,
    InvalidProtocol,
    InvalidQuery,
    InvalidUrl,
    NotAllowed,
    NotFound,
    NotOffered,
    NotSignedIn,
    Outdated,
    PagekeepError,
    ParseError,
    RenderError,
    RetryLimit,
    RuleError,
    ServerStopped,
    StoreError,
    TooLarge,
    TooManyRequests,
    TooSlow,
    Unexpected,
    UnsupportedContent,
)
from pagekeep.version import __version__

if TYPE_CHECKING:
    from pagekeep.capture.from_url import RenderMode
    from pagekeep.config import Settings
    from pagekeep.model import Fetched, Metadata, Options, Page, Quality
    from pagekeep.rules import Rulebook
else:

    def __getattr__(name: str) -> object:
        """Import the values of a page when one is first used: `pagekeep --help` starts without them."""
        if name not in {"Fetched", "Metadata", "Options", "Page", "Quality"}:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from pagekeep import model

        return getattr(model, name)


__all__ = [
    "Abandoned",
    "AccessError",
    "BlockedAddress",
    "Conflict",
    "DatabaseUnreachable",
    "FetchError",
    "FetchHttpError",
    "FetchNetworkError",
    "FetchTimeout",
    "Fetched",
    "InvalidProtocol",
    "InvalidQuery",
    "InvalidUrl",
    "Metadata",
    "NotAllowed",
    "NotFound",
    "NotOffered",
    "NotSignedIn",
    "Options",
    "Outdated",
    "Page",
    "PagekeepError",
    "ParseError",
    "Quality",
    "RenderError",
    "RetryLimit",
    "RuleError",
    "ServerStopped",
    "StoreError",
    "TooLarge",
    "TooManyRequests",
    "TooSlow",
    "Unexpected",
    "UnsupportedContent",
    "__version__",
    "extract",
    "fetch_and_extract",
    "fetch_and_extract_async",
    "fetch_html",
    "fetch_html_async",
]


def extract(
    html: str | bytes, url: str | None = None, *, rules: Rulebook | None = None, options: Options | None = None
) -> Page:
    """Return the page's content as Markdown, clean HTML and text, with its metadata and the quality of the result.

    Pure for HTML: the same input gives the same bytes. `url` makes relative links absolute. Raises `TooLarge`,
    `UnsupportedContent` or `ParseError` for input that is not a page; a page without content gives a bookmark, never an
    error. `rules` defaults to the shipped rules; `pagekeep.rules.load` loads others, an empty `Rulebook` means none.
    `options` defaults to `Options()`. Bytes of a PDF are read in a separate process.
    """
    # Imported at the first call: the parser takes longer to load than everything else together.
    from pagekeep.markdown import write_document
    from pagekeep.model import Options
    from pagekeep.pipeline import extract as run

    options = options or Options()
    page = _read_document(html, url, options) if isinstance(html, bytes) else None
    page = page or run(html, url, rules=rules, options=options)
    return page.with_document(write_document(page, saved_at=options.saved_at)) if options.enable_markdown else page


def _read_document(data: bytes, url: str | None, options: Options) -> Page | None:
    """Return the page in a document such as a PDF, read in a worker process; `None` for everything else."""
    from pagekeep.capture.documents.file_types import detect

    file_type = detect(data)
    if file_type is None:
        return None
    from dataclasses import replace

    from pagekeep.capture.extract import ReadTask, as_fetched
    from pagekeep.config import Settings
    from pagekeep.model.page import MADE_FIELDS
    from pagekeep.workers import run_alone

    file_type.require()
    fetched = as_fetched(data, url, options)
    task = ReadTask(fetched, replace(options, saved_at=None, needs=MADE_FIELDS), Settings(), file_type=file_type)
    return run_alone(task, task.limits)


def fetch_html(url: str, *, render: RenderMode | None = None, settings: Settings | None = None) -> Fetched:
    """Return the page at a URL: its bytes and text, final address, status, headers, encoding and timings.

    `render` is `auto` (in a browser when the page needs one), `force` or `never`; by default, the settings decide.
    `settings` are the user's (settings file and `PAGEKEEP_*` variables) unless others are passed. Raises the errors of
    fetching, all of them `PagekeepError`. In a running event loop, use `fetch_html_async`.
    """
    import asyncio

    return asyncio.run(fetch_html_async(url, render=render, settings=settings))


async def fetch_html_async(url: str, *, render: RenderMode | None = None, settings: Settings | None = None) -> Fetched:
    """Return the page at a URL, as `fetch_html` does."""
    from pagekeep.capture.source import fetch_page

    return await fetch_page(url, render=render, settings=settings)


def fetch_and_extract(
    url: str,
    *,
    rules: Rulebook | None = None,
    options: Options | None = None,
    render: RenderMode | None = None,
    settings: Settings | None = None,
) -> Page:
    """Fetch the page at a URL and return its content: `fetch_html` and `extract` in one, and a browser where it needs one.

    `rules` defaults to the shipped rules and the user's own. In a running event loop, use `fetch_and_extract_async`.
    """
    import asyncio

    return asyncio.run(fetch_and_extract_async(url, rules=rules, options=options, render=render, settings=settings))


async def fetch_and_extract_async(
    url: str,
    *,
    rules: Rulebook | None = None,
    options: Options | None = None,
    render: RenderMode | None = None,
    settings: Settings | None = None,
) -> Page:
    """Fetch the page at a URL and return its content, as `fetch_and_extract` does."""
    from pagekeep.capture.source import fetch_and_extract_page
    from pagekeep.model import Options

    options = options or Options()
    return await fetch_and_extract_page(url, render=render, rules=rules, options=options, settings=settings)
