"""Values of crawls: a crawl, the addresses of its frontier, what was found there, and what was decided. All frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal

from pagekeep.values import dataclass

CrawlState = Literal["running", "done", "cancelled"]
FrontierKind = Literal["page", "robots", "sitemap"]
Outcome = Literal[
    "kept",
    "redirect",
    "duplicate",
    "missing",
    "refused",
    "failed",
    "not_a_page",
    "too_large",
    "robots",
    "caught",
    "read",
]
"""What became of an address: kept as a page; leads elsewhere; the same page as another; 404 or 410; 401, 403 or 451; failed
after all attempts; another type of file; too large; forbidden by robots.txt; something else instead of the page, such as a bot
wall; `read` is a robots.txt or sitemap."""
PROBLEMS: tuple[Outcome, ...] = ("missing", "refused", "failed", "not_a_page", "too_large", "robots", "caught")
"""Outcomes of addresses that gave no page."""


@dataclass(frozen=True, slots=True)
class Crawl:
    """A crawl, and how far its current run is."""

    user_id: str
    id: str
    url: str
    """Its first seed."""
    state: CrawlState
    reason: str | None
    """Why it ended: `finished`, `pages`, `bytes`, `minutes`, `cancelled`, or `no_seed` when no seed gave a page."""
    run: int
    """Counts from 1; a crawl that is run again updates its pages."""
    admitted: int
    """Addresses in the frontier."""
    settled: int
    """Addresses that are decided: all before this position."""
    kept: int
    """Pages."""
    size: int
    """Bytes of the settled responses."""
    created_at: str
    started_at: str
    finished_at: str | None
    options: Mapping[str, Any]
    counts: Mapping[str, Mapping[str, int]]
    """Numbers by name: `outcomes`, `left_out` (addresses by reason), `traps`, `sitemaps`; `robots` has the position of the
    robots.txt of every host, `delays` the milliseconds that it asks for."""


@dataclass(frozen=True, slots=True)
class Validators:
    """What is known about a page from the run before."""

    position: int
    etag: str | None
    last_modified: str | None
    made_by: str
    fetched_at: str = ""
    """When the server was last asked for it."""


@dataclass(frozen=True, slots=True)
class FrontierPage:
    """An address of the frontier."""

    position: int
    """Order of discovery, from 0; everything that depends on an order depends on this one."""
    url: str
    kind: FrontierKind
    via: str
    """How it was found: `seed`, `sitemap`, `link` or `redirect`."""
    depth: int
    parent: int | None
    """Position of the page that it was found on."""
    hops: int
    """Redirects that led to it."""
    chain: int
    """How many pages in a row, this one last, have addresses that differ in numbers only."""
    host: str
    attempts: int = 0
    lastmod: str | None = None
    """As its sitemap has it."""
    before: Validators | None = None


@dataclass(frozen=True, slots=True)
class Body:
    """The body of a response, as it is stored."""

    hash: str
    size: int
    packed: bytes


@dataclass(frozen=True, slots=True)
class Visit:
    """The result of a visit to an address."""

    position: int
    host: str
    outcome: str
    """As an `Outcome`, before it is decided; `unchanged` when the page of the run before is current."""
    retry_after: float | None = None
    """Seconds after which it is tried again; then nothing else counts."""
    busy: float | None = None
    """Seconds for which the host wants no requests."""
    status: int = 0
    seconds: float = 0.0
    """From the request to the end of the response."""
    size: int = 0
    rendered: bool = False
    encoding: str | None = None
    content_type: str = ""
    etag: str | None = None
    last_modified: str | None = None
    headers: Mapping[str, str] | None = None
    made_by: str = ""
    body: Body | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What the decision needs: `page`, `content`, `target`, `left_out`, `reason`."""
    links: str = "[]"
    """JSON: addresses within the scope, in document order."""
    page: str = "{}"
    """JSON: the page itself."""
    same_as: int | None = None
    """Position in the run before, for `unchanged`."""
    requested: bool = True
    """Whether the server was asked; not if its sitemap says that the page has not changed."""


@dataclass(frozen=True, slots=True)
class Found:
    """A visited address that is to be decided."""

    page: FrontierPage
    outcome: str
    size: int
    facts: Mapping[str, Any]
    links: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class NewAddress:
    """An address that is added to the frontier."""

    url: str
    url_hash: str
    host: str
    kind: FrontierKind = "page"
    via: str = "link"
    depth: int = 0
    parent: int | None = None
    hops: int = 0
    chain: int = 0
    lastmod: str | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """What became of an address."""

    position: int
    outcome: Outcome
    page_hash: str | None = None
    """Hash of the address of the page, if kept."""
    content_hash: str | None = None


@dataclass(frozen=True, slots=True)
class Settlement:
    """What follows from the next visited addresses."""

    decisions: tuple[Decision, ...]
    admitted: tuple[NewAddress, ...]
    numbers: Mapping[str, int]
    """Counters of address patterns that changed."""
    counts: Mapping[str, Mapping[str, int]]
    kept: int
    size: int
    state: CrawlState = "running"
    reason: str | None = None
    job: Mapping[str, Any] | None = None
    """Options of a job that follows the crawl."""
    sink: str | None = None
    """The id of the sink that gets the events."""
    events: tuple[Mapping[str, Any], ...] = ()
    """What to report: `type`, and `position` of a page."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How often a host may be asked."""

    delay: float
    """Seconds between a response and the next request; 0 sets no limit."""
    streak: int
    """Good responses since the pause was last changed."""


@dataclass(frozen=True, slots=True)
class Progress:
    """What a worker gets from the store: the crawl, addresses to visit, and when there may be more."""

    crawl: Crawl
    leased: tuple[FrontierPage, ...]
    next_at: str | None
    """When a host may be asked again, or an address tried again, if that is known."""


@dataclass(frozen=True, slots=True)
class CrawledPage:
    """A page or another address of a crawl, as it is read."""

    position: int
    url: str
    """The address of the page: its canonical one, if that can be trusted."""
    requested: str
    """The address that was visited."""
    via: str
    depth: int
    parent: int | None
    outcome: Outcome
    status: int
    fetched_at: str | None
    lastmod: str | None
    facts: Mapping[str, Any]
    content: Mapping[str, Any]
    """The page: `title`, `markdown`, `metadata`, `breadcrumbs`, `links` and more; empty for other outcomes."""
