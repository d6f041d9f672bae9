"""`/api/v1/tokens`: what lets programs in. No token may make or revoke tokens."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path
from fastapi.responses import Response

from pagekeep.accounts import add_token, get_tokens, revoke_token
from pagekeep.doors.http.api import models
from pagekeep.doors.http.api.models import failures
from pagekeep.doors.http.api.page_requests import Here
from pagekeep.doors.http.caller import Caller, Person, may_read
from pagekeep.doors.http.responses import Json
from pagekeep.errors import NotAllowed
from pagekeep.present.json_shapes import token_shape

router = APIRouter(prefix="/api/v1/tokens", tags=["tokens"])


@router.get("", response_model=models.Tokens, responses=failures())
def list_tokens(caller: Annotated[Caller, Depends(may_read)], service: Here) -> Response:
    """The caller's tokens, oldest first."""
    if caller.by == "token":
        raise NotAllowed("No token may do this.", suggestions=("Sign in.",))
    return Json({"tokens": [token_shape(token) for token in get_tokens(service.accounts, caller.user_id)]})


@router.post("", status_code=201, response_model=models.NewToken, responses=failures())
def make_token(asked: models.AskedForToken, caller: Person, service: Here) -> Response:
    """A new token. Its secret is shown in this answer and never again."""
    made = add_token(service.accounts, caller.user_id, asked.name, tuple(asked.scopes), days=asked.days)
    return Json({"token": token_shape(made.token), "secret": made.secret}, 201, {"Cache-Control": "no-store"})


@router.delete("/{token_id}", status_code=204, responses=failures(404))
def delete_token(token_id: Annotated[str, Path(max_length=100)], caller: Person, service: Here) -> Response:
    """The token is good no more."""
    revoke_token(service.accounts, caller.user_id, token_id)
    return Response(status_code=204)
