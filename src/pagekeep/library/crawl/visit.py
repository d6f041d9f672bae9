"""Visit one address of a crawl: one request, and what came of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any, Final

from pagekeep.capture.from_url import Retrieval
from pagekeep.errors import BlockedAddress, FetchError, FetchTimeout, PagekeepError, TooLarge, UnsupportedContent
from pagekeep.fetch.headers import keep_headers
from pagekeep.fetch.politeness import SystemClock, retry_after
from pagekeep.fetch.urls import join
from pagekeep.library.crawl import addresses, sitemaps
from pagekeep.library.crawl import sitemaps as robots
from pagekeep.library.crawl.addresses import Scope
from pagekeep.library.crawl.read_page import AllowedTask, CrawlTask, ReadPage
from pagekeep.model import Fetched, Options
from pagekeep.model.crawl import FrontierPage, Validators, Visit
from pagekeep.workers import PAGE, TEXT

MAX_ROBOTS_HOPS: Final = 5
"""Redirects of a robots.txt that are followed, as RFC 9309 asks."""
MAX_ATTEMPTS: Final = 3
"""Visits of an address that fails."""
MAX_BUSY_ATTEMPTS: Final = 10
"""Visits of an address whose host is busy."""
FIRST_PAUSE: Final = 1.0
"""Seconds before the second visit; each later pause is three times as long."""
BUSY_PAUSE: Final = 5.0
"""Seconds that a busy host is left in peace when it does not say how long; doubled each time."""
_BUSY: Final = frozenset({429, 503})
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_REFUSED: Final = frozenset({401, 402, 403, 407, 451})
_MISSING: Final = frozenset({404, 410})
_SERVER_ERROR: Final = 500


@dataclass(frozen=True, slots=True)
class Visitor:
    """What all visits of a crawl share."""

    retrieval: Retrieval
    scope: Scope
    robots: Mapping[str, str]
    """The robots.txt of every host of the crawl."""
    agent: str
    made_by: str
    """What the pages are made by: parser, rules and robots.txt; with others, a page that has not changed is read again."""
    render: str

    async def visit(self, page: FrontierPage) -> Visit:
        """Visit an address. Never raises a `PagekeepError`: what went wrong is the result."""
        started = monotonic()
        try:
            if page.via in ("seed", "redirect") and page.kind == "page" and not await self._is_allowed(page):
                return _visit(page, "robots", facts={"reason": "robots.txt forbids this address."})
            if page.before is not None and self._is_current(page, page.before):
                return _visit(page, "kept", same_as=page.before.position, requested=False)
            fetched = await self._request(page)
            seconds = monotonic() - started
            return replace(await self._read(page, fetched), seconds=seconds, status=fetched.status)
        except PagekeepError as error:
            return _failure(page, error)

    def _is_current(self, page: FrontierPage, before: Validators) -> bool:
        """Return whether the page has not changed since the last request, by the sitemap that lists it."""
        if page.kind != "page" or not page.lastmod or before.made_by != self.made_by:
            return False
        return not sitemaps.may_be_newer(page.lastmod, before.fetched_at)

    async def _is_allowed(self, page: FrontierPage) -> bool:
        return await self.retrieval.run(AllowedTask(page.url, self.robots, self.agent), TEXT)

    async def _request(self, page: FrontierPage) -> Fetched:
        before = page.before if page.before is not None and page.before.made_by == self.made_by else None
        return await self.retrieval.client.visit(
            page.url,
            etag=before.etag if before else None,
            last_modified=before.last_modified if before else None,
            pages_only=page.kind == "page",
            max_bytes={"robots": robots.MAX_ROBOTS_BYTES, "sitemap": sitemaps.MAX_FETCHED_BYTES}.get(page.kind),
        )

    async def _read(self, page: FrontierPage, fetched: Fetched) -> Visit:
        status = fetched.status
        if status in _BUSY:
            return _busy(page, fetched)
        if page.kind == "robots":
            return await self._read_robots(page, fetched)
        if status in _REDIRECTS:
            return self._redirect(page, fetched)
        if fetched.not_modified and page.before is not None:
            outcome = "kept" if page.kind == "page" else "read"
            return _visit(page, outcome, same_as=page.before.position)
        if status >= _SERVER_ERROR:
            return _retry(page, f"The server had a problem (status {status}).")
        if status in _MISSING or not 200 <= status < 300:
            outcome = "missing" if status in _MISSING else "refused" if status in _REFUSED else "failed"
            return _visit(page, outcome, facts={"reason": f"The server answered with status {status}."})
        if page.kind == "sitemap":
            return await self._read_sitemap(page, fetched)
        return await self._read_page(page, fetched)

    async def _read_robots(self, page: FrontierPage, fetched: Fetched) -> Visit:
        """Read a robots.txt: without one all is allowed; one that cannot be reached forbids all."""
        for _ in range(MAX_ROBOTS_HOPS):
            target = self._robots_target(fetched)
            if target is None:
                break
            fetched = await self.retrieval.client.visit(target, pages_only=False, max_bytes=robots.MAX_ROBOTS_BYTES)
        if fetched.status >= _SERVER_ERROR:
            retry = _retry(page, "robots.txt cannot be read, so that nothing may be visited.")
            return retry if retry.retry_after is not None else _robots_visit(page, robots.FORBID_ALL, failed=True)
        if not 200 <= fetched.status < 300:
            return _robots_visit(page, "")
        found = await self.retrieval.run(robots.RobotsTask(fetched.body, self.agent), PAGE)
        return _robots_visit(page, found.text, delay=found.delay, sitemaps=list(found.sitemaps))

    def _robots_target(self, fetched: Fetched) -> str | None:
        """Return where a robots.txt redirects to, on the same site."""
        location = fetched.headers.get("location", "").strip()
        if fetched.status not in _REDIRECTS or not location:
            return None
        target = join(fetched.final_url, location)
        sister = addresses.is_sister(addresses.authority(target), addresses.authority(fetched.final_url))
        return target if sister or addresses.authority(target) in self.scope.hosts else None

    async def _read_sitemap(self, page: FrontierPage, fetched: Fetched) -> Visit:
        task = sitemaps.SitemapTask(fetched.body, self.scope, self.robots, self.agent)
        links, left_out, fault = await self.retrieval.run(task, PAGE)
        facts: dict[str, Any] = {"left_out": dict(left_out)}
        if fault is not None:
            facts["reason"] = fault
        return replace(_from_response(page, "read", fetched, self.made_by), facts=facts, links=links)

    def _redirect(self, page: FrontierPage, fetched: Fetched) -> Visit:
        location = fetched.headers.get("location", "")
        try:
            target = addresses.tidy(join(page.url, location)).url if location.strip() else ""
        except PagekeepError:
            target = ""
        if not target:
            return _visit(
                page, "failed", facts={"reason": "The address redirects to something that is not an address."}
            )
        host = addresses.authority(target)
        reason = (
            self.scope.reject_path(target, host)
            if host in self.scope.hosts or self.scope.is_sister_of_seed(target)
            else "off_site"
        ) or addresses.find_trap(target)
        if page.kind == "sitemap":
            links = json.dumps([[target, "sitemap", None]]) if host in self.scope.hosts else "[]"
            return _visit(page, "read", links=links)
        facts: dict[str, Any] = {"reason": f"It redirects to {target}."}
        facts |= {"left_out": {reason: 1}} if reason else {"target": target}
        return _visit(page, "redirect", facts=facts)

    async def _read_page(self, page: FrontierPage, fetched: Fetched) -> Visit:
        read = await self._extract(fetched)
        if self.render == "force" or (self.render == "auto" and read.need_render is not None):
            fetched, read = await self._render(page, fetched, read)
        return replace(
            _from_response(page, read.outcome, fetched, self.made_by),
            body=read.body,
            facts=read.facts,
            links=read.links,
            page=read.page,
        )

    async def _extract(self, fetched: Fetched) -> ReadPage:
        options = Options(max_bytes=self.retrieval.settings.max_bytes)
        read = await self.retrieval.prepare(fetched, options)
        return await self.retrieval.run(CrawlTask(read, self.scope, self.robots, self.agent), read.limits)

    async def _render(self, page: FrontierPage, fetched: Fetched, static: ReadPage) -> tuple[Fetched, ReadPage]:
        """Return the page as a browser shows it, if that has more text, and is still in the crawl."""
        need = static.need_render
        try:
            browser = await self.retrieval.browser()
            timeout = need.timeout / 1000 if need and need.timeout else None
            shown = await browser.render(page.url, wait_for=need.wait_for if need else None, timeout=timeout)
            if self.scope.reject(addresses.tidy(shown.final_url).url) is not None:
                return fetched, static
            read = await self._extract(shown)
        except PagekeepError:
            return fetched, static
        return (shown, read) if read.words >= static.words else (fetched, static)


def _visit(page: FrontierPage, outcome: str, **values: Any) -> Visit:
    return Visit(page.position, page.host, outcome, **values)


def _from_response(page: FrontierPage, outcome: str, fetched: Fetched, made_by: str) -> Visit:
    return _visit(
        page,
        outcome,
        size=len(fetched.body),
        rendered=fetched.rendered,
        encoding=fetched.encoding,
        content_type=fetched.content_type,
        etag=None if fetched.rendered else fetched.etag,
        last_modified=None if fetched.rendered else fetched.last_modified,
        headers=keep_headers(fetched.headers),
        made_by=made_by,
    )


def _robots_visit(
    page: FrontierPage, text: str, *, delay: float = 0.0, sitemaps: list[str] | None = None, failed: bool = False
) -> Visit:
    facts = {"delay": delay, "sitemaps": [] if failed else sitemaps or [], "failed": failed}
    stored = json.dumps({"robots": text}, ensure_ascii=False)
    return replace(_visit(page, "read", facts=facts, size=len(text)), page=stored)


def _busy(page: FrontierPage, fetched: Fetched) -> Visit:
    """Leave a busy host in peace for as long as it asks."""
    asked = retry_after(fetched.headers, SystemClock())
    pause = asked if asked is not None else min(BUSY_PAUSE * 2**page.attempts, 300.0)
    if page.attempts + 1 >= MAX_BUSY_ATTEMPTS:
        reason = f"The server was busy {MAX_BUSY_ATTEMPTS} times (status {fetched.status})."
        if page.kind == "robots":
            return replace(_robots_visit(page, robots.FORBID_ALL, failed=True), busy=pause)
        return _visit(page, "failed", busy=pause, facts={"reason": reason})
    return _visit(page, "failed", busy=pause, retry_after=pause)


def _retry(page: FrontierPage, reason: str) -> Visit:
    """Try an address again later, or give it up."""
    if page.attempts + 1 < MAX_ATTEMPTS:
        return _visit(page, "failed", retry_after=FIRST_PAUSE * 3**page.attempts)
    return _visit(page, "failed", facts={"reason": reason})


def _failure(page: FrontierPage, error: PagekeepError) -> Visit:
    """Return the result of a visit that failed: what may pass is tried again."""
    facts = {"reason": error.message}
    if page.kind == "robots":
        if isinstance(error, BlockedAddress):  # nothing is requested there; its pages report why
            return _robots_visit(page, "")
        retry = _retry(page, error.message)
        return retry if retry.retry_after is not None else _robots_visit(page, robots.FORBID_ALL, failed=True)
    if isinstance(error, UnsupportedContent):
        return _visit(page, "not_a_page", facts=facts)
    if isinstance(error, TooLarge):
        return _visit(page, "too_large", facts=facts)
    passing = isinstance(error, (FetchError, FetchTimeout)) and not isinstance(error, BlockedAddress)
    return _retry(page, error.message) if passing else _visit(page, "failed", facts=facts)
