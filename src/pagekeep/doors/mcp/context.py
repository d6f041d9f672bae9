"""The context of a tool call: the caller's library and the means to fetch pages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field

from pagekeep.capture.from_url import Captured, Progress, RenderMode, Request, Retrieval, capture
from pagekeep.errors import NotAllowed
from pagekeep.library.open import Store
from pagekeep.model import Item, SaveResult


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The context of one caller."""

    library: Store
    retrieval: Retrieval
    may_write: bool
    """Whether the caller may save and change items."""
    works_alone: bool = False
    """Whether no server runs the jobs of the queue, so that this process keeps pictures itself."""
    running: set[asyncio.Task[object]] = field(default_factory=set)
    """Work that goes on after the answer."""

    def writable_library(self) -> Store:
        """Return the library for changes; raise `NotAllowed` for a read-only caller."""
        if not self.may_write:
            raise NotAllowed("This connection is read-only.", suggestions=("Use a token with the scope `write`.",))
        return self.library

    async def capture(self, url: str, render: RenderMode | None, progress: Progress) -> Captured:
        """Fetch and extract the page at a URL, through the address guard."""
        return await capture(Request(url, render=render), self.retrieval, progress=progress)

    def keep_pictures(self, saved: SaveResult) -> None:
        """Begin to keep the pictures of a saved page, if no server does it."""
        if self.works_alone and saved.pictures_job is not None:
            from pagekeep.library.pictures.job import run_now

            task = asyncio.ensure_future(run_now(saved.pictures_job, self.library, self.retrieval))
            self.running.add(task)
            task.add_done_callback(self._forget)

    def _forget(self, task: asyncio.Task[object]) -> None:
        self.running.discard(task)
        if not task.cancelled():
            task.exception()  # the job goes back to the queue, which has the reason

    def find(self, key: str) -> Item:
        """Return an item by ID or URL."""
        from pagekeep.library.items import get_item

        return get_item(self.library, key)


current_context: ContextVar[ToolContext] = ContextVar("current_context")
"""On the server: the context of the caller, set for each request."""

ContextFinder = Callable[[], ToolContext]
