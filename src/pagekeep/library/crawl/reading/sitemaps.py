"""Sitemaps: lists of a site's addresses, as XML or plain text, often compressed. Read in workers, within limits."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from xml.parsers import expat

from pagekeep.errors import PagekeepError
from pagekeep.library.crawl.counting import Counts
from pagekeep.library.crawl.deciding import addresses
from pagekeep.library.crawl.deciding.scope import Scope
from pagekeep.library.crawl.reading import robots
from pagekeep.values import dataclass

MAX_BYTES: Final = 52_428_800
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
        if reason is None and not robots.allows(self.robots, host, address, self.agent):
            reason = "robots"
        if reason is not None:
            counts.add(reason)
            return None
        return address


def _unpack(body: bytes) -> bytes:
    if not body.startswith(b"\x1f\x8b"):
        return body[:MAX_BYTES]
    return zlib.decompressobj(wbits=31).decompress(body, MAX_BYTES)


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
