"""`/failed`: the pages that could not be saved, the one list of them."""

from __future__ import annotations

from typing import Annotated, Final, Literal, NamedTuple
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from pagekeep.doors.http.middleware.cross_site import own_path
from pagekeep.doors.http.web.layout.page import ReadFrame, WriteFrame
from pagekeep.doors.http.web.lists.bulk import acted_toast
from pagekeep.doors.http.web.setup.failure_words import FailureWords, describe_failure
from pagekeep.library import actions, failed_saves
from pagekeep.library.items import get_item
from pagekeep.model import Item
from pagekeep.model.lists.values import ItemChange

router = APIRouter()

_PAGE_SIZE: Final = 50
_CHANGES: Final = {"keep": ItemChange(failed=False), "delete": ItemChange(deleted=True)}


class _Failure(NamedTuple):
    """A failed save as it is shown."""

    item: Item
    words: FailureWords
    is_waiting: bool
    """Whether it is in the queue, to be tried again."""


@router.get("/failed")
def show_failed(
    frame: ReadFrame,
    after: Annotated[str | None, Query(max_length=2_000)] = None,
    acted: Annotated[str, Query(max_length=100)] = "",
) -> HTMLResponse:
    """Show what could not be saved, newest first, with the reason and what can be done."""
    page = failed_saves.list_failed(frame.library, limit=_PAGE_SIZE, after=after)
    waiting = failed_saves.find_waiting(frame.library, page.items)
    failures = [_Failure(one, describe_failure(one.metadata.last_error), one.id in waiting) for one in page.items]
    return frame.show(
        "failed.html",
        failures=failures,
        next=f"/failed?{urlencode({'after': page.next})}" if page.next else None,
        total=failed_saves.count_failed(frame.library),
        can_help=failed_saves.count_failed(frame.library, fetch_again=True),
        toast=acted_toast(frame, acted),
    )


@router.post("/failed")
def try_all_again(frame: WriteFrame) -> Response:
    """Put all pages into the queue for which trying again can help."""
    failed_saves.try_all_again(frame.library)
    frame.service.background.nudge()
    return RedirectResponse("/failed", 303)


@router.post("/failed/{key}")
def change_failed(
    frame: WriteFrame,
    key: str,
    action: Annotated[Literal["again", "keep", "delete"], Form()],
    back: Annotated[str, Form(max_length=4_000)] = "/failed",
) -> Response:
    """Try a page again, keep its bookmark, or move it to the trash."""
    item, target = get_item(frame.library, key), own_path(back)
    if action == "again":
        failed_saves.try_again(frame.library, item)
        frame.service.background.nudge()
        return RedirectResponse(target, 303)
    change = _CHANGES[action]
    done = actions.change_selected(frame.library, [item.id], change, actions.describe(change))
    return RedirectResponse(f"{target}{'&' if '?' in target else '?'}{urlencode({'acted': done.action.id})}", 303)
