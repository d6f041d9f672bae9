"""Events of a crawl, put into the outbox of its sink in the transaction of what they report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from pagekeep.errors import NotFound
from pagekeep.model.crawl import Crawl
from pagekeep.store.engine import Transaction
from pagekeep.store.tables.sinks.outbox import add_event


def post_events(
    tx: Transaction, crawl: Crawl, sink_id: str | None, events: Iterable[Mapping[str, Any]], now: str
) -> None:
    """Put events into the outbox of a sink; without one, or when it was removed, nothing happens."""
    for event in events if sink_id else ():
        name = f"{crawl.id}-{crawl.run}-{event['type']}-{event.get('position', '')}"
        with suppress(NotFound):
            add_event(tx, str(sink_id), name, {**event, "crawl": crawl.id, "run": crawl.run}, now)
