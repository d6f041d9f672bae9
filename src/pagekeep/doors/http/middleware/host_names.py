"""Reject requests for unknown host names: otherwise a page could reach the server through its own name (DNS rebinding)."""

from __future__ import annotations

from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from pagekeep.config import Settings
from pagekeep.doors.http.errors import error_response
from pagekeep.errors import NotAllowed

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
