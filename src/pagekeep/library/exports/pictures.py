"""Fetch the pictures of pages for an export: each once, named by a hash of its bytes."""

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

PICTURE_FOLDER: Final = "images"
PICTURE_SOURCES: Final = f"{PICTURE_FOLDER}/sources.json"
"""In a folder of Markdown files: the original address of each picture."""
MAX_PICTURE_BYTES: Final = 20_000_000
_PARALLEL_DOWNLOADS: Final = 8
_ACCEPT: Final = "image/avif,image/webp,image/png,image/jpeg,image/gif;q=0.9,*/*;q=0.1"
_PICTURE_TYPES: Final[tuple[tuple[re.Pattern[bytes], str, str], ...]] = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), ".png", "image/png"),
    (re.compile(rb"\xff\xd8\xff"), ".jpg", "image/jpeg"),
    (re.compile(rb"GIF8[79]a"), ".gif", "image/gif"),
    (re.compile(rb"RIFF....WEBP", re.DOTALL), ".webp", "image/webp"),
    (re.compile(rb"....ftypavi[fs]", re.DOTALL), ".avif", "image/avif"),
)
"""First bytes, file ending and media type. The server's own type is ignored. SVG is left out: it can contain scripts."""

_FENCE: Final = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.M)
_PICTURE: Final = re.compile(r"(!\[(?:[^\[\]\\\n]++|\\.)*+\]\()(?:<([^<>\n]*+)>|((?:[^()\s<>]++|\([^()\s]*+\))++))")


@dataclass(frozen=True, slots=True)
class Picture:
    """A fetched picture."""

    name: str
    """A file name, the same for the same bytes."""
    media_type: str
    data: bytes


class PictureFetcher:
    """Fetches pictures and remembers, without their bytes, which were fetched and which failed."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._slots = asyncio.Semaphore(_PARALLEL_DOWNLOADS)
        self.names: dict[str, str] = {}
        """File names of fetched pictures, by address."""
        self.failed: dict[str, str] = {}
        """Reasons of failed ones, by address."""

    async def fetch(self, urls: Iterable[str]) -> dict[str, Picture]:
        """Return the pictures at these addresses, by address, without those that fail."""
        pending = [url for url in dict.fromkeys(urls) if url not in self.failed]
        pictures = await asyncio.gather(*(self._fetch_one(url) for url in pending))
        return {url: picture for url, picture in zip(pending, pictures, strict=True) if picture is not None}

    async def _fetch_one(self, url: str) -> Picture | None:
        try:
            async with self._slots:
                data = (await self._client.download(url, accept=_ACCEPT, max_bytes=MAX_PICTURE_BYTES)).body
        except PagekeepError as error:
            self.failed[url] = error.message
            return None
        picture_type = next(((ending, type_) for begin, ending, type_ in _PICTURE_TYPES if begin.match(data)), None)
        if picture_type is None:
            self.failed[url] = "It is not a PNG, JPEG, GIF, WebP or AVIF picture."
            return None
        ending, media_type = picture_type
        name = hashlib.sha256(data).hexdigest()[:32] + ending
        self.names[url] = name
        return Picture(name, media_type, data)


def find_picture_urls(markdown: str) -> list[str]:
    """Return the web addresses of the pictures in a text, each once."""
    urls: dict[str, None] = {}

    def collect(url: str) -> str:
        urls[url] = None
        return url

    replace_picture_urls(markdown, collect)
    return [url for url in urls if url.startswith(("http://", "https://"))]


def replace_picture_urls(markdown: str, new_urls: Callable[[str], str] | Mapping[str, str]) -> str:
    """Return the text with its pictures at other addresses; fenced code stays as it is."""
    find_new_url = new_urls.get if isinstance(new_urls, Mapping) else new_urls

    def replace_url(match: re.Match[str]) -> str:
        url = match[2] if match[2] is not None else match[3]
        new_url = find_new_url(url)
        return match[0] if new_url is None or new_url == url else f"{match[1]}{new_url}"

    parts = _split_fenced_code(markdown)
    return "".join(part if is_code else _PICTURE.sub(replace_url, part) for part, is_code in parts)


def _split_fenced_code(markdown: str) -> list[tuple[str, bool]]:
    """Return the text as alternating parts of prose and fenced code; `True` for code."""
    parts: list[tuple[str, bool]] = []
    begin, fence = 0, ""
    for match in _FENCE.finditer(markdown):
        if not fence:
            parts.append((markdown[begin : match.start()], False))
            begin, fence = match.start(), match[1]
        elif match[1].startswith(fence):
            end = markdown.find("\n", match.end())
            end = len(markdown) if end < 0 else end
            parts.append((markdown[begin:end], True))
            begin, fence = end, ""
    return [*parts, (markdown[begin:], bool(fence))]
