"""Normalise host names, and derive the forms that rules match."""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import IPv6Address, ip_address
from typing import Any, Final

from pagekeep.text import compile_lazily
from pagekeep.values import dataclass

MAX_HOST_CHARS: Final = 253
"""The limit of the DNS (RFC 1035)."""
_MAX_QUOTED: Final = 80
"""Characters of a wrong value that a message quotes."""
_CACHED_HOSTS: Final = 1024
"""A crawl returns to the same hosts; parsing one takes longer than looking it up."""

_AUTHORITY: Final = re.compile(r"\s*(?:[A-Za-z][A-Za-z0-9+.-]*:)?[/\\]{2}([^/?#\\]*)")
_NAME: Final = compile_lazily(r"(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_URL_PARTS: Final = compile_lazily(r"[/?#@\\]|:\d")


class HostError(ValueError):
    """The text is not a host name; `suggestion` offers the one it probably means."""

    def __init__(self, message: str, suggestion: str = "") -> None:
        super().__init__(message)
        self.suggestion = suggestion


@dataclass(frozen=True, slots=True)
class Host:
    """A page's host in the forms that rules match."""

    name: str
    """Lower-case ASCII, without port, user, brackets and trailing dot."""
    bare: str
    """`name` without a leading `www.` label."""
    suffixes: tuple[str, ...]
    """The host and its parent domains, by whole labels: `a.b.c`, `b.c`, `c`. An IP address has no parents."""


def of_url(url: str | None) -> Host | None:
    """Return the host of a URL, or `None` when it has none that can be parsed."""
    match = _AUTHORITY.match(url) if url else None
    return _host(match[1]) if match else None


@lru_cache(maxsize=_CACHED_HOSTS)
def _host(authority: str) -> Host | None:
    try:
        name = normalise(_without_port(authority.rpartition("@")[2]))
    except HostError:
        return None
    if _is_ip_address(name):
        return Host(name, name, (name,))
    labels = name.split(".")
    suffixes = tuple(".".join(labels[start:]) for start in range(len(labels)))
    return Host(name, without_www(name), suffixes)


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host[: host.find("]") + 1] or host
    return host.partition(":")[0]


def normalise(host: str) -> str:
    """Return the host in lower-case ASCII (Punycode for international names); raise `HostError` when it is not one."""
    text = host.strip().rstrip(".").lower()
    if len(text) > MAX_HOST_CHARS:
        raise HostError(f"A host has at most {MAX_HOST_CHARS} characters.")
    if text.startswith("[") or text.count(":") > 1:
        return _ipv6(text)
    if not text.isascii():
        text = _ascii(text)
    if len(text) > MAX_HOST_CHARS or not _NAME.fullmatch(text):
        raise HostError(f"`{host[:_MAX_QUOTED]}` is not a host name.", _suggest(host))
    return text


def without_www(host: str) -> str:
    """Return the host without a leading `www.` label; `www.com` itself stays."""
    rest = host.removeprefix("www.")
    return rest if "." in rest else host


def registrable(host: str) -> str | None:
    """Return the registered domain (`bbc.co.uk`) by the public suffix list; `None` for a suffix or an IP address."""
    if _is_ip_address(host):
        return None
    return _suffix_list().privatesuffix(host)  # type: ignore[no-any-return]


def has_known_suffix(host: str) -> bool:
    """Return whether the host is a name below a suffix of the public suffix list."""
    suffix = None if _is_ip_address(host) else _suffix_list().publicsuffix(host, accept_unknown=False)
    return bool(suffix) and suffix != host


@lru_cache(maxsize=1)
def _suffix_list() -> Any:
    """Load the public suffix list on first use: that takes 50 ms."""
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList()


def _ipv6(text: str) -> str:
    try:
        return IPv6Address(text[1:-1] if text[:1] + text[-1:] == "[]" else text).compressed
    except ValueError:
        raise HostError(f"`{text[:_MAX_QUOTED]}` is not a host name.") from None


def _ascii(text: str) -> str:
    import idna  # most hosts are ASCII

    try:
        return idna.encode(text, uts46=True).decode("ascii")
    except (idna.IDNAError, UnicodeError):
        raise HostError(f"`{text[:_MAX_QUOTED]}` is not a host name.") from None


def _is_ip_address(host: str) -> bool:
    if ":" not in host and not host[-1].isdigit():
        return False
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _suggest(text: str) -> str:
    """Suggest the host in a URL, a wildcard or a host with a port."""
    if text.lstrip().startswith(("*.", ".")):
        return f"Did you mean `ends_with: {text.strip().lstrip('*.')[:_MAX_QUOTED]}`?"
    if not _URL_PARTS.search(text):
        return ""
    host = _host((_AUTHORITY.match(text) or _AUTHORITY.match("//" + text.strip()) or [""] * 2)[1])
    return f"Did you mean `{host.name}`?" if host else ""
