"""`/settings/export`: export the library or back it up, with progress, and download the file."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Form
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from pagekeep.doors.http.errors import status_of
from pagekeep.doors.http.web.layout.page import Frame, ReadFrame, WriteFrame
from pagekeep.errors import InvalidQuery, NotAllowed, PagekeepError
from pagekeep.library.exports.kept_files import KeptExport
from pagekeep.library.exports.run import FORMATS, ExportOptions, Format
from pagekeep.library.items import count_items

router = APIRouter()

BACKUP: Final = "backup"
KINDS: Final[dict[str, tuple[str, str, str, str]]] = {
    "markdown": (
        "Markdown files",
        "A ZIP archive of one Markdown file per page.",
        "pagekeep-markdown.zip",
        "application/zip",
    ),
    "epub": ("Book (EPUB)", "All pages as one book for e-readers.", "pagekeep.epub", "application/epub+zip"),
    "html": (
        "One HTML page",
        "All pages in one file that any browser opens.",
        "pagekeep.html",
        "text/html; charset=utf-8",
    ),
    "netscape": (
        "Bookmarks",
        "Addresses and tags, for browsers and bookmark managers.",
        "bookmarks.html",
        "text/html; charset=utf-8",
    ),
    "jsonl": (
        "Everything (JSON Lines)",
        "Texts, tags, highlights and notes; Pagekeep imports it again.",
        "pagekeep.jsonl",
        "application/x-ndjson",
    ),
    "wacz": (
        "Web archive (WACZ)",
        "The pages as they were fetched, for web archive programs.",
        "pagekeep.wacz",
        "application/wacz",
    ),
    BACKUP: (
        "Backup",
        "The whole library with pictures, versions and settings.",
        "pagekeep-backup.zip",
        "application/zip",
    ),
}
"""Of each kind: its name, what it is, and name and type of the file."""


@router.get("/settings/export")
def export_settings(frame: ReadFrame) -> HTMLResponse:
    """Show the forms and the exports that were made, or only these for our script."""
    return _show_page(frame)


def _show_page(frame: Frame, *, status: int = 200, **values: Any) -> HTMLResponse:
    template = "settings/_exports.html" if frame.wants_part else "settings/export.html"
    return frame.show(
        template,
        status=status,
        kinds=KINDS,
        exports=frame.service.kept_exports.list(frame.caller.user_id),
        shared=frame.service.shared,
        **{"problem": None, **values},
    )


@router.post("/settings/export")
async def start_export(
    frame: WriteFrame,
    kind: Annotated[str, Form(max_length=20)],
    query: Annotated[str, Form(max_length=1_000)] = "",
) -> Response:
    """Start an export or a backup."""
    try:
        await _start(frame, kind, query.strip() or None)
    except PagekeepError as error:
        return await run_in_threadpool(_show_page, frame, status=status_of(error), problem=error)
    return RedirectResponse("/settings/export", 303)


async def _start(frame: Frame, kind: str, query: str | None) -> KeptExport:
    if kind == BACKUP and frame.service.shared:
        raise NotAllowed(
            "A backup has the libraries of all users, so only the owner of the server can make it.",
            suggestions=("Export everything instead.",),
        )
    format_: Format | None = next((name for name in FORMATS if name == kind), None)
    if kind not in KINDS or (format_ is None and kind != BACKUP):
        raise InvalidQuery("This kind of export does not exist.", suggestions=("Choose one of the list.",))
    total = (await run_in_threadpool(count_items, frame.library))["items"] if query is None else None
    options = ExportOptions(format_ or "jsonl", None if kind == BACKUP else query)
    return await frame.service.kept_exports.start(frame.caller.user_id, options, backup=kind == BACKUP, total=total)


@router.get("/settings/export/{key}")
def download_export(frame: ReadFrame, key: str) -> FileResponse:
    """Return the file of a complete export."""
    kept, path = frame.service.kept_exports.file(frame.caller.user_id, key)
    _, _, name, media_type = KINDS[kept.format]
    return FileResponse(path, media_type=media_type, filename=name, headers={"Cache-Control": "no-store"})


@router.post("/settings/export/{key}")
def remove_export(frame: WriteFrame, key: str) -> Response:
    """Remove the file of an export."""
    frame.service.kept_exports.remove(frame.caller.user_id, key)
    return RedirectResponse("/settings/export", 303)
