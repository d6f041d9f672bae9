"""`/items/{id}/explain`: extraction details, from a new extraction of the stored page."""

from __future__ import annotations

from asyncio import to_thread
from typing import NamedTuple

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from pagekeep.doors.http.web.layout.page import ReadFrame
from pagekeep.library.items import get_item
from pagekeep.library.preview import preview_item
from pagekeep.present.tasks import ExplainTask
from pagekeep.workers import TEXT

router = APIRouter()


class _Line(NamedTuple):
    text: str
    kind: str


class _Section(NamedTuple):
    heading: str
    lines: list[_Line]


@router.get("/items/{key}/explain")
async def show_explanation(frame: ReadFrame, key: str) -> HTMLResponse:
    """Show how the content was extracted."""
    library = frame.library
    page = await preview_item(key, library, frame.service.retrieval, needs=("links", "media"))
    item = await to_thread(get_item, library, key)
    explanation = await frame.service.room.run(ExplainTask.of(page), TEXT)
    return frame.show("explain.html", item=item, sections=_split_sections(explanation))


def _split_sections(text: str) -> list[_Section]:
    blocks = [block.split("\n") for block in text.strip("\n").split("\n\n")]
    return [_Section(heading, [_parse_line(line) for line in lines]) for heading, *lines in blocks]


def _parse_line(line: str) -> _Line:
    text = line.removeprefix("  ")
    for kind in ("passed", "failed"):
        if text.startswith(f"{kind}  "):
            return _Line(text.removeprefix(f"{kind}  "), kind)
    return _Line(text.strip(), "deeper" if text.startswith("  ") else "")
