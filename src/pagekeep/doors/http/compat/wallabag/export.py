"""`/wallabag/api/entries/{id}/export.{format}`: one entry as a file."""

from __future__ import annotations

import csv
import io
import json
from typing import Any, Final
from xml.sax.saxutils import escape

from fastapi import APIRouter
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from pagekeep.doors.http.caller import ReadCaller, ReadLibrary
from pagekeep.doors.http.compat.file_names import attachment
from pagekeep.doors.http.compat.wallabag import mapping
from pagekeep.doors.http.compat.wallabag.entries import Number
from pagekeep.doors.http.service import CurrentService
from pagekeep.errors import NotFound, NotOffered
from pagekeep.library import items
from pagekeep.library.annotations import get_annotations
from pagekeep.library.copies.make import read_copy
from pagekeep.library.exports.item_book import build_item_book
from pagekeep.library.open import Store
from pagekeep.model import Item
from pagekeep.present.sections import body_of

router = APIRouter(prefix="/api")
_TYPES: Final = {
    "epub": "application/epub+zip",
    "pdf": "application/pdf",
    "txt": "text/plain; charset=utf-8",
    "csv": "application/csv",
    "json": "application/json",
    "xml": "application/xml",
}
_CSV: Final = ("id", "title", "url", "content", "tags", "mimetype", "language", "created_at")


@router.get("/entries/{number}/export.{format}")
async def export_entry(
    number: Number, format: str, library: ReadLibrary, caller: ReadCaller, service: CurrentService
) -> Response:
    """Return an entry as a file: an EPUB with its pictures, a kept PDF of the page, text, CSV, JSON or XML."""
    if format not in _TYPES:
        raise NotFound(f"There is no export as {format:.20}.")
    item = await run_in_threadpool(items.get_numbered, library, number)
    headers = {"Content-Disposition": attachment(item.title, format)}
    if format == "epub":
        data: bytes | str = await build_item_book(library, item, service.room)
    elif format == "pdf":
        data = await run_in_threadpool(_pdf, library, item)
    elif format == "txt":
        data = f"{item.title}\n{item.url}\n\n{body_of(item.content)}"
    else:
        rendered = await service.renderer.render(body_of(item.content), base=item.url, title=item.title)
        marks = await run_in_threadpool(get_annotations, library, item.id)
        data = _write(format, mapping.entry(item, number, marks, caller.name, rendered.html))
    body = data if isinstance(data, bytes) else data.encode("utf-8", "replace")
    return Response(body, media_type=_TYPES[format], headers=headers)


def _pdf(library: Store, item: Item) -> bytes:
    try:
        return read_copy(library, item.id, "pdf")
    except NotFound:
        raise NotOffered(
            "No PDF of this page is kept.", suggestions=("Ask for one on the page of the item.",)
        ) from None


def _write(format: str, entry: dict[str, Any]) -> str:
    if format == "json":
        return json.dumps([entry], ensure_ascii=False)
    if format == "csv":
        out = io.StringIO()
        writer = csv.writer(out, delimiter=";")
        writer.writerow(_CSV)
        tags = ", ".join(tag["label"] for tag in entry["tags"])
        writer.writerow(_safe(tags if name == "tags" else str(entry[name] or "")) for name in _CSV)
        return out.getvalue()
    fields = "".join(_element(name, value) for name, value in entry.items() if not name.startswith("_"))
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<entries><entry>{fields}</entry></entries>\n'


def _safe(cell: str) -> str:
    """Return a cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if cell[:1] in "=+-@\t\r" and cell else cell


def _element(name: str, value: Any) -> str:
    if isinstance(value, list):
        inner = "".join(_element("item", each) for each in value)
    elif isinstance(value, dict):
        inner = "".join(_element(key, each) for key, each in value.items())
    else:
        text = "" if value is None else str(value)
        inner = escape("".join(char for char in text if char >= " " or char in "\t\n\r"))
    return f"<{name}>{inner}</{name}>"
