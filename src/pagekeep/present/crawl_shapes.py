"""Crawls as JSON, and their report as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from pagekeep.model.crawl import Crawl as CrawlValue
from pagekeep.model.crawl import CrawledPage

if TYPE_CHECKING:
    from typing import TypedDict
else:
    try:  # pydantic, which describes the server's answers, cannot use Python's own before 3.12
        from typing_extensions import TypedDict
    except ImportError:
        from typing import TypedDict

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


class CrawlProblem(TypedDict):
    """An address of a crawl that gave no page."""

    position: int
    url: str
    outcome: str
    status: int
    reason: str | None


def crawl_shape(crawl: CrawlValue) -> Crawl:
    """Return a crawl as JSON."""
    return {
        "id": crawl.id,
        "url": crawl.url,
        "state": crawl.state,
        "reason": crawl.reason,
        "run": crawl.run,
        "pages": crawl.kept,
        "bytes": crawl.size,
        "found": crawl.admitted,
        "visited": crawl.settled,
        "created_at": crawl.created_at,
        "started_at": crawl.started_at,
        "finished_at": crawl.finished_at,
        "options": dict(crawl.options),
        "outcomes": dict(crawl.counts.get("outcomes", {})),
        "left_out": dict(crawl.counts.get("left_out", {})),
        "traps": dict(crawl.counts.get("traps", {})),
    }


def crawled_shape(page: CrawledPage) -> CrawlPage:
    """Return a page of a crawl as JSON."""
    return {
        "position": page.position,
        "url": page.url,
        "requested": page.requested,
        "depth": page.depth,
        "via": page.via,
        "status": page.status,
        "fetched_at": page.fetched_at,
        "lastmod": page.lastmod,
        "page": dict(page.content),
    }


def problem_shape(page: CrawledPage) -> CrawlProblem:
    """Return an address that gave no page as JSON."""
    return {
        "position": page.position,
        "url": page.requested,
        "outcome": page.outcome,
        "status": page.status,
        "reason": page.facts.get("reason"),
    }


def report_lines(crawl: CrawlValue, size: str) -> Iterator[str]:
    """Yield the report of a crawl, in a few lines."""
    state = crawl.state.capitalize() + (f": {REASONS.get(crawl.reason, crawl.reason)}" if crawl.reason else "")
    yield f"{state}. {crawl.kept:,} pages, {size}, {crawl.settled:,} of {crawl.admitted:,} addresses visited."
    for name, label in (("outcomes", "Addresses"), ("left_out", "Left out"), ("traps", "Traps")):
        counts = crawl.counts.get(name, {})
        if counts:
            listed = ", ".join(f"{number:,} {reason.replace('_', ' ')}" for reason, number in sorted(counts.items()))
            yield f"{label}: {listed}"
