"""`/add`: pages into the library, from a form, a bookmarklet or another application that shares them."""

from __future__ import annotations

from asyncio import to_thread
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from fastapi import APIRouter, File, Form, Query, UploadFile
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from pagekeep.capture.files import page_in_file
from pagekeep.capture.from_url import Request
from pagekeep.doors.http.errors import status_of
from pagekeep.doors.http.responses import Json
from pagekeep.doors.http.web.layout.page import Changing, Frame, Looking
from pagekeep.doors.http.web.typed_urls import Typed, typed
from pagekeep.errors import InvalidQuery, PagekeepError
from pagekeep.library.items import clean_tag
from pagekeep.library.queue.jobs import enqueue
from pagekeep.library.save import save
from pagekeep.model import Job, SaveResult
from pagekeep.present.json_shapes import job_shape, saved_shape

router = APIRouter()

MOST: Final = 500
"""Addresses in one form."""
_NOTHING: Final = InvalidQuery(
    "There is nothing to save.", suggestions=("Type or paste an address, or choose a file.",)
)


@dataclass(frozen=True, slots=True)
class _Refused:
    """A line of the form, or a file, that is not saved."""

    name: str
    error: PagekeepError

    @property
    def why(self) -> str:
        """The reason, and what helps."""
        return " ".join((self.error.message, *self.error.suggestions))


@dataclass(frozen=True, slots=True)
class _Added:
    """What became of a form."""

    saved: list[SaveResult] = field(default_factory=list)
    queued: list[tuple[Typed, Job]] = field(default_factory=list)
    lines: list[_Refused] = field(default_factory=list)
    files: list[_Refused] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    """Lines that stay in the form."""

    @property
    def refused(self) -> list[_Refused]:
        """All that is not saved."""
        return [*self.files, *self.lines]

    def refuse(self, line: str, error: PagekeepError) -> None:
        """It stays in the form, where it can be mended."""
        self.lines.append(_Refused(line, error))
        self.left.append(line)


@router.get("/add")
def form(
    frame: Looking,
    url: Annotated[str, Query(max_length=10_000)] = "",
    text: Annotated[str, Query(max_length=10_000)] = "",
    title: Annotated[str, Query(max_length=10_000)] = "",
) -> HTMLResponse:
    """The form, filled with what is shared. Nothing is saved by following a link: the reader says so."""
    return _shown(frame, urls=url.strip() or next(iter(_addresses(f"{text} {title}")), ""))


@router.post("/add")
async def add(
    frame: Changing,
    urls: Annotated[str, Form()] = "",
    tags: Annotated[str, Form(max_length=500)] = "",
    pages: Annotated[list[UploadFile] | None, File()] = None,
) -> Response:
    """One page is saved while the reader waits; of several, and for our script, addresses wait in the queue."""
    wanted = typed(urls)
    kept = tuple(filter(None, map(clean_tag, tags.split(","))))
    added = _Added()
    for file in (file for file in pages or () if file.filename):
        await _file(frame, file, kept, added)
    if len(wanted) == 1 and not frame.wants_part:
        await _one(frame, wanted[0], kept, added)
    else:
        await to_thread(_many, frame, wanted, kept, added)
        frame.service.background.nudge()
    if frame.wants_part:
        return _for_script(added)
    if added.refused:
        status = status_of(added.refused[0].error)
        return _shown(frame, status=status, urls="\n".join(added.left), tags=tags, added=added)
    if not (added.saved or wanted):
        return _shown(frame, status=status_of(_NOTHING), tags=tags, problem=_NOTHING)
    return RedirectResponse(
        f"/items/{added.saved[0].item.id}" if len(added.saved) == 1 and len(wanted) < 2 else "/", 303
    )


def _for_script(added: _Added) -> Response:
    """What became of a file that was dropped, or of each address of a form."""
    if added.files:
        raise added.files[0].error
    taken = [{"line": one.line, "url": one.url, "job": job_shape(job)} for one, job in added.queued]
    refused = [{"line": one.name, "error": one.why} for one in added.lines]
    items = [saved_shape(one) for one in added.saved]
    return Json({"items": items, "taken": taken, "refused": refused, "left": added.left})


async def _one(frame: Frame, wanted: Typed, tags: tuple[str, ...], added: _Added) -> None:
    try:
        added.saved.append(await save(Request(wanted.url), frame.library, frame.service.retrieval, tags=tags))
    except PagekeepError as error:
        added.refuse(wanted.line, error)


def _many(frame: Frame, wanted: list[Typed], tags: tuple[str, ...], added: _Added) -> None:
    for one in wanted[:MOST]:
        try:
            added.queued.append((one, enqueue(Request(one.url), frame.library, tags=tags)))
        except PagekeepError as error:
            added.refuse(one.line, error)
    over = [one.line for one in wanted[MOST:]]
    if over:
        said = InvalidQuery(f"{MOST} are taken at a time.", suggestions=("Those that are left are still in the form.",))
        added.lines.append(_Refused(f"{len(over)} more", said))
        added.left.extend(over)


async def _file(frame: Frame, file: UploadFile, tags: tuple[str, ...], added: _Added) -> None:
    name = file.filename or "page.html"
    try:
        given = page_in_file(await file.read(), name)
        saved = await save(Request(given.url), frame.library, frame.service.retrieval, tags=tags, given=given)
        added.saved.append(saved)
    except PagekeepError as error:
        added.files.append(_Refused(name, error))


def _shown(frame: Frame, *, status: int = 200, **values: Any) -> HTMLResponse:
    plain = {"urls": "", "tags": "", "added": _Added(), "problem": None}
    return frame.show("add.html", status=status, **{**plain, **values})


def _addresses(text: str) -> list[str]:
    return [word for word in text.split() if word.lower().startswith(("http://", "https://"))]
