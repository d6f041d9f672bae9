"""Tokens that programs get without the user typing one: by a password (OAuth 2), or by pairing (PKCE)."""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
from typing import Final, NamedTuple

from pagekeep import clock
from pagekeep.errors import InvalidQuery, NotFound, NotSignedIn
from pagekeep.identity.accounts import (
    GRANT_PREFIX,
    TOKEN_PREFIX,
    Accounts,
    NewToken,
    add_token,
    check_password,
    digest,
    is_granted,
    token_holder,
)
from pagekeep.model import PAIRING, REFRESH, SCOPES, Scope, Token
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


def renew_grant(accounts: Accounts, dialect: Scope, secret: str, *, client: str, local: str | None) -> Grant:
    """Return new tokens for one that renews, which ends with this; `NotSignedIn` when it is not valid."""
    token, _ = token_holder(accounts, secret, purposes=("sign_in", "refresh"), local=local)
    if token.dialect in (None, dialect) and token.purpose == "sign_in":
        return Grant(secret, secret, _permissions(token))  # an app password stays what it is
    if token.dialect != dialect or token.purpose != "refresh":
        raise NotSignedIn("The refresh token is not valid.")
    made = _grant(accounts, token.user_id, dialect, _permissions(token), client)
    _revoke_grant(accounts, token)
    return made


def _permissions(token: Token) -> tuple[Scope, ...]:
    return tuple(scope for scope in token.scopes if scope in SCOPES)


def _grant(accounts: Accounts, user_id: str, dialect: Scope, scopes: tuple[Scope, ...], client: str) -> Grant:
    _remove_old_grants(accounts, user_id, dialect)
    now = clock.now()
    name = f"{GRANT_PREFIX}{dialect} {one_line(client)[:_MAX_NAME_CHARS]}".strip()
    made = []
    for kind, seconds in (((), ACCESS_SECONDS), ((REFRESH,), REFRESH_SECONDS)):
        secret, until = TOKEN_PREFIX + secrets.token_urlsafe(32), clock.add_seconds(now, seconds)
        accounts.add_token(digest(secret), user_id, name, (*scopes, dialect, *kind), now, until)
        made.append(secret)
    return Grant(made[0], made[1], scopes)


def _remove_old_grants(accounts: Accounts, user_id: str, dialect: Scope) -> None:
    """Revoke the tokens that have expired, and the oldest of each kind if there are many."""
    now = clock.now()
    granted = [token for token in accounts.tokens(user_id) if is_granted(token) and token.dialect == dialect]
    for kind in (True, False):
        valid = []
        for token in granted:
            if (REFRESH in token.scopes) is kind:
                valid.append(token) if (token.expires_at or "") > now else _revoke_grant(accounts, token)
        for token in valid[: max(0, len(valid) - _MAX_GRANTED + 1)]:
            _revoke_grant(accounts, token)


def _revoke_grant(accounts: Accounts, token: Token) -> None:
    try:
        accounts.revoke(token.user_id, token.id)
    except NotFound:  # another request was faster
        return


CODE_SECONDS: Final = 120
BROWSERS: Final = frozenset({"Brave", "Chromium", "Firefox", "Google Chrome", "Microsoft Edge", "Opera", "Vivaldi"})
"""Names that the extension sends. Others are not shown: a phishing page could write its own text into our page by them."""
_MAX_CODES: Final = 5
"""Codes of one user that wait at the same time; the oldest end."""
_CHALLENGE: Final = re.compile(r"[A-Za-z0-9_-]{43}")
"""SHA-256 in base64url without padding."""
_VERIFIER: Final = re.compile(r"[A-Za-z0-9_-]{43,128}")


def check_challenge(challenge: str) -> None:
    """Raise `InvalidQuery` for what the extension cannot have sent."""
    if not _CHALLENGE.fullmatch(challenge):
        raise InvalidQuery(
            "This link is not complete.", suggestions=("Start again with the button Connect of the browser extension.",)
        )


def challenge_of(verifier: str) -> str:
    """Return the challenge for a verifier."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def browser_name(client: str) -> str:
    """Return the name of the extension's browser, or nothing if it is not one that we know."""
    return client if client in BROWSERS else ""


def approve_pairing(accounts: Accounts, user_id: str, challenge: str, client: str) -> str:
    """Return a code for the extension whose challenge the user confirmed; `client` is the name of its browser."""
    check_challenge(challenge)
    _remove_old_codes(accounts, user_id)
    code, now = secrets.token_urlsafe(32), clock.now()
    browser = browser_name(client)
    name = f"Browser extension ({browser})" if browser else "Browser extension"
    until = clock.add_seconds(now, CODE_SECONDS)
    accounts.add_token(digest(_secret(code, challenge)), user_id, name, (PAIRING,), now, until)
    return code


def exchange_code(accounts: Accounts, code: str, verifier: str, *, local: str | None) -> NewToken:
    """Return a token for a code and the verifier of its challenge; `NotSignedIn` when they are not valid together.

    `local` is the user of a server without accounts.
    """
    refusal = NotSignedIn(
        "The code is unknown, used or older than two minutes.", suggestions=("Connect the extension again.",)
    )
    if not _VERIFIER.fullmatch(verifier):
        raise refusal
    try:
        secret = _secret(code, challenge_of(verifier))
        found, _ = token_holder(accounts, secret, purposes=("pairing",), local=local)
        accounts.revoke(found.user_id, found.id)  # one of two requests at once gets `NotFound`
    except (NotFound, NotSignedIn):
        raise refusal from None
    return add_token(accounts, found.user_id, found.name, SCOPES)


def _secret(code: str, challenge: str) -> str:
    """Return what is stored as a digest: the challenge is part of it, so that another verifier finds nothing."""
    return f"pairing {code} {challenge}"


def _remove_old_codes(accounts: Accounts, user_id: str) -> None:
    now = clock.now()
    codes = [token for token in accounts.tokens(user_id) if token.scopes == (PAIRING,)]
    valid = [token for token in codes if (token.expires_at or "") > now]
    for token in [*(token for token in codes if token not in valid), *valid[: max(0, len(valid) - _MAX_CODES + 1)]]:
        try:
            accounts.revoke(user_id, token.id)
        except NotFound:  # another request was faster
            continue
