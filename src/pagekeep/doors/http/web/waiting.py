"""`/waiting`: the queue of pages and tasks; `/failed`: the pages that could not be saved."""

from __future__ import annotations

from typing import Annotated, Final, Literal, NamedTuple
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from pagekeep.doors.http.middleware.origins import own_path
from pagekeep.doors.http.web.bulk import acted_toast, redirect_acted
from pagekeep.doors.http.web.formatting import FailureWords, describe_failure
from pagekeep.doors.http.web.layout import ReadFrame, WriteFrame
from pagekeep.library.items import change as actions
from pagekeep.library.items.find import get_item
from pagekeep.library.queue import count_jobs, list_failed_tasks, list_pages, revive_job
from pagekeep.library.saving import failed_saves
from pagekeep.library.saving.failed_saves import count_failed
from pagekeep.library.saving.reparse import Selection, enqueue_reparse
from pagekeep.model import Item
from pagekeep.model.lists import ItemChange

router = APIRouter()

_MAX_JOBS: Final = 100
"""Jobs shown per state."""


@router.get("/waiting")
def show_queue(frame: ReadFrame) -> HTMLResponse:
    """Show waiting jobs, newest first, and the tasks that failed."""
    library = frame.library
    return frame.show(
        "waiting.html",
        counts=count_jobs(library),
        waiting=(*list_pages(library, "running", _MAX_JOBS), *list_pages(library, "queued", _MAX_JOBS)),
        failed_tasks=[(job, describe_failure(job.error)) for job in list_failed_tasks(library, _MAX_JOBS)],
        failed=count_failed(library),
    )


@router.post("/waiting")
def reparse_all(frame: WriteFrame) -> Response:
    """Queue a reparse of all pages extracted with an older parser or other rules."""
    enqueue_reparse(frame.library, Selection())
    frame.service.background.nudge()
    return RedirectResponse("/waiting", 303)


@router.post("/waiting/{job_id}")
def change_job(
    frame: WriteFrame,
    job_id: str,
    action: Annotated[Literal["again", "forget"], Form()] = "again",
    back: Annotated[str, Form()] = "/waiting",
) -> Response:
    """Run a failed task again, or remove it."""
    if action == "again":
        revive_job(frame.library, job_id)
        frame.service.background.nudge()
    else:
        frame.library.jobs.remove(job_id)
    return RedirectResponse(own_path(back), 303)


_PAGE_SIZE: Final = 50
_CHANGES: Final = {"keep": ItemChange(failed=False), "delete": ItemChange(deleted=True)}


class _Failure(NamedTuple):
    """A failed save as it is shown."""

    item: Item
    words: FailureWords
    is_waiting: bool
    """Whether it is in the queue, to be tried again."""


@router.get("/failed")
def show_failed(
    frame: ReadFrame,
    after: Annotated[str | None, Query(max_length=2_000)] = None,
    acted: Annotated[str, Query(max_length=100)] = "",
) -> HTMLResponse:
    """Show what could not be saved, newest first, with the reason and what can be done."""
    page = failed_saves.list_failed(frame.library, limit=_PAGE_SIZE, after=after)
    waiting = failed_saves.find_waiting(frame.library, page.items)
    failures = [_Failure(one, describe_failure(one.metadata.last_error), one.id in waiting) for one in page.items]
    return frame.show(
        "failed.html",
        failures=failures,
        next=f"/failed?{urlencode({'after': page.next})}" if page.next else None,
        total=failed_saves.count_failed(frame.library),
        can_help=failed_saves.count_failed(frame.library, fetch_again=True),
        toast=acted_toast(frame, acted),
    )


@router.post("/failed")
def try_all_again(frame: WriteFrame) -> Response:
    """Put all pages into the queue for which trying again can help."""
    failed_saves.try_all_again(frame.library)
    frame.service.background.nudge()
    return RedirectResponse("/failed", 303)


@router.post("/failed/{key}")
def change_failed(
    frame: WriteFrame,
    key: str,
    action: Annotated[Literal["again", "keep", "delete"], Form()],
    back: Annotated[str, Form(max_length=4_000)] = "/failed",
) -> Response:
    """Try a page again, keep its bookmark, or move it to the trash."""
    item = get_item(frame.library, key)
    if action == "again":
        failed_saves.try_again(frame.library, item)
        frame.service.background.nudge()
        return RedirectResponse(own_path(back), 303)
    change = _CHANGES[action]
    done = actions.change_selected(frame.library, [item.id], change, actions.describe(change))
    return redirect_acted(back, done)
