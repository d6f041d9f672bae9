"""`/import`: a library brought along from elsewhere."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Final

from fastapi import APIRouter, File, Form, UploadFile
from fastapi.responses import HTMLResponse

from pagekeep.app.importing.building import ReadPage
from pagekeep.app.importing.running import Plan, import_stream
from pagekeep.doors.http.errors import status_of
from pagekeep.doors.http.pages.frame import Changing, Frame, Looking
from pagekeep.errors import PagekeepError
from pagekeep.model import Fetched, Options, Page

router = APIRouter()

MOST_TOLD: Final = 50
"""Rows that failed and are shown; the command writes all of them to a file."""


@router.get("/import")
def form(frame: Looking) -> HTMLResponse:
    """Which files can be brought along."""
    return _shown(frame)


@router.post("/import")
async def bring(
    frame: Changing,
    file: Annotated[UploadFile, File()],
    fetch: Annotated[str, Form()] = "queue",
) -> HTMLResponse:
    """The file's rows into the library; pages it does not carry wait in the queue, or stay bookmarks."""
    service = frame.service
    plan = Plan(service.retrieval.rules, queue=fetch == "queue", read=_reader(frame, asyncio.get_running_loop()))
    try:
        report = await asyncio.to_thread(import_stream, file.file, file.filename or "", frame.library, plan)
    except PagekeepError as error:
        return _shown(frame, status=status_of(error), problem=error)
    service.background.nudge()
    return _shown(frame, report=report)


def _reader(frame: Frame, loop: asyncio.AbstractEventLoop) -> ReadPage:
    """Carried pages are read like all others, in processes that can be killed."""

    def read(fetched: Fetched, options: Options) -> Page:
        return asyncio.run_coroutine_threadsafe(frame.service.retrieval.read(fetched, options), loop).result()

    return read


def _shown(frame: Frame, *, status: int = 200, **values: Any) -> HTMLResponse:
    plain = {"report": None, "problem": None, "most_told": MOST_TOLD}
    return frame.show("import.html", status=status, **{**plain, **values})
