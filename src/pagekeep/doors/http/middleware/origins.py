"""Reject requests of other sites' pages, and requests for unknown host names (DNS rebinding)."""

from __future__ import annotations

from typing import Final

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from pagekeep.config import Settings
from pagekeep.doors.http.errors import error_response
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


LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
WILDCARDS: Final = frozenset({"0.0.0.0", "[::]", ""})
"""Listen addresses that mean all interfaces; they are not host names."""


def allowed_names(settings: Settings) -> frozenset[str]:
    """Return the configured host names, the listen address and the loopback names."""
    bound = without_port(settings.listen)
    configured = {name if ":" not in name or name.startswith("[") else f"[{name}]" for name in settings.server_names}
    return LOOPBACK | frozenset(name.lower() for name in {*configured, bound} - WILDCARDS)


class HostNames:
    """Accepts requests for the allowed host names only."""

    def __init__(self, app: ASGIApp, names: frozenset[str]) -> None:
        self._app = app
        self._names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket") and host_of(scope) not in self._names:
            error = NotAllowed("Unknown host name.", suggestions=("Add it to the setting `server_names`.",))
            await error_response(error)(scope, receive, send)
            return
        await self._app(scope, receive, send)


def host_of(scope: Scope) -> str:
    """Return the requested host name without the port; empty if there is not exactly one."""
    hosts = [value for name, value in scope["headers"] if name == b"host"]
    if len(hosts) != 1:
        return ""
    return without_port(hosts[0].decode("latin-1").lower())


def without_port(host: str) -> str:
    """Return `host:port` without the port."""
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() else host
