"""Addresses of pictures: find and replace them in Markdown, and write each in one notation."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import quote

_KEPT_CHARS: Final = "%!#$&'()*+,/:;=?@[]~"
_FENCE: Final = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.M)
_PICTURE: Final = re.compile(r"(!\[(?:[^\[\]\\\n]++|\\.)*+\]\()(?:<([^<>\n]*+)>|((?:[^()\s<>]++|\([^()\s]*+\))++))")


def normal_source(url: str) -> str:
    """Return the address of a picture in one notation, whether it comes from a text or from a rendered page."""
    return quote(url.partition("#")[0].encode("utf-8", "replace"), safe=_KEPT_CHARS)


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
