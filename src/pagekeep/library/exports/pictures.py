"""Pictures of pages, fetched through the guard: each once, named by what is in it."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pagekeep.errors import PagekeepError

if TYPE_CHECKING:
    from pagekeep.fetch.client import Client

LARGEST: Final = 20_000_000
_AT_A_TIME: Final = 8
_ACCEPT: Final = "image/avif,image/webp,image/png,image/jpeg,image/gif;q=0.9,*/*;q=0.1"
_KINDS: Final[tuple[tuple[re.Pattern[bytes], str, str], ...]] = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), ".png", "image/png"),
    (re.compile(rb"\xff\xd8\xff"), ".jpg", "image/jpeg"),
    (re.compile(rb"GIF8[79]a"), ".gif", "image/gif"),
    (re.compile(rb"RIFF....WEBP", re.DOTALL), ".webp", "image/webp"),
    (re.compile(rb"....ftypavi[fs]", re.DOTALL), ".avif", "image/avif"),
)
"""Told by their first bytes; what a server says is not heard. SVG is none of them: it is a page, with scripts."""

_FENCE: Final = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.M)
_PICTURE: Final = re.compile(r"(!\[(?:[^\[\]\\\n]++|\\.)*+\]\()(?:<([^<>\n]*+)>|((?:[^()\s<>]++|\([^()\s]*+\))++))")


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture that came."""

    name: str
    """The same for the same bytes."""
    kind: str
    data: bytes


class Pictures:
    """Fetches pictures and remembers, without their bytes, which came and which did not."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._turns = asyncio.Semaphore(_AT_A_TIME)
        self.names: dict[str, str] = {}
        """Address to name, of those that came."""
        self.failed: dict[str, str] = {}
        """Address to reason."""

    async def fetch(self, urls: Iterable[str]) -> dict[str, Picture]:
        """The pictures at these addresses, without those that cannot be had."""
        wanted = [url for url in dict.fromkeys(urls) if url not in self.failed]
        found = await asyncio.gather(*(self._one(url) for url in wanted))
        return {url: picture for url, picture in zip(wanted, found, strict=True) if picture is not None}

    async def _one(self, url: str) -> Picture | None:
        try:
            async with self._turns:
                data = (await self._client.download(url, accept=_ACCEPT, max_bytes=LARGEST)).body
        except PagekeepError as error:
            self.failed[url] = error.message
            return None
        kind = next(((ending, kind) for begin, ending, kind in _KINDS if begin.match(data)), None)
        if kind is None:
            self.failed[url] = "It is no picture of a kind that can be kept."
            return None
        name = hashlib.sha256(data).hexdigest()[:32] + kind[0]
        self.names[url] = name
        return Picture(name, kind[1], data)


def pictures_in(markdown: str) -> list[str]:
    """Addresses on the web of the pictures that a text shows, each once."""
    found: dict[str, None] = {}

    def look(url: str) -> str:
        found[url] = None
        return url

    moved(markdown, look)
    return [url for url in found if url.startswith(("http://", "https://"))]


def moved(markdown: str, where: Callable[[str], str] | Mapping[str, str]) -> str:
    """The text with its pictures at other addresses; what is code stays as it is."""
    new = where.get if isinstance(where, Mapping) else where

    def change(found: re.Match[str]) -> str:
        url = found[2] if found[2] is not None else found[3]
        at = new(url)
        return found[0] if at is None or at == url else f"{found[1]}{at}"

    return "".join(part if is_code else _PICTURE.sub(change, part) for part, is_code in _parts(markdown))


def _parts(markdown: str) -> list[tuple[str, bool]]:
    """The text in turns of prose and fenced code."""
    parts: list[tuple[str, bool]] = []
    begin, fence = 0, ""
    for found in _FENCE.finditer(markdown):
        if not fence:
            parts.append((markdown[begin : found.start()], False))
            begin, fence = found.start(), found[1]
        elif found[1].startswith(fence):
            end = markdown.find("\n", found.end())
            end = len(markdown) if end < 0 else end
            parts.append((markdown[begin:end], True))
            begin, fence = end, ""
    return [*parts, (markdown[begin:], bool(fence))]
