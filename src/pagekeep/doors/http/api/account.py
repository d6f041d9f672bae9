"""`/api/v1/account`: the user's account; not available with a token."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from pagekeep.accounts import change_password
from pagekeep.doors.http.api.request_models import PasswordChange
from pagekeep.doors.http.caller import CallerWithoutToken
from pagekeep.doors.http.errors import error_responses
from pagekeep.doors.http.middleware.cookies import set_session
from pagekeep.doors.http.service import CurrentService

router = APIRouter(prefix="/api/v1/account", tags=["account"])


@router.post("/password", status_code=204, responses=error_responses(404, 429))
def set_password(
    request: Request, body: PasswordChange, caller: CallerWithoutToken, service: CurrentService
) -> Response:
    """Change the password. All sessions end; the response sets the cookie of a new one."""
    address = request.client.host if request.client else ""
    _, session = change_password(service.accounts, caller.user_id, body.old, body.new, address)
    response = Response(status_code=204, headers={"Cache-Control": "no-store"})
    set_session(response, request, session)
    return response
