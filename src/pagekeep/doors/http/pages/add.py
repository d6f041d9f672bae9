"""`/add`: pages into the library, from a form, a bookmarklet or another application that shares them."""

from __future__ import annotations

from asyncio import to_thread
from typing import Annotated, Final

from fastapi import APIRouter, File, Form, Query, UploadFile
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from pagekeep.app.capture import Request
from pagekeep.app.library import clean_tag
from pagekeep.app.page_files import page_in_file
from pagekeep.app.queue import enqueue
from pagekeep.app.save import Saved, save
from pagekeep.app.shape import saved_shape
from pagekeep.doors.http.answers import Json
from pagekeep.doors.http.errors import status_of
from pagekeep.doors.http.pages.frame import Changing, Frame, Looking
from pagekeep.errors import PagekeepError

router = APIRouter()

_MOST: Final = 500
"""Addresses in one form."""


@router.get("/add")
def form(
    frame: Looking,
    url: Annotated[str, Query(max_length=10_000)] = "",
    text: Annotated[str, Query(max_length=10_000)] = "",
    title: Annotated[str, Query(max_length=10_000)] = "",
) -> HTMLResponse:
    """The form, filled with what is shared. Nothing is saved by following a link: the reader says so."""
    found = url.strip() or next(iter(_addresses(f"{text} {title}")), "")
    return frame.show("add.html", urls=found, tags="", problems=())


@router.post("/add")
async def add(
    frame: Changing,
    urls: Annotated[str, Form()] = "",
    tags: Annotated[str, Form(max_length=500)] = "",
    pages: Annotated[list[UploadFile] | None, File()] = None,
) -> Response:
    """One page is saved while the reader waits; of several, addresses wait in the queue."""
    wanted = urls.split()[:_MOST]
    kept = tuple(filter(None, map(clean_tag, tags.split(","))))
    saved: list[Saved] = []
    problems: list[PagekeepError] = []
    for file in (file for file in pages or () if file.filename):
        await _file(frame, file, kept, saved, problems)
    if len(wanted) == 1:
        await _one(frame, Request(wanted[0]), kept, saved, problems)
    else:
        await _many(frame, wanted, kept, problems)
    if frame.wants_part:
        return _for_script(saved, problems)
    if problems or not (saved or wanted):
        status = status_of(problems[0]) if problems else 422
        return frame.show("add.html", status=status, urls=urls, tags=tags, problems=problems)
    return RedirectResponse(f"/items/{saved[0].item.id}" if len(saved) == 1 and len(wanted) < 2 else "/", 303)


def _for_script(saved: list[Saved], problems: list[PagekeepError]) -> Response:
    """What became of a file that was dropped."""
    if problems:
        raise problems[0]
    return Json({"items": [saved_shape(one) for one in saved]})


async def _one(
    frame: Frame, request: Request, tags: tuple[str, ...], saved: list[Saved], problems: list[PagekeepError]
) -> None:
    try:
        saved.append(await save(request, frame.library, frame.service.retrieval, tags=tags))
    except PagekeepError as error:
        problems.append(error)


async def _many(frame: Frame, urls: list[str], tags: tuple[str, ...], problems: list[PagekeepError]) -> None:
    for url in urls:
        try:
            await to_thread(enqueue, Request(url), frame.library, tags=tags)
        except PagekeepError as error:
            problems.append(error)
    frame.service.background.nudge()


async def _file(
    frame: Frame, file: UploadFile, tags: tuple[str, ...], saved: list[Saved], problems: list[PagekeepError]
) -> None:
    try:
        given = page_in_file(await file.read(), file.filename or "page.html")
        saved.append(await save(Request(given.url), frame.library, frame.service.retrieval, tags=tags, given=given))
    except PagekeepError as error:
        problems.append(error)


def _addresses(text: str) -> list[str]:
    return [word for word in text.split() if word.lower().startswith(("http://", "https://"))]
