"""`/mcp`: the MCP tools over streamable HTTP, for callers with a token.

Only tokens are accepted, no sessions: another site could make a browser send the session's cookie.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import Context
from importlib.util import find_spec
from typing import Any

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from pagekeep.doors.http.caller import Caller, identify_sync, require_read
from pagekeep.doors.http.errors import error_response
from pagekeep.doors.http.middleware.origins import reject_cross_site
from pagekeep.doors.http.observability import log_reason
from pagekeep.doors.http.service import Service
from pagekeep.doors.mcp.tool_calls import ToolContext, current_context
from pagekeep.errors import NotSignedIn, PagekeepError
from pagekeep.workers import current_client


class _Endpoint:
    """Authenticates callers and sets their context. The tools are loaded by the first request.

    Loading them takes as long as the rest of the server, and most servers are never asked for them.
    """

    def __init__(self) -> None:
        self._tools: asyncio.Future[ASGIApp] = asyncio.get_running_loop().create_future()
        self._running: asyncio.Task[None] | None = None
        self._stopping = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        service: Service = scope["app"].state.service
        try:
            caller = await require_read(await run_in_threadpool(_find_caller, Request(scope), service))
        except PagekeepError as error:
            log_reason(error)
            await error_response(error)(scope, receive, send)
            return
        async with service.libraries.borrow(caller.user_id) as library:
            current_client.set(caller.client)
            reset_token = current_context.set(ToolContext(library, service.retrieval, "write" in caller.scopes))
            try:
                await (await self._load())(scope, receive, send)
            finally:
                current_context.reset(reset_token)

    async def _load(self) -> ASGIApp:
        if self._running is None:
            self._running = asyncio.create_task(self._run(), context=Context())  # not the caller's
        return await asyncio.shield(self._tools)

    async def _run(self) -> None:
        try:
            server, tools = await asyncio.to_thread(_load_tools)
        except Exception as error:  # every waiting request fails with it
            self._tools.set_exception(error)
            return
        async with server.session_manager.run():
            self._tools.set_result(tools)
            await self._stopping.wait()

    async def stop(self) -> None:
        """End the tools' own tasks."""
        self._stopping.set()
        if self._running is not None:
            await self._running


def _find_caller(request: Request, service: Service) -> Caller:
    reject_cross_site(request)
    caller = identify_sync(request, service) if request.headers.get("authorization") else None
    if caller is None or caller.by != "token":
        raise NotSignedIn(
            "A token is required.", suggestions=("Create one in the settings, or: pagekeep token add assistant",)
        )
    return caller


@asynccontextmanager
async def mount(app: FastAPI) -> AsyncIterator[None]:
    """Serve the tools at `/mcp` while the server runs, if the package `mcp` is installed."""
    if find_spec("mcp") is None:
        yield
        return
    endpoint = _Endpoint()
    app.mount("/mcp", endpoint)
    try:
        yield
    finally:
        await endpoint.stop()


def _load_tools() -> tuple[Any, ASGIApp]:
    from mcp.server.transport_security import TransportSecuritySettings

    from pagekeep.doors.mcp.server import make_server

    server: Any = make_server(current_context.get, allow_write=True)
    tools: ASGIApp = server.streamable_http_app(
        streamable_http_path="/",
        stateless_http=True,
        # Host names and origins are checked before: by the middleware and by the endpoint above.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return server, tools
