"""`/waiting`: the queue of pages to fetch, and the pages that could not be saved."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from pagekeep.doors.http.web.layout.page import ReadFrame, WriteFrame
from pagekeep.library.queue.jobs import count_jobs, forget_job, list_pages, revive_job
from pagekeep.library.reparse.many import Selection, enqueue_reparse

router = APIRouter()

_MAX_JOBS: Final = 100
"""Jobs shown per state."""


@router.get("/waiting")
def show_queue(frame: ReadFrame) -> HTMLResponse:
    """Show waiting and failed jobs, newest first."""
    library = frame.library
    return frame.show(
        "waiting.html",
        counts=count_jobs(library),
        failed=list_pages(library, "dead", _MAX_JOBS),
        waiting=(*list_pages(library, "running", _MAX_JOBS), *list_pages(library, "queued", _MAX_JOBS)),
    )


@router.post("/waiting")
def reparse_all(frame: WriteFrame) -> Response:
    """Queue a reparse of all pages extracted with an older parser or other rules."""
    enqueue_reparse(frame.library, Selection())
    frame.service.background.nudge()
    return RedirectResponse("/waiting", 303)


@router.post("/waiting/{job_id}")
def change_job(
    frame: WriteFrame, job_id: str, action: Annotated[Literal["again", "forget"], Form()] = "again"
) -> Response:
    """Retry a failed job, or remove it."""
    if action == "forget":
        forget_job(frame.library, job_id)
    else:
        revive_job(frame.library, job_id)
        frame.service.background.nudge()
    return RedirectResponse("/waiting", 303)
