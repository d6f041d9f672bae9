"""`/api/v1/imports`: import files of other programs, in the background."""

from __future__ import annotations

from asyncio import to_thread
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from pagekeep.doors.http.api.response_models import OneJob
from pagekeep.doors.http.caller import WriteLibrary
from pagekeep.doors.http.errors import error_responses
from pagekeep.doors.http.service import CurrentService
from pagekeep.errors import InvalidQuery
from pagekeep.library.imports.detect import FORMAT_NAMES
from pagekeep.library.imports.job import enqueue_import, store_upload
from pagekeep.present.json_shapes import job_shape

router = APIRouter(prefix="/api/v1", tags=["import and export"])
_FILE = {"required": True, "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}


@router.post(
    "/imports", status_code=202, responses=error_responses(409, 415, 429), openapi_extra={"requestBody": _FILE}
)
async def import_file(
    request: Request,
    response: Response,
    library: WriteLibrary,
    service: CurrentService,
    filename: Annotated[str, Query(max_length=300, description="The file's name, for messages.")] = "import",
    format: Annotated[
        str | None, Query(max_length=50, description=f"Default: detected. One of: {', '.join(FORMAT_NAMES)}.")
    ] = None,
    fetch: Annotated[
        Literal["queue", "never"], Query(description="Whether pages that were never fetched are queued.")
    ] = "queue",
) -> OneJob:
    """Import the file in the body of the request, in any supported format, also as a ZIP archive.

    Returns a job; when it is done, its `report` counts the rows and lists those that failed, with the place and the reason. The
    body is stored as it arrives, never in memory as a whole.
    """
    if format is not None and format not in FORMAT_NAMES:
        raise InvalidQuery(f"Unknown format {format}.", suggestions=(f"Use one of: {', '.join(FORMAT_NAMES)}.",))
    upload_id = await store_upload(request.stream(), library)
    job = await to_thread(enqueue_import, library, upload_id, filename, format=format, fetch=fetch == "queue")
    service.background.nudge()
    response.headers["Location"] = f"/api/v1/jobs/{job.id}"
    return {"job": job_shape(job)}
