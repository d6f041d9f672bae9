"""Uploads of whole pages by SingleFile, and the files of a bookmark."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path as FilePath
from typing import Any, BinaryIO, Final

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile

from pagekeep.doors.http.caller import FORM_LIMITS, ReadLibrary, WriteLibrary
from pagekeep.doors.http.compat.file_names import attachment
from pagekeep.doors.http.compat.linkding import bookmarks
from pagekeep.doors.http.observability.logs import log_host
from pagekeep.doors.http.responses import COPY_POLICY, Json
from pagekeep.doors.http.service import CurrentService, Service
from pagekeep.errors import InvalidQuery, NotFound
from pagekeep.library import items
from pagekeep.library.open import Store
from pagekeep.library.pictures.single_file import save_single_file
from pagekeep.model import Item, SaveResult

SINGLE_FILE: Final = "/api/bookmarks/singlefile/"
router = APIRouter()
_RAW: Final = 1
"""The number of the only file of a bookmark: the page as it was fetched or sent."""


@router.post(SINGLE_FILE)
async def save_file(request: Request, library: WriteLibrary, service: CurrentService) -> Response:
    """Save a page that SingleFile sends as `file`, under `url`; its pictures are kept."""
    async with request.form(**FORM_LIMITS) as form:
        url, file = form.get("url"), form.get("file")
        if not isinstance(url, str) or not url.strip():
            raise InvalidQuery("Both `file` and `url` are required.", suggestions=())
        await _save(file, url.strip()[:8_192], library, service)
    return Json({"message": "Snapshot uploaded successfully."}, 201)


@router.get("/api/bookmarks/{number}/assets/")
def list_assets(number: bookmarks.Number, library: ReadLibrary) -> Response:
    """List the files of a bookmark: its page, if it was kept."""
    item = items.get_numbered(library, number)
    assets = [_asset(item, number)] if items.get_raw(library, item.id) is not None else []
    return Json({"count": len(assets), "next": None, "previous": None, "results": assets})


@router.post("/api/bookmarks/{number}/assets/upload/")
async def upload_asset(
    number: bookmarks.Number, request: Request, library: WriteLibrary, service: CurrentService
) -> Response:
    """Save the page of a bookmark that a browser sends as `file`."""
    item = await run_in_threadpool(items.get_numbered, library, number)
    async with request.form(**FORM_LIMITS) as form:
        await _save(form.get("file"), item.url_full, library, service)
    return Json(_asset(item, number), 201)


@router.get("/api/bookmarks/{number}/assets/{asset}/")
def read_asset(number: bookmarks.Number, asset: int, library: ReadLibrary) -> Response:
    """Return what is known of a file."""
    item = items.get_numbered(library, number)
    _raw(library, item, asset)
    return Json(_asset(item, number))


@router.get("/api/bookmarks/{number}/assets/{asset}/download/")
def download_asset(number: bookmarks.Number, asset: int, library: ReadLibrary) -> Response:
    """Return the page as it was fetched, as a download that runs nothing."""
    item = items.get_numbered(library, number)
    headers = {
        "Content-Disposition": attachment(item.title, "html"),
        "Content-Security-Policy": COPY_POLICY,
        "Content-Type": "text/html",
    }
    return Response(_raw(library, item, asset), headers=headers)


def _raw(library: Store, item: Item, asset: int) -> bytes:
    raw = items.get_raw(library, item.id) if asset == _RAW else None
    if raw is None:
        raise NotFound("There is no such file.")
    return raw.body


def _asset(item: Item, number: int) -> dict[str, Any]:
    return {
        "id": _RAW,
        "bookmark": number,
        "asset_type": "snapshot",
        "date_created": item.updated_at,
        "content_type": "text/html",
        "display_name": "Page as it was saved",
        "status": "complete",
    }


async def _save(file: object, url: str, library: Store, service: Service) -> SaveResult:
    if not isinstance(file, UploadFile):
        raise InvalidQuery("Both `file` and `url` are required.", suggestions=())
    log_host(url)
    with tempfile.TemporaryDirectory(prefix="pagekeep-upload-") as folder:
        path = FilePath(folder) / "page.html"
        await run_in_threadpool(_copy, file.file, path)
        saved = await save_single_file(path, url, library, service.retrieval)
    if saved.pictures_job is not None:
        service.background.nudge()
    return saved


def _copy(source: BinaryIO, target: FilePath) -> None:
    with target.open("wb") as out:
        shutil.copyfileobj(source, out)
