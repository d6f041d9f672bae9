"""`/healthz`, `/readyz` and `/metrics`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends
from fastapi.responses import Response
from prometheus_client import CONTENT_TYPE_LATEST

from pagekeep.doors.http.api.models import Health, failures
from pagekeep.doors.http.api.page_requests import Here
from pagekeep.doors.http.caller import Caller, may_read
from pagekeep.doors.http.responses import Json

router = APIRouter(tags=["operation"])


@router.get("/healthz", response_model=Health)
async def tell_health() -> Response:
    """The server runs."""
    return Json({"status": "ok"})


@router.get("/readyz", response_model=Health, responses={503: failures()[503]})
def tell_readiness(service: Here) -> Response:
    """The server can do its work: its library answers."""
    service.background.waiting()
    return Json({"status": "ok"})


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}, **failures()},
)
def tell_numbers(service: Here, caller: Annotated[Caller, Depends(may_read)]) -> Response:
    """Counts and times for Prometheus."""
    return Response(service.metrics.text(service.background.waiting()), headers={"Content-Type": CONTENT_TYPE_LATEST})
