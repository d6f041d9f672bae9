"""Where a redirect leads, and what may come along."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pagekeep.errors import InvalidUrl
from pagekeep.fetch.urls import SplitUrl, join

STATUSES: Final = frozenset({301, 302, 303, 307, 308})
PRIVATE: Final = frozenset({"authorization", "cookie", "proxy-authorization"})
"""Headers meant for one origin. They do not follow a redirect to another."""


def target(here: SplitUrl, location: str) -> str:
    """The next address, unchecked: the guard sees every hop."""
    if not location.strip():
        raise InvalidUrl("The page redirects to nowhere.")
    return join(here.url, location)


def headers_for(to: SplitUrl, first: SplitUrl, headers: Mapping[str, str]) -> dict[str, str]:
    """The caller's headers that may be sent to `to`, when they were meant for `first`."""
    if to.origin == first.origin:
        return dict(headers)
    return {name: value for name, value in headers.items() if name not in PRIVATE}
