"""`/api/v1/account` and `/tokens`: the user's account, and access tokens for programs; not available with a token."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request
from fastapi.responses import Response

from pagekeep.doors.http.api.request_models import PairingRequest, PasswordChange, TokenRequest
from pagekeep.doors.http.api.response_models import NewToken, Tokens
from pagekeep.doors.http.caller import CallerWithoutToken, ReadCaller, set_session
from pagekeep.doors.http.errors import error_responses
from pagekeep.doors.http.service import CurrentService
from pagekeep.errors import NotAllowed
from pagekeep.identity import grants
from pagekeep.identity.accounts import add_token, change_password, get_tokens, revoke_token
from pagekeep.present.json_shapes import Token, to_json

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


tokens_router = APIRouter(prefix="/api/v1/tokens", tags=["tokens"])


@tokens_router.get("", responses=error_responses())
def list_tokens(caller: ReadCaller, service: CurrentService) -> Tokens:
    """List the user's tokens, oldest first."""
    if caller.by == "token":
        raise NotAllowed("This is not possible with a token.", suggestions=("Sign in with your password.",))
    return {"tokens": [to_json(Token, token) for token in get_tokens(service.accounts, caller.user_id)]}


@tokens_router.post("", status_code=201, responses=error_responses())
def make_token(response: Response, body: TokenRequest, caller: CallerWithoutToken, service: CurrentService) -> NewToken:
    """Create a token. Its secret is only in this response."""
    made = add_token(service.accounts, caller.user_id, body.name, tuple(body.scopes), days=body.days)
    response.headers["Cache-Control"] = "no-store"
    return {"token": to_json(Token, made.token), "secret": made.secret}


@tokens_router.post("/pairing", status_code=201, responses=error_responses())
def exchange_code(response: Response, body: PairingRequest, service: CurrentService) -> NewToken:
    """Exchange the code of a confirmed pairing, and its verifier, for a token. Needs no sign-in; a code works once."""
    local = None if service.shared else service.settings.user
    made = grants.exchange_code(service.accounts, body.code, body.verifier, local=local)
    response.headers["Cache-Control"] = "no-store"
    return {"token": to_json(Token, made.token), "secret": made.secret}


@tokens_router.delete("/{token_id}", status_code=204, responses=error_responses(404))
def delete_token(
    token_id: Annotated[str, Path(max_length=100)], caller: CallerWithoutToken, service: CurrentService
) -> Response:
    """Revoke a token."""
    revoke_token(service.accounts, caller.user_id, token_id)
    return Response(status_code=204)
