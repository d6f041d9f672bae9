"""`/waiting`: pages that are still to be fetched, and those that could not be."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from pagekeep import clock
from pagekeep.doors.http.web.layout.page import Changing, Looking
from pagekeep.library.reparse.many import Choice, enqueue_reparse

router = APIRouter()

_MOST: Final = 100


@router.get("/waiting")
def waiting(frame: Looking) -> HTMLResponse:
    """Both, the newest first."""
    library = frame.library
    return frame.show(
        "waiting.html",
        counts=library.job_counts(),
        failed=library.jobs("dead", _MOST),
        left=(*library.jobs("running", _MOST), *library.jobs("queued", _MOST)),
    )


@router.post("/waiting")
def read_again(frame: Changing) -> Response:
    """Pages that an older parser or other rules have read are read anew, as they were kept."""
    enqueue_reparse(frame.library, Choice())
    frame.service.background.nudge()
    return RedirectResponse("/waiting", 303)


@router.post("/waiting/{job_id}")
def decide(frame: Changing, job_id: str, action: Annotated[Literal["again", "forget"], Form()] = "again") -> Response:
    """One that failed is tried again, or forgotten."""
    if action == "forget":
        frame.library.forget(job_id)
    else:
        frame.library.revive(job_id, clock.now())
        frame.service.background.nudge()
    return RedirectResponse("/waiting", 303)
