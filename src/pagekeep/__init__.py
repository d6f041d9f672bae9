"""Pagekeep keeps any web page as clean Markdown.

>>> import pagekeep
>>> page = pagekeep.extract("<title>Hello</title><p>Hello, world.", "https://example.com/")
>>> page.metadata.title
'Hello'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pagekeep.errors import (
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
    UnsupportedContent,
)
from pagekeep.model import Metadata, Options, Page, Quality
from pagekeep.version import __version__

if TYPE_CHECKING:
    from pagekeep.rules import Rulebook

__all__ = [
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
    "UnsupportedContent",
    "__version__",
    "extract",
]


def extract(
    html: str | bytes, url: str | None = None, *, rules: Rulebook | None = None, options: Options = Options()
) -> Page:
    """The page's content as Markdown, clean HTML and text, with its metadata and a verdict on the result.

    Pure: the same input gives the same bytes. `url` makes relative links absolute. Raises `TooLarge`,
    `UnsupportedContent` or `ParseError` for what is no page; a page without content gives a bookmark, never an error.
    `rules` are the shipped ones unless others are given (`pagekeep.rules.load`).
    """
    # Imported at the first call: the parser costs more than the rest of the start together.
    from pagekeep.pipeline import extract as run
    from pagekeep.rules import shipped

    return run(html, url, rules=shipped() if rules is None else rules, options=options)
