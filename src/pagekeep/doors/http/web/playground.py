"""`/playground`: try rules on a page, and save them; `/items/{id}/explain`: extraction details of a stored page."""

from __future__ import annotations

from asyncio import to_thread
from typing import Annotated, Any, Final, NamedTuple

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse

from pagekeep.capture.active_rules import save_rules
from pagekeep.doors.http.web.layout import Frame, ReadFrame, WriteFrame, image_signer
from pagekeep.errors import NotAllowed, PagekeepError
from pagekeep.library.items.find import get_item
from pagekeep.library.saving.preview import preview_item
from pagekeep.library.saving.try_rules import RuleTrial, try_rules
from pagekeep.present.explain import rule_lines
from pagekeep.present.tasks import ExplainTask
from pagekeep.workers import TEXT

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
def playground_form(frame: ReadFrame, item: str = "") -> HTMLResponse:
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
        return _show_form(frame, problem=error, **values)
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


def _show_form(frame: Frame, **values: Any) -> HTMLResponse:
    defaults = {"trial": None, "saved_in": None, "problem": None, "rule_lines": (), "before": "", "after": ""}
    return frame.show("playground.html", may_save=not frame.service.shared, **{**defaults, **values})


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
    blocks = [block.split("\n") for block in explanation.strip("\n").split("\n\n")]
    sections = [_Section(heading, [_parse_line(line) for line in lines]) for heading, *lines in blocks]
    return frame.show("explain.html", item=item, sections=sections)


def _parse_line(line: str) -> _Line:
    text = line.removeprefix("  ")
    for kind in ("passed", "failed"):
        if text.startswith(f"{kind}  "):
            return _Line(text.removeprefix(f"{kind}  "), kind)
    return _Line(text.strip(), "deeper" if text.startswith("  ") else "")
