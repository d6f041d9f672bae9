"""What every route needs: opened with the server, closed with it, shared by all requests."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Final, cast

from fastapi import Request

from pagekeep.accounts import Accounts, get_users, open_accounts
from pagekeep.capture.extract_worker import ExtractPool
from pagekeep.capture.from_url import Retrieval
from pagekeep.config import Settings
from pagekeep.doors.http.image_proxy.cache import Shelf
from pagekeep.doors.http.image_proxy.proxy import Pictures
from pagekeep.doors.http.import_slots import Imports
from pagekeep.doors.http.observability.metrics import Metrics
from pagekeep.doors.http.observability.spans import Spans
from pagekeep.doors.http.open_libraries import Libraries
from pagekeep.doors.http.server_folder import server_folder
from pagekeep.library.open import LOCAL_USER, open_library
from pagekeep.library.queue.background import Background, run_in_background
from pagekeep.present.render_worker import Renderer

SCREENSHOT_SECONDS: Final = 3600
"""For which a picture of a page is there."""
_TIDY_EVERY: Final = 600.0
"""Seconds after which pictures whose time is over are looked for."""
_SCREENSHOT_BYTES: Final = 400_000_000
"""A shelf takes nothing larger than a twentieth of its room, and a picture of a page has 20 MB at most."""


@dataclass(slots=True)
class Service:
    """The running server's belongings."""

    settings: Settings
    accounts: Accounts
    retrieval: Retrieval
    extractor: ExtractPool
    """Reads pages in killable processes."""
    renderer: Renderer
    """Renders long texts in such processes, too."""
    secret: bytes
    """Signs what is given to browsers and must come back unchanged."""
    background: Background
    """Saves what waits in the queue."""
    pictures: Pictures
    screenshots: Shelf
    """Pictures of pages, for an hour."""
    metrics: Metrics
    libraries: Libraries
    imports: Imports

    @property
    def shared(self) -> bool:
        """Whether people sign in; else everything is the local user's."""
        return self.settings.shared


@asynccontextmanager
async def opened(
    settings: Settings, secret: bytes, metrics: Metrics, spans: Spans | None = None, *, processes: int | None = None
) -> AsyncIterator[Service]:
    """A service for the lifetime of a server."""
    accounts = await asyncio.to_thread(open_accounts, settings)
    settings = await asyncio.to_thread(_for_whom, settings, accounts)
    processes = processes or max(1, (os.cpu_count() or 2) // 2)
    extractor, renderer = ExtractPool(settings, processes), Renderer(processes)
    extract = metrics.measured(extractor.extract)
    try:
        async with (
            Retrieval(settings, extract=spans.traced(extract) if spans else extract) as retrieval,
            run_in_background(settings, retrieval, metrics.worked) as background,
        ):
            shelf = Shelf(server_folder(settings) / "image-cache", settings.image_cache)
            pictures = Pictures(retrieval.client, shelf)
            shots = Shelf(server_folder(settings) / "screenshot-cache", _SCREENSHOT_BYTES)
            libraries, imports = Libraries(lambda user_id: open_library(settings, user_id)), Imports()
            service = Service(
                *(settings, accounts, retrieval, extractor, renderer, secret, background),
                *(pictures, shots, metrics, libraries, imports),
            )
            tidying = asyncio.create_task(_tidied(shots))
            try:
                yield service
            finally:
                tidying.cancel()
                imports.close()
                libraries.close()
    finally:
        extractor.close()
        renderer.close()
        accounts.close()
        if spans:
            await asyncio.to_thread(spans.close)


async def _tidied(screenshots: Shelf) -> None:
    """Whether or not anybody asks for another one: they may show what is private."""
    while True:
        await asyncio.to_thread(screenshots.drop_older, SCREENSHOT_SECONDS)
        await asyncio.sleep(_TIDY_EVERY)


def _for_whom(settings: Settings, accounts: Accounts) -> Settings:
    """Where there are users, they sign in: nobody is to walk past them by forgetting to say `shared`."""
    return replace(settings, shared=settings.shared or bool(get_users(accounts)))


async def service_of(request: Request) -> Service:
    """The service, as a dependency of a route."""
    return cast("Service", request.app.state.service)


__all__ = ["LOCAL_USER", "Service", "opened", "service_of"]
