"""Work on URLs as plain strings: make them absolute, and read their host and path.

Hosts here are written as in the page, for comparing them with names and titles. `rules.hosts` normalises them for
matching: international names become ASCII there, which would change the results here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final
from urllib.parse import urljoin, urlsplit

from pagekeep import dom
from pagekeep.text import compile_lazily

_MAX_URL_CHARS: Final = 8_000
"""Longer URLs carry data; common servers refuse them (Apache and nginx at 8 kB)."""
# Browsers drop these characters from inside a URL; urljoin keeps some of them.
_INVISIBLE: Final = compile_lazily(r"[\x00-\x1f\x7f\ud800-\udfff]+")

# Absolute without any parsing: the form of nearly all URLs in clean content.
_PLAIN: Final = re.compile(r"https?://\w[!-Z\\^-~]*\Z", re.ASCII)


def absolute(address: str | None, base: str | None = None) -> str | None:
    """Return the address as an absolute http(s) URL, or `None` when that is not possible."""
    if not address or len(address) > _MAX_URL_CHARS:
        return None
    address = address.strip()
    if not address.isprintable():
        address = _INVISIBLE.sub("", address)
    address = address.replace(" ", "%20")
    if base is None and _PLAIN.match(address):
        return address
    try:
        joined = urljoin(base, address) if base else address
        parts = urlsplit(joined)
    except ValueError:
        return None
    return joined if parts.scheme in ("http", "https") and parts.netloc else None


_RELATIVE: Final = (
    'img[src]:not([src=""]):not([src*=":"]):not([src^="//"]),'
    'a[href]:not([href=""]):not([href*=":"]):not([href^="//"]):not([href^="#"])'
)


def has_relative(content: dom.Element) -> bool:
    """Return whether the content has relative links or images, which need a base URL."""
    return dom.first(content, _RELATIVE) is not None


def host(url: str | None) -> str:
    """Return the host in lower case without port, user or trailing dot; empty when there is none."""
    try:
        name = urlsplit(url or "").hostname
    except ValueError:
        return ""
    return (name or "").rstrip(".")


def domain(url: str | None) -> str:
    """Return the host without a leading `www.` label."""
    return host(url).removeprefix("www.")


def path(url: str | None) -> str:
    """Return the path of the URL; empty when there is none."""
    try:
        return urlsplit(url or "").path
    except ValueError:
        return ""


def base(document: dom.Document, url: str | None) -> str | None:
    """Return the base of the page's relative URLs: its `<base href>`, else its own URL."""
    declared = dom.first(document, "base[href]")
    return (absolute(declared.attr("href"), url) if declared is not None else None) or url


_PLAIN_RELATIVE: Final = compile_lazily(r"[\w-]++(?:[./][\w-]++)*+(?:[?#][\w.=&-]*[\w=-])?\Z", re.ASCII)
"""An address relative to the page's folder that needs no parsing: `next.html`, `img/a.png?w=2`."""

_PLAIN_BASE: Final = re.compile(r"((https?)://[a-z0-9.-]++)((?:/[\w~%-][\w.~%-]*+)*+/?+)(?=[?#]|\Z)", re.ASCII)
"""The beginning of an address of a page that needs no parsing."""

_MAX_PLAIN_CHARS: Final = 2000
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
        folder = (absolute("x", base_url) or "x")[:-1] if origin else ""

    def resolve(address: str | None) -> str | None:
        address = (address or "").strip()
        plain = address.isascii() and address.isprintable() and " " not in address and len(address) < _MAX_PLAIN_CHARS
        if plain and "/." not in address:
            if address.startswith(("https://", "http://")) and "[" not in address and len(address) > 8:
                return address
            if address.startswith("/") and not address.startswith("//") and origin:
                return origin + address
            if address.startswith("//") and scheme and len(address) > 3:
                return f"{scheme}:{address}"
            if folder and _PLAIN_RELATIVE.match(address):
                return folder + address
        return absolute(address, base_url)

    return resolve


def _origin(base_url: str | None) -> tuple[str, str]:
    try:
        parts = urlsplit(base_url or "")
    except ValueError:
        return "", ""
    if parts.scheme not in ("http", "https") or not parts.netloc:
        return "", ""
    return parts.scheme, f"{parts.scheme}://{parts.netloc}"
