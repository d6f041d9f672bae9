"""The server, put together: what stands before every route, then the routes."""

from __future__ import annotations

import os
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from fastapi import FastAPI
from fastapi.routing import APIRoute

from pagekeep.config import Settings
from pagekeep.doors.http import errors
from pagekeep.doors.http.api import extract, items, jobs, saves, search
from pagekeep.doors.http.security.headers import SafeHeaders
from pagekeep.doors.http.security.names import NamesOnly, names_of
from pagekeep.doors.http.security.sizes import BoundedBodies
from pagekeep.doors.http.service import opened
from pagekeep.errors import StoreError
from pagekeep.store import default_library
from pagekeep.version import __version__

_SECRET_BYTES: Final = 32


def create_app(settings: Settings, *, processes: int | None = None) -> FastAPI:
    """The server for these settings. It opens what it needs when it starts, and closes it when it ends."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with opened(settings, server_secret(settings), processes=processes) as service:
            app.state.service = service
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
    errors.install(app)
    for resource in (saves, jobs, extract, items, search):
        app.include_router(resource.router, prefix="/api/v1")
    # The last one added stands first.
    app.add_middleware(BoundedBodies)
    app.add_middleware(NamesOnly, names=names_of(settings))
    app.add_middleware(SafeHeaders)
    return app


def server_folder(settings: Settings) -> Path:
    """Where the server keeps what is its own: beside the library, or in the data folder when that is on a server."""
    remote = settings.library is not None and "://" in settings.library
    return default_library().parent if remote or settings.library is None else Path(settings.library).parent


def _operation_id(route: APIRoute) -> str:
    """What clients made from the OpenAPI page call it."""
    return route.name


def server_secret(settings: Settings) -> bytes:
    """A secret that lasts longer than the server: pages that are open in a browser go on working after a restart.

    It is readable by its owner alone.
    """
    folder = server_folder(settings)
    path = folder / "server.secret"
    try:
        return _whole(path.read_bytes())
    except FileNotFoundError:
        folder.mkdir(parents=True, exist_ok=True)
    made = secrets.token_bytes(_SECRET_BYTES)
    draft = path.with_name(f"{path.name}.{os.getpid()}.part")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(made)
    try:
        os.link(draft, path)  # unlike a rename it fails when another process was quicker
    except FileExistsError:
        made = _whole(path.read_bytes())
    finally:
        draft.unlink()
    return made


def _whole(secret: bytes) -> bytes:
    """With a short one anybody could sign in our name."""
    if len(secret) < _SECRET_BYTES:
        raise StoreError("The server's secret is damaged.", suggestions=("Delete the file server.secret.",))
    return secret
