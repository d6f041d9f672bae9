"""`/api/v1/account`: what people set for themselves. No token may."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from pagekeep.accounts import change_password
from pagekeep.doors.http.api import models
from pagekeep.doors.http.api.models import failures
from pagekeep.doors.http.api.page_requests import Here
from pagekeep.doors.http.caller import Person
from pagekeep.doors.http.middleware.cookies import set_session

router = APIRouter(prefix="/api/v1/account", tags=["account"])


@router.post("/password", status_code=204, responses=failures(404, 429))
def set_password(request: Request, asked: models.AskedForPassword, caller: Person, service: Here) -> Response:
    """Another password. All sessions end; the answer's cookie is a new one for whoever asks."""
    address = request.client.host if request.client else ""
    _, session = change_password(service.accounts, caller.user_id, asked.old, asked.new, address)
    response = Response(status_code=204, headers={"Cache-Control": "no-store"})
    set_session(response, request, session)
    return response
