"""Absolute addresses: what links, images and embeds are resolved with."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final
from urllib.parse import urlsplit

from pagekeep.extraction.input import urls
from pagekeep.text import compile_lazily

_RELATIVE: Final = compile_lazily(r"[\w-]++(?:[./][\w-]++)*+(?:[?#][\w.=&-]*[\w=-])?\Z", re.ASCII)
"""An address relative to the page's folder that needs no parsing: `next.html`, `img/a.png?w=2`."""

_PLAIN_BASE: Final = re.compile(r"((https?)://[a-z0-9.-]++)((?:/[\w~%-][\w.~%-]*+)*+/?+)(?=[?#]|\Z)", re.ASCII)
"""The beginning of an address of a page that needs no parsing."""

_MAX_CHARS: Final = 2000
"""Longer addresses take the slow way: they are `data:` addresses or broken."""

Resolve = Callable[[str | None], str | None]
"""Turns an address as written into its absolute http(s) form, or `None` if it leads nowhere."""


def make_resolver(base_url: str | None) -> Resolve:
    """Return a function that makes addresses absolute; it handles the common forms without a full URL parse."""
    plain_base = _PLAIN_BASE.match(base_url or "")
    if plain_base:
        scheme, origin = plain_base[2], plain_base[1]
        folder = plain_base[0].rpartition("/")[0] + "/" if plain_base[3] else origin + "/"
    else:
        scheme, origin = _origin(base_url)
        folder = (urls.absolute("x", base_url) or "x")[:-1] if origin else ""

    def resolve(address: str | None) -> str | None:
        address = (address or "").strip()
        plain = address.isascii() and address.isprintable() and " " not in address and len(address) < _MAX_CHARS
        if plain and "/." not in address:
            if address.startswith(("https://", "http://")) and "[" not in address and len(address) > 8:
                return address
            if address.startswith("/") and not address.startswith("//") and origin:
                return origin + address
            if address.startswith("//") and scheme and len(address) > 3:
                return f"{scheme}:{address}"
            if folder and _RELATIVE.match(address):
                return folder + address
        return urls.absolute(address, base_url)

    return resolve


def _origin(base_url: str | None) -> tuple[str, str]:
    try:
        parts = urlsplit(base_url or "")
    except ValueError:
        return "", ""
    if parts.scheme not in ("http", "https") or not parts.netloc:
        return "", ""
    return parts.scheme, f"{parts.scheme}://{parts.netloc}"
