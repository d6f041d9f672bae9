"""Standard Webhooks: how a message is signed, and what a secret looks like."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
from typing import Final

from pagekeep.errors import InvalidQuery

PREFIX: Final = "whsec_"
_KEY_BYTES: Final = 32
_MIN_KEY_BYTES, _MAX_KEY_BYTES = 16, 64
HINT: Final = "Use `whsec_` and Base64 of 24 to 64 bytes."


def new_secret() -> str:
    """Return a new secret."""
    return PREFIX + base64.b64encode(secrets.token_bytes(_KEY_BYTES)).decode()


def key_of(secret: str, what: str = "The secret") -> bytes:
    """Return the key in a secret; `InvalidQuery` when there is none. `what` names the secret in the error."""
    try:
        return base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        raise InvalidQuery(f"{what} is not a key.", suggestions=(HINT,)) from None


def check_secret(secret: str) -> None:
    """Raise `InvalidQuery` unless the secret has the form and the length of the standard."""
    if not secret.startswith(PREFIX) or not _MIN_KEY_BYTES <= len(key_of(secret)) <= _MAX_KEY_BYTES:
        raise InvalidQuery("The secret of a webhook is not a key.", suggestions=(HINT,))


def sign(secret: str, message_id: str, timestamp: int, body: bytes, what: str = "The secret") -> str:
    """Return the signature of a message, version 1: HMAC with SHA-256 of id, timestamp and body."""
    signed = f"{message_id}.{timestamp}.".encode() + body
    return f"v1,{base64.b64encode(hmac.new(key_of(secret, what), signed, hashlib.sha256).digest()).decode()}"
