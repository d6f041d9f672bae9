"""Signed image URLs: without a signature anyone could make the server fetch any URL."""

from __future__ import annotations

import hashlib
import hmac
from typing import Final
from urllib.parse import quote

PATH: Final = "/api/proxy-image"


def signature(secret: bytes, user_id: str, url: str) -> str:
    """Return the signature of an image URL for one user."""
    message = f"image\n{user_id}\n{url}".encode("utf-8", "surrogatepass")
    return hmac.new(secret, message, hashlib.sha256).hexdigest()


def signed_path(secret: bytes, user_id: str, url: str) -> str:
    """Return the proxy path of an image for one user."""
    clean = url.encode("utf-8", "replace").decode()  # lone surrogates cannot be part of a URL
    return f"{PATH}?url={quote(clean, safe='')}&sig={signature(secret, user_id, clean)}"


def is_signed(secret: bytes, user_id: str, url: str, claimed: str) -> bool:
    """Return whether the server signed this URL for this user."""
    return hmac.compare_digest(signature(secret, user_id, url).encode(), claimed.encode("utf-8", "surrogatepass"))
