"""`/items/{id}/history`, `/diff`, `/versions` and `/watch`: the versions of a page, and watching it for changes."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from fastapi import APIRouter, Form, Query
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from pagekeep.doors.http.web.layout.images import image_signer
from pagekeep.doors.http.web.layout.page import ReadFrame, WriteFrame
from pagekeep.library.history import versions, watch
from pagekeep.library.schedule import format_interval, parse_interval
from pagekeep.present.sections import body_of

router = APIRouter()

INTERVALS: Final = {"1h": "every hour", "6h": "every 6 hours", "1d": "every day", "1w": "every week"}
Number = Annotated[int | None, Query(ge=1, le=1_000_000_000)]


@router.get("/items/{key}/history")
def show_history(frame: ReadFrame, key: str) -> HTMLResponse:
    """Show the versions of a page, newest first."""
    found = versions.get_history(frame.library, key)
    schedule = watch.find_watch(frame.library, found.item.id)
    return frame.show(
        "history.html",
        item=found.item,
        versions=tuple(reversed(found.versions)),
        checked_at=found.checked_at,
        schedule=schedule,
        every=format_interval(schedule.every) if schedule else "",
        intervals=INTERVALS,
    )


@router.get("/items/{key}/diff")
async def show_diff(
    frame: ReadFrame, key: str, before: Number = None, after: Number = None, everything: bool = False
) -> HTMLResponse:
    """Show what changed between two versions, word by word; of a watched page without noise, unless all is wanted."""
    found = await versions.compare_versions(
        frame.library, key, frame.service.retrieval, before, after, everything=everything
    )
    return frame.show("diff.html", item=found.item, found=found, diff=found.diff)


@router.get("/items/{key}/versions/{number}")
async def show_version(frame: ReadFrame, key: str, number: int) -> HTMLResponse:
    """Show a version of a page as it is read today."""
    found = await versions.read_version(frame.library, key, frame.service.retrieval, number=number)
    item = found.text.item
    rendered = await frame.service.renderer.render(
        body_of(item.content), base=item.url, title=item.title, image_url=image_signer(frame.service, frame.caller)
    )
    return frame.show("version.html", item=item, version=found.snapshot, content=rendered.html)


@router.post("/items/{key}/versions/{number}")
async def change_version(
    frame: WriteFrame, key: str, number: int, action: Annotated[Literal["pin", "unpin", "restore"], Form()]
) -> Response:
    """Pin, unpin or restore a version."""
    if action == "restore":
        item = await versions.restore_version(frame.library, key, frame.service.retrieval, number)
        return RedirectResponse(f"/items/{item.id}", 303)
    pinned = action == "pin"
    await run_in_threadpool(versions.pin_version, frame.library, key, number, pinned=pinned)
    return RedirectResponse(f"/items/{key}/history", 303)


@router.post("/items/{key}/watch")
def watch_item(frame: WriteFrame, key: str, every: Annotated[str, Form(max_length=20)] = "1d") -> Response:
    """Watch a page, or stop with the interval `never`."""
    if every == "never":
        watch.unwatch(frame.library, key)
    else:
        watch.watch(frame.library, key, parse_interval(every))
        frame.service.background.nudge()
    return RedirectResponse(f"/items/{key}/history#watch", 303)
