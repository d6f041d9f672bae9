"""Webhooks of crawls: their events are posted to the address that the request for the crawl named, as Firecrawl does."""

from __future__ import annotations

import hashlib
import hmac
import json
import uuid
from asyncio import to_thread
from collections.abc import Mapping
from typing import Any, Final

from pagekeep.errors import NotFound, NotOffered, PagekeepError, StoreError
from pagekeep.library.sinks.api import Api, to_json
from pagekeep.library.sinks.kind import EventMessage, ItemMessage, Kind
from pagekeep.model.crawl import CrawledPage
from pagekeep.store import Store

EVENTS: Final = ("started", "page", "completed", "failed")
SIGNATURE: Final = "X-Firecrawl-Signature"
_LAST: Final = ("completed", "failed")


class Firecrawl(Kind):
    """The webhook of one crawl."""

    name = "firecrawl"
    label = "Webhook of a crawl"
    help = "Posts the events of one crawl to the address that its request named."
    internal = True
    secret = "Headers"
    optional_secret = True

    async def send_item(self, api: Api, message: ItemMessage) -> str | None:
        raise NotOffered("The webhook of a crawl gets no items.")

    async def test(self, api: Api) -> str:
        raise NotOffered("The webhook of a crawl cannot be tested.")

    async def send_event(self, api: Api, message: EventMessage) -> None:
        store, event = message.store, str(message.body.get("type"))
        assert store is not None
        if event in (api.sink.options.get("events") or EVENTS):
            body = await _make_body(api, message, store, event)
            if body is not None:
                await _post(api, body)
        if event in _LAST:
            await to_thread(_remove_if_done, store, api.sink.id)


async def _make_body(api: Api, message: EventMessage, store: Store, event: str) -> Mapping[str, Any] | None:
    """Return the body of an event, with the page as it is now; `None` when the page is gone."""
    from pagekeep.library.crawl.documents import job_id, make_document

    options, crawl_id = api.sink.options, str(message.body.get("crawl"))
    formats = tuple(options.get("formats") or ("markdown",))
    data = []
    if event == "page":
        page = await to_thread(_find_page, store, crawl_id, message.body)
        if page is None:
            return None
        try:
            data.append(await make_document(page, crawl_id, formats, store, api.retrieval))
        except StoreError:
            raise
        except PagekeepError:  # it cannot be read again; its Markdown is stored
            data.append(await make_document(page, crawl_id, ("markdown",), store, api.retrieval))
    failed = {"error": await to_thread(_find_error, store, crawl_id)} if event == "failed" else {}
    return {
        "success": event != "failed",
        "type": f"{options.get('kind') or 'crawl'}.{event}",
        "id": job_id(crawl_id, formats),
        "webhookId": str(uuid.uuid5(uuid.NAMESPACE_URL, f"pagekeep:{api.sink.id}/{message.id}")),
        "data": data,
        "metadata": dict(options.get("metadata") or {}),
        **failed,
    }


def _find_page(store: Store, crawl_id: str, body: Mapping[str, Any]) -> CrawledPage | None:
    try:
        if store.crawl(crawl_id).run != body.get("run"):
            return None
    except NotFound:
        return None
    position = int(body.get("position", -1))
    found = store.crawled(crawl_id, ("kept",), after=position - 1, limit=1)
    return found[0] if found and found[0].position == position else None


def _find_error(store: Store, crawl_id: str) -> str:
    try:
        reason = store.crawl(crawl_id).reason
    except NotFound:
        reason = "cancelled"
    return "The crawl was cancelled." if reason == "cancelled" else "No page could be read."


def _remove_if_done(store: Store, sink_id: str) -> None:
    """Remove the sink after its last event, unless something could not be delivered."""
    if not store.deliveries(sink_id, "dead", 1):
        store.remove_sink(sink_id)


async def _post(api: Api, body: Mapping[str, Any]) -> None:
    data, headers = to_json(body), dict(json.loads(api.secret) if api.secret else {})
    settings = api.retrieval.settings
    if settings.webhook_secret and not settings.shared:
        digest = hmac.new(settings.webhook_secret.encode(), data, hashlib.sha256).hexdigest()
        headers[SIGNATURE] = f"sha256={digest}"
    await api.call("POST", api.sink.address, data, headers=headers)


KIND = Firecrawl()
