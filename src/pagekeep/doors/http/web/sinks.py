"""`/sinks`: where items are sent on to; adding, pairing and testing sinks, and what failed."""

from __future__ import annotations

from asyncio import to_thread
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Form, Path, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from pagekeep.doors.http.caller import FORM_LIMITS, require_no_token
from pagekeep.doors.http.web.layout import Frame, ReadFrame, WriteFrame
from pagekeep.errors import NotFound, PagekeepError
from pagekeep.library.sinks import manage
from pagekeep.library.sinks.runner import open_clients

router = APIRouter()
_PATH: Final = "/sinks"
_SHOWN_DEAD: Final = 50
_SETTING: Final = "set."
"""How the names of form fields begin that are settings of a kind of sink."""
Text = Annotated[str, Form(max_length=20_000)]
SinkId = Annotated[str, Path(min_length=4, max_length=36, pattern=r"^[0-9a-f-]+$")]
NO_TOKEN: Final = [Depends(require_no_token)]


@router.get("/sinks")
def show_sinks(frame: ReadFrame) -> HTMLResponse:
    """Show the sinks, forms to add one, and what failed."""
    return _show_page(frame)


def _show_page(frame: Frame, *, problem: PagekeepError | None = None, **values: Any) -> HTMLResponse:
    blank = {"message": "", "secret": "", "pairing": None, "typed": {"kind": ""}}
    kinds = manage.offered_kinds()
    response = frame.show(
        "sinks.html",
        problem=problem,
        sinks=manage.list_sinks(frame.library),
        kinds=kinds,
        labels=manage.kind_labels(),
        secrets={kind.name: kind.secret for kind in kinds},
        paired={kind.name for kind in kinds if kind.pairs},
        dead=manage.list_deliveries(frame.library, state="dead", limit=_SHOWN_DEAD),
        **blank | values,
    )
    if values.get("secret"):
        response.headers["Cache-Control"] = "no-store"
    return response


@router.post("/sinks", dependencies=NO_TOKEN)
async def add_sink_by_form(
    frame: WriteFrame,
    request: Request,
    kind: Text = "",
    name: Text = "",
    address: Text = "",
    rules: Text = "",
    secret: Text = "",
) -> Response:
    """Add a sink, and show the secret that was made for it."""
    form = await request.form(**FORM_LIMITS)
    settings = {key.removeprefix(_SETTING): str(value) for key, value in form.items() if key.startswith(_SETTING)}
    new = manage.NewSink(kind, name, address, tuple(rules.splitlines()), settings, secret.strip() or None)
    try:
        added = await to_thread(manage.add_sink, frame.library, frame.service.settings, new)
    except PagekeepError as error:
        typed = {"kind": kind, "name": name, "address": address, "rules": rules, **settings}
        return await to_thread(_show_page, frame, problem=error, typed=typed)
    if added.secret:
        return await to_thread(lambda: _show_page(frame, secret=added.secret, message=f"{added.sink.name} was added."))
    return RedirectResponse(_PATH, 303)


@router.post("/sinks/outbox")
def change_outbox(
    frame: WriteFrame,
    action: Text = "",
    sink: Text = "",
    position: Annotated[int | None, Form(ge=1, lt=2**63)] = None,
) -> Response:
    """Try what failed again (`retry`) or drop it (`drop`): all, or one delivery."""
    change = manage.drop_dead if action == "drop" else manage.revive_deliveries
    change(frame.library, sink or None, position)
    return RedirectResponse(_PATH, 303)


@router.post("/sinks/{sink_id}", dependencies=NO_TOKEN)
async def change_sink_by_form(
    frame: WriteFrame,
    sink_id: SinkId,
    action: Text = "",
    rules: Text = "",
    secret: Text = "",
    attempt: Text = "",
    code: Text = "",
) -> Response:
    """Test a sink, pair it (`pair`, then `code`), change its rules or secret, send what is saved, switch or remove it."""
    library = frame.library
    try:
        view = await to_thread(manage.get_sink, library, sink_id)
        message, pairing = await _change(frame, view.sink.id, action, rules, secret, attempt, code)
    except NotFound as error:
        return await to_thread(_show_page, frame, problem=error)
    except PagekeepError as error:
        again = (sink_id, attempt) if action == "code" else None
        return await to_thread(_show_page, frame, problem=error, pairing=again)
    if not message and pairing is None:
        return RedirectResponse(_PATH, 303)
    return await to_thread(_show_page, frame, message=message, pairing=pairing)


async def _change(
    frame: Frame, sink_id: str, action: str, rules: str, secret: str, attempt: str, code: str
) -> tuple[str, tuple[str, str] | None]:
    """Do what a form asks for; return a message to show, and the pairing that waits for its code."""
    library, settings = frame.library, frame.service.settings
    if action in ("test", "pair", "code"):
        async with open_clients(frame.service.retrieval) as clients:
            if action == "test":
                return await manage.check_sink(library, sink_id, clients), None
            if action == "pair":
                return "", (sink_id, await manage.start_pairing(library, sink_id, clients))
            await manage.finish_pairing(library, settings, sink_id, attempt, code, clients)
            return await manage.check_sink(library, sink_id, clients), None
    if action == "send":
        count = await to_thread(manage.send_existing, library, sink_id)
        return f"Saved items that match: {count:,}. Those that are not there yet are sent now.", None
    if action == "rules":
        await to_thread(manage.set_rules, library, sink_id, rules.splitlines())
    elif action == "secret":
        await to_thread(manage.set_secret, library, settings, sink_id, secret)
    elif action in ("on", "off"):
        await to_thread(lambda: manage.switch_sink(library, sink_id, on=action == "on"))
    elif action == "remove":
        await to_thread(manage.remove_sink, library, sink_id)
    return "", None
