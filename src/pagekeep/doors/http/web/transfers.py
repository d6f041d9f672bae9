"""`/import` and `/settings/export`: import from another application; export the library or back it up."""

from __future__ import annotations

from time import perf_counter
from typing import Annotated, Any, Final

from fastapi import APIRouter, Form
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile

from pagekeep.capture.extract import extract_in_room
from pagekeep.doors.http.caller import FORM_LIMITS
from pagekeep.doors.http.errors import headers_of
from pagekeep.doors.http.service import Service
from pagekeep.doors.http.web.layout import Frame, ReadFrame, WriteFrame
from pagekeep.errors import InvalidQuery, NotAllowed, PagekeepError
from pagekeep.library.exports.run import FORMATS, ExportOptions, Format
from pagekeep.library.exports.server_exports import KeptExport
from pagekeep.library.imports.build import ReadPage
from pagekeep.library.imports.run import ImportPlan, ImportReport, import_upload
from pagekeep.model import Fetched, Options, Page

router = APIRouter()

MAX_FAILURES: Final = 50
"""Failed rows shown on the page; `pagekeep import` writes all of them to a file."""


@router.get("/import")
def import_form(frame: ReadFrame) -> HTMLResponse:
    """Show the form."""
    return _show_import_form(frame)


@router.post("/import")
async def import_file(frame: WriteFrame) -> HTMLResponse:
    """Import the rows of the file; queue pages whose text is not in the file, or save them as bookmarks.

    The form is read here and not by FastAPI: it may be large, and only now is the caller authenticated. The file goes to disk.
    """
    try:
        frame.service.imports.check(frame.caller.user_id)
        async with frame.request.form(**FORM_LIMITS) as form:
            file, fetch = form.get("file"), form.get("fetch", "queue")
            if not isinstance(file, UploadFile):
                raise InvalidQuery("No file was sent.", suggestions=("Choose a file to import.",))
            report = await _run_import(file, frame, queue=fetch == "queue")
    except PagekeepError as error:
        response = _show_import_form(frame, problem=error)
        response.headers.update(headers_of(error))
        return response
    frame.service.background.nudge()
    return _show_import_form(frame, report=report)


async def _run_import(file: UploadFile, frame: Frame, *, queue: bool) -> ImportReport:
    plan = ImportPlan(
        frame.service.retrieval.rules,
        queue=queue,
        max_bytes=frame.service.settings.max_bytes,
        auto_tags=frame.service.settings.auto_tags,
        pictures=frame.service.settings,
        read=_page_extractor(frame.service),
    )
    return await frame.service.imports.run(
        frame.caller.user_id,
        lambda: import_upload(file.file, file.filename or "", frame.library, plan),
    )


def _page_extractor(service: Service) -> ReadPage:
    """Return a function that extracts pages contained in the file, in worker processes like all other pages."""

    def read(fetched: Fetched, options: Options) -> Page:
        began = perf_counter()
        page = extract_in_room(service.room, fetched, options, service.settings)
        service.metrics.record_page(page, fetched, perf_counter() - began)
        return page

    return read


def _show_import_form(frame: Frame, **values: Any) -> HTMLResponse:
    max_megabytes = frame.service.settings.import_bytes // 1_000_000
    defaults = {"report": None, "problem": None, "max_failures": MAX_FAILURES, "max_megabytes": max_megabytes}
    return frame.show("import.html", **{**defaults, **values})


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
    return _show_exports(frame)


def _show_exports(frame: Frame, **values: Any) -> HTMLResponse:
    template = "settings/_exports.html" if frame.wants_part else "settings/export.html"
    return frame.show(
        template,
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
        return await run_in_threadpool(_show_exports, frame, problem=error)
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
    total = (await run_in_threadpool(frame.library.counts.totals))["items"] if query is None else None
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
