"""Pagekeep keeps any web page as clean Markdown.

>>> import pagekeep
>>> page = pagekeep.extract("<title>Hello</title><p>Hello, world.", "https://example.com/")
>>> page.metadata.title
'Hello'
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pagekeep.errors import (
    Abandoned,
    AccessError,
    BlockedAddress,
    Conflict,
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
    StoreError,
    TooLarge,
    TooManyRequests,
    TooSlow,
    Unexpected,
    UnsupportedContent,
)
from pagekeep.model import Metadata, Options, Page, Quality
from pagekeep.version import __version__

if TYPE_CHECKING:
    from pagekeep.rules import Rulebook

__all__ = [
    "Abandoned",
    "AccessError",
    "BlockedAddress",
    "Conflict",
    "FetchError",
    "FetchHttpError",
    "FetchNetworkError",
    "FetchTimeout",
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
    "StoreError",
    "TooLarge",
    "TooManyRequests",
    "TooSlow",
    "Unexpected",
    "UnsupportedContent",
    "__version__",
    "extract",
]


def extract(
    html: str | bytes, url: str | None = None, *, rules: Rulebook | None = None, options: Options = Options()
) -> Page:
    """Return the page's content as Markdown, clean HTML and text, with its metadata and the quality of the result.

    Pure: the same input gives the same bytes. `url` makes relative links absolute. Raises `TooLarge`,
    `UnsupportedContent` or `ParseError` for input that is not a page; a page without content gives a bookmark, never an
    error. `rules` defaults to the shipped rules; `pagekeep.rules.load` loads others, an empty `Rulebook` means none.
    """
    # Imported at the first call: the parser takes longer to load than everything else together.
    from pagekeep.markdown import write_document
    from pagekeep.pipeline import extract as run

    page = run(html, url, rules=rules, options=options)
    return replace(page, document=write_document(page, saved_at=options.saved_at))
