"""ID tokens: signature, issuer, audience, time and nonce."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from pagekeep import extras
from pagekeep.errors import AccessError, NotSignedIn
from pagekeep.text import one_line

ALGORITHMS: Final = (
    "RS256",
    "RS384",
    "RS512",
    "PS256",
    "PS384",
    "PS512",
    "ES256",
    "ES384",
    "ES512",
    "EdDSA",
    "Ed25519",
)
"""Signatures with a key pair. Not `none`, and not those with a shared secret, which a public key could be mistaken for."""
SKEW_SECONDS: Final = 60.0
"""By which the clocks of the provider and of this server may differ."""
_MAX_TOKEN_CHARS: Final = 50_000
_MAX_SUBJECT_CHARS: Final = 255
_MAX_EMAIL_CHARS: Final = 200
_MAX_TIME: Final = 1e11
"""Seconds since 1970: the year 5138."""


@dataclass(frozen=True, slots=True)
class Claims:
    """What a provider says about a user."""

    issuer: str
    subject: str
    """The user's name for programs; never given to anybody else."""
    name: str
    email: str
    """Only if the provider has verified it; else empty."""


def check_token(
    token: str, keys: list[dict[str, Any]], issuer: str, client_id: str, nonce: str, now: float
) -> Claims | None:
    """Return the claims of a token that is valid here and now; `None` when none of the keys has signed it.

    `NotSignedIn` when the token is signed, but meant for something else.
    """
    claims = _verify(token, keys)
    if claims is None:
        return None
    problem = _find_problem(claims, issuer, client_id, nonce, now)
    if problem:
        raise NotSignedIn(f"The ID token {problem}.", suggestions=("Try again.",))
    email = claims.get("email") if claims.get("email_verified") is True else ""
    email = email if isinstance(email, str) and len(email) <= _MAX_EMAIL_CHARS and email.isprintable() else ""
    names = (claims.get("preferred_username"), email, claims.get("name"))
    name = next((name for name in names if isinstance(name, str) and name.strip()), "")
    return Claims(issuer.rstrip("/"), claims["sub"], one_line(name)[:200], email)


def _verify(token: str, keys: list[dict[str, Any]]) -> Mapping[str, Any] | None:
    try:
        from joserfc import jwt
        from joserfc.errors import JoseError
        from joserfc.jwk import Key, KeySet, import_key
        from joserfc.jws import JWSRegistry
    except ImportError:
        extras.require("openid", "Sign-in with OpenID Connect", error=AccessError)
        raise
    if len(token) > _MAX_TOKEN_CHARS:
        return None
    faults = (JoseError, ValueError, KeyError, TypeError)
    public = list[Key]()
    for key in keys:
        if key.get("kty") in ("RSA", "EC", "OKP") and key.get("use", "sig") == "sig":
            with suppress(*faults):  # a kind of key that is not known here, beside others that are
                public.append(import_key(key))
    if not public:
        return None
    try:
        registry = JWSRegistry(algorithms=list(ALGORITHMS))
        decoded = jwt.decode(token, KeySet(public), registry=registry)
    except faults:
        return None
    return decoded.claims


def _find_problem(claims: Mapping[str, Any], issuer: str, client_id: str, nonce: str, now: float) -> str:
    """Return what is wrong with the claims; empty if nothing is."""
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    subject = claims.get("sub")
    sent = claims.get("nonce")
    if claims.get("iss") != issuer:
        return "is from another provider"
    if client_id not in audiences or claims.get("azp", client_id if len(audiences) == 1 else None) != client_id:
        return "is for another program"
    ends, begins = _time(claims.get("exp")), _time(claims.get("iat"))
    if ends is None or now > ends + SKEW_SECONDS:
        return "has expired"
    valid_from = _time(claims.get("nbf", begins))
    if begins is None or valid_from is None or max(begins, valid_from) > now + SKEW_SECONDS:
        return "is from the future: compare the clocks"
    if not isinstance(sent, str) or not hmac.compare_digest(sent.encode("utf-8", "surrogatepass"), nonce.encode()):
        return "belongs to another sign-in"
    # What cannot be stored as it is could be stored as the name of another.
    if not isinstance(subject, str) or not 0 < len(subject) <= _MAX_SUBJECT_CHARS or not subject.isprintable():
        return "names no user"
    return ""


def _time(value: object) -> float | None:
    """Return a time of a token, in seconds since 1970; `None` for anything that is not one."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= _MAX_TIME:
        return None
    return float(value)
