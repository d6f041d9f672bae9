"""Webhooks of crawls, as Firecrawl has them: each has a sink, whose outbox gets the events of its crawl."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pagekeep import clock
from pagekeep.config import Settings
from pagekeep.errors import InvalidQuery
from pagekeep.library.sinks.kinds.firecrawl import EVENTS, KIND
from pagekeep.library.sinks.manage import event_sink
from pagekeep.model.crawl import Crawl
from pagekeep.store import Store

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
        (sink for sink in store.sinks() if sink.kind == KIND.name),
        key=lambda sink: (sink.created_at, sink.id),
    )
    for sink in old[: max(0, len(old) - MAX_WEBHOOKS + 1)]:
        store.remove_sink(sink.id)
    secret = json.dumps(headers) if headers else None
    sink = event_sink(store, KIND.name, f"crawl {uuid.uuid4()}", webhook.url, settings, secret)
    options = {
        "kind": webhook.kind,
        "formats": list(webhook.formats),
        "metadata": dict(webhook.metadata),
        "events": [name for name in EVENTS if name in webhook.events],
    }
    return store.change_sink(sink.id, options, sink.secret).id


def report_start(store: Store, crawl: Crawl) -> None:
    """Report the start of a crawl that was running before its webhook was added; other crawls report it themselves."""
    sink = crawl.options.get("webhook")
    if sink and crawl.settled:
        body = {"type": "started", "crawl": crawl.id, "run": crawl.run}
        store.post_event(str(sink), f"{crawl.id}-{crawl.run}-started-", body, clock.now())


def _check_headers(headers: Mapping[str, str]) -> dict[str, str]:
    for name, value in headers.items():
        if name.lower() in _OUR_HEADERS or not _NAME.fullmatch(name) or not (value.isascii() and value.isprintable()):
            raise InvalidQuery(f"The webhook cannot have the header {name:.100}.", suggestions=("Leave it out.",))
    if len(headers) > _MAX_HEADERS or len(json.dumps(dict(headers))) > _MAX_CHARS:
        raise InvalidQuery("The webhook has too many headers.", suggestions=(f"Use at most {_MAX_HEADERS}.",))
    return dict(headers)
