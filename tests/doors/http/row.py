"""A row of the table of routes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Route:
    """A request, and the status of its answer for whom."""

    path: str
    anonymous: int
    """No user is signed in, no token is sent."""
    other: int
    """Another user, signed in, with a token, and with their own page."""
    read_only: int
    """Ada's program, whose token may only read."""
    no_csrf: int
    """Ada's browser, at the behest of another page: her cookie, but not her page's token."""
    ada: int = 200
    """Ada herself: a control, without which all others could be refused for a fault of the request."""
    json: Any = None
    form: dict[str, str] = field(default_factory=dict)


def looks(path: str, *, other: int = 200, **how: Any) -> Route:
    """A route that shows something of the caller's own."""
    return Route(path, 401, other, 200, 200, **how)


def changes(path: str, *, other: int = 200, **how: Any) -> Route:
    """A route that changes something of the caller's own."""
    return Route(path, 401, other, 403, 403, **how)


def public(path: str, status: int = 200, **how: Any) -> Route:
    """A route with nothing of anybody's."""
    return Route(path, status, status, status, status, status, **how)
