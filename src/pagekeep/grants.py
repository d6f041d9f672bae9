"""Tokens that programs of a dialect get by a password, as OAuth 2 describes it: for an hour, and a second one to renew it.

In place of the account's password a user can enter a token made for the dialect, an app password: it then is the access token
itself, so that revoking it ends everything that was done with it.
"""

from __future__ import annotations

import secrets
from typing import Final, NamedTuple

from pagekeep import clock
from pagekeep.accounts import GRANT_PREFIX, TOKEN_PREFIX, Accounts, check_password, digest, is_granted, token_holder
from pagekeep.errors import NotFound, NotSignedIn
from pagekeep.model import REFRESH, SCOPES, Scope, Token
from pagekeep.text import one_line

ACCESS_SECONDS: Final = 3600
REFRESH_SECONDS: Final = 14 * 86_400
_MAX_GRANTED: Final = 20
"""Tokens of each kind that a user has by passwords in one dialect: a program may sign in at every start. The oldest end."""
_MAX_NAME_CHARS: Final = 60


class Grant(NamedTuple):
    """What a program gets."""

    access: str
    refresh: str
    scopes: tuple[Scope, ...]


def grant_by_password(
    accounts: Accounts, dialect: Scope, name: str, password: str, address: str, *, client: str, local: str | None
) -> Grant:
    """Return tokens for a user's password or app password; `NotSignedIn` when it is wrong.

    `local` is the user of a server without accounts: there any password is right, unless it is a token, as every program on
    the machine may use that server anyway.
    """
    if password.startswith(TOKEN_PREFIX):
        token = check_app_password(accounts, dialect, name, password, local=local)
        return Grant(password, password, _permissions(token))
    user_id = local if local is not None else check_password(accounts, name, password, address).id
    return _grant(accounts, user_id, dialect, SCOPES, client)


def check_app_password(
    accounts: Accounts, dialect: Scope, name: str | None, password: str, *, local: str | None
) -> Token:
    """Return the token that was entered as a password; `NotSignedIn` when it is not valid for this dialect and user."""
    token, owner = token_holder(accounts, password, local=local)
    fits = token.dialect in (None, dialect)
    is_owner = name is None or token.user_id == local or name.strip().casefold() == owner.casefold()
    if not fits or not is_owner:
        raise NotSignedIn("Wrong user name or password.", suggestions=(f"Use a token made for {dialect}.",))
    return token


def renew(accounts: Accounts, dialect: Scope, secret: str, *, client: str, local: str | None) -> Grant:
    """Return new tokens for one that renews, which ends with this; `NotSignedIn` when it is not valid."""
    token, _ = token_holder(accounts, secret, purposes=("sign_in", "refresh"), local=local)
    if token.dialect in (None, dialect) and token.purpose == "sign_in":
        return Grant(secret, secret, _permissions(token))  # an app password stays what it is
    if token.dialect != dialect or token.purpose != "refresh":
        raise NotSignedIn("The refresh token is not valid.")
    made = _grant(accounts, token.user_id, dialect, _permissions(token), client)
    _revoke(accounts, token)
    return made


def _permissions(token: Token) -> tuple[Scope, ...]:
    return tuple(scope for scope in token.scopes if scope in SCOPES)


def _grant(accounts: Accounts, user_id: str, dialect: Scope, scopes: tuple[Scope, ...], client: str) -> Grant:
    _remove_old(accounts, user_id, dialect)
    now = clock.now()
    name = f"{GRANT_PREFIX}{dialect} {one_line(client)[:_MAX_NAME_CHARS]}".strip()
    made = []
    for kind, seconds in (((), ACCESS_SECONDS), ((REFRESH,), REFRESH_SECONDS)):
        secret, until = TOKEN_PREFIX + secrets.token_urlsafe(32), clock.add_seconds(now, seconds)
        accounts.add_token(digest(secret), user_id, name, (*scopes, dialect, *kind), now, until)
        made.append(secret)
    return Grant(made[0], made[1], scopes)


def _remove_old(accounts: Accounts, user_id: str, dialect: Scope) -> None:
    """Revoke the tokens that have expired, and the oldest of each kind if there are many."""
    now = clock.now()
    granted = [token for token in accounts.tokens(user_id) if is_granted(token) and token.dialect == dialect]
    for kind in (True, False):
        valid = []
        for token in granted:
            if (REFRESH in token.scopes) is kind:
                valid.append(token) if (token.expires_at or "") > now else _revoke(accounts, token)
        for token in valid[: max(0, len(valid) - _MAX_GRANTED + 1)]:
            _revoke(accounts, token)


def _revoke(accounts: Accounts, token: Token) -> None:
    try:
        accounts.revoke(token.user_id, token.id)
    except NotFound:  # another request was faster
        return
