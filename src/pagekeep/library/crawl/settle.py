"""Decide what becomes of visited addresses, in the order of discovery: the same on every run and with any workers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, Protocol, cast

from pagekeep.errors import PagekeepError
from pagekeep.library.crawl import addresses
from pagekeep.library.crawl import addresses as traps
from pagekeep.library.crawl.addresses import Counts, CrawlOptions, make_scope, options_from_json
from pagekeep.model.crawl import (
    Crawl,
    CrawlState,
    Decision,
    Found,
    FrontierKind,
    NewAddress,
    Outcome,
    Pace,
    Settlement,
    Visit,
)
from pagekeep.store.storable import url_hash

SAVE_TASK: Final = "crawl"
"""The value of `task` in the options of jobs that save the pages of a crawl."""
SPARE_ADDRESSES: Final = 1_000
"""Addresses that the frontier holds besides twice the pages that are wanted: some of them give no page."""
TRAPS: Final = frozenset(
    "session_id sort_order long_address deep_path repeating_path many_parameters calendar facets endless_chain "
    "redirect_ring redirect_chain same_content".split()
)
"""Reasons that mean a pattern without end; other reasons are choices of the user or the site."""
_MAX_KNOWN: Final = 200_000
"""Hashes of known addresses that a process remembers: most links of a site are on most of its pages."""


class Lookup(Protocol):
    """What can be asked about the frontier."""

    def known(self, hashes: set[str]) -> set[str]: ...
    def kept(self, hashes: set[str]) -> set[str]: ...
    def contents(self, hashes: set[str]) -> set[str]: ...
    def numbers(self, names: set[str]) -> Mapping[str, int]: ...
    def address(self, position: int) -> tuple[str, str, int | None] | None: ...


class CrawlPolicy:
    """The decisions of one crawl's run, for the store."""

    def __init__(self, crawl: Crawl, delay: float) -> None:
        self.stored = crawl.options
        self._delay = delay
        self.options = options_from_json(crawl.options)
        self._known: set[str] = set()

    def hosts(self, crawl: Crawl) -> Mapping[str, float]:
        """Return the least pause of every host: that of the settings, or of its robots.txt if longer."""
        delays = crawl.counts.get("delays", {})
        return {host: max(self._delay, delays.get(host, 0) / 1000) for host in crawl.counts.get("robots", {})}

    def max_position(self, crawl: Crawl) -> int:
        """Return the position from which no address is needed, even if all before it give pages."""
        return crawl.settled + max(0, self.options.pages - crawl.kept)

    def is_late(self, crawl: Crawl, now: str) -> bool:
        """Return whether the time of the crawl is up."""
        spent = datetime.fromisoformat(now) - datetime.fromisoformat(crawl.started_at)
        return spent.total_seconds() > self.options.minutes * 60

    def barrier(self, crawl: Crawl) -> int | None:
        """Return the position of the first robots.txt that is not decided: what comes after it depends on it."""
        waiting = [place for place in crawl.counts.get("robots", {}).values() if place >= crawl.settled]
        return min(waiting, default=None)

    def pace(self, before: Pace, base: float, visit: Visit) -> tuple[Pace, float]:
        """Return the pace of a host after a visit, and the pause before the next one."""
        return pace_after(before, base, visit)

    def decide(self, crawl: Crawl, found: Sequence[Found], lookup: Any, now: str) -> Settlement:
        """Return what follows from the next visited addresses."""
        return _Deciding(self, crawl, cast("Lookup", lookup)).run(found, late=self.is_late(crawl, now))

    def remember(self, hashes: set[str]) -> None:
        """Remember addresses that are in the frontier for certain."""
        if len(self._known) > _MAX_KNOWN:
            self._known.clear()
        self._known |= hashes

    def remembers(self, name: str) -> bool:
        """Return whether an address is known to be in the frontier."""
        return name in self._known


