"""`/healthz`, `/readyz` and `/metrics`."""

from __future__ import annotations

import hmac
from asyncio import to_thread

from fastapi import APIRouter, Request
from fastapi.responses import Response
from prometheus_client import CONTENT_TYPE_LATEST

from pagekeep.doors.http.api.response_models import Health
from pagekeep.doors.http.caller import identify, require_read
from pagekeep.doors.http.errors import error_responses
from pagekeep.doors.http.service import CurrentService
from pagekeep.errors import NotAllowed

router = APIRouter(tags=["operation"])


@router.get("/healthz")
async def check_health() -> Health:
    """Check that the server is running."""
    return {"status": "ok"}


@router.get("/readyz", responses={503: error_responses()[503]})
def check_readiness(service: CurrentService) -> Health:
    """Check that the library can be read and written and is not damaged."""
    service.background.probe()
    service.background.waiting()
    return {"status": "ok"}


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}, **error_responses()},
)
async def read_metrics(request: Request, service: CurrentService) -> Response:
    """Return the metrics in the format of Prometheus. On a shared server they need the token of its owner (`metrics_token`)."""
    if service.shared:
        _require_owner(request, service.settings.metrics_token)
    else:
        await require_read(await identify(request, service))
    waiting = await to_thread(service.background.waiting)
    return Response(service.metrics.render(waiting), headers={"Content-Type": CONTENT_TYPE_LATEST})


def _require_owner(request: Request, token: str | None) -> None:
    """Raise `NotAllowed` unless the request has the owner's token: the numbers are about all users."""
    kind, _, sent = request.headers.get("authorization", "").partition(" ")
    if not token or kind.lower() != "bearer" or not hmac.compare_digest(sent.strip().encode(), token.encode()):
        raise NotAllowed(
            "The metrics of a shared server are for its owner.",
            suggestions=("Set `metrics_token` on the server, and send it as a bearer token.",),
        )
