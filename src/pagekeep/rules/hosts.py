"""Hosts in their one normal form, and the forms by which rules name them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv6Address, ip_address
from typing import Any, Final

MAX_LENGTH: Final = 253

_AUTHORITY: Final = re.compile(r"\s*(?:[A-Za-z][A-Za-z0-9+.-]*:)?[/\\]{2}([^/?#\\]*)")
_NAME: Final = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_URL_PARTS: Final = re.compile(r"[/?#@\\]|:\d")


class HostError(ValueError):
    """The text names no host; `suggestion` asks for the host it probably means."""

    def __init__(self, message: str, suggestion: str = "") -> None:
        super().__init__(message)
        self.suggestion = suggestion


@dataclass(frozen=True, slots=True)
class Host:
    """A page's host in the forms that rules ask for."""

    name: str
    """Lower-case ASCII, without port, user, brackets and trailing dot."""
    bare: str
    """Without the label `www.` at the beginning."""
    suffixes: tuple[str, ...]
    """The host and all it lies in, by whole labels: `a.b.c`, `b.c`, `c`. An IP address lies in nothing."""


def of_url(url: str | None) -> Host | None:
    """The host of a page's address, or `None` when the address names none that can be read."""
    found = _AUTHORITY.match(url) if url else None
    return _host(found[1]) if found else None


@lru_cache(maxsize=1024)
def _host(authority: str) -> Host | None:
    try:
        name = normal(_without_port(authority.rpartition("@")[2]))
    except HostError:
        return None
    if _is_address(name):
        return Host(name, name, (name,))
    labels = name.split(".")
    suffixes = tuple(".".join(labels[start:]) for start in range(len(labels)))
    return Host(name, without_www(name), suffixes)


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host[: host.find("]") + 1] or host
    return host.partition(":")[0]


def normal(host: str) -> str:
    """The host in lower-case ASCII (both forms of an international name are one); `HostError` for what is none."""
    text = host.strip().rstrip(".").lower()
    if len(text) > MAX_LENGTH:
        raise HostError("This is too long for a host.")
    if text.startswith("[") or text.count(":") > 1:
        return _ipv6(text)
    if not text.isascii():
        text = _ascii(text)
    if len(text) > MAX_LENGTH or not _NAME.fullmatch(text):
        raise HostError(f"`{host[:80]}` is no host.", _meant(host))
    return text


def without_www(host: str) -> str:
    """The host without a `www.` label before it; `www.com` is a name of its own."""
    rest = host.removeprefix("www.")
    return rest if "." in rest else host


def registrable(host: str) -> str | None:
    """The domain that someone registered (`bbc.co.uk`), by the public suffix list; `None` for a suffix or an address."""
    if _is_address(host):
        return None
    return _suffix_list().privatesuffix(host)  # type: ignore[no-any-return]


@lru_cache(maxsize=1)
def _suffix_list() -> Any:
    """The list takes 50 ms to read, so it is read when the first rule needs it."""
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList()


def _ipv6(text: str) -> str:
    try:
        return IPv6Address(text[1:-1] if text[:1] + text[-1:] == "[]" else text).compressed
    except ValueError:
        raise HostError(f"`{text[:80]}` is no host.") from None


def _ascii(text: str) -> str:
    import idna  # most hosts are ASCII

    try:
        return idna.encode(text, uts46=True).decode("ascii")
    except (idna.IDNAError, UnicodeError):
        raise HostError(f"`{text[:80]}` is no host.") from None


def _is_address(host: str) -> bool:
    if ":" not in host and not host[-1].isdigit():
        return False
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _meant(text: str) -> str:
    """The host in what is a whole address, a wildcard or a host with a port."""
    if text.lstrip().startswith(("*.", ".")):
        return f"Did you mean `ends_with: {text.strip().lstrip('*.')[:80]}`?"
    if not _URL_PARTS.search(text):
        return ""
    found = _host((_AUTHORITY.match(text) or _AUTHORITY.match("//" + text.strip()) or [""] * 2)[1])
    return f"Did you mean `{found.name}`?" if found else ""
