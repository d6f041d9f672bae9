"""`/waiting`: the queue of pages to fetch. `/failed`: the pages that could not be saved."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from pagekeep.doors.http.middleware.cross_site import own_path
from pagekeep.doors.http.web.layout.page import ReadFrame, WriteFrame
from pagekeep.doors.http.web.setup.failure_words import describe_failure
from pagekeep.library.failed_saves import delete_failed, keep_failed
from pagekeep.library.queue.jobs import count_jobs, forget_job, list_pages, revive_job
from pagekeep.library.reparse.many import Selection, enqueue_reparse

router = APIRouter()

_MAX_JOBS: Final = 100
"""Jobs shown per state."""


@router.get("/waiting")
def show_queue(frame: ReadFrame) -> HTMLResponse:
    """Show waiting jobs, newest first."""
    library = frame.library
    return frame.show(
        "waiting.html",
        counts=count_jobs(library),
        waiting=(*list_pages(library, "running", _MAX_JOBS), *list_pages(library, "queued", _MAX_JOBS)),
    )


@router.get("/failed")
def show_failed(frame: ReadFrame) -> HTMLResponse:
    """Show what could not be saved, newest first, with the reason and the buttons that can help."""
    failed = [(job, describe_failure(job.error)) for job in list_pages(frame.library, "dead", _MAX_JOBS)]
    return frame.show(
        "failed.html", failed=failed, total=count_jobs(frame.library)["dead"], again=sum(w.try_again for _, w in failed)
    )


@router.post("/failed")
def try_all_again(frame: WriteFrame) -> Response:
    """Return the shown jobs to the queue for which that can help."""
    for job in list_pages(frame.library, "dead", _MAX_JOBS):
        if describe_failure(job.error).try_again:
            revive_job(frame.library, job.id)
    frame.service.background.nudge()
    return RedirectResponse("/failed", 303)


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
    action: Annotated[Literal["again", "forget", "bookmark", "delete"], Form()] = "again",
    back: Annotated[str, Form()] = "/waiting",
) -> Response:
    """Retry a failed job, keep its address as a bookmark, delete it, or only remove it from the queue."""
    if action == "again":
        revive_job(frame.library, job_id)
        frame.service.background.nudge()
    else:
        {"forget": forget_job, "bookmark": keep_failed, "delete": delete_failed}[action](frame.library, job_id)
    return RedirectResponse(own_path(back), 303)
