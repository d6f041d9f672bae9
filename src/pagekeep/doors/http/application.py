"""The FastAPI application: middleware and routes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import Scope

from pagekeep.capture.pictures import MAX_FILE_BYTES
from pagekeep.config import Settings
from pagekeep.doors.http import errors, mcp, observability, web
from pagekeep.doors.http.api import (
    account,
    archive,
    browse,
    bulk,
    crawls,
    extract,
    feeds,
    health,
    history,
    items,
    jobs,
    lists,
    reading,
    saves,
    sinks,
    transfers,
)
from pagekeep.doors.http.caller import require_caller
from pagekeep.doors.http.compat import dialect_errors, firecrawl, jina, linkding, opds, screenshots, wallabag
from pagekeep.doors.http.middleware.body_limits import BodyLimits
from pagekeep.doors.http.middleware.headers import SecurityHeaders
from pagekeep.doors.http.middleware.origins import HostNames, allowed_names
from pagekeep.doors.http.middleware.refusals import Pause, Refusals, pause
from pagekeep.doors.http.observability import Metrics, RequestLog, log_reason
from pagekeep.doors.http.requests import PathRouter
from pagekeep.doors.http.responses import Json
from pagekeep.doors.http.service import open_service, server_secret
from pagekeep.doors.http.web import error_pages
from pagekeep.errors import PagekeepError, ServerStopped
from pagekeep.version import __version__


def create_app(settings: Settings, *, processes: int | None = None, wait: Pause = pause) -> FastAPI:
    """Return the application for these settings; it opens its service at startup and closes it at shutdown.

    `wait` delays refusals to clients that get many.
    """

    metrics = Metrics()
    spans = observability.configure_spans()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with open_service(settings, server_secret(settings), metrics, spans, processes=processes) as service:
            app.state.service = service
            async with mcp.mount(app):
                yield

    def record(error: PagekeepError) -> None:
        metrics.record_error(error.type)
        log_reason(error)

    app = FastAPI(
        title="Pagekeep",
        version=__version__,
        summary="Keeps any web page as clean Markdown.",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/v1/openapi.json",
        default_response_class=Json,
        generate_unique_id_function=_operation_id,
    )
    errors.install(app, record)
    app.router.routes.extend(_load_routes())
    error_pages.install(app, record)
    dialect_errors.install(app, record)
    _add_middleware(app, settings, metrics, spans, wait)
    return app


@cache
def _load_routes() -> tuple[BaseRoute, ...]:
    """Return the routes. They know nothing of one application: building them takes half a second, so they are built once."""
    api = FastAPI(default_response_class=Json, generate_unique_id_function=_operation_id, openapi_url=None)
    rest = PathRouter("/api/")
    for part in (
        saves.router,
        jobs.router,
        transfers.router,
        extract.router,
        items.router,
        reading.annotations_router,
        reading.all_annotations_router,
        reading.router,
        history.router,
        browse.search_router,
        browse.router,
        extract.rules_router,
        account.tokens_router,
        account.router,
        archive.router,
        crawls.router,
        lists.router,
        lists.save_rules_router,
        bulk.router,
        feeds.mail_router,
        feeds.router,
        sinks.router,
    ):
        rest.include_router(part)
    api.include_router(rest)
    for part in (
        jina.router,
        jina.search_router,
        firecrawl.router,
        wallabag.router,
        linkding.router,
        opds.router,
        screenshots.router,
        archive.image_router,
        web.router,
        health.router,
    ):
        api.include_router(part)
    return tuple(api.router.routes)


def _add_middleware(
    app: FastAPI, settings: Settings, metrics: Metrics, spans: observability.Spans | None, wait: Pause
) -> None:
    """Add what every request passes through; what is added last runs first."""

    def reject(scope: Scope, error: PagekeepError) -> Response:
        return dialect_errors.rejection(scope, error, error_pages.rejection)

    app.add_middleware(wallabag.OptionalSuffix)
    app.add_middleware(
        BodyLimits,
        files={
            "/import": settings.import_bytes,
            "/api/v1/imports": settings.import_bytes,
            linkding.UPLOADS: MAX_FILE_BYTES,
        },
        authenticate=require_caller,
        rejection=reject,
    )
    app.add_middleware(HostNames, names=allowed_names(settings))
    app.add_middleware(
        SecurityHeaders,
        internal_error=error_pages.internal_error,
        stopped=lambda scope: reject(scope, ServerStopped("The server was stopped while it worked on this request.")),
    )
    app.add_middleware(RequestLog, metrics=metrics)
    app.add_middleware(observability.RequestSpans, spans=spans)
    app.add_middleware(Refusals, wait=wait)


def _operation_id(route: APIRoute) -> str:
    """Return the operation's name in generated clients."""
    return route.name
