"""Crawls as jobs of Firecrawl: their ids, states and documents."""

from __future__ import annotations

from asyncio import to_thread
from dataclasses import dataclass
from typing import Any, Final

from pagekeep import clock
from pagekeep.capture.from_url import Retrieval
from pagekeep.doors.http.compat.firecrawl.formats import ScrapeOptions, Wanted
from pagekeep.errors import NotFound, NotOffered
from pagekeep.library.crawl.crawls import get_crawl
from pagekeep.library.crawl.documents import LETTERS, job_id, make_document
from pagekeep.library.crawl.pages import list_pages
from pagekeep.library.open import Store
from pagekeep.model.crawl import Crawl

_PAGES: Final = 50
"""Documents of one response."""
_MAX_CHARS: Final = 10_000_000
"""Characters of Markdown in one response, after which the rest is left to the next one."""
_DAYS: Final = 30
"""Days until a job expires, as the response says; crawls stay until they are removed."""
_STATES: Final = {"running": "scraping", "done": "completed", "cancelled": "cancelled"}


@dataclass(frozen=True, slots=True)
class Job:
    """A crawl, with the formats that its documents have."""

    crawl: Crawl
    formats: tuple[str, ...]

    @property
    def id(self) -> str:
        """The id of the job: that of the crawl, with a letter for each format."""
        return job_id(self.crawl.id, self.formats)

    @property
    def state(self) -> str:
        """The state, in Firecrawl's words."""
        return "failed" if self.crawl.reason == "no_page" else _STATES[self.crawl.state]


def check_formats(options: ScrapeOptions | None) -> tuple[str, ...]:
    """Return the formats of the documents; raise `NotOffered` for one that only a single page can have."""
    names = Wanted(options).names if options is not None else ["markdown"]
    for name in names:
        if name not in LETTERS:
            raise NotOffered(
                f"The format `{name}` is not offered for many pages.",
                suggestions=(f"Use {', '.join(LETTERS)}, or scrape the pages one by one.",),
            )
    return tuple(name for name in LETTERS if name in names)


async def find_job(library: Store, key: str) -> Job:
    """Return a job by its id; `NotFound` when there is none."""
    crawl_id, _, letters = key.rpartition("-")
    formats = tuple(name for name, letter in LETTERS.items() if letter in letters)
    if not crawl_id or set(letters) - set(LETTERS.values()):
        raise NotFound(f"There is no job {key[:100]!r}.")
    return Job(await to_thread(get_crawl, library, crawl_id), formats)


async def show_job(job: Job, library: Store, retrieval: Retrieval, after: int, base: str) -> dict[str, Any]:
    """Return the state of a job and some of its documents, from after a position."""
    crawl = job.crawl
    documents: list[dict[str, Any]] = []
    chars, last = 0, None
    pages = await to_thread(list_pages, library, crawl.id, after=after, limit=_PAGES + 1)
    for page in pages[:_PAGES]:
        if chars > _MAX_CHARS:
            break
        documents.append(await make_document(page, crawl.id, job.formats, library, retrieval))
        chars += len(str(page.content.get("markdown", "")))
        last = page.position
    shown: dict[str, Any] = {
        "success": True,
        "status": job.state,
        "completed": crawl.kept,
        "total": max(crawl.kept, crawl.admitted if crawl.state == "running" else crawl.kept),
        "creditsUsed": 0,
        "expiresAt": clock.add_seconds(crawl.started_at, _DAYS * 86_400),
        "data": documents,
    }
    if last is not None and len(documents) < len(pages):
        shown["next"] = f"{base}?skip={last + 1}"
    return shown
