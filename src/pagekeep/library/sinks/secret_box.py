"""Secrets of sinks: encrypted in the library, with a key that is not in it; or read from the environment or a command.

A secret is never logged or shown. A backup has it only encrypted: the key is a file beside the library, which backups leave
out, or the setting `secrets_key`.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import os
import secrets
import shlex
import subprocess
from collections.abc import Mapping
from typing import Any, Final

from pagekeep import extras
from pagekeep.config import Settings
from pagekeep.errors import InvalidQuery, NotAllowed, NotFound, NotOffered, ParseError, StoreError
from pagekeep.library.open import data_folder
from pagekeep.model.sinks import Sink
from pagekeep.private_files import create_key

KEY_FILE: Final = "secrets.key"
_KEY_BYTES: Final = 32
_NONCE_BYTES: Final = 12
_PREFIX: Final = "v1."
_COMMAND_SECONDS: Final = 20.0
_MAX_SECRET_CHARS: Final = 4_000


def check_secret(secret: str) -> str:
    """Return a secret without spaces around it; `InvalidQuery` when it is empty, too long or not one line."""
    secret = secret.strip()
    if not secret or len(secret) > _MAX_SECRET_CHARS or not secret.isprintable():
        raise InvalidQuery("The secret is empty or not valid.", suggestions=("Copy it again, as one line.",))
    return secret


def seal(settings: Settings, user_id: str, sink_id: str, secret: str) -> str:
    """Return the secret encrypted; only this sink of this user can read it."""
    nonce = secrets.token_bytes(_NONCE_BYTES)
    sealed = _cipher(settings, create=True).encrypt(nonce, secret.encode(), _context(user_id, sink_id))
    return _PREFIX + base64.b64encode(nonce + sealed).decode()


def read_secret(settings: Settings, sink: Sink) -> str:
    """Return the secret of a sink; `NotFound` when it has none, `ParseError` when it cannot be read."""
    source: Mapping[str, Any] = sink.options.get("secret") or {}
    if source:
        _require_confirmed(settings, sink, source)
    if "env" in source:
        return _from_environment(str(source["env"]))
    if "command" in source:
        return _from_command(str(source["command"]))
    if sink.secret is None:
        raise NotFound(
            f"The sink {sink.name:.100} has no secret yet.", suggestions=("Pair it, or give it its secret.",)
        )
    return _unseal(settings, sink)


def confirm_source(settings: Settings, user_id: str, sink_id: str, source: Mapping[str, str]) -> dict[str, str]:
    """Return where a secret is read from, confirmed for this installation alone.

    The mark depends on a key that is not in the library: a library or backup from elsewhere cannot bring a command that
    then runs here, nor have a variable of this machine sent on.
    """
    plain = {name: source[name] for name in ("env", "command") if name in source}
    return {**plain, "confirmed": _mark(settings, user_id, sink_id, plain, create=True)}


def _require_confirmed(settings: Settings, sink: Sink, source: Mapping[str, Any]) -> None:
    plain = {name: str(source[name]) for name in ("env", "command") if name in source}
    try:
        mark = _mark(settings, sink.user_id, sink.id, plain)
    except NotFound:
        mark = ""
    if settings.shared or not mark or not hmac.compare_digest(mark.encode(), str(source.get("confirmed")).encode()):
        raise NotAllowed(
            f"Where the secret of the sink {sink.name:.100} is read from was not confirmed on this machine.",
            suggestions=("Look at it and confirm it on the command line, with the command `sinks confirm`.",),
        )


def _mark(settings: Settings, user_id: str, sink_id: str, plain: Mapping[str, str], *, create: bool = False) -> str:
    signed = json.dumps(["sink secret", user_id, sink_id, sorted(plain.items())]).encode()
    return hmac.new(_key(settings, create=create), signed, hashlib.sha256).hexdigest()


def _unseal(settings: Settings, sink: Sink) -> str:
    from cryptography.exceptions import InvalidTag

    lost = ParseError(
        f"The secret of the sink {sink.name:.100} cannot be decrypted: it was stored with another key.",
        suggestions=("Pair the sink again, or give it its secret again.",),
    )
    try:
        data = base64.b64decode((sink.secret or "").removeprefix(_PREFIX), validate=True)
        plain = _cipher(settings).decrypt(data[:_NONCE_BYTES], data[_NONCE_BYTES:], _context(sink.user_id, sink.id))
        return str(plain.decode())
    except (InvalidTag, binascii.Error, ValueError, NotFound):
        raise lost from None


def _context(user_id: str, sink_id: str) -> bytes:
    return f"pagekeep sink {user_id}/{sink_id}".encode()


def _cipher(settings: Settings, *, create: bool = False) -> Any:
    extras.require(
        "sinks", "A stored secret", error=NotOffered, hint="Or let it be read from the environment or a command."
    )
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    return AESGCM(_key(settings, create=create))


def _key(settings: Settings, *, create: bool) -> bytes:
    if settings.secrets_key is not None:
        return _decode_key(settings.secrets_key, "the setting `secrets_key`")
    path = data_folder(settings) / KEY_FILE
    try:
        if create:
            create_key(path, _KEY_BYTES)
        return _decode_key(path.read_text("ascii").strip(), str(path))
    except FileNotFoundError:
        raise NotFound(f"The key {path} is missing.") from None
    except (OSError, UnicodeDecodeError):
        raise StoreError(
            f"The key {path} cannot be read or written.", suggestions=("Check its permissions.",)
        ) from None


def _decode_key(text: str, where: str) -> bytes:
    try:
        key = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) != _KEY_BYTES:
        raise ParseError(
            f"{where[0].upper()}{where[1:]} is not a key.", suggestions=("Use Base64 of 32 random bytes.",)
        )
    return key


def _from_environment(name: str) -> str:
    value = os.environ.get(name, "").strip()
    if not value:
        raise NotFound(f"The environment variable {name:.100} is not set.", suggestions=("Set it where jobs run.",))
    return value


def _from_command(command: str) -> str:
    failed = ParseError(
        "The command of this sink printed no secret.", suggestions=("Run it in a terminal to see why.",)
    )
    try:
        done = subprocess.run(
            shlex.split(command),
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=_COMMAND_SECONDS,
            check=True,
        )
        secret = done.stdout.decode("utf-8").partition("\n")[0].strip()
    except (OSError, ValueError, subprocess.SubprocessError):
        raise failed from None
    if not secret or len(secret) > _MAX_SECRET_CHARS:
        raise failed
    return secret
