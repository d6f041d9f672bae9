"""`/add`: save pages from the form, the bookmarklet or the share menu of another application."""

from __future__ import annotations

import re
from asyncio import to_thread
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, NamedTuple

from fastapi import APIRouter, File, Form, Query, UploadFile
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from pagekeep.capture.documents.file_types import SUFFIXES
from pagekeep.capture.from_url import Request
from pagekeep.capture.uploads import page_in_file
from pagekeep.doors.http.errors import status_of
from pagekeep.doors.http.responses import Json
from pagekeep.doors.http.web.layout import Frame, ReadFrame, WriteFrame
from pagekeep.errors import InvalidQuery, PagekeepError
from pagekeep.library.queue import SaveRequest, enqueue
from pagekeep.library.saving.save import save
from pagekeep.model import Job, SaveResult
from pagekeep.model.tags import clean_tags
from pagekeep.present import json_shapes
from pagekeep.present.json_shapes import saved_shape, to_json

router = APIRouter()

MAX_URLS: Final = 500
"""URLs accepted in one form."""
_NOTHING_TO_SAVE: Final = InvalidQuery("There is nothing to save.", suggestions=("Enter a URL, or choose a file.",))


@dataclass(frozen=True, slots=True)
class _Rejected:
    """A line of the form, or a file, that was not saved."""

    name: str
    error: PagekeepError

    @property
    def reason(self) -> str:
        """The error message with its suggestions."""
        return " ".join((self.error.message, *self.error.suggestions))


class TypedUrl(NamedTuple):
    """A URL and the text it was parsed from."""

    line: str
    url: str

    @property
    def is_completed(self) -> bool:
        """Whether the scheme was added."""
        return self.line != self.url


@dataclass(frozen=True, slots=True)
class _Result:
    """The outcome of one form."""

    saved: list[SaveResult] = field(default_factory=list)
    queued: list[tuple[TypedUrl, Job]] = field(default_factory=list)
    lines: list[_Rejected] = field(default_factory=list)
    files: list[_Rejected] = field(default_factory=list)
    remaining: list[str] = field(default_factory=list)
    """Lines that stay in the form."""

    @property
    def rejected(self) -> list[_Rejected]:
        """All files and lines that were not saved."""
        return [*self.files, *self.lines]

    @property
    def kept_as_bookmark(self) -> str | None:
        """The item that keeps the only URL of the form, whose page could not be fetched; it shows the reason."""
        one = self.rejected[0] if len(self.rejected) == 1 and not (self.saved or self.queued) else None
        return one.error.item_id if one else None

    def reject(self, line: str, error: PagekeepError) -> None:
        """Report the line as an error and leave it in the form for correction."""
        self.lines.append(_Rejected(line, error))
        self.remaining.append(line)


@router.get("/add")
def form(
    frame: ReadFrame,
    url: Annotated[str, Query(max_length=10_000)] = "",
    text: Annotated[str, Query(max_length=10_000)] = "",
    title: Annotated[str, Query(max_length=10_000)] = "",
) -> HTMLResponse:
    """Show the form, filled with the shared URL. Nothing is saved until the user submits it."""
    words = f"{text} {title}".split()
    shared = next((word for word in words if word.lower().startswith(("http://", "https://"))), "")
    return _show_form(frame, urls=url.strip() or shared)


@router.post("/add")
async def add(
    frame: WriteFrame,
    urls: Annotated[str, Form()] = "",
    tags: Annotated[str, Form(max_length=500)] = "",
    pages: Annotated[list[UploadFile] | None, File()] = None,
) -> Response:
    """Save one page at once; queue the URLs if there are several or if our script sent the form."""
    typed = parse_urls(urls)
    cleaned = clean_tags(tags.split(","))
    result = _Result()
    for file in (file for file in pages or () if file.filename):
        await _save_file(frame, file, cleaned, result)
    if len(typed) == 1 and not frame.wants_part:
        await _save_url(frame, typed[0], cleaned, result)
    else:
        await to_thread(_queue_urls, frame, typed, cleaned, result)
        frame.service.background.nudge()
    if frame.wants_part:
        return _script_response(result)
    kept = result.kept_as_bookmark
    if kept is not None:
        return RedirectResponse(f"/items/{kept}", 303)
    if result.rejected:
        status = status_of(result.rejected[0].error)
        return _show_form(frame, status=status, urls="\n".join(result.remaining), tags=tags, added=result)
    if not (result.saved or typed):
        return _show_form(frame, tags=tags, problem=_NOTHING_TO_SAVE)
    return RedirectResponse(
        f"/items/{result.saved[0].item.id}" if len(result.saved) == 1 and len(typed) < 2 else "/", 303
    )


