"""`/mcp`: the assistants' tools over streamable HTTP, for whoever brings a token.

A token and nothing else: an assistant is a program, and a browser that another site steers has none.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import Any

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from pagekeep.doors.http.caller import Caller, may_read, who
from pagekeep.doors.http.errors import error_answer
from pagekeep.doors.http.middleware.cross_site import refuse_other_sites
from pagekeep.doors.http.service import Service
from pagekeep.doors.mcp.context import Desk, caller_desk
from pagekeep.errors import NotSignedIn, PagekeepError


class _Door:
    """Lets in who has a token, with a desk of their own; whoever comes before the tools are there waits for them."""

    def __init__(self) -> None:
        self.inside: asyncio.Future[ASGIApp] = asyncio.get_running_loop().create_future()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        service: Service = scope["app"].state.service
        try:
            caller = await may_read(await run_in_threadpool(_caller, Request(scope), service))
        except PagekeepError as error:
            await error_answer(error)(scope, receive, send)
            return
        async with service.libraries.borrowed(caller.user_id) as library:
            chosen = caller_desk.set(Desk(library, service.retrieval, "write" in caller.scopes))
            try:
                await (await asyncio.shield(self.inside))(scope, receive, send)
            finally:
                caller_desk.reset(chosen)


def _caller(request: Request, service: Service) -> Caller:
    refuse_other_sites(request)
    caller = who(request, service) if request.headers.get("authorization") else None
    if caller is None or caller.by != "token":
        raise NotSignedIn(
            "An assistant needs a token.", suggestions=("Make one in the settings, or: pagekeep token add assistant",)
        )
    return caller


@asynccontextmanager
async def mounted(app: FastAPI) -> AsyncIterator[None]:
    """The tools at `/mcp` while the server runs; nothing where the package for them is missing.

    The package takes as long to load as all the rest of the server, so that is done beside: nobody else waits for it.
    """
    if find_spec("mcp") is None:
        yield
        return
    door, ending = _Door(), asyncio.Event()
    app.mount("/mcp", door)
    opening = asyncio.create_task(_open(door, ending))
    try:
        yield
    finally:
        ending.set()
        await opening


async def _open(door: _Door, ending: asyncio.Event) -> None:
    server, inside = await asyncio.to_thread(_made)
    async with server.session_manager.run():
        door.inside.set_result(inside)
        await ending.wait()


def _made() -> tuple[Any, ASGIApp]:
    from mcp.server.transport_security import TransportSecuritySettings

    from pagekeep.doors.mcp.server import make_server

    server: Any = make_server(caller_desk.get, allow_write=True)
    inside: ASGIApp = server.streamable_http_app(
        streamable_http_path="/",
        stateless_http=True,
        # Names and origins are checked before: by the server for all routes, and by the door above.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return server, inside
