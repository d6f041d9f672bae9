"""`/import`: a library brought along from elsewhere."""

from __future__ import annotations

from time import perf_counter
from typing import Any, Final

from fastapi import APIRouter
from fastapi.responses import HTMLResponse
from starlette.datastructures import UploadFile

from pagekeep.doors.http.caller import FORM_BOUNDS
from pagekeep.doors.http.errors import headers_of, status_of
from pagekeep.doors.http.service import Service
from pagekeep.doors.http.web.layout.page import Changing, Frame, Looking
from pagekeep.errors import InvalidQuery, PagekeepError
from pagekeep.library.imports.build import ReadPage
from pagekeep.library.imports.report import Report
from pagekeep.library.imports.run import Plan, import_stream
from pagekeep.model import Fetched, Options, Page

router = APIRouter()

MOST_TOLD: Final = 50
"""Rows that failed and are shown; the command writes all of them to a file."""


@router.get("/import")
def form(frame: Looking) -> HTMLResponse:
    """Which files can be brought along."""
    return _shown(frame)


@router.post("/import")
async def bring(frame: Changing) -> HTMLResponse:
    """The file's rows into the library; pages it does not carry wait in the queue, or stay bookmarks.

    The form is read here and not before: it may be large, and only now it is known who sends it. Its file goes to the disk.
    """
    async with frame.request.form(**FORM_BOUNDS) as form:
        file, fetch = form.get("file"), form.get("fetch", "queue")
        try:
            if not isinstance(file, UploadFile):
                raise InvalidQuery("There is no file to import.", suggestions=("Choose one.",))
            report = await _brought(file, frame, queue=fetch == "queue")
        except PagekeepError as error:
            answer = _shown(frame, status=status_of(error), problem=error)
            answer.headers.update(headers_of(error))
            return answer
    frame.service.background.nudge()
    return _shown(frame, report=report)


async def _brought(file: UploadFile, frame: Frame, *, queue: bool) -> Report:
    plan = Plan(frame.service.retrieval.rules, queue=queue, read=_reader(frame.service))
    return await frame.service.imports.run(
        lambda: import_stream(file.file, file.filename or "", frame.library, plan),
    )


def _reader(service: Service) -> ReadPage:
    """Carried pages are read like all others, in processes that can be killed."""

    def read(fetched: Fetched, options: Options) -> Page:
        began = perf_counter()
        page = service.reader.read_waiting(fetched, options)
        service.metrics.read(page, fetched, perf_counter() - began)
        return page

    return read


def _shown(frame: Frame, *, status: int = 200, **values: Any) -> HTMLResponse:
    most = frame.service.settings.import_bytes // 1_000_000
    plain = {"report": None, "problem": None, "most_told": MOST_TOLD, "most_megabytes": most}
    return frame.show("import.html", status=status, **{**plain, **values})
