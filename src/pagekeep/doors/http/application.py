"""The server, put together: what stands before every route, then the routes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.routing import APIRoute

from pagekeep.config import Settings
from pagekeep.doors.http import errors, mcp, web
from pagekeep.doors.http.api import account, extract, items, jobs, reparse, rules, saves, search, tokens
from pagekeep.doors.http.api import annotations as passages
from pagekeep.doors.http.compat import firecrawl, jina, screenshots
from pagekeep.doors.http.image_proxy import route as images
from pagekeep.doors.http.middleware.body_limits import BoundedBodies
from pagekeep.doors.http.middleware.headers import SafeHeaders
from pagekeep.doors.http.middleware.host_names import NamesOnly, names_of
from pagekeep.doors.http.observability import routes as operation
from pagekeep.doors.http.observability import spans as tracing
from pagekeep.doors.http.observability.logs import Logged
from pagekeep.doors.http.observability.metrics import Metrics
from pagekeep.doors.http.server_folder import server_secret
from pagekeep.doors.http.service import opened
from pagekeep.doors.http.web import error_pages
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
    for resource in (saves, jobs, reparse, extract, items, passages, search, rules, tokens, account):
        app.include_router(resource.router)
    for door in (jina, firecrawl, screenshots, images, web, operation):
        app.include_router(door.router)
    error_pages.install(app, metrics.failed)
    # The last one added stands first.
    app.add_middleware(BoundedBodies, files={"/import": settings.import_bytes}, refused=error_pages.rejection)
    app.add_middleware(NamesOnly, names=names_of(settings))
    app.add_middleware(SafeHeaders, unexpected=error_pages.internal_error)
    app.add_middleware(Logged, metrics=metrics)
    app.add_middleware(tracing.Traced, spans=spans)
    return app


def _operation_id(route: APIRoute) -> str:
    """What clients made from the OpenAPI page call it."""
    return route.name