class _Deciding:
    """The decisions of one transaction."""

    def __init__(self, policy: CrawlPolicy, crawl: Crawl, lookup: Lookup) -> None:
        self._policy = policy
        self._options: CrawlOptions = policy.options
        self._crawl = crawl
        self._lookup = lookup
        self._kept, self._size = crawl.kept, crawl.size
        self._outcomes, self._left_out, self._traps, self._robots, self._sitemaps, self._delays = (
            Counts(crawl.counts.get(name, {}))
            for name in ("outcomes", "left_out", "traps", "robots", "sitemaps", "delays")
        )
        self._decisions: list[Decision] = []
        self._admitted: list[NewAddress] = []
        self._new: set[str] = set()
        self._pages: set[str] = set()
        self._contents: set[str] = set()
        self._scope = make_scope(self._options, frozenset(self._robots))

    def run(self, found: Sequence[Found], *, late: bool) -> Settlement:
        """Decide the addresses in order, until a limit is reached."""
        self._look_up(found)
        for one in found:
            if self._limit() is not None:
                break
            self._size += one.size
            for reason, number in one.facts.get("left_out", {}).items():
                self._leave_out(reason, number)
            handle = {"robots": self._read_robots, "sitemap": self._read_sitemap}.get(one.page.kind, self._read_page)
            handle(one)
        state, reason = self._state(late)
        counts = {
            "outcomes": self._outcomes,
            "left_out": self._left_out,
            "traps": self._traps,
            "robots": self._robots,
            "sitemaps": self._sitemaps,
            "delays": self._delays,
        }
        return Settlement(
            tuple(self._decisions),
            tuple(self._admitted),
            self._numbers.changed,
            counts,
            self._kept,
            self._size,
            state,
            reason,
            job=save_job_options(self._crawl) if state == "done" and self._options.save and self._kept else None,
            sink=self._options.webhook,
            events=tuple(self._events(state, reason)) if self._options.webhook else (),
        )

    def _events(self, state: CrawlState, reason: str | None) -> Iterator[Mapping[str, Any]]:
        """Yield what a webhook is sent of these decisions."""
        if self._decisions and not self._crawl.settled:
            yield {"type": "started"}
        yield from ({"type": "page", "position": one.position} for one in self._decisions if one.outcome == "kept")
        if state == "done":
            yield {"type": "failed" if reason == "no_page" else "completed"}

    def _limit(self) -> str | None:
        if self._kept >= self._options.pages:
            return "pages"
        return "bytes" if self._size >= self._options.bytes else None

    def _state(self, late: bool) -> tuple[CrawlState, str | None]:
        limit = self._limit()
        settled = self._crawl.settled + len(self._decisions)
        if settled == self._crawl.admitted + len(self._admitted):
            return "done", "finished" if self._kept else "no_page"
        if limit is not None or late:
            return "done", limit or "minutes"
        return "running", None

    def _look_up(self, found: Sequence[Found]) -> None:
        """Ask the store, once for all, which addresses, pages and contents it knows."""
        self._candidates = {one.page.position: _candidates(one) for one in found}
        urls = {url for listed in self._candidates.values() for url, _, _ in listed}
        urls |= {str(one.facts["target"]) for one in found if one.facts.get("target")}
        self._hashes = {url: url_hash(url) for url in urls}
        unsure = {name for name in self._hashes.values() if not self._policy.remembers(name)}
        known = self._lookup.known(unsure)
        self._policy.remember(known)
        self._known = {name for name in self._hashes.values() if name in known or self._policy.remembers(name)}
        fresh = [url for url, name in self._hashes.items() if name not in self._known]
        self._numbers = traps.Numbers(self._lookup.numbers(traps.all_counter_names(fresh)))
        pages = {_page_hash(one) for one in found if one.outcome in ("kept", "unchanged")}
        self._pages = self._lookup.kept(pages)
        contents = {str(one.facts["content"]) for one in found if one.facts.get("content")}
        self._contents = self._lookup.contents(contents)

    def _settle(self, one: Found, outcome: Outcome, **hashes: str | None) -> None:
        self._decisions.append(Decision(one.page.position, outcome, **hashes))
        if one.page.kind == "page":
            self._outcomes.add(outcome)

    def _leave_out(self, reason: str, number: int = 1) -> None:
        (self._traps if reason in TRAPS else self._left_out).add(reason, number)

    def _read_robots(self, one: Found) -> None:
        self._settle(one, "read")
        delay = float(one.facts.get("delay") or 0.0)
        if delay:
            self._delays[one.page.host] = round(delay * 1000)
        if self._options.sitemap == "skip":
            return
        origin = one.page.url.removesuffix("/robots.txt")
        for url in one.facts.get("sitemaps") or [f"{origin}/sitemap.xml"]:
            try:
                address = addresses.tidy(str(url)).url
            except PagekeepError:
                continue
            if addresses.authority(address) in self._robots:
                self._add(one, address, "sitemap", "robots", depth=0)

    def _read_sitemap(self, one: Found) -> None:
        self._settle(one, "read" if one.outcome in ("read", "unchanged") else cast("Outcome", one.outcome))
        for url, kind, lastmod in self._candidates[one.page.position]:
            self._add(one, url, kind, "sitemap", depth=1, lastmod=lastmod)

    def _read_page(self, one: Found) -> None:
        if one.outcome == "redirect":
            self._redirect(one)
            return
        if one.outcome != "kept":
            self._settle(one, cast("Outcome", one.outcome))
            return
        page_hash, content = _page_hash(one), one.facts.get("content")
        if page_hash in self._pages or content in self._contents:
            if page_hash not in self._pages:
                self._leave_out("same_content")
            self._settle(one, "duplicate")
            return
        self._pages.add(page_hash)
        if content:
            self._contents.add(content)
        self._kept += 1
        self._settle(one, "kept", page_hash=page_hash, content_hash=content)
        if self._options.sitemap == "only":
            return
        if one.page.depth >= self._options.depth:
            self._leave_out("too_deep", len(self._candidates[one.page.position]))
            return
        for url, kind, _ in self._candidates[one.page.position]:
            self._add(one, url, kind, "link", depth=one.page.depth + 1)

    def _redirect(self, one: Found) -> None:
        """Admit where an address leads as another address: each address is requested once, and in scope only."""
        self._settle(one, "redirect")
        target = one.facts.get("target")
        if not target:
            return
        if one.page.hops + 1 > traps.MAX_HOPS:
            self._leave_out("redirect_chain")
        elif self._is_ring(one, self._hash(target)):
            self._leave_out("redirect_ring")
        else:
            self._add_host(one, target)
            self._add(one, target, "page", "redirect", depth=one.page.depth, hops=one.page.hops + 1)

    def _is_ring(self, one: Found, target: str) -> bool:
        """Return whether an address redirects to one that led to it."""
        if target == url_hash(one.page.url):
            return True
        parent, via = one.page.parent, one.page.via
        for _ in range(one.page.hops):
            above = self._lookup.address(parent) if via == "redirect" and parent is not None else None
            if above is None:
                return False
            if above[0] == target:
                return True
            _, via, parent = above
        return False

    def _add_host(self, one: Found, url: str) -> None:
        """Admit the robots.txt of a seed's host with or without `www.`, before the first page there."""
        host = addresses.authority(url)
        if host in self._robots or not self._scope.is_sister_of_seed(url):
            return
        robots = f"{url.partition('://')[0]}://{host}/robots.txt"
        self._robots[host] = self._crawl.admitted + len(self._admitted)
        self._append(NewAddress(robots, url_hash(robots), host, "robots", "redirect", 0, one.page.position))

    def _add(
        self,
        one: Found,
        url: str,
        kind: FrontierKind,
        via: str,
        *,
        depth: int,
        hops: int = 0,
        lastmod: str | None = None,
    ) -> None:
        """Admit an address, unless it is known or over a bound."""
        name = self._hash(url)
        if name in self._known or name in self._new or name in self._pages:
            return
        chain = traps.chain_of(url, one.page.url, one.page.chain) if via == "link" else 0
        reason = self._bound(url, kind, chain)
        if reason is not None:
            self._leave_out(reason)
            return
        host = addresses.authority(url)
        self._append(NewAddress(url, name, host, kind, via, depth, one.page.position, hops, chain, lastmod))

    def _append(self, address: NewAddress) -> None:
        self._new.add(address.url_hash)
        self._admitted.append(address)

    def _bound(self, url: str, kind: FrontierKind, chain: int) -> str | None:
        """Return the bound that one more address would break."""
        if self._crawl.admitted + len(self._admitted) >= 2 * self._options.pages + SPARE_ADDRESSES:
            return "limit"
        if kind == "sitemap":
            if self._sitemaps.get("admitted", 0) >= traps.MAX_SITEMAPS:
                return "limit"
            self._sitemaps.add("admitted")
            return None
        if chain > traps.MAX_CHAIN:
            return "endless_chain"
        return traps.count_pattern(url, self._numbers)

    def _hash(self, url: str) -> str:
        if url not in self._hashes:  # a sitemap of robots.txt
            self._hashes[url] = name = url_hash(url)
            self._known |= self._lookup.known({name})
        return self._hashes[url]


