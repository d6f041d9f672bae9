"""List the addresses of a site, from its sitemaps and the links of one page; nothing is stored."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, replace
from typing import Final

from pagekeep.capture.active_rules import fingerprint
from pagekeep.capture.from_url import Retrieval
from pagekeep.errors import FetchHttpError, PagekeepError
from pagekeep.library.crawl import addresses
from pagekeep.library.crawl import addresses as traps
from pagekeep.library.crawl import sitemaps as robots
from pagekeep.library.crawl.addresses import Counts, CrawlOptions, check_options, make_scope
from pagekeep.library.crawl.visit import Visitor
from pagekeep.model.crawl import FrontierKind, FrontierPage, Visit

MAX_SITEMAPS: Final = 50
"""Sitemaps that are read for one map."""
DEFAULT_LIMIT: Final = 5_000
_MAX_PAUSE: Final = 10.0


@dataclass(frozen=True, slots=True)
class MapEntry:
    """An address of a site."""

    url: str
    via: str
    """`seed`, `link` or `sitemap`."""
    lastmod: str | None = None


@dataclass(frozen=True, slots=True)
class SiteMap:
    """The addresses of a site, and how many were left out by reason."""

    entries: tuple[MapEntry, ...]
    left_out: dict[str, int]


async def map_site(options: CrawlOptions, retrieval: Retrieval, *, limit: int = DEFAULT_LIMIT) -> SiteMap:
    """Return the addresses within the scope of a crawl: links of the first seed, then sitemaps, in their order."""
    return await _Mapping(check_options(options), retrieval, limit).run()


class _Mapping:
    def __init__(self, options: CrawlOptions, retrieval: Retrieval, limit: int) -> None:
        self._options = options
        self._limit = limit
        self._seed = options.seeds[0]
        host = addresses.authority(self._seed)
        settings = retrieval.settings
        self._delay = settings.crawl_delay
        self._visitor = Visitor(
            retrieval=retrieval,
            scope=make_scope(options, frozenset({host})),
            robots={},
            agent=robots.agent_of(settings.user_agent),
            made_by=fingerprint(retrieval.rules),
            render=options.render or settings.render,
        )
        self._found: dict[str, MapEntry] = {}
        self._left_out = Counts()

    async def run(self) -> SiteMap:
        sitemaps = await self._read_robots(self._seed)
        await self._read_seed()
        if self._options.sitemap != "skip":
            await self._read_sitemaps(sitemaps)
        return SiteMap(tuple(self._found.values())[: self._limit], dict(self._left_out))

    async def _read_robots(self, url: str) -> list[str]:
        """Read the robots.txt of the address's host, and return the sitemaps that it names."""
        host = addresses.authority(url)
        origin = f"{url.partition('://')[0]}://{host}"
        visit = await self._visit(f"{origin}/robots.txt", "robots")
        text = json.loads(visit.page).get("robots", "")
        self._delay = max(self._delay, float(visit.facts.get("delay") or 0.0))
        hosts = self._visitor.scope.hosts | {host}
        self._visitor = replace(
            self._visitor,
            scope=make_scope(self._options, hosts),
            robots={**self._visitor.robots, **({host: text} if text else {})},
        )
        return [str(sitemap) for sitemap in visit.facts.get("sitemaps") or [f"{origin}/sitemap.xml"]]

    async def _read_seed(self) -> None:
        """Add the links of the seed, or of the page that it leads to."""
        url = self._seed
        for _ in range(traps.MAX_HOPS):
            visit = await self._visit(url, "page")
            target = visit.facts.get("target")
            if visit.outcome != "redirect" or not target:
                break
            url = str(target)
            if addresses.authority(url) not in self._visitor.scope.hosts:
                await self._read_robots(url)
        if visit.outcome != "kept":
            reason = visit.facts.get("reason") or f"The page cannot be read ({visit.outcome})."
            raise FetchHttpError(f"{url}: {reason}", status=visit.status)
        self._add(url, "seed")
        self._add_links(visit, "link")

    async def _read_sitemaps(self, waiting: list[str]) -> None:
        seen: set[str] = set()
        while waiting and len(seen) < MAX_SITEMAPS and len(self._found) < self._limit:
            try:
                url = addresses.tidy(waiting.pop(0)).url
            except PagekeepError:
                continue
            if url in seen or addresses.authority(url) not in self._visitor.scope.hosts:
                continue
            seen.add(url)
            visit = await self._visit(url, "sitemap")
            waiting += self._add_links(visit, "sitemap")

    def _add(self, url: str, via: str, lastmod: str | None = None) -> None:
        self._found.setdefault(url, MapEntry(url, via, lastmod))

    def _add_links(self, visit: Visit, via: str) -> list[str]:
        """Add the addresses of a page or sitemap; return the sitemaps among them."""
        sitemaps = []
        for reason, number in visit.facts.get("left_out", {}).items():
            self._left_out.add(reason, number)
        for link in json.loads(visit.links):
            url, kind, lastmod = (link, "page", None) if isinstance(link, str) else link
            if kind == "sitemap":
                sitemaps.append(url)
            else:
                self._add(url, via, lastmod)
        return sitemaps

    async def _visit(self, url: str, kind: FrontierKind) -> Visit:
        """Visit an address, with the pause between requests, again while the host is busy."""
        page = FrontierPage(0, url, kind, "seed", 0, None, 0, 0, addresses.authority(url))
        while True:
            visit = await self._visitor.visit(page)
            await asyncio.sleep(self._delay)
            if visit.retry_after is None:
                return visit
            if visit.retry_after > _MAX_PAUSE:
                return replace(visit, retry_after=None, facts={"reason": "The server is busy."})
            await asyncio.sleep(visit.retry_after)
            page = replace(page, attempts=page.attempts + 1)
