"""Webhooks: items and events are posted to an address, signed as Standard Webhooks describes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pagekeep import clock
from pagekeep.library import webhooks
from pagekeep.library.sinks.api import Api, to_json
from pagekeep.library.sinks.kind import EventMessage, Field, ItemMessage, Kind
from pagekeep.present import json_shapes

MAX_MARKDOWN_CHARS = 1_000_000


class Webhook(Kind):
    """A receiver of webhooks."""

    name = "webhook"
    label = "Webhook"
    help = "Posts every item as JSON to an address of yours, signed (Standard Webhooks)."
    secret = "Signing secret"
    makes_secret = True
    fields = (
        Field("content", "Send the text too", "`yes` sends the Markdown with each item, `no` only its fields.", "yes"),
    )

    def check_secret(self, secret: str) -> None:
        webhooks.check_secret(secret)

    def new_secret(self) -> str:
        return webhooks.new_secret()

    async def send_item(self, api: Api, message: ItemMessage) -> str | None:
        data: dict[str, Any] = {**json_shapes.to_json(json_shapes.Item, message.item), "version": message.version}
        if api.sink.settings.get("content", "yes") != "no":
            data["markdown"] = message.markdown[:MAX_MARKDOWN_CHARS]
        event = "item.changed" if message.earlier else "item.saved"
        await _post(api, message.id, {"type": event, "timestamp": message.item.updated_at, "data": data})
        return None

    async def send_event(self, api: Api, message: EventMessage) -> None:
        await _post(api, message.id, message.body)

    async def test(self, api: Api) -> str:
        body = {"type": "test", "timestamp": clock.now(), "data": {"sink": api.sink.name}}
        await _post(api, f"test-{clock.now()}", body)
        return "The address took a signed event of the type `test`."


async def _post(api: Api, message_id: str, body: Mapping[str, Any]) -> None:
    data, timestamp = to_json(body), int(datetime.fromisoformat(clock.now()).timestamp())
    headers = {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": webhooks.sign(api.secret, message_id, timestamp, data),
    }
    await api.call("POST", api.sink.address, data, headers=headers)


KIND = Webhook()
