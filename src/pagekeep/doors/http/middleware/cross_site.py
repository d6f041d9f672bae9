"""Requests that another site's page had the browser send: what the browser says of them is believed, and they are refused."""

from __future__ import annotations

from typing import Final

from starlette.requests import Request

from pagekeep.errors import NotAllowed

_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_OWN: Final = frozenset({"same-origin", "none"})


def refuse_other_sites(request: Request) -> None:
    """`NotAllowed` for whatever comes from another origin, but for a link that someone followed.

    Programs send neither header, and are not at anyone's behest.
    """
    site = request.headers.get("sec-fetch-site", "none")
    origin = request.headers.get("origin")
    if (site not in _OWN and not _follows_link(request)) or (origin is not None and not _is_own(origin, request)):
        raise NotAllowed("The request comes from another site.")


def _follows_link(request: Request) -> bool:
    """A frame or an image is no link, and nothing is changed by following one."""
    headers = request.headers
    whole_page = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest", "document") == "document"
    return whole_page and request.method in _SAFE


def _is_own(origin: str, request: Request) -> bool:
    """The scheme is left out: a proxy in front of us may speak HTTPS where we do not."""
    scheme, _, authority = origin.partition("://")
    return scheme in ("http", "https") and authority == request.headers.get("host", "")


def own_path(given: str) -> str:
    """Where a form leads afterwards: a path of ours, whatever it says."""
    is_path = given.startswith("/") and not given.startswith("//") and "\\" not in given and given.isprintable()
    return given if is_path else "/"
