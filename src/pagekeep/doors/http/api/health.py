"""`/healthz`, `/readyz` and `/metrics`."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response
from prometheus_client import CONTENT_TYPE_LATEST

from pagekeep.doors.http.api.response_models import Health
from pagekeep.doors.http.caller import ReadCaller
from pagekeep.doors.http.errors import error_responses
from pagekeep.doors.http.service import CurrentService

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
def read_metrics(service: CurrentService, caller: ReadCaller) -> Response:
    """Return the metrics in the format of Prometheus."""
    return Response(service.metrics.render(service.background.waiting()), headers={"Content-Type": CONTENT_TYPE_LATEST})
