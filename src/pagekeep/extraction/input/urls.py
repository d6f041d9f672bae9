"""Addresses as plain strings: make them absolute, and name their host."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urljoin, urlsplit

from pagekeep import dom

_MAX_LENGTH: Final = 8_000
"""Longer addresses are data in disguise; no server of note accepts them."""
# Browsers drop these from inside an address; urljoin keeps some of them.
_UNSEEN: Final = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]+")

# What needs no parsing to be seen absolute: the one form nearly all addresses of clean content have.
_PLAIN: Final = re.compile(r"https?://\w[!-Z\\^-~]*\Z", re.ASCII)


def absolute(address: str | None, base: str | None = None) -> str | None:
    """The address as an absolute http(s) URL, or `None` when it is none and cannot be made one."""
    if not address or len(address) > _MAX_LENGTH:
        return None
    address = address.strip()
    if not address.isprintable():
        address = _UNSEEN.sub("", address)
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
    """Whether links or pictures lead on from an address that must be known."""
    return dom.first(content, _RELATIVE) is not None


def host(url: str | None) -> str:
    """The host in lower case without port, user or trailing dot; empty when there is none."""
    try:
        name = urlsplit(url or "").hostname
    except ValueError:
        return ""
    return (name or "").rstrip(".")


def domain(url: str | None) -> str:
    """The host without a leading `www.` label."""
    return host(url).removeprefix("www.")


def path(url: str | None) -> str:
    """The path of the address; empty when there is none."""
    try:
        return urlsplit(url or "").path
    except ValueError:
        return ""


def base(document: dom.Document, url: str | None) -> str | None:
    """What the page's relative addresses are relative to: its `<base href>`, else its own address."""
    declared = dom.first(document, "base[href]")
    return (absolute(declared.attr("href"), url) if declared is not None else None) or url
