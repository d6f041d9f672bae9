"""`/api/v1/mail-sources`: folders of mailboxes whose newsletters arrive in the feed inbox."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Path
from fastapi.responses import Response
from pydantic import Field, StringConstraints

from pagekeep import model
from pagekeep.doors.http.api.request_models import RequestBody
from pagekeep.doors.http.api.response_models import MailSources, OneMailSource
from pagekeep.doors.http.caller import ReadLibrary, WriteLibrary
from pagekeep.doors.http.errors import error_responses
from pagekeep.doors.http.responses import TaggedRoute
from pagekeep.doors.http.service import CurrentService
from pagekeep.library.mail import sources
from pagekeep.library.schedule import format_interval, parse_interval
from pagekeep.present.feeds.mail_shapes import MailSource, mail_source_shape

router = APIRouter(prefix="/api/v1", tags=["mail"], route_class=TaggedRoute)
SourceId = Annotated[
    str, Path(min_length=4, max_length=36, pattern=r"^[0-9a-f-]+$", description="Its id, or the beginning of it.")
]
Name = Annotated[str, StringConstraints(min_length=1, max_length=300)]
Senders = Annotated[list[Annotated[str, StringConstraints(max_length=320)]], Field(min_length=1, max_length=500)]
Interval = Annotated[str, StringConstraints(min_length=2, max_length=20)]
_SENDERS: str = "Addresses and domains whose messages are taken; `*` takes all."
_EVERY: str = "5m to 90d: a number and m (minutes), h (hours), d (days) or w (weeks)."


class MailSourceRequest(RequestBody):
    """A folder of a mailbox. Its password is a setting of the server, never part of a request."""

    host: Name
    user: Name
    senders: Senders = Field(description=_SENDERS)
    folder: Name = "INBOX"
    port: Annotated[int, Field(ge=1, le=65_535)] | None = None
    security: Literal["tls", "plain"] = Field("tls", description="`plain` only connects to this machine.")
    every: Interval = Field("15m", description=_EVERY)


class MailSourceChanges(RequestBody):
    """What changes; what is not named stays."""

    senders: Senders | None = Field(None, description=_SENDERS)
    every: Interval | None = Field(None, description=_EVERY)


@router.get("/mail-sources")
def list_mail_sources(library: ReadLibrary) -> MailSources:
    """List the mail sources, with what came from them and which other senders were left out."""
    return {"sources": [_shape(source) for source in sources.list_sources(library)]}


@router.post("/mail-sources", status_code=201, responses=error_responses(403))
def add_mail_source(body: MailSourceRequest, library: WriteLibrary, service: CurrentService) -> OneMailSource:
    """Add a folder of a mailbox; adding it again changes its senders and interval."""
    source, _ = sources.add_source(
        library,
        service.settings,
        body.host,
        body.user,
        senders=body.senders,
        folder=body.folder,
        port=body.port,
        security=body.security,
        every=parse_interval(body.every),
    )
    service.background.nudge()
    return {"source": _shape(source)}


@router.patch("/mail-sources/{source_id}", responses=error_responses(404))
def change_mail_source(
    source_id: SourceId, body: MailSourceChanges, library: WriteLibrary, service: CurrentService
) -> OneMailSource:
    """Change the senders or the interval of a mail source."""
    every = parse_interval(body.every) if body.every is not None else None
    changed = sources.change_source(library, source_id, senders=body.senders, every=every)
    service.background.nudge()
    return {"source": _shape(changed)}


@router.post("/mail-sources/{source_id}/poll", status_code=202, responses=error_responses(404))
def poll_mail_source(source_id: SourceId, library: WriteLibrary, service: CurrentService) -> OneMailSource:
    """Have new messages read as soon as jobs run."""
    source = sources.get_source(library, source_id)
    sources.request_poll(library, source)
    service.background.nudge()
    return {"source": _shape(source)}


@router.delete("/mail-sources/{source_id}", status_code=204, responses=error_responses(404))
def remove_mail_source(source_id: SourceId, library: WriteLibrary) -> Response:
    """Remove a mail source; its newsletters stay in the feed inbox."""
    sources.remove_source(library, source_id)
    return Response(status_code=204)


def _shape(source: model.MailSource) -> MailSource:
    return mail_source_shape(source, format_interval(source.every))
