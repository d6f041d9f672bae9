"""`/api/v1/export`: the library as one file."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from pagekeep.doors.http.caller import ReadCaller
from pagekeep.doors.http.errors import error_responses
from pagekeep.doors.http.service import CurrentService
from pagekeep.library.exports.markdown_files import Profile
from pagekeep.library.exports.run import ExportOptions, Format

router = APIRouter(prefix="/api/v1", tags=["import and export"])
FILES: Final[dict[Format, tuple[str, str]]] = {
    "jsonl": ("pagekeep.jsonl", "application/x-ndjson"),
    "markdown": ("pagekeep-markdown.zip", "application/zip"),
    "netscape": ("bookmarks.html", "text/html; charset=utf-8"),
    "html": ("pagekeep.html", "text/html; charset=utf-8"),
    "epub": ("pagekeep.epub", "application/epub+zip"),
}
"""Name and type of the file of each format."""


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
    name, media_type = FILES[format]
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return StreamingResponse(parts, media_type=media_type, headers=headers)
