"""The service: everything the routes share, opened and closed with the server, and the server's data folder."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Final, cast

from fastapi import Depends, Request

from pagekeep.capture.from_url import ExtractPage, Retrieval
from pagekeep.config import Settings
from pagekeep.doors.http.image_proxy import ImageCache, ImageProxy
from pagekeep.doors.http.observability import Metrics, Spans
from pagekeep.doors.http.open_libraries import OpenLibraries
from pagekeep.doors.http.streams import Streams
from pagekeep.doors.http.user_limits import ImportSlots, SignInSlots, TokenRates
from pagekeep.errors import StoreError
from pagekeep.identity.accounts import Accounts, open_accounts
from pagekeep.identity.openid import Provider
from pagekeep.library.exports.server_exports import Exports, KeptExports
from pagekeep.library.open import LOCAL_USER, data_folder, open_library, remove_unused
from pagekeep.library.run_jobs import Background, run_in_background
from pagekeep.present.renderer import Renderer
from pagekeep.private_files import make_folder
from pagekeep.workers import Room
from pagekeep.workers.heap import Heap, return_large_blocks

__all__ = [
    "LOCAL_USER",
    "CurrentService",
    "Service",
    "open_service",
    "server_folder",
    "server_secret",
    "service_of",
]


SCREENSHOT_SECONDS: Final = 3600
"""Seconds that a screenshot is available."""
_CLEANUP_SECONDS: Final = 600.0
"""Pause between two removals of expired screenshots."""
_COLLECT_SECONDS: Final = 6 * 3600.0
"""Pause between two searches for files that no item uses."""
_DRAIN_SECONDS: Final = 5.0
"""How long cancelled requests may take to store what they leave, when the server stops."""
_TIDY_SECONDS: Final = 10.0
"""Pause between two checks whether the server's memory has grown."""
_SCREENSHOT_CACHE_BYTES: Final = 400_000_000
"""A cache accepts files up to a twentieth of its size, and a screenshot has up to 20 MB."""


@dataclass(slots=True)
class Service:
    """What the routes share."""

    settings: Settings
    accounts: Accounts
    retrieval: Retrieval
    room: Room
    """The worker processes in which all work on content of others is done."""
    renderer: Renderer
    """Renders Markdown as HTML, in the room."""
    secret: bytes
    """The key of signed URLs and CSRF tokens."""
    background: Background
    """Works on the jobs in the queue."""
    images: ImageProxy
    screenshots: ImageCache
    """Screenshots of pages, for an hour."""
    metrics: Metrics
    libraries: OpenLibraries
    imports: ImportSlots
    exports: Exports
    kept_exports: KeptExports
    """Exports on the disk, to be downloaded."""
    sign_ins: SignInSlots
    token_rates: TokenRates
    streams: Streams
    openid: Provider

    @property
    def shared(self) -> bool:
        """Whether users sign in; otherwise everything belongs to the local user."""
        return self.settings.shared


@asynccontextmanager
async def open_service(
    settings: Settings, secret: bytes, metrics: Metrics, spans: Spans | None = None, *, processes: int | None = None
) -> AsyncIterator[Service]:
    """Open the service for the lifetime of a server."""
    accounts = await asyncio.to_thread(open_accounts, settings)
    # A server with users is shared, even if the setting `shared` was forgotten.
    settings = replace(settings, shared=settings.shared or bool(await asyncio.to_thread(accounts.users)))
    room = Room(processes or max(2, os.cpu_count() or 2), shared=settings.shared)

    def observe(extract: ExtractPage) -> ExtractPage:
        return spans.trace(metrics.measure(extract)) if spans else metrics.measure(extract)

    try:
        async with (
            Retrieval(settings, room=room, observe=observe, report=metrics.record_capture) as retrieval,
            run_in_background(settings, retrieval, metrics.record_job) as background,
        ):
            folder, exports = server_folder(settings), Exports(settings)
            service = Service(
                settings=settings,
                accounts=accounts,
                retrieval=retrieval,
                room=room,
                renderer=Renderer(room),
                secret=secret,
                background=background,
                images=ImageProxy(retrieval.client, ImageCache(folder / "image-cache", settings.image_cache)),
                screenshots=ImageCache(folder / "screenshot-cache", _SCREENSHOT_CACHE_BYTES),
                metrics=metrics,
                libraries=OpenLibraries(lambda user_id: open_library(settings, user_id)),
                imports=ImportSlots(),
                exports=exports,
                kept_exports=KeptExports(exports, folder / "exports"),
                sign_ins=SignInSlots(),
                token_rates=TokenRates(settings.token_requests),
                streams=Streams(),
                openid=Provider(settings, retrieval.client),
            )
            work = (_remove_expired(service.screenshots), _return_memory(), _remove_unused(service))
            upkeep = [asyncio.create_task(task) for task in work]
            try:
                yield service
            finally:
                for task in upkeep:
                    task.cancel()
                await service.libraries.drain(_DRAIN_SECONDS)
                await service.kept_exports.close()
                service.imports.close()
                service.libraries.close()
    finally:
        room.close()
        accounts.close()
        if spans:
            await asyncio.to_thread(spans.close)


async def _remove_expired(screenshots: ImageCache) -> None:
    """Remove expired screenshots regularly, even without requests: they may show private content."""
    while True:
        await asyncio.to_thread(screenshots.remove_older, SCREENSHOT_SECONDS)
        await asyncio.sleep(_CLEANUP_SECONDS)


async def _remove_unused(service: Service) -> None:
    """Remove kept files that no item of their user has used for a week, regularly."""
    while True:
        await asyncio.sleep(_COLLECT_SECONDS)
        users = [service.settings.user]
        if service.shared:
            with suppress(StoreError):
                users = [user.id for user in await asyncio.to_thread(service.accounts.users)]
        for user in users:
            with suppress(StoreError):  # a library that cannot be reached is tried again at the next time
                async with service.libraries.borrow(user) as library:
                    await asyncio.to_thread(remove_unused, library)


async def _return_memory() -> None:
    """Return the memory of large requests to the system: the C library would keep it for each thread that answered one."""
    return_large_blocks()
    heap = Heap()
    while True:
        await asyncio.sleep(_TIDY_SECONDS)
        await asyncio.to_thread(heap.tidy)


async def service_of(request: Request) -> Service:
    """Return the service, as a dependency of a route."""
    return cast("Service", request.app.state.service)


CurrentService = Annotated[Service, Depends(service_of)]
"""The type of a route's `service` parameter."""

_SECRET_BYTES: Final = 32


def server_folder(settings: Settings) -> Path:
    """Return the folder of the library, or the default data folder if the library is on a database server."""
    return data_folder(settings)


def server_secret(settings: Settings) -> bytes:
    """Return the server's secret; create it if needed.

    It is stored so that open pages work after a restart, in a file that only its owner can read.
    """
    folder = server_folder(settings)
    path = folder / "server.secret"
    try:
        return _check_length(path.read_bytes())
    except FileNotFoundError:
        make_folder(folder)
    secret = secrets.token_bytes(_SECRET_BYTES)
    draft = path.with_name(f"{path.name}.{os.getpid()}.part")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(secret)
    try:
        os.link(draft, path)  # unlike a rename, this fails if another process was faster
    except FileExistsError:
        secret = _check_length(path.read_bytes())
    finally:
        draft.unlink()
    return secret


def _check_length(secret: bytes) -> bytes:
    """Reject a short secret, with which anyone could forge signatures."""
    if len(secret) < _SECRET_BYTES:
        raise StoreError(
            "The file server.secret is damaged.", suggestions=("Delete it; the server creates a new one.",)
        )
    return secret