def _script_response(result: _Result) -> Response:
    """Return the outcome of a dropped file, or of each URL in the form, as JSON."""
    if result.files:
        raise result.files[0].error
    queued = [{"line": one.line, "url": one.url, "job": to_json(json_shapes.Job, job)} for one, job in result.queued]
    rejected = [{"line": one.name, "error": one.reason} for one in result.lines]
    items = [saved_shape(one) for one in result.saved]
    return Json({"items": items, "queued": queued, "rejected": rejected, "remaining": result.remaining})


async def _save_url(frame: Frame, typed: TypedUrl, tags: tuple[str, ...], result: _Result) -> None:
    try:
        result.saved.append(await save(SaveRequest(Request(typed.url), tags), frame.library, frame.service.retrieval))
        frame.service.background.nudge()  # for the pictures
    except PagekeepError as error:
        result.reject(typed.line, error)


def _queue_urls(frame: Frame, typed: list[TypedUrl], tags: tuple[str, ...], result: _Result) -> None:
    for one in typed[:MAX_URLS]:
        try:
            result.queued.append((one, enqueue(SaveRequest(Request(one.url), tags), frame.library)))
        except PagekeepError as error:
            result.reject(one.line, error)
    over = [one.line for one in typed[MAX_URLS:]]
    if over:
        too_many = InvalidQuery(
            f"At most {MAX_URLS} URLs can be added at once.", suggestions=("Submit the form again to add the rest.",)
        )
        result.lines.append(_Rejected(f"{len(over)} more", too_many))
        result.remaining.extend(over)


async def _save_file(frame: Frame, file: UploadFile, tags: tuple[str, ...], result: _Result) -> None:
    name = file.filename or "page.html"
    try:
        fetched = await page_in_file(await file.read(), name, frame.service.retrieval)
        request = SaveRequest(Request(fetched.url), tags, uploaded=fetched)
        result.saved.append(await save(request, frame.library, frame.service.retrieval))
    except PagekeepError as error:
        result.files.append(_Rejected(name, error))


def _show_form(frame: Frame, **values: Any) -> HTMLResponse:
    accept = ",".join(f".{suffix}" for suffix in SUFFIXES)
    defaults = {"urls": "", "tags": "", "added": _Result(), "problem": None, "accept": accept}
    return frame.show("add.html", **{**defaults, **values})


_FULL_URL: Final = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_LABEL: Final = re.compile(r"[^\W_](?:[\w-]{0,61}[^\W_])?")
_ENDS_HOST: Final = re.compile(r"[/?#]")


def parse_urls(text: str) -> list[TypedUrl]:
    """Return the URLs of all lines without repeats; a line without a URL is returned unchanged, for the caller to reject."""
    return list(dict.fromkeys(one for line in text.splitlines() for one in _parse_line(line.strip())))


def _parse_line(line: str) -> list[TypedUrl]:
    """Return the URLs of one line; words next to a full URL are its title, as applications share it."""
    words = line.split()
    full = [word for word in words if _FULL_URL.match(word)]
    if full:
        return [TypedUrl(word, word) for word in full]
    if words and all(map(_begins_with_host, words)):
        return [TypedUrl(word, f"https://{word}") for word in words]
    return [TypedUrl(line, line)] if line else []


def _begins_with_host(word: str) -> bool:
    """Return whether the word looks like `example.com/post`, which every browser completes."""
    host, _, port = _ENDS_HOST.split(word, maxsplit=1)[0].partition(":")
    labels = host.split(".")
    top = labels[-1]
    is_name = len(labels) > 1 and len(top) > 1 and (top.isalpha() or top.startswith("xn--"))
    return is_name and (not port or port.isdecimal()) and all(map(_LABEL.fullmatch, labels))
