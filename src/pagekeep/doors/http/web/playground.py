"""`/playground`: try rules on a page, compare the result, and save them."""

from __future__ import annotations

from asyncio import to_thread
from typing import Annotated, Any, Final

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse

from pagekeep.capture.active_rules import save_rules
from pagekeep.doors.http.errors import status_of
from pagekeep.doors.http.web.layout.images import image_signer
from pagekeep.doors.http.web.layout.page import Frame, ReadFrame, WriteFrame
from pagekeep.errors import NotAllowed, PagekeepError
from pagekeep.library.items import get_item
from pagekeep.library.try_rules import RuleTrial, try_rules
from pagekeep.present.explain_rules import rule_lines

router = APIRouter()

MAX_YAML_CHARS: Final = 100_000
_EXAMPLE: Final = """- id: my-rule
  phase: pre
  trigger:
    host:
      ends_with: {host}
  remove:
    - .newsletter
"""


@router.get("/playground")
def form(frame: ReadFrame, item: str = "") -> HTMLResponse:
    """Show the form with an example rule for the item's site."""
    chosen = get_item(frame.library, item) if item else None
    yaml = _EXAMPLE.format(host=chosen.domain if chosen else "example.com")
    return _show_form(frame, source=chosen.url if chosen else "", yaml=yaml)


@router.post("/playground")
async def submit(
    frame: WriteFrame,
    source: Annotated[str, Form(max_length=10_000)] = "",
    yaml: Annotated[str, Form(max_length=MAX_YAML_CHARS)] = "",
    action: Annotated[str, Form()] = "try",
) -> HTMLResponse:
    """Show what the rules change on the page; with the action `save`, also save them."""
    values: dict[str, Any] = {"source": source, "yaml": yaml}
    service = frame.service
    try:
        rules = None
        if action == "save":
            rules = await to_thread(lambda: service.retrieval.rules)  # the page is compared with the old rules
            values["saved_in"] = await to_thread(_save_rules, frame, yaml)
        if source.strip():
            page = source.strip()
            trial = await try_rules(yaml, page, frame.library, service.retrieval, rules=rules)
            values |= await _render_trial(frame, trial)
    except PagekeepError as error:
        return _show_form(frame, status=status_of(error), problem=error, **values)
    return _show_form(frame, **values)


def _save_rules(frame: Frame, yaml: str) -> str:
    """Save the rules; return the file name. On a shared server only its administrator may change rules."""
    if frame.service.shared or frame.caller.by != "local":
        raise NotAllowed(
            "Rules cannot be saved here on a shared server.", suggestions=("Ask the administrator to add the rule.",)
        )
    return save_rules(frame.service.settings, yaml)


async def _render_trial(frame: Frame, trial: RuleTrial) -> dict[str, Any]:
    image_url = image_signer(frame.service, frame.caller)
    render = frame.service.renderer.render
    html = [
        (await render(page.markdown, base=page.url or "", image_url=image_url)).html
        for page in (trial.before, trial.after)
    ]
    return {
        "trial": trial,
        "before": html[0],
        "after": html[1],
        "rule_lines": list(rule_lines(trial.matches, verbose=True)),
    }


def _show_form(frame: Frame, *, status: int = 200, **values: Any) -> HTMLResponse:
    defaults = {"trial": None, "saved_in": None, "problem": None, "rule_lines": (), "before": "", "after": ""}
    return frame.show("playground.html", status=status, may_save=not frame.service.shared, **{**defaults, **values})
