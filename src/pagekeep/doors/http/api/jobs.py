"""`/api/v1/jobs`: saves that wait, and what is being done for them."""

from __future__ import annotations

import json
from asyncio import to_thread
from collections.abc import AsyncIterator
from typing import Annotated, Any, Final

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response
from sse_starlette import EventSourceResponse, ServerSentEvent

from pagekeep import clock
from pagekeep.doors.http.api.models import Jobs, OneJob, failures
from pagekeep.doors.http.api.page_requests import Here
from pagekeep.doors.http.caller import Changes, Reads
from pagekeep.doors.http.responses import Json, answer
from pagekeep.errors import NotFound
from pagekeep.library.items import get_item
from pagekeep.library.open import Store
from pagekeep.library.queue import jobs
from pagekeep.library.queue.progress import Board
from pagekeep.model import Job, JobState
from pagekeep.present.json_shapes import item_shape, job_shape

router = APIRouter(prefix="/api/v1", tags=["jobs"])
LOOK_EVERY: Final = 1.0
"""Seconds after which the library is asked, for jobs that another process works on."""
JobId = Annotated[str, Path(max_length=100)]


@router.get("/jobs", response_model=Jobs, responses=failures())
def list_jobs(
    request: Request,
    library: Reads,
    state: JobState | None = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Response:
    """The latest jobs, newest first; those in the state `dead` were given up."""
    return answer(request, {"jobs": [job_shape(job) for job in jobs.list_jobs(library, state, limit)]})


@router.get("/jobs/{job_id}", response_model=OneJob, responses=failures(404))
def read_job(request: Request, job_id: JobId, library: Reads) -> Response:
    """One job."""
    return answer(request, {"job": job_shape(jobs.get_job(library, job_id))})


@router.post("/jobs/{job_id}/revive", response_model=OneJob, responses=failures(404))
async def revive_job(job_id: JobId, library: Changes, service: Here) -> Response:
    """Put a job that was given up back into the queue; any other stays as it is."""
    job = await to_thread(jobs.revive_job, library, job_id)
    service.background.nudge()
    return Json({"job": job_shape(job)})


@router.get(
    "/jobs/{job_id}/events",
    response_class=EventSourceResponse,
    responses={
        200: {
            "content": {"text/event-stream": {}},
            "description": "Events `stage` while it is worked on, then one `done` or `failed`. The data of each is JSON: "
            "`job`, `stage` (in words), `item` (when done).",
        },
        **failures(404),
    },
)
async def watch_job(job_id: JobId, library: Reads, service: Here) -> EventSourceResponse:
    """What is being done for a job, as it happens; ends when the job is done, was given up, or must wait to be retried."""
    job = await to_thread(jobs.get_job, library, job_id)
    return EventSourceResponse(_events(job, library, service.background.board), headers={"Cache-Control": "no-store"})


async def _events(job: Job, library: Store, board: Board) -> AsyncIterator[ServerSentEvent]:
    told: tuple[str, str | None] | None = None
    while True:
        ended = _ended(job)
        stage = None if ended else board.stage(job.id)
        if ended or (job.state, stage) != told:
            told = job.state, stage
            item = await to_thread(_item, job, library)
            data = {"job": job_shape(job), "stage": stage or job.state.capitalize(), "item": item}
            yield ServerSentEvent(json.dumps(data, ensure_ascii=False), event=ended or "stage")
        if ended:
            return
        await board.change(job.id, LOOK_EVERY)
        job = await to_thread(jobs.get_job, library, job.id)


def _ended(job: Job) -> str | None:
    """The name of the last event, if this is it. A job that is to be tried again later has failed for now."""
    if job.state in ("done", "dead"):
        return "done" if job.state == "done" else "failed"
    return "failed" if job.state == "queued" and job.error and job.run_after > clock.now() else None


def _item(job: Job, library: Store) -> dict[str, Any] | None:
    made = job.options.get("item")
    if job.state != "done" or made is None:
        return None
    try:
        return item_shape(get_item(library, str(made)))
    except NotFound:  # purged meanwhile
        return None
