"""Signed receipts: an Ed25519 signature, made when a text is stored, over the hashes of its receipt."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pagekeep import clock, extras
from pagekeep.errors import InvalidQuery, StoreError
from pagekeep.model import Item
from pagekeep.private_files import create_key

KEY_FILE: Final = "receipts.key"
RECEIPT: Final = ("raw_hash", "parser_version", "rules_hash", "options", "content_hash", "text_hash")
"""What a complete receipt has, as fields of `ItemMetadata`."""
_CONTEXT: Final = b"pagekeep receipt 1\n"
"""Signed with every statement, so that no other signature of the key can pass for one of a receipt."""
_KEY_BYTES: Final = 32
_MAX_STATEMENT_CHARS: Final = 20_000


class Signer:
    """Signs receipts with the key in a file, which is created when it is first needed."""

    def __init__(self, path: Path) -> None:
        extras.require("signatures", "Signing receipts")
        self._path = path
        self._key: Any = None

    def __call__(self, item: Item) -> dict[str, str]:
        """Return the signed receipt of an item."""
        key = self._load()
        statement = json.dumps({**_claims(item), "signed_at": clock.now()}, sort_keys=True)
        signature = key.sign(_CONTEXT + statement.encode())
        return {
            "statement": statement,
            "key": _encode(key.public_key().public_bytes_raw()),
            "signature": _encode(signature),
        }

    def _load(self) -> Any:
        if self._key is None:
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

            try:
                create_key(self._path, _KEY_BYTES)
                seed = _decode(self._path.read_text("ascii").strip())
                self._key = Ed25519PrivateKey.from_private_bytes(seed)
            except (OSError, ValueError) as error:
                raise StoreError(
                    f"The key of receipts {self._path} cannot be used.",
                    suggestions=("Check the file and its permissions.", "Or switch off the setting `sign_receipts`."),
                ) from error
        return self._key


@dataclass(frozen=True, slots=True)
class Signature:
    """What was found about the signature of an item's receipt."""

    key: str
    """The public key, in Base64."""
    is_valid: bool
    """Whether the key signed the statement."""
    is_current: bool
    """Whether the statement is about the item as it is now; a text that was stored without signing has an older one."""


def check_signature(item: Item) -> Signature | None:
    """Return what the signature of an item's receipt is worth; `None` without one, or where none can be checked."""
    signed = item.metadata.signature
    if signed is None or extras.find_missing("signatures"):
        return None
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    statement, key = str(signed.get("statement")), str(signed.get("key"))[:100]
    if len(statement) > _MAX_STATEMENT_CHARS:
        return Signature(key, is_valid=False, is_current=False)
    try:
        public = Ed25519PublicKey.from_public_bytes(_decode(key))
        public.verify(_decode(str(signed.get("signature"))), _CONTEXT + statement.encode("utf-8", "surrogatepass"))
        claims = json.loads(statement)
    except (InvalidSignature, ValueError, RecursionError):
        return Signature(key, is_valid=False, is_current=False)
    own = _claims(item)
    current = isinstance(claims, dict) and {name: claims.get(name) for name in own} == own
    return Signature(key, is_valid=True, is_current=current)


def read_key(text: str) -> str:
    """Return a public key as receipts have it; `InvalidQuery` for anything else."""
    try:
        key = _decode(text.strip())
    except ValueError:
        key = b""
    if len(key) != _KEY_BYTES:
        raise InvalidQuery(
            "This is not a public key of receipts.",
            suggestions=("Use the 44 characters that `pagekeep verify` shows.",),
        )
    return _encode(key)


def _claims(item: Item) -> dict[str, Any]:
    about = item.metadata
    options: Mapping[str, Any] | None = about.options
    own = {name: getattr(about, name) for name in RECEIPT}
    return {"pagekeep": "receipt", "url": item.url, **own, "options": None if options is None else dict(options)}


def _encode(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _decode(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from None
