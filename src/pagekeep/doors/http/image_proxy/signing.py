"""Addresses of pictures that only the server can have made: else anyone could have it fetch anything."""

from __future__ import annotations

import hashlib
import hmac
from typing import Final
from urllib.parse import quote

PATH: Final = "/api/proxy-image"


def signature(secret: bytes, user_id: str, url: str) -> str:
    """What the server says about this address and this user, and nobody else can."""
    said = f"image\n{user_id}\n{url}".encode("utf-8", "surrogatepass")
    return hmac.new(secret, said, hashlib.sha256).hexdigest()


def signed_path(secret: bytes, user_id: str, url: str) -> str:
    """Where this user's browser gets the picture from."""
    known = url.encode("utf-8", "replace").decode()  # what cannot be written in an address is no picture anyway
    return f"{PATH}?url={quote(known, safe='')}&sig={signature(secret, user_id, known)}"


def is_ours(secret: bytes, user_id: str, url: str, given: str) -> bool:
    """Whether the server signed this address for this user."""
    return hmac.compare_digest(signature(secret, user_id, url).encode(), given.encode("utf-8", "surrogatepass"))
