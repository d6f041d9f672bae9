"""`/waiting`: the queue of pages to fetch and of other tasks, and the tasks that failed."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from pagekeep.doors.http.middleware.cross_site import own_path
from pagekeep.doors.http.web.layout.page import ReadFrame, WriteFrame
from pagekeep.doors.http.web.setup.failure_words import describe_failure
from pagekeep.library.failed_saves import count_failed
from pagekeep.library.queue.jobs import count_jobs, forget_job, list_failed_tasks, list_pages, revive_job
from pagekeep.library.reparse.many import Selection, enqueue_reparse

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
        forget_job(frame.library, job_id)
    return RedirectResponse(own_path(back), 303)
