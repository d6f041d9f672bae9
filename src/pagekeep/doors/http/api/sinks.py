"""`/api/v1/sinks` and `/api/v1/outbox`: where items are sent on to, and what waits to be delivered."""

from __future__ import annotations

from asyncio import to_thread
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Path, Query
from fastapi.responses import Response
from pydantic import Field, StringConstraints

from pagekeep.doors.http.api.request_models import RequestBody
from pagekeep.doors.http.api.response_models import (
    Deliveries,
    NewSink,
    OneSink,
    SinkCount,
    SinkMessage,
    SinkPairing,
    Sinks,
)
from pagekeep.doors.http.caller import ReadLibrary, WriteLibrary, require_no_token
from pagekeep.doors.http.errors import error_responses
from pagekeep.doors.http.responses import TaggedRoute
from pagekeep.doors.http.service import CurrentService
from pagekeep.library.sinks import manage
from pagekeep.library.sinks.kind import Field as Setting
from pagekeep.library.sinks.kind import Kind
from pagekeep.library.sinks.manage import SinkView
from pagekeep.library.sinks.runner import open_clients
from pagekeep.present.json_shapes import shape_of, to_json
from pagekeep.present.sink_shapes import Delivery, KindSetting, Sink, SinkKind

router = APIRouter(prefix="/api/v1", tags=["sinks"], route_class=TaggedRoute)
SinkId = Annotated[
    str, Path(min_length=4, max_length=36, pattern=r"^[0-9a-f-]+$", description="Its id, or the beginning of it.")
]
Short = Annotated[str, StringConstraints(max_length=500)]
Rules = Annotated[list[Annotated[str, StringConstraints(max_length=1_000)]], Field(max_length=20)]
Secret = Annotated[str, StringConstraints(min_length=1, max_length=4_000)]
NO_TOKEN = [Depends(require_no_token)]
"""A leaked token must not add a place that items go to when it was revoked."""
shape_of(Setting)(KindSetting)
shape_of(Kind, settings="fields")(SinkKind)
_RULES: str = "Searches, of which an item must match one; `*` is every item."


class SinkRequest(RequestBody):
    """A new sink."""

    kind: Short = Field(examples=["webhook"])
    name: Annotated[str, StringConstraints(max_length=60)] = Field("", description="By default the name of its kind.")
    address: Annotated[str, StringConstraints(max_length=2_000)] = Field("", description="By default the usual one.")
    rules: Rules = Field([], description=_RULES)
    settings: dict[Short, Short] = Field({}, max_length=20)
    secret: Secret | None = Field(None, description="It is stored encrypted, and never returned.")


class SinkChanges(RequestBody):
    """What changes; what is not named stays."""

    rules: Rules | None = Field(None, description=_RULES)
    secret: Secret | None = None
    state: Literal["active", "off"] | None = None


class PairingCode(RequestBody):
    """The code that the other program shows."""

    attempt: Short
    code: Annotated[str, StringConstraints(min_length=1, max_length=20)]


class ChosenDeliveries(RequestBody):
    """Which deliveries: all that failed, those of a sink, or one."""

    sink: Annotated[str, StringConstraints(min_length=1, max_length=100)] | None = Field(
        None, description="Name or id of a sink."
    )
    position: Annotated[int, Field(ge=1, lt=2**63)] | None = None


@router.get("/sinks")
def list_sinks(library: ReadLibrary) -> Sinks:
    """List the sinks, with what waits for them, and the kinds of sinks that can be added."""
    return {
        "sinks": [_shape(view) for view in manage.list_sinks(library)],
        "kinds": [to_json(SinkKind, kind) for kind in manage.offered_kinds()],
    }


@router.post("/sinks", status_code=201, responses=error_responses(409, 501), dependencies=NO_TOKEN)
def add_sink(response: Response, body: SinkRequest, library: WriteLibrary, service: CurrentService) -> NewSink:
    """Add a sink. Not possible with a token. A secret that was made for it is only in this response."""
    new = manage.NewSink(body.kind, body.name, body.address, tuple(body.rules), body.settings, body.secret)
    added = manage.add_sink(library, service.settings, new)
    response.headers["Cache-Control"] = "no-store"
    return {"sink": _shape(manage.get_sink(library, added.sink.id)), "secret": added.secret}


