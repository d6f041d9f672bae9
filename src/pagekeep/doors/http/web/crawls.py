"""`/crawls`: start crawls of whole sites, watch them, and read their pages."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Form, Query
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from pagekeep.doors.http.web.add import parse_urls
from pagekeep.doors.http.web.layout import ReadFrame, WriteFrame
from pagekeep.errors import PagekeepError
from pagekeep.library.crawl import crawls
from pagekeep.library.crawl.addresses import CrawlOptions
from pagekeep.present.crawl_shapes import COUNT_WORDS, REASONS

router = APIRouter()
_MAX_CRAWLS: Final = 100
_MAX_PAGES: Final = 100
_MAX_PROBLEMS: Final = 50


@router.get("/crawls")
def show_crawls(frame: ReadFrame) -> HTMLResponse:
    """Show the crawls, the one that was started last first, and the form for a new one."""
    return _show(frame)


def _show(frame: Any, *, error: PagekeepError | None = None, url: str = "", limit: int = 1_000) -> HTMLResponse:
    found = frame.library.crawls.list(_MAX_CRAWLS)
    response: HTMLResponse = frame.show(
        "crawls.html",
        crawls=found,
        running=any(one.state == "running" for one in found),
        reasons=REASONS,
        error=error,
        url=url,
        limit=limit,
    )
    if error is not None:
        response.status_code = 400
    return response


@router.post("/crawls")
def start_crawl(
    frame: WriteFrame,
    url: Annotated[str, Form(max_length=8192)] = "",
    limit: Annotated[int, Form(ge=1, le=1_000_000)] = 1_000,
    save: Annotated[bool, Form()] = False,
) -> Response:
    """Start a crawl in the background."""
    try:
        seeds = tuple(typed.url for typed in parse_urls(url))
        options = CrawlOptions(seeds, pages=limit, save=save)
        crawl = crawls.start_crawl(frame.library, options)
    except PagekeepError as error:
        return _show(frame, error=error, url=url, limit=limit)
    return RedirectResponse(f"/crawls/{crawl.id}", 303)


@router.get("/crawls/{crawl_id}")
def show_crawl(frame: ReadFrame, crawl_id: str, after: Annotated[int, Query(ge=-1, le=10**12)] = -1) -> HTMLResponse:
    """Show a crawl: its progress, what was left out and why, and its pages."""
    crawl = frame.library.crawls.get(crawl_id)
    found = crawls.list_pages(frame.library, crawl.id, after=after, limit=_MAX_PAGES)
    return frame.show(
        "crawl.html",
        crawl=crawl,
        reasons=REASONS,
        words=COUNT_WORDS,
        pages=found,
        next=found[-1].position if len(found) == _MAX_PAGES else None,
        problems=crawls.list_problems(frame.library, crawl.id, limit=_MAX_PROBLEMS),
    )


@router.post("/crawls/{crawl_id}")
def change_crawl(
    frame: WriteFrame, crawl_id: str, action: Annotated[Literal["cancel", "resume", "update", "remove"], Form()]
) -> Response:
    """Cancel, resume, update or remove a crawl."""
    crawl = frame.library.crawls.get(crawl_id)
    if action == "remove":
        crawls.remove_crawl(frame.library, crawl.id)
        return RedirectResponse("/crawls", 303)
    if action == "cancel":
        crawls.cancel_crawl(frame.library, crawl.id)
    elif action == "resume":
        crawls.resume_crawl(frame.library, crawl.id)
    else:
        crawls.start_again(frame.library, crawl.id)
    return RedirectResponse(f"/crawls/{crawl.id}", 303)
