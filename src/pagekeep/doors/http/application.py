"""The server, put together: what stands before every route, then the routes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.routing import APIRoute

from pagekeep.config import Settings
from pagekeep.doors.http import errors, mcp, pages
from pagekeep.doors.http.api import account, extract, items, jobs, passages, reparses, rules, saves, search, tokens
from pagekeep.doors.http.compat import reader, scrape, screenshots
from pagekeep.doors.http.folder import server_secret
from pagekeep.doors.http.images import route as images
from pagekeep.doors.http.operation import routes as operation
from pagekeep.doors.http.operation import spans as tracing
from pagekeep.doors.http.operation.logs import Logged
from pagekeep.doors.http.operation.metrics import Metrics
from pagekeep.doors.http.pages import failures
from pagekeep.doors.http.security.headers import SafeHeaders
from pagekeep.doors.http.security.names import NamesOnly, names_of
from pagekeep.doors.http.security.sizes import BoundedBodies
from pagekeep.doors.http.service import opened
from pagekeep.version import __version__


def create_app(settings: Settings, *, processes: int | None = None) -> FastAPI:
    """The server for these settings. It opens what it needs when it starts, and closes it when it ends."""

    metrics = Metrics()
    spans = tracing.configured()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with opened(settings, server_secret(settings), metrics, spans, processes=processes) as service:
            app.state.service = service
            async with mcp.mounted(app):
                yield

    app = FastAPI(
        title="Pagekeep",
        version=__version__,
        summary="Keeps any web page as clean Markdown.",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/v1/openapi.json",
        generate_unique_id_function=_operation_id,
    )
    errors.install(app, metrics.failed)
    for resource in (saves, jobs, reparses, extract, items, passages, search, rules, tokens, account):
        app.include_router(resource.router)
    for door in (reader, scrape, screenshots, images, pages, operation):
        app.include_router(door.router)
    failures.install(app, metrics.failed)
    # The last one added stands first.
    app.add_middleware(BoundedBodies, files={"/import": settings.import_bytes}, refused=failures.refused)
    app.add_middleware(NamesOnly, names=names_of(settings))
    app.add_middleware(SafeHeaders, unexpected=failures.unexpected)
    app.add_middleware(Logged, metrics=metrics)
    app.add_middleware(tracing.Traced, spans=spans)
    return app


def _operation_id(route: APIRoute) -> str:
    """What clients made from the OpenAPI page call it."""
    return route.name
