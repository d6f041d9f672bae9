"""Reject requests sent by other sites' pages, by the headers that browsers add."""

from __future__ import annotations

from typing import Final

from starlette.requests import Request

from pagekeep.errors import NotAllowed

_SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_OWN: Final = frozenset({"same-origin", "none"})


def reject_cross_site(request: Request) -> None:
    """Raise `NotAllowed` for a request from another origin, except for a link that the user followed.

    Programs send neither header; other sites cannot control them.
    """
    site = request.headers.get("sec-fetch-site", "none")
    origin = request.headers.get("origin")
    if (site not in _OWN and not _follows_link(request)) or (origin is not None and not _is_own(origin, request)):
        raise NotAllowed("Requests from other sites are not allowed.")


def _follows_link(request: Request) -> bool:
    """Return whether the user followed a link, which changes nothing; frames and images do not count.

    Our own service worker passes a followed link on with an empty destination; scripts of pages cannot send this mode.
    """
    headers = request.headers
    is_navigation = headers.get("sec-fetch-mode") == "navigate"
    whole_page = is_navigation and headers.get("sec-fetch-dest", "document") in ("document", "empty")
    return whole_page and request.method in _SAFE_METHODS


def _is_own(origin: str, request: Request) -> bool:
    """Return whether the origin is ours. The scheme is ignored: a proxy in front of the server may use HTTPS."""
    scheme, _, authority = origin.partition("://")
    return scheme in ("http", "https") and authority == request.headers.get("host", "")


def own_path(target: str) -> str:
    """Return the redirect target of a form if it is a path of ours, `/` otherwise."""
    is_path = target.startswith("/") and not target.startswith("//") and "\\" not in target and target.isprintable()
    return target if is_path else "/"
