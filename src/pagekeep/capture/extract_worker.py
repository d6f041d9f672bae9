"""Pages read in processes that can be killed: for a server, where one bad page must not take the others along."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

from pagekeep.capture.active_rules import in_force
from pagekeep.capture.from_url import read_page
from pagekeep.capture.view_options import AS_IT_IS, View
from pagekeep.config import Settings
from pagekeep.model import Fetched, Options, Page
from pagekeep.rules import Rulebook
from pagekeep.workers import Limits, Pool

LIMITS: Final = Limits(cpu_seconds=15.0, wall_seconds=45.0, megabytes=2_000)


@dataclass(frozen=True, slots=True)
class _Job:
    fetched: Fetched
    options: Options
    settings: Settings
    rules: Rulebook | None
    """Those to try instead of those in force."""
    view: View


def read_job(job: _Job) -> Page:
    """In the child: the page, by the rules in force there."""
    rules = job.rules or in_force(job.settings)
    if job.view == AS_IT_IS:
        return read_page(job.fetched, job.options, rules)
    from pagekeep.capture.view import view_page

    return view_page(job.fetched, job.options, rules, job.view)


class Reader:
    """So many processes, each reading one page at a time; further pages wait."""

    def __init__(self, settings: Settings, processes: int, limits: Limits = LIMITS) -> None:
        self._settings = settings
        self._pool = Pool("pagekeep.capture.extract_worker:read_job", processes, limits)

    async def read(
        self, fetched: Fetched, options: Options, rules: Rulebook | None = None, *, view: View = AS_IT_IS
    ) -> Page:
        """The page; `ParseError` when it hangs, crashes or needs too much memory."""
        job = _Job(fetched, options, self._settings, rules, view)
        page: Page = await asyncio.to_thread(self._pool.run, job)
        return page

    def read_waiting(self, fetched: Fetched, options: Options) -> Page:
        """The same for a thread of the caller's own, which waits: needs no other thread."""
        page: Page = self._pool.run(_Job(fetched, options, self._settings, None, AS_IT_IS))
        return page

    def close(self) -> None:
        """End the processes."""
        self._pool.close()
