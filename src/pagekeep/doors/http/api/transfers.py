"""`/api/v1/imports` and `/api/v1/export`: files of other programs into the library, and the library as one file."""

from __future__ import annotations

from asyncio import to_thread
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response, StreamingResponse

from pagekeep.doors.http.api.response_models import OneJob
from pagekeep.doors.http.caller import ReadCaller, WriteLibrary
from pagekeep.doors.http.errors import error_responses
from pagekeep.doors.http.responses import download
from pagekeep.doors.http.service import CurrentService
from pagekeep.errors import InvalidQuery
from pagekeep.library.exports.markdown_files import Profile
from pagekeep.library.exports.run import FILES, ExportOptions, Format
from pagekeep.library.imports.detect import FORMAT_NAMES
from pagekeep.library.imports.run import enqueue_import, store_upload
from pagekeep.present.json_shapes import Job, to_json

router = APIRouter(prefix="/api/v1", tags=["import and export"])
_FILE: Final = {
    "required": True,
    "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
}


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
    return {"job": to_json(Job, job)}


@router.get(
    "/export",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "The file, in parts. A file that ends without its last part is not complete.",
            "content": {
                kind.partition(";")[0]: {"schema": {"type": "string", "format": "binary"}} for _, kind in FILES.values()
            },
        },
        **error_responses(404, 429),
    },
)
async def export_library(
    caller: ReadCaller,
    service: CurrentService,
    format: Annotated[
        Format,
        Query(
            description="`jsonl`: everything, to import again; `markdown`: a ZIP archive of files; `netscape`: bookmarks; "
            "`html`: one page; `epub`: one book."
        ),
    ] = "jsonl",
    query: Annotated[str | None, Query(max_length=1000, description="Only pages that this search finds.")] = None,
    profile: Annotated[Profile, Query(description="Frontmatter style of the Markdown files.")] = "pagekeep",
) -> StreamingResponse:
    """Export the library, or the pages that a search finds; deleted pages are not exported. One export per user at a time."""
    parts = await service.exports.start(caller.user_id, ExportOptions(format, query, profile))
    return download(parts, *FILES[format])
