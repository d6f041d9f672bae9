"""What the tools work with: someone's library, and the way to the web."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass

from pagekeep.capture.from_url import Captured, Progress, RenderMode, Request, Retrieval, capture
from pagekeep.errors import NotAllowed
from pagekeep.library.open import Store
from pagekeep.model import Item


@dataclass(frozen=True, slots=True)
class Desk:
    """For one caller."""

    library: Store
    retrieval: Retrieval
    may_write: bool
    """Whether this caller may save and change things."""

    def changing(self) -> Store:
        """The library, to change it; `NotAllowed` for those who may only look."""
        if not self.may_write:
            raise NotAllowed("This connection may only read.", suggestions=("Use a token with the scope `write`.",))
        return self.library

    async def capture(self, url: str, render: RenderMode | None, progress: Progress) -> Captured:
        """The page at an address, through the address guard."""
        return await capture(Request(url, render=render), self.retrieval, progress=progress)

    def find(self, key: str) -> Item:
        """An item by id or address."""
        from pagekeep.library.items import get_item

        return get_item(self.library, key)


caller_desk: ContextVar[Desk] = ContextVar("caller_desk")
"""On the server: the desk of whoever asks, set for each request."""

DeskFinder = Callable[[], Desk]