def _candidates(one: Found) -> list[tuple[str, FrontierKind, str | None]]:
    """Return the addresses of a page or sitemap, with their kinds and times."""
    return [
        (link, "page", None) if isinstance(link, str) else (str(link[0]), cast("FrontierKind", link[1]), link[2])
        for link in one.links
    ]


def _page_hash(one: Found) -> str:
    return url_hash(str(one.facts.get("page") or one.page.url))


def save_job_options(crawl: Crawl) -> dict[str, Any]:
    """Return the options of the job that saves the pages of a crawl into the library."""
    return {"task": SAVE_TASK, "crawl": crawl.id, "run": crawl.run}


def first_addresses(options: CrawlOptions) -> tuple[tuple[NewAddress, ...], dict[str, dict[str, int]]]:
    """Return the addresses that a run begins with, and its first counts: robots.txt of each host, then the seeds."""
    robots: dict[str, str] = {}
    for seed in options.seeds:
        robots.setdefault(
            addresses.authority(seed), f"{seed.partition('://')[0]}://{addresses.authority(seed)}/robots.txt"
        )
    first = [NewAddress(url, url_hash(url), host, "robots", "seed") for host, url in robots.items()]
    base = NewAddress("", "", "", "page", "seed")
    first += [
        replace(base, url=seed, url_hash=url_hash(seed), host=addresses.authority(seed)) for seed in options.seeds
    ]
    return tuple(first), {"robots": {host: number for number, host in enumerate(robots)}}


