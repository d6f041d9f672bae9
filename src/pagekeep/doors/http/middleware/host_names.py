"""Requests for other names are refused: else a page could reach this server under a name of its own (DNS rebinding)."""

from __future__ import annotations

from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from pagekeep.config import Settings
from pagekeep.doors.http.errors import error_answer
from pagekeep.errors import NotAllowed

LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
ANY: Final = frozenset({"0.0.0.0", "[::]", ""})
"""Addresses that stand for all of the machine's, and are the name of none."""


def names_of(settings: Settings) -> frozenset[str]:
    """Those the owner gave, and the address it listens at unless that is any."""
    bound = without_port(settings.listen)
    given = {name if ":" not in name or name.startswith("[") else f"[{name}]" for name in settings.server_names}
    return LOOPBACK | frozenset(name.lower() for name in {*given, bound} - ANY)


class NamesOnly:
    """Lets through what is asked of a name that is ours."""

    def __init__(self, app: ASGIApp, names: frozenset[str]) -> None:
        self._app = app
        self._names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket") and host_of(scope) not in self._names:
            error = NotAllowed(
                "The server does not answer to that name.", suggestions=("Its owner can add it to `server_names`.",)
            )
            await error_answer(error)(scope, receive, send)
            return
        await self._app(scope, receive, send)


def host_of(scope: Scope) -> str:
    """The name that is asked for, without the port. Several or none are no name of ours."""
    hosts = [value for name, value in scope["headers"] if name == b"host"]
    if len(hosts) != 1:
        return ""
    return without_port(hosts[0].decode("latin-1").lower())


def without_port(host: str) -> str:
    """`host:port` without the port."""
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() else host