@router.get("/sinks/{sink_id}", responses=error_responses(404))
def get_sink(sink_id: SinkId, library: ReadLibrary) -> OneSink:
    """Return a sink."""
    return {"sink": _shape(manage.get_sink(library, sink_id))}


@router.patch("/sinks/{sink_id}", responses=error_responses(404, 501), dependencies=NO_TOKEN)
def change_sink(sink_id: SinkId, body: SinkChanges, library: WriteLibrary, service: CurrentService) -> OneSink:
    """Change the rules or the secret of a sink, or switch it on or off. Not possible with a token."""
    view = manage.get_sink(library, sink_id)
    if body.rules is not None:
        view = manage.set_rules(library, sink_id, body.rules)
    if body.secret is not None:
        view = manage.set_secret(library, service.settings, sink_id, body.secret)
    if body.state is not None:
        view = manage.switch_sink(library, sink_id, on=body.state == "active")
    return {"sink": _shape(view)}


@router.delete("/sinks/{sink_id}", status_code=204, responses=error_responses(404))
def remove_sink(sink_id: SinkId, library: WriteLibrary) -> Response:
    """Remove a sink with everything that waits for it; what was delivered stays in the other program."""
    manage.remove_sink(library, sink_id)
    return Response(status_code=204)


@router.post("/sinks/{sink_id}/test", responses=error_responses(404, 415, 502, 504))
async def check_sink(sink_id: SinkId, library: WriteLibrary, service: CurrentService) -> SinkMessage:
    """Check the address and the secret of a sink. A webhook gets an event of the type `test`."""
    async with open_clients(service.retrieval) as clients:
        return {"message": await manage.check_sink(library, sink_id, clients)}


@router.post(
    "/sinks/{sink_id}/pairing", status_code=201, responses=error_responses(404, 501, 502), dependencies=NO_TOKEN
)
async def start_sink_pairing(sink_id: SinkId, library: WriteLibrary, service: CurrentService) -> SinkPairing:
    """Have the other program show a code. Not possible with a token."""
    async with open_clients(service.retrieval) as clients:
        return {"attempt": await manage.start_pairing(library, sink_id, clients)}


@router.post("/sinks/{sink_id}/pairing/code", responses=error_responses(404, 501, 502), dependencies=NO_TOKEN)
async def finish_sink_pairing(
    sink_id: SinkId, body: PairingCode, library: WriteLibrary, service: CurrentService
) -> OneSink:
    """Exchange the code that the other program shows for its key, which is stored. Not possible with a token."""
    async with open_clients(service.retrieval) as clients:
        view = await manage.finish_pairing(library, service.settings, sink_id, body.attempt, body.code, clients)
    return {"sink": _shape(view)}


@router.post("/sinks/{sink_id}/send", status_code=202, responses=error_responses(404))
async def send_to_sink(sink_id: SinkId, library: WriteLibrary) -> SinkCount:
    """Have all saved items that match the rules of a sink sent to it, if it does not have them."""
    return {"count": await to_thread(manage.send_existing, library, sink_id)}


@router.get("/outbox", responses=error_responses(404))
def list_outbox(
    library: ReadLibrary,
    sink: Annotated[str | None, Query(max_length=100, description="Name or id of a sink.")] = None,
    state: Annotated[Literal["queued", "dead"] | None, Query(description="`dead`: failed for good.")] = None,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
) -> Deliveries:
    """List what waits to be delivered and what failed for good, in the order of delivery."""
    found = manage.list_deliveries(library, sink, state, limit)
    return {"deliveries": [to_json(Delivery, one.delivery, sink=one.sink, title=one.title) for one in found]}


@router.post("/outbox/retry", responses=error_responses(404))
def retry_deliveries(body: ChosenDeliveries, library: WriteLibrary) -> SinkCount:
    """Try deliveries again that failed for good; those of a sink that wait for a later time are due now too."""
    return {"count": manage.revive_deliveries(library, body.sink, body.position)}


@router.post("/outbox/drop", responses=error_responses(404))
def drop_deliveries(body: ChosenDeliveries, library: WriteLibrary) -> SinkCount:
    """Drop deliveries that failed for good."""
    return {"count": manage.drop_dead(library, body.sink, body.position)}


def _shape(view: SinkView) -> Sink:
    return to_json(Sink, view.sink, waiting=view.queued, dead=view.dead, has_secret=view.has_secret)
