"""`/api/v1/reparse`: reparse many items in the background."""

from __future__ import annotations

from asyncio import to_thread

from fastapi import APIRouter
from fastapi.responses import Response

from pagekeep.doors.http.api.request_models import ReparseManyRequest
from pagekeep.doors.http.api.response_models import OneJob
from pagekeep.doors.http.caller import WriteLibrary
from pagekeep.doors.http.errors import error_responses
from pagekeep.doors.http.service import CurrentService
from pagekeep.library.reparse.many import Selection, enqueue_reparse
from pagekeep.present.json_shapes import job_shape

router = APIRouter(prefix="/api/v1", tags=["jobs"])


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
    return {"job": job_shape(job)}
