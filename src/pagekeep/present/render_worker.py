"""Long texts rendered in processes that can be killed: for a server, where one hostile text must not hold up the others."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from threading import BoundedSemaphore
from typing import Final

from pagekeep.errors import ParseError
from pagekeep.present.markdown_html import LONGEST, Picture, Rendered, as_written, render
from pagekeep.workers import Limits, Pool

SHORT: Final = 30_000
"""Characters that are rendered at once: 10 ms of an ordinary text, and half a second of the worst that was found."""
CELLS: Final = 10_000
"""Of a table, at most, in what is rendered at once. Rows are filled up to the widest: 5,000 characters can take a second."""
LIMITS: Final = Limits(cpu_seconds=5.0, wall_seconds=20.0, megabytes=1_500)
WAITING: Final = 12
"""Long texts in hand: more would take the threads that answer everybody else."""
_KEPT: Final = 64
_LONGEST_KEPT: Final = 200_000


@dataclass(frozen=True, slots=True)
class _Job:
    markdown: str
    base: str
    title: str
    picture: Picture | None
    """Goes to another process: an object of a class, no closure."""


def render_job(job: _Job) -> Rendered:
    """In the child, or here for what is short."""
    return render(job.markdown, base=job.base, title=job.title, picture=job.picture)


def is_short(markdown: str) -> bool:
    """Whether rendering it can hold up nobody."""
    if len(markdown) > SHORT or "|" not in markdown:
        return len(markdown) <= SHORT
    lines = markdown.split("\n")
    return len(lines) * (1 + max(line.count("|") for line in lines)) <= CELLS


class Renderer:
    """Renders for many readers; the texts they come back to are kept."""

    def __init__(self, processes: int, limits: Limits = LIMITS) -> None:
        self._pool = Pool("pagekeep.present.render_worker:render_job", processes, limits)
        self._seats = BoundedSemaphore(WAITING)
        self._kept = lru_cache(_KEPT)(self._made)

    def render(self, markdown: str, *, base: str = "", title: str = "", picture: Picture | None = None) -> Rendered:
        """The Markdown as safe HTML; as it is written, with a notice, when that takes too long."""
        job = _Job(markdown, base, title, picture)
        if is_short(markdown):
            return self._kept(job)
        if not self._seats.acquire(blocking=False):
            why = "The server has its hands full; this is the text as it is written."
            return as_written(markdown, why, is_temporary=True)
        try:
            return (self._kept if len(markdown) <= _LONGEST_KEPT else self._made)(job)
        except ParseError:
            why = "Laying this text out took too long; it is shown as it is written."
            return as_written(markdown, why, is_temporary=True)
        finally:
            self._seats.release()

    def _made(self, job: _Job) -> Rendered:
        """What is raised is not kept."""
        if is_short(job.markdown) or len(job.markdown) > LONGEST:
            return render_job(job)
        rendered: Rendered = self._pool.run(job)
        return rendered

    def close(self) -> None:
        """End the processes."""
        self._pool.close()
