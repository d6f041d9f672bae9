"""Crawls as Firecrawl shows them: pages as its documents, and webhooks that post the events of one crawl."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import uuid
from asyncio import to_thread
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pagekeep import clock
from pagekeep.capture.from_url import Retrieval
from pagekeep.capture.source import decode_source
from pagekeep.config import Settings
from pagekeep.errors import InvalidQuery, NotFound, NotOffered, PagekeepError, StoreError
from pagekeep.library.crawl.crawls import read_raw
from pagekeep.library.items.build_item import to_fetched
from pagekeep.library.saving.preview import preview_options
from pagekeep.library.sinks.api import Api, to_json
from pagekeep.library.sinks.kind import EventMessage, ItemMessage, Kind
from pagekeep.library.sinks.manage import event_sink
from pagekeep.model import MadeField
from pagekeep.model.crawl import Crawl, CrawledPage
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
        if store.crawls.get(crawl_id).run != body.get("run"):
            return None
    except NotFound:
        return None
    position = int(body.get("position", -1))
    found = store.crawls.pages(crawl_id, ("kept",), after=position - 1, limit=1)
    return found[0] if found and found[0].position == position else None


def _find_error(store: Store, crawl_id: str) -> str:
    try:
        reason = store.crawls.get(crawl_id).reason
    except NotFound:
        reason = "cancelled"
    return "The crawl was cancelled." if reason == "cancelled" else "No page could be read."


def _remove_if_done(store: Store, sink_id: str) -> None:
    """Remove the sink after its last event, unless something could not be delivered."""
    if not store.outbox.list(sink_id, "dead", 1):
        store.sinks.remove(sink_id)


async def _post(api: Api, body: Mapping[str, Any]) -> None:
    data, headers = to_json(body), dict(json.loads(api.secret) if api.secret else {})
    settings = api.retrieval.settings
    if settings.webhook_secret and not settings.shared:
        digest = hmac.new(settings.webhook_secret.encode(), data, hashlib.sha256).hexdigest()
        headers[SIGNATURE] = f"sha256={digest}"
    await api.call("POST", api.sink.address, data, headers=headers)


RAW: Final = "rawHtml"
FORMAT_LETTERS: Final = {"markdown": "m", "html": "h", RAW: "r", "links": "l", "images": "i"}
"""The formats that the pages of a crawl have, each with a letter of the job's id: the SDKs send nothing else with it."""
_NEEDS: Final[dict[str, MadeField]] = {"html": "html", "images": "media"}
"""The field of the page that a format is made of."""


def job_id(crawl_id: str, formats: Collection[str]) -> str:
    """Return the id of a crawl as a job: that of the crawl, with a letter for each format of its documents."""
    return f"{crawl_id}-{''.join(FORMAT_LETTERS[name] for name in formats)}"


async def make_document(
    page: CrawledPage, crawl_id: str, formats: Collection[str], library: Store, retrieval: Retrieval
) -> dict[str, Any]:
    """Return a page of a crawl as a document with these formats."""
    content, about = page.content, page.content.get("metadata") or {}
    document: dict[str, Any] = {}
    if "markdown" in formats:
        document["markdown"] = content.get("markdown", "")
    if "links" in formats:
        document["links"] = list(content.get("links") or ())
    if {"html", RAW, "images"} & set(formats):
        document |= await _read_again(page, crawl_id, formats, library, retrieval)
    metadata = {
        "title": content.get("title"),
        "description": about.get("description"),
        "language": about.get("language"),
        "sourceURL": page.requested,
        "url": page.url,
        "statusCode": page.status or 200,
    }
    document["metadata"] = {name: value for name, value in metadata.items() if value is not None}
    return document


async def _read_again(
    page: CrawledPage, crawl_id: str, formats: Collection[str], library: Store, retrieval: Retrieval
) -> dict[str, Any]:
    """Return the formats that are not stored, from the response that is."""
    raw = await to_thread(read_raw, library, crawl_id, page)
    if raw is None:
        return {}
    fetched = to_fetched(raw)
    needs = tuple(field for name, field in _NEEDS.items() if name in formats)
    extracted = await retrieval.extract(fetched, preview_options(retrieval, clock.now(), needs))
    document: dict[str, Any] = {}
    if "html" in formats:
        document["html"] = extracted.html
    if "images" in formats:
        document["images"] = list(dict.fromkeys(one.url for one in extracted.media if one.kind == "image"))
    if RAW in formats:
        document[RAW] = await decode_source(fetched, retrieval)
    return document


KIND = Firecrawl()


MAX_WEBHOOKS: Final = 100
"""Webhooks of one user whose events were not all delivered; the oldest ones are given up."""
_MAX_HEADERS: Final = 20
_MAX_CHARS: Final = 3_500
"""Characters of all headers; and of the metadata."""
_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}", re.ASCII)
_OUR_HEADERS: Final = frozenset(
    "host connection content-length content-type content-encoding transfer-encoding te trailer upgrade expect "
    "x-firecrawl-signature".split()
)
"""Headers that a request cannot set, because we do."""


@dataclass(frozen=True, slots=True)
class Webhook:
    """What a request for a crawl says about its webhook."""

    url: str
    kind: str
    """`crawl` or `batch_scrape`: the first part of the type of its events."""
    formats: tuple[str, ...]
    """Formats of the documents in its events."""
    headers: Mapping[str, str] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    events: tuple[str, ...] = EVENTS


def add_webhook(store: Store, settings: Settings, webhook: Webhook) -> str:
    """Return the id of a new sink for the webhook; `BlockedAddress` or `InvalidQuery` for one that is not accepted."""
    headers = _check_headers(webhook.headers)
    if len(json.dumps(webhook.metadata)) > _MAX_CHARS:
        raise InvalidQuery("The metadata of the webhook is too large.", suggestions=(f"Use {_MAX_CHARS} characters.",))
    old = sorted(
        (sink for sink in store.sinks.list() if sink.kind == KIND.name),
        key=lambda sink: (sink.created_at, sink.id),
    )
    for sink in old[: max(0, len(old) - MAX_WEBHOOKS + 1)]:
        store.sinks.remove(sink.id)
    secret = json.dumps(headers) if headers else None
    sink = event_sink(store, KIND.name, f"crawl {uuid.uuid4()}", webhook.url, settings, secret)
    options = {
        "kind": webhook.kind,
        "formats": list(webhook.formats),
        "metadata": dict(webhook.metadata),
        "events": [name for name in EVENTS if name in webhook.events],
    }
    return store.sinks.change(sink.id, options, sink.secret).id


def report_start(store: Store, crawl: Crawl) -> None:
    """Report the start of a crawl that was running before its webhook was added; other crawls report it themselves."""
    sink = crawl.options.get("webhook")
    if sink and crawl.settled:
        body = {"type": "started", "crawl": crawl.id, "run": crawl.run}
        store.outbox.post_event(str(sink), f"{crawl.id}-{crawl.run}-started-", body, clock.now())


def _check_headers(headers: Mapping[str, str]) -> dict[str, str]:
    for name, value in headers.items():
        if name.lower() in _OUR_HEADERS or not _NAME.fullmatch(name) or not (value.isascii() and value.isprintable()):
            raise InvalidQuery(f"The webhook cannot have the header {name:.100}.", suggestions=("Leave it out.",))
    if len(headers) > _MAX_HEADERS or len(json.dumps(dict(headers))) > _MAX_CHARS:
        raise InvalidQuery("The webhook has too many headers.", suggestions=(f"Use at most {_MAX_HEADERS}.",))
    return dict(headers)
