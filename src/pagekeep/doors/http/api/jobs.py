"""`/api/v1/jobs` and `/api/v1/reparse`: the queue, the progress of its jobs, and reparsing many items."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import AsyncIterator
from typing import Annotated, Final

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response
from sse_starlette import EventSourceResponse

from pagekeep import clock, model
from pagekeep.doors.http.api.request_models import ReparseManyRequest
from pagekeep.doors.http.api.response_models import Jobs, OneJob
from pagekeep.doors.http.caller import ReadLibrary, WriteLibrary
from pagekeep.doors.http.errors import error_responses
from pagekeep.doors.http.responses import TaggedRoute
from pagekeep.doors.http.service import CurrentService
from pagekeep.doors.http.streams import Event
from pagekeep.errors import NotFound
from pagekeep.library import queue
from pagekeep.library.items.find import get_item
from pagekeep.library.open import Store
from pagekeep.library.queue import ProgressBoard
from pagekeep.library.saving.reparse import Selection, enqueue_reparse
from pagekeep.present.json_shapes import Item, Job, to_json

router = APIRouter(prefix="/api/v1", tags=["jobs"], route_class=TaggedRoute)
POLL_SECONDS: Final = 1.0
"""How often the library is checked for jobs that another process works on."""
JobId = Annotated[str, Path(max_length=100)]


@router.get("/jobs", responses=error_responses())
def list_jobs(
    library: ReadLibrary,
    state: model.JobState | None = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Jobs:
    """List jobs, newest first; `dead` jobs failed and are not retried."""
    return {"jobs": [to_json(Job, job) for job in library.jobs.list(state, limit)]}


@router.get("/jobs/{job_id}", responses=error_responses(404))
def read_job(job_id: JobId, library: ReadLibrary) -> OneJob:
    """Return a job."""
    return {"job": to_json(Job, library.jobs.get(job_id))}


@router.post("/jobs/{job_id}/revive", responses=error_responses(404))
async def revive_job(job_id: JobId, library: WriteLibrary, service: CurrentService) -> OneJob:
    """Put a dead job back into the queue; other jobs do not change."""
    job = await to_thread(queue.revive_job, library, job_id)
    service.background.nudge()
    return {"job": to_json(Job, job)}


@router.get(
    "/jobs/{job_id}/events",
    response_class=EventSourceResponse,
    responses={
        200: {
            "content": {"text/event-stream": {}},
            "description": "Events `stage` while the job runs, then one `done` or `failed`. The data of each is JSON: "
            "`job`, `stage` (text), `item` (when done, or kept as a bookmark after the last failure).",
        },
        **error_responses(404),
    },
)
async def watch_job(
    request: Request, job_id: JobId, library: ReadLibrary, service: CurrentService
) -> EventSourceResponse:
    """Stream the progress of a job; ends when the job is done, dead, or waiting to be retried, and after 10 minutes.

    A user has at most 8 streams open. Open one again with `Last-Event-ID` to get what has changed since.
    """
    job = await to_thread(library.jobs.get, job_id)
    return service.streams.respond(request, library.user_id, _watch(job, library, service.background.board))


async def _watch(job: model.Job, library: Store, board: ProgressBoard) -> AsyncIterator[Event]:
    last: tuple[str, str | None] | None = None
    while True:
        final = _final_event(job)
        stage = None if final else board.stage(job.id)
        if final or (job.state, stage) != last:
            last = job.state, stage
            item = await to_thread(_result_item, job, library)
            data = {"job": to_json(Job, job), "stage": stage or job.state.capitalize(), "item": item}
            yield final or "stage", data
        if final:
            return
        await board.change(job.id, POLL_SECONDS)
        job = await to_thread(library.jobs.get, job.id)


def _final_event(job: model.Job) -> str | None:
    """Return the name of the last event if the job ended; a job that waits to be retried has failed for now."""
    if job.state in ("done", "dead"):
        return "done" if job.state == "done" else "failed"
    return "failed" if job.state == "queued" and job.error and job.run_after > clock.now() else None


def _result_item(job: model.Job, library: Store) -> Item | None:
    item_id = job.options.get("item")
    if job.state not in ("done", "dead") or item_id is None:
        return None
    try:
        return to_json(Item, get_item(library, str(item_id)))
    except NotFound:  # purged in the meantime
        return None


@router.post("/reparse", status_code=202, responses=error_responses(404))
async def reparse_items(
    response: Response, body: ReparseManyRequest, library: WriteLibrary, service: CurrentService
) -> OneJob:
    """Extract many stored pages again with the current parser and rules; a worse result does not replace the stored one.

    By default, all items extracted with an older parser or other rules. Returns a job; when it is done, its `report` has the
    number of items per outcome.
    """
    choice = Selection(None if body.ids is None else tuple(body.ids), body.domain, body.query, body.limit)
    job = await to_thread(enqueue_reparse, library, choice, force=body.force)
    service.background.nudge()
    response.headers["Location"] = f"/api/v1/jobs/{job.id}"
    return {"job": to_json(Job, job)}