FIRST_DELAY: Final = 1.0
"""Seconds between requests after a host was busy for the first time, at least."""
MAX_DELAY: Final = 60.0
GOOD_RESPONSES: Final = 10
"""Responses in a row after which the pause is halved."""
MAX_RESPONSE_PAUSE: Final = 10.0
"""A slow host is left in peace for as long as it took to answer, up to this."""
MIN_BUSY_DELAY: Final = 0.05
"""Seconds to which the pause of a host that was busy shrinks: without one, it would soon be busy again."""


def pace_after(before: Pace, base: float, visit: Visit) -> tuple[Pace, float]:
    """Return the pace of a host after a visit, and the seconds until its next one; `base` is its least pause."""
    if not visit.requested:
        return before, 0.0
    if visit.busy is not None:
        delay = min(MAX_DELAY, max(2 * before.delay, 2 * base, FIRST_DELAY))
        return Pace(delay, 0), max(delay, visit.busy)
    delay, streak = before.delay, before.streak + 1
    if delay > base and streak >= GOOD_RESPONSES:
        delay, streak = max(delay / 2, base, MIN_BUSY_DELAY), 0
    now = max(base, delay)
    return Pace(delay, streak), max(now, min(visit.seconds, MAX_RESPONSE_PAUSE)) if now else 0.0
