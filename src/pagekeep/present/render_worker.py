"""Render Markdown for a server: long texts in worker processes, so that one hostile text does not block the others."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from threading import BoundedSemaphore
from typing import Final

from pagekeep.errors import ParseError
from pagekeep.present.markdown_html import MAX_CHARS, ImageUrl, Rendered, render, render_source
from pagekeep.workers import Limits, Pool

MAX_INLINE_CHARS: Final = 30_000
"""Texts up to this length are rendered in the calling thread: 10 ms for ordinary text, half a second for the worst found."""
MAX_INLINE_CELLS: Final = 10_000
"""Table cells rendered in the calling thread. Rows are padded to the widest: 5,000 characters can take a second."""
MAX_INLINE_CODE_CHARS: Final = 2_000
"""Length of a text with code blocks that is rendered in the calling thread. Many lexers take quadratic time on hostile code:
20,000 line breaks in `c` take 2.8 s, 4,000 up to 0.7 s on a busy machine."""
LIMITS: Final = Limits(cpu_seconds=5.0, wall_seconds=20.0, megabytes=1_500)
MAX_WAITING: Final = 12
"""Long texts at the same time; more would block the threads that answer other requests."""
_CACHE_SIZE: Final = 64
"""Rendered texts kept in memory."""
_MAX_CACHED_CHARS: Final = 200_000


@dataclass(frozen=True, slots=True)
class _Job:
    markdown: str
    base: str
    title: str
    image_url: ImageUrl | None
    """Must be picklable, as it is sent to another process: an object, not a closure."""


def render_job(job: _Job) -> Rendered:
    """Render one text; runs in a worker process, or in the caller for short texts."""
    return render(job.markdown, base=job.base, title=job.title, image_url=job.image_url)


def is_short(markdown: str) -> bool:
    """Return whether the text can be rendered in the calling thread."""
    if len(markdown) > MAX_INLINE_CODE_CHARS and ("```" in markdown or "~~~" in markdown):
        return False
    if len(markdown) > MAX_INLINE_CHARS or "|" not in markdown:
        return len(markdown) <= MAX_INLINE_CHARS
    lines = markdown.split("\n")
    return len(lines) * (1 + max(line.count("|") for line in lines)) <= MAX_INLINE_CELLS


class Renderer:
    """Renders texts and caches the results."""

    def __init__(self, processes: int, limits: Limits = LIMITS) -> None:
        self._pool = Pool("pagekeep.present.render_worker:render_job", processes, limits)
        self._slots = BoundedSemaphore(MAX_WAITING)
        self._render_cached = lru_cache(_CACHE_SIZE)(self._render)

    def render(self, markdown: str, *, base: str = "", title: str = "", image_url: ImageUrl | None = None) -> Rendered:
        """Return the Markdown as safe HTML; if that takes too long, the Markdown source with a notice."""
        job = _Job(markdown, base, title, image_url)
        if is_short(markdown):
            return self._render_cached(job)
        if not self._slots.acquire(blocking=False):
            reason = "The server is busy, so this page is shown as Markdown source. Reload it to try again."
            return render_source(markdown, reason, is_temporary=True)
        try:
            return (self._render_cached if len(markdown) <= _MAX_CACHED_CHARS else self._render)(job)
        except ParseError:
            reason = "Rendering this page took too long, so it is shown as Markdown source."
            return render_source(markdown, reason, is_temporary=True)
        finally:
            self._slots.release()

    def _render(self, job: _Job) -> Rendered:
        """Render one text; errors are not cached."""
        if is_short(job.markdown) or len(job.markdown) > MAX_CHARS:
            return render_job(job)
        rendered: Rendered = self._pool.run(job)
        return rendered

    def close(self) -> None:
        """Stop the worker processes."""
        self._pool.close()
