"""Webhooks: changes of watched pages are sent to an address, signed as Standard Webhooks describe."""

from __future__ import annotations

import json
from asyncio import to_thread
from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

from pagekeep import clock
from pagekeep.capture.from_url import Retrieval
from pagekeep.config import Settings
from pagekeep.errors import NotFound
from pagekeep.library.queue.slices import SliceResult
from pagekeep.library.sinks import signature
from pagekeep.model import Change, Item, Job
from pagekeep.present.history.shapes import change_shape
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


def sign(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    """Return the signature of a message; `InvalidQuery` when the secret is not Base64."""
    return signature.sign(secret, message_id, timestamp, body, "The setting `webhook_secret`")


async def deliver_job(job: Job, store: Store, retrieval: Retrieval, progress: Callable[[str], None]) -> SliceResult:
    """Send a change, as a job: the queue tries again when that fails. The receiver knows repeated ones by their id."""
    settings = retrieval.settings
    try:
        change = await to_thread(store.change, str(job.options.get("change")))
        item = await to_thread(store.get, change.item_id)
    except NotFound:  # the item was purged
        return SliceResult(report={"sent": 0})
    if settings.webhook_url is None:
        return SliceResult(report={"sent": 0})
    progress("Sending the change")
    body, timestamp = make_payload(change, item), int(datetime.fromisoformat(clock.now()).timestamp())
    headers = {"webhook-id": change.id, "webhook-timestamp": str(timestamp)}
    if settings.webhook_secret is not None:
        headers["webhook-signature"] = sign(settings.webhook_secret, change.id, timestamp, body)
    await retrieval.client.post_json(settings.webhook_url, body, headers=headers)
    return SliceResult(report={"sent": 1})
