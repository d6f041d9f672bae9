"""Extract and parse pages in worker processes, so that on a server one bad page cannot harm the others."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Final

from pagekeep.capture.active_rules import load_active
from pagekeep.capture.from_url import ParseTask, Result_co, extract_page
from pagekeep.capture.view_options import DEFAULT_VIEW, ViewOptions
from pagekeep.config import Settings
from pagekeep.model import Fetched, Options, Page
from pagekeep.rules import Rulebook
from pagekeep.workers import Limits, Pool

LIMITS: Final = Limits(cpu_seconds=15.0, wall_seconds=45.0, megabytes=2_000)
"""For one page."""


@dataclass(frozen=True, slots=True)
class _Job:
    fetched: Fetched
    options: Options
    settings: Settings
    rules: Rulebook | None
    """Rules to use instead of the active ones."""
    view: ViewOptions

    def run(self) -> Page:
        """Extract the page."""
        rules = self.rules or load_active(self.settings)
        if self.view == DEFAULT_VIEW:
            return extract_page(self.fetched, self.options, rules)
        from pagekeep.capture.view import view_page

        return view_page(self.fetched, self.options, rules, self.view)


def run_job(job: ParseTask[Any]) -> Any:
    """Run a job, in the worker process."""
    return job.run()


class ExtractPool:
    """A pool of worker processes, each of which does one job at a time; further jobs wait."""

    def __init__(self, settings: Settings, processes: int, limits: Limits = LIMITS) -> None:
        self._settings = settings
        self._pool = Pool("pagekeep.capture.extract_worker:run_job", processes, limits)

    async def extract(
        self, fetched: Fetched, options: Options, rules: Rulebook | None = None, *, view: ViewOptions = DEFAULT_VIEW
    ) -> Page:
        """Extract a page; raise `ParseError` when it hangs, crashes or needs too much memory."""
        job = _Job(fetched, options, self._settings, rules, view)
        page: Page = await asyncio.to_thread(self._pool.run, job)
        return page

    async def parse(self, task: ParseTask[Result_co]) -> Result_co:
        """Return the result of another task; raise `ParseError` when it hangs, crashes or needs too much memory."""
        result: Result_co = await asyncio.to_thread(self._pool.run, task)
        return result

    def extract_blocking(self, fetched: Fetched, options: Options) -> Page:
        """Extract a page and block the calling thread, without using another one."""
        page: Page = self._pool.run(_Job(fetched, options, self._settings, None, DEFAULT_VIEW))
        return page

    def close(self) -> None:
        """End the processes."""
        self._pool.close()
