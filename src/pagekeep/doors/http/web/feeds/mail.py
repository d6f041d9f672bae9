"""`/settings/mail`: folders of mailboxes whose newsletters arrive in the feed inbox."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Form, Path
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from pagekeep.doors.http.errors import status_of
from pagekeep.doors.http.web.layout.page import Frame, ReadFrame, WriteFrame
from pagekeep.errors import PagekeepError
from pagekeep.library.mail import sources
from pagekeep.library.schedule import format_interval, parse_interval

router = APIRouter()
_PATH: Final = "/settings/mail"
_BLANK: Final = {"host": "", "account": "", "folder": "INBOX", "senders": "", "every": "15m"}
Text = Annotated[str, Form(max_length=20_000)]
SourceId = Annotated[str, Path(min_length=4, max_length=36, pattern=r"^[0-9a-f-]+$")]


@router.get("/settings/mail")
def show_sources(frame: ReadFrame) -> HTMLResponse:
    """Show the mail sources, and a form to add one."""
    return _show_page(frame)


def _show_page(frame: Frame, *, status: int = 200, problem: PagekeepError | None = None, **typed: Any) -> HTMLResponse:
    settings = frame.service.settings
    found = sources.list_sources(frame.library)
    return frame.show(
        "mail.html",
        status=status,
        sources=[(source, format_interval(source.every)) for source in found],
        problem=problem,
        typed=_BLANK | typed,
        shared=settings.shared,
        account=settings.mail_account if settings.mail_password else None,
        has_command=settings.mail_password_command is not None,
    )


@router.post("/settings/mail")
def add_source(
    frame: WriteFrame,
    host: Text = "",
    account: Text = "",
    folder: Text = "INBOX",
    senders: Text = "",
    every: Text = "15m",
) -> Response:
    """Add a mail source, over an encrypted connection."""
    try:
        sources.add_source(
            frame.library,
            frame.service.settings,
            host,
            account,
            senders=senders.replace(",", " ").split(),
            folder=folder,
            every=parse_interval(every),
        )
    except PagekeepError as error:
        typed = {"host": host, "account": account, "folder": folder, "senders": senders, "every": every}
        return _show_page(frame, status=status_of(error), problem=error, **typed)
    frame.service.background.nudge()
    return RedirectResponse(_PATH, 303)


@router.post("/settings/mail/{source_id}")
def change_source(
    frame: WriteFrame, source_id: SourceId, action: Text = "", senders: Text = "", sender: Text = ""
) -> Response:
    """Change the senders of a mail source (`save`, or `allow` one more), poll it (`poll`) or remove it (`remove`)."""
    library = frame.library
    source = sources.get_source(library, source_id)
    try:
        if action == "remove":
            sources.remove_source(library, source_id)
        elif action == "poll":
            sources.request_poll(library, source)
        else:
            listed = (*source.senders, sender) if action == "allow" else senders.replace(",", " ").split()
            sources.change_source(library, source_id, senders=listed)
    except PagekeepError as error:
        return _show_page(frame, status=status_of(error), problem=error)
    frame.service.background.nudge()
    return RedirectResponse(_PATH, 303)
