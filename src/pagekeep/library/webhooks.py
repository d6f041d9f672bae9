"""Webhooks of changed pages, signed as Standard Webhooks describes."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import secrets
from asyncio import to_thread
from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

from pagekeep import clock
from pagekeep.capture.from_url import Retrieval
from pagekeep.config import Settings
from pagekeep.errors import InvalidQuery, NotFound
from pagekeep.library.queue import SliceResult
from pagekeep.model import Change, Item, Job
from pagekeep.present.history_shapes import change_shape
from pagekeep.store import Store

TASK: Final = "webhook"
EVENT: Final = "page.changed"
_NOT_SENT: Final = ("found_at", "seen_at")
"""The time of the event is in its envelope, and it is sent before it is seen."""


def is_wanted(settings: Settings, user_id: str) -> bool:
    """Return whether changes of this user are sent: only those of the user whom the settings name."""
    return settings.webhook_url is not None and user_id == settings.user


def make_payload(change: Change, item: Item) -> bytes:
    """Return what is sent about a change."""
    shape: dict[str, Any] = {**change_shape(change, item)}
    data = {"change_id": shape.pop("id"), **{name: shape[name] for name in shape if name not in _NOT_SENT}}
    body = {"type": EVENT, "timestamp": change.found_at, "data": data}
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def sign_change(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    """Return the signature of a message; `InvalidQuery` when the secret is not Base64."""
    return sign(secret, message_id, timestamp, body, "The setting `webhook_secret`")


async def deliver_job(job: Job, store: Store, retrieval: Retrieval, progress: Callable[[str], None]) -> SliceResult:
    """Send a change, as a job: the queue tries again when that fails. The receiver knows repeated ones by their id."""
    settings = retrieval.settings
    try:
        change = await to_thread(store.changes.get, str(job.options.get("change")))
        item = await to_thread(store.items.get, change.item_id)
    except NotFound:  # the item was purged
        return SliceResult(report={"sent": 0})
    if settings.webhook_url is None:
        return SliceResult(report={"sent": 0})
    progress("Sending the change")
    body, timestamp = make_payload(change, item), int(datetime.fromisoformat(clock.now()).timestamp())
    headers = {"webhook-id": change.id, "webhook-timestamp": str(timestamp)}
    if settings.webhook_secret is not None:
        headers["webhook-signature"] = sign_change(settings.webhook_secret, change.id, timestamp, body)
    await retrieval.client.post_json(settings.webhook_url, body, headers=headers)
    return SliceResult(report={"sent": 1})


SECRET_PREFIX: Final = "whsec_"
_KEY_BYTES: Final = 32
_MIN_KEY_BYTES, _MAX_KEY_BYTES = 16, 64
SECRET_HINT: Final = "Use `whsec_` and Base64 of 24 to 64 bytes."


def new_secret() -> str:
    """Return a new secret."""
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(_KEY_BYTES)).decode()


def key_of(secret: str, what: str = "The secret") -> bytes:
    """Return the key in a secret; `InvalidQuery` when there is none. `what` names the secret in the error."""
    try:
        return base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        raise InvalidQuery(f"{what} is not a key.", suggestions=(SECRET_HINT,)) from None


def check_secret(secret: str) -> None:
    """Raise `InvalidQuery` unless the secret has the form and the length of the standard."""
    if not secret.startswith(SECRET_PREFIX) or not _MIN_KEY_BYTES <= len(key_of(secret)) <= _MAX_KEY_BYTES:
        raise InvalidQuery("The secret of a webhook is not a key.", suggestions=(SECRET_HINT,))


def sign(secret: str, message_id: str, timestamp: int, body: bytes, what: str = "The secret") -> str:
    """Return the signature of a message, version 1: HMAC with SHA-256 of id, timestamp and body."""
    signed = f"{message_id}.{timestamp}.".encode() + body
    return f"v1,{base64.b64encode(hmac.new(key_of(secret, what), signed, hashlib.sha256).digest()).decode()}"
