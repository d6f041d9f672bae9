"""Crawls as JSON, and their report as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pagekeep.model import crawl as model
from pagekeep.present.json_shapes import TypedDict, shape_of

REASONS: Final = {
    "finished": "every address was visited",
    "no_page": "no address gave a page",
    "pages": "the limit of pages was reached",
    "bytes": "the limit of bytes was reached",
    "minutes": "the time was up",
    "cancelled": "it was cancelled",
}
"""Why a crawl ended."""
COUNT_WORDS: Final = {
    "kept": "Kept",
    "redirect": "Redirects",
    "duplicate": "Same as another page",
    "missing": "Not found",
    "refused": "Access denied",
    "not_a_page": "Not a page",
    "too_large": "Too large",
    "robots": "Forbidden by robots.txt",
    "caught": "Something else instead of the page",
    "read": "robots.txt and sitemaps",
    "off_site": "On other sites",
    "off_path": "Outside the folder",
    "not_included": "Not included by a pattern",
    "excluded": "Excluded by a pattern",
    "file": "Files",
    "nofollow": "Links that ask not to be followed",
    "not_an_address": "Not an address",
    "session_id": "Session IDs removed",
    "sort_order": "Sort orders removed",
}
"""Outcomes and reasons, in words that people know; the others are shown as they are."""


@shape_of(
    model.Crawl,
    pages="kept",
    bytes="size",
    found="admitted",
    visited="settled",
    outcomes=lambda crawl: crawl.counts.get("outcomes", {}),
    left_out=lambda crawl: crawl.counts.get("left_out", {}),
    traps=lambda crawl: crawl.counts.get("traps", {}),
)
class Crawl(TypedDict):
    """A crawl."""

    id: str
    url: str
    state: str
    reason: str | None
    run: int
    pages: int
    bytes: int
    found: int
    visited: int
    created_at: str
    started_at: str
    finished_at: str | None
    options: dict[str, Any]
    outcomes: dict[str, int]
    left_out: dict[str, int]
    traps: dict[str, int]


@shape_of(model.CrawledPage, page="content")
class CrawlPage(TypedDict):
    """A page of a crawl."""

    position: int
    url: str
    requested: str
    depth: int
    via: str
    status: int
    fetched_at: str | None
    lastmod: str | None
    page: dict[str, Any]


@shape_of(model.CrawledPage, url="requested", reason=lambda page: page.facts.get("reason"))
class CrawlProblem(TypedDict):
    """An address of a crawl that gave no page."""

    position: int
    url: str
    outcome: str
    status: int
    reason: str | None


def report_lines(crawl: model.Crawl, size: str) -> Iterator[str]:
    """Yield the report of a crawl, in a few lines."""
    state = crawl.state.capitalize() + (f": {REASONS.get(crawl.reason, crawl.reason)}" if crawl.reason else "")
    yield f"{state}. {crawl.kept:,} pages, {size}, {crawl.settled:,} of {crawl.admitted:,} addresses visited."
    for name, label in (("outcomes", "Addresses"), ("left_out", "Left out"), ("traps", "Traps")):
        counts = crawl.counts.get(name, {})
        if counts:
            listed = ", ".join(f"{number:,} {reason.replace('_', ' ')}" for reason, number in sorted(counts.items()))
            yield f"{label}: {listed}"
