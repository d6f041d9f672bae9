"""`/api/v1/reparse`: many kept pages read again, by the queue."""

from __future__ import annotations

from asyncio import to_thread

from fastapi import APIRouter
from fastapi.responses import Response

from pagekeep.doors.http.api.models import AskedToReparseMany, OneJob, failures
from pagekeep.doors.http.api.page_requests import Here
from pagekeep.doors.http.caller import Changes
from pagekeep.doors.http.responses import Json
from pagekeep.library.reparse.many import Selection, enqueue_reparse
from pagekeep.present.json_shapes import job_shape

router = APIRouter(prefix="/api/v1", tags=["jobs"])


@router.post("/reparse", status_code=202, response_model=OneJob, responses=failures(404))
async def reparse_items(asked: AskedToReparseMany, library: Changes, service: Here) -> Response:
    """Read many pages as they were kept again, by the parser and the rules of today; a worse reading replaces nothing.

    Without a choice, those that an older parser or other rules have read. The answer is a job that can be watched; when it is
    done, its `report` tells how many pages came out how.
    """
    choice = Selection(None if asked.ids is None else tuple(asked.ids), asked.domain, asked.query, asked.limit)
    job = await to_thread(enqueue_reparse, library, choice, force=asked.force)
    service.background.nudge()
    return Json({"job": job_shape(job)}, 202, {"Location": f"/api/v1/jobs/{job.id}"})
