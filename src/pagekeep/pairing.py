"""Give the browser extension a token after one click of its user, without a token being typed.

As in OAuth 2 with PKCE: the extension makes a secret verifier and opens `/pair` with its hash, the challenge. When the user
confirms there, the page gets a code; code and verifier together are exchanged for a token. A code alone is worth nothing, works
once and for two minutes, and belongs to the user who confirmed.
"""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
from typing import Final

from pagekeep import clock
from pagekeep.accounts import Accounts, NewToken, add_token, digest, token_holder
from pagekeep.errors import InvalidQuery, NotFound, NotSignedIn
from pagekeep.model import PAIRING, SCOPES

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


def approve(accounts: Accounts, user_id: str, challenge: str, client: str) -> str:
    """Return a code for the extension whose challenge the user confirmed; `client` is the name of its browser."""
    check_challenge(challenge)
    _remove_old(accounts, user_id)
    code, now = secrets.token_urlsafe(32), clock.now()
    browser = browser_name(client)
    name = f"Browser extension ({browser})" if browser else "Browser extension"
    until = clock.add_seconds(now, CODE_SECONDS)
    accounts.add_token(digest(_secret(code, challenge)), user_id, name, (PAIRING,), now, until)
    return code


def exchange(accounts: Accounts, code: str, verifier: str, *, local: str | None) -> NewToken:
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


def _remove_old(accounts: Accounts, user_id: str) -> None:
    now = clock.now()
    codes = [token for token in accounts.tokens(user_id) if token.scopes == (PAIRING,)]
    valid = [token for token in codes if (token.expires_at or "") > now]
    for token in [*(token for token in codes if token not in valid), *valid[: max(0, len(valid) - _MAX_CODES + 1)]]:
        try:
            accounts.revoke(user_id, token.id)
        except NotFound:  # another request was faster
            continue
