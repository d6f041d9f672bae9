"""Cookies during one fetch, for pages that set a cookie and redirect to themselves. None are stored."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Final

from pagekeep.fetch.urls import SplitUrl

MAX_COOKIES: Final = 64
"""More than any page sets; a hostile server must not fill the memory."""
MAX_COOKIE_CHARS: Final = 4096
"""Of name and value, as in browsers."""
_UNSAFE = re.compile(r"[\x00-\x1f\x7f;]")


@dataclass(frozen=True, slots=True)
class _Cookie:
    value: str
    subdomains: bool
    """Whether subdomains of its host get it too."""
    secure: bool


class CookieJar:
    """The caller's cookies, for the first host only, and those that servers set during the fetch."""

    def __init__(self, first: SplitUrl, cookies: Mapping[str, str] | None) -> None:
        self._jar: dict[tuple[str, str], _Cookie] = {}
        for name, value in (cookies or {}).items():
            # Not sent over http when an https page redirects there.
            self._jar[first.host.name, name] = _Cookie(value, subdomains=False, secure=first.scheme == "https")

    def header(self, to: SplitUrl) -> str | None:
        """Return the `Cookie` header of a request, or `None`."""
        pairs = [
            f"{name}={cookie.value}"
            for (host, name), cookie in self._jar.items()
            if (
                host == to.host.name or (cookie.subdomains and to.host.ip is None and to.host.name.endswith("." + host))
            )
            and (to.scheme == "https" or not cookie.secure)
        ]
        return "; ".join(pairs) or None

    def keep(self, lines: Iterable[str], sender: SplitUrl) -> None:
        """Store the cookies that a server set. Faulty, oversized and foreign ones are ignored, as browsers do."""
        for line in lines:
            self._keep(line, sender)

    def _keep(self, line: str, sender: SplitUrl) -> None:
        pair, *rest = line.split(";")
        name, equals, value = (part.strip() for part in pair.partition("="))
        if not equals or not name or len(pair) > MAX_COOKIE_CHARS or _UNSAFE.search(pair):
            return
        attributes = {key.strip().lower(): text.strip() for key, _, text in (part.partition("=") for part in rest)}
        owner = _owner(attributes.get("domain", ""), sender)
        if owner is None:
            return
        if _expired(attributes):
            self._jar.pop((owner, name), None)
        elif len(self._jar) < MAX_COOKIES or (owner, name) in self._jar:
            self._jar[owner, name] = _Cookie(value, subdomains="domain" in attributes, secure="secure" in attributes)


def _owner(domain: str, sender: SplitUrl) -> str | None:
    """Return the host that the cookie is for, or `None` when the sender may not set it."""
    domain = domain.lower().removeprefix(".")
    if not domain or domain == sender.host.name:
        return sender.host.name
    is_parent = sender.host.ip is None and "." in domain and sender.host.name.endswith("." + domain)
    return domain if is_parent else None


def _expired(attributes: Mapping[str, str]) -> bool:
    if "max-age" in attributes:
        age = attributes["max-age"]
        return age.startswith("-") or age == "0"
    try:
        # The jar lives for seconds, so a date matters only if it deletes the cookie, and that is mostly 1970.
        return parsedate_to_datetime(attributes["expires"]).year < 2000
    except (KeyError, ValueError, TypeError, IndexError):
        return False
