"""`/playground`: rules tried on a page, what they change beside it, and kept when they are good."""

from __future__ import annotations

from asyncio import to_thread
from typing import Annotated, Any, Final

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse

from pagekeep.capture.active_rules import keep
from pagekeep.doors.http.errors import status_of
from pagekeep.doors.http.web.layout.images import signer
from pagekeep.doors.http.web.layout.page import Changing, Frame, Looking
from pagekeep.errors import NotAllowed, PagekeepError
from pagekeep.library.try_rules import Tried, try_rules
from pagekeep.present.explain_rules import rule_lines

router = APIRouter()

LONGEST: Final = 100_000
"""Characters of rules that are read from the form."""
_EXAMPLE: Final = """- id: my-rule
  phase: pre
  trigger:
    host:
      ends_with: {host}
  remove:
    - .newsletter
"""


@router.get("/playground")
def form(frame: Looking, item: str = "") -> HTMLResponse:
    """The form, with an example for the item's site."""
    found = frame.library.get(item) if item else None
    yaml = _EXAMPLE.format(host=found.domain if found else "example.com")
    return _shown(frame, source=found.url if found else "", yaml=yaml)


@router.post("/playground")
async def try_them(
    frame: Changing,
    source: Annotated[str, Form(max_length=10_000)] = "",
    yaml: Annotated[str, Form(max_length=LONGEST)] = "",
    action: Annotated[str, Form()] = "try",
) -> HTMLResponse:
    """What the rules make of the page; `save` keeps them."""
    values: dict[str, Any] = {"source": source, "yaml": yaml}
    service = frame.service
    try:
        rules = await to_thread(lambda: service.retrieval.rules)  # before they are kept: what they change is to be seen
        if action == "save":
            values["kept"] = await to_thread(_keep, frame, yaml)
        if source.strip():
            page = source.strip()
            tried = await try_rules(yaml, page, frame.library, service.retrieval, service.reader, rules=rules)
            values |= await to_thread(_told, frame, tried)
    except PagekeepError as error:
        return _shown(frame, status=status_of(error), problem=error, **values)
    return _shown(frame, **values)


def _keep(frame: Frame, yaml: str) -> str:
    """Rules are the server's: on one that is shared, its owner keeps them as files."""
    if frame.service.shared or frame.caller.by != "local":
        raise NotAllowed("On a shared server rules are kept by its owner.")
    return keep(frame.service.settings, yaml)


def _told(frame: Frame, tried: Tried) -> dict[str, Any]:
    picture = signer(frame.service, frame.caller)
    render = frame.service.renderer.render
    shown = [render(page.markdown, base=page.url or "", picture=picture).html for page in (tried.before, tried.after)]
    return {"tried": tried, "before": shown[0], "after": shown[1], "did": list(rule_lines(tried.matches))}


def _shown(frame: Frame, *, status: int = 200, **values: Any) -> HTMLResponse:
    plain = {"tried": None, "kept": None, "problem": None, "did": (), "before": "", "after": ""}
    return frame.show("playground.html", status=status, may_keep=not frame.service.shared, **{**plain, **values})
