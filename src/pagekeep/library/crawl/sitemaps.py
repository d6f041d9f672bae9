"""What a site says about its addresses: `robots.txt` and sitemaps. Read in workers, within limits."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Final
from xml.parsers import expat

from protego import Protego

from pagekeep.errors import PagekeepError
from pagekeep.extraction.site.navigation import NavigationEntry
from pagekeep.library.crawl import addresses
from pagekeep.library.crawl.addresses import Counts, Scope
from pagekeep.values import dataclass

MAX_ROBOTS_BYTES: Final = 512_000
"""RFC 9309 asks for at least 500 KiB."""
MAX_DELAY: Final = 60.0
"""Seconds; a larger crawl delay is cut to this, as a crawl would never end."""
MAX_SITEMAPS: Final = 50
FORBID_ALL: Final = "User-agent: *\nDisallow: /\n"
"""What counts where robots.txt cannot be reached, as RFC 9309 says."""


@dataclass(frozen=True, slots=True)
class Robots:
    """What a robots.txt says to us."""

    text: str
    delay: float
    sitemaps: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RobotsTask:
    """Read a robots.txt, in a worker."""

    body: bytes
    agent: str

    def run(self) -> Robots:
        """Return what it says."""
        text = self.body[:MAX_ROBOTS_BYTES].decode("utf-8", "replace").replace("\x00", "")
        rules = _parse(text)
        delay = rules.crawl_delay(self.agent) or 0.0
        rate = rules.request_rate(self.agent)
        if rate is not None and rate.requests:
            delay = max(delay, rate.seconds / rate.requests)
        sitemaps = tuple(address for address, _ in zip(rules.sitemaps, range(MAX_SITEMAPS), strict=False))
        return Robots(text, max(0.0, min(float(delay), MAX_DELAY)), sitemaps)


def agent_of(user_agent: str) -> str:
    """Return the name by which robots.txt files address us: the product in the User-Agent header."""
    return user_agent.split("/")[0].split()[0].lower()


def allows(robots: Mapping[str, str], host: str, url: str, agent: str) -> bool:
    """Return whether the robots.txt of a host allows an address; only in a worker."""
    text = robots.get(host)
    return text is None or _parse(text).can_fetch(url, agent)


@lru_cache(maxsize=64)
def _parse(text: str) -> Protego:
    return Protego.parse(text)


MAX_SITEMAP_BYTES: Final = 52_428_800
"""As the protocol sets it, uncompressed."""
MAX_ADDRESSES: Final = 50_000
"""As the protocol sets it."""
MAX_FETCHED_BYTES: Final = 20_000_000
_MAX_TEXT: Final = 4_000
_DATE_CHARS: Final = 10
"""Characters of a day; a time is longer."""
_MAX_OFFSET: Final = timedelta(hours=12)
"""The farthest that local time is behind UTC."""
_FIELDS: Final = frozenset({"loc", "lastmod"})


@dataclass(frozen=True, slots=True)
class SitemapTask:
    """Read a sitemap, in a worker."""

    body: bytes
    scope: Scope
    robots: Mapping[str, str]
    agent: str

    def run(self) -> tuple[str, Mapping[str, int], str | None]:
        """Return the addresses within the scope as JSON, those left out by reason, and what is wrong with the file."""
        counts, found, fault = Counts(), list[list[Any]](), None
        try:
            for kind, url, lastmod in _entries(_unpack(self.body)):
                address = self._check(kind, url, counts)
                if address is not None:
                    found.append([address, kind, lastmod])
        except (expat.ExpatError, zlib.error, ValueError) as error:
            fault = f"The sitemap is damaged: {error}."[:200]
        return json.dumps(found, ensure_ascii=False), counts, fault

    def _check(self, kind: str, url: str, counts: Counts) -> str | None:
        try:
            address = addresses.tidy(url).url
        except PagekeepError:
            counts.add("not_an_address")
            return None
        host = addresses.authority(address)
        if kind == "sitemap":
            return address if host in self.scope.hosts else None
        reason = self.scope.reject(address) or ("file" if addresses.is_file(address) else addresses.find_trap(address))
        if reason is None and not allows(self.robots, host, address, self.agent):
            reason = "robots"
        if reason is not None:
            counts.add(reason)
            return None
        return address


def _unpack(body: bytes) -> bytes:
    if not body.startswith(b"\x1f\x8b"):
        return body[:MAX_SITEMAP_BYTES]
    return zlib.decompressobj(wbits=31).decompress(body, MAX_SITEMAP_BYTES)


def _entries(body: bytes) -> Iterator[tuple[str, str, str | None]]:
    """Yield kind (`page` or `sitemap`), address and time of last change of each entry."""
    if b"<" not in body[:1_000]:
        for line in body.decode("utf-8", "replace").splitlines()[:MAX_ADDRESSES]:
            if line.strip():
                yield "page", line.strip(), None
        return
    reader = _Reader()
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    parser.EntityDeclHandler = reader.refuse
    try:
        parser.Parse(body, True)
    finally:  # what was read before the fault counts
        yield from reader.found


class _Reader:
    """Collects the entries while expat reads; a document type with entities is refused."""

    def __init__(self) -> None:
        self.found: list[tuple[str, str, str | None]] = []
        self._entry: dict[str, str] = {}
        self._field: str | None = None

    def start(self, name: str, _attributes: Mapping[str, str]) -> None:
        local = name.rpartition(" ")[2].lower()
        if local in ("url", "sitemap"):
            self._entry = {}
        self._field = local if local in _FIELDS and local not in self._entry else None

    def text(self, text: str) -> None:
        if self._field is not None:
            self._entry[self._field] = (self._entry.get(self._field, "") + text)[:_MAX_TEXT]

    def end(self, name: str) -> None:
        local = name.rpartition(" ")[2].lower()
        self._field = None
        if local in ("url", "sitemap") and self._entry.get("loc", "").strip() and len(self.found) < MAX_ADDRESSES:
            lastmod = self._entry.get("lastmod", "").strip()[:40] or None
            self.found.append(("page" if local == "url" else local, self._entry["loc"].strip(), lastmod))

    def refuse(self, *_declaration: Any) -> None:
        raise ValueError("it declares entities")


def may_be_newer(lastmod: str, fetched_at: str) -> bool:
    """Return whether a page may have changed after it was fetched; also if the date in the sitemap is not one."""
    try:
        changed, fetched = datetime.fromisoformat(lastmod.strip()), datetime.fromisoformat(fetched_at)
        if changed.tzinfo is None:  # a time of some place on earth, and a day up to its end
            day = timedelta(days=1) if len(lastmod.strip()) <= _DATE_CHARS else timedelta()
            changed = changed.replace(tzinfo=UTC) + day + _MAX_OFFSET
        return changed > fetched
    except (ValueError, OverflowError, TypeError):
        return True


_LINK: Final = re.compile(r"\s*[-*+] \[([^\]\n]{1,500})\]\((https?://[^\s)]{1,2000})\)")
_HEADING: Final = re.compile(r"##+ +(.{1,300})")
_MAX_LLMS_LINES: Final = 20_000


def read_llms(text: str) -> list[NavigationEntry]:
    """Return the pages that a site's own `llms.txt` lists, with its headings."""
    entries: list[NavigationEntry] = []
    for line in text.splitlines()[:_MAX_LLMS_LINES]:
        if link := _LINK.match(line):
            level = 1 if any(entry.url is None for entry in entries) else 0
            entries.append(NavigationEntry(" ".join(link[1].split()), link[2].partition("#")[0], level))
        elif heading := _HEADING.match(line):
            entries.append(NavigationEntry(" ".join(heading[1].split()), None, 0))
    return entries
