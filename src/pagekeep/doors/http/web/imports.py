"""`/import`: import pages from another application."""

from __future__ import annotations

from time import perf_counter
from typing import Any, Final

from fastapi import APIRouter
from fastapi.responses import HTMLResponse
from starlette.datastructures import UploadFile

from pagekeep.capture.extract import extract_in_room
from pagekeep.doors.http.caller import FORM_LIMITS
from pagekeep.doors.http.errors import headers_of, status_of
from pagekeep.doors.http.service import Service
from pagekeep.doors.http.web.layout.page import Frame, ReadFrame, WriteFrame
from pagekeep.errors import InvalidQuery, PagekeepError
from pagekeep.library.imports.build import ReadPage
from pagekeep.library.imports.report import ImportReport
from pagekeep.library.imports.run import ImportPlan, import_upload
from pagekeep.model import Fetched, Options, Page

router = APIRouter()

MAX_FAILURES: Final = 50
"""Failed rows shown on the page; `pagekeep import` writes all of them to a file."""


@router.get("/import")
def form(frame: ReadFrame) -> HTMLResponse:
    """Show the form."""
    return _show_form(frame)


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
        response = _show_form(frame, status=status_of(error), problem=error)
        response.headers.update(headers_of(error))
        return response
    frame.service.background.nudge()
    return _show_form(frame, report=report)


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


def _show_form(frame: Frame, *, status: int = 200, **values: Any) -> HTMLResponse:
    max_megabytes = frame.service.settings.import_bytes // 1_000_000
    defaults = {"report": None, "problem": None, "max_failures": MAX_FAILURES, "max_megabytes": max_megabytes}
    return frame.show("import.html", status=status, **{**defaults, **values})
