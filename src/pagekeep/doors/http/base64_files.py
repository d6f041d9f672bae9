"""Files that a client sends in Base64, as part of a JSON body."""

from __future__ import annotations

from base64 import b64decode


def decode_file(text: str) -> bytes:
    """Return the file; raise `ValueError` for what is not Base64. Line ends are allowed, as programs write them."""
    try:
        return b64decode(text, validate=True)
    except ValueError:
        return b64decode(text.replace("\n", "").replace("\r", ""), validate=True)
