"""Render Markdown for a server, in its worker room, and keep the results: most pages are opened more than once."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from pagekeep.errors import PagekeepError, TooManyRequests
from pagekeep.present.rendered import ImageUrl, Rendered, render_source
from pagekeep.workers import TEXT, Limits, Room

_CACHE_SIZE: Final = 64
"""Rendered texts kept in memory."""
_MAX_CACHED_CHARS: Final = 200_000


@dataclass(frozen=True, slots=True)
class RenderTask:
    """Render one text."""

    markdown: str
    base: str
    title: str
    image_url: ImageUrl | None
    """Must be picklable, as it is sent to another process: an object, not a closure."""

    def run(self) -> Rendered:
        """Return the text as safe HTML."""
        from pagekeep.present.markdown_html import render

        return render(self.markdown, base=self.base, title=self.title, image_url=self.image_url)


class Renderer:
    """Renders texts and caches the results. For one event loop."""

    def __init__(self, room: Room, limits: Limits = TEXT) -> None:
        self._room = room
        self._limits = limits
        self._cache: OrderedDict[RenderTask, Rendered] = OrderedDict()

    async def render(
        self, markdown: str, *, base: str = "", title: str = "", image_url: ImageUrl | None = None
    ) -> Rendered:
        """Return the Markdown as safe HTML; if that takes too long, the Markdown source with a notice."""
        task = RenderTask(markdown, base, title, image_url)
        cached = self._cache.get(task)
        if cached is not None:
            self._cache.move_to_end(task)
            return cached
        try:
            rendered = await self._room.run(task, self._limits)
        except TooManyRequests:
            reason = "The server is busy, so this page is shown as Markdown source. Reload it to try again."
            return render_source(markdown, reason, is_temporary=True)
        except PagekeepError:
            reason = "Rendering this page took too long, so it is shown as Markdown source."
            return render_source(markdown, reason, is_temporary=True)
        if len(markdown) <= _MAX_CACHED_CHARS:
            self._cache[task] = rendered
            while len(self._cache) > _CACHE_SIZE:
                self._cache.popitem(last=False)
        return rendered
