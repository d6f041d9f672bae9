"""Sinks for the tests of the store."""

from __future__ import annotations

import uuid
from typing import Any

from pagekeep.model import ItemQuery
from pagekeep.model.sinks import Sink
from pagekeep.store import Store
from tests.store.making import NOW


def add_sink(library: Store, name: str = "notes", rules: tuple[str, ...] = ("tag:work",), **values: Any) -> Sink:
    sink = Sink(
        id=str(uuid.uuid4()),
        user_id=library.user_id,
        kind="webhook",
        name=name,
        address="https://example.com/hook",
        options={"rules": list(rules)},
        state="active",
        created_at=NOW,
        **values,
    )
    return library.sinks.add(sink)


def fill_sink(library: Store) -> Sink:
    """A sink with a delivery, an event, and a changed item."""
    sink = add_sink(library, secret="sealed")
    item = library.search.find(ItemQuery()).items[0]
    library.outbox.note_changed([item.id])
    library.outbox.route(library.outbox.changed_items()[0], "one", [sink.id], NOW)
    library.outbox.post_event(sink.id, "secret", {"secret": "words"}, NOW)
    library.outbox.note_changed([item.id])
    library.sinks.lease(sink.id, "me", NOW, NOW, NOW)
    delivery = library.outbox.begin(sink.id, "me", NOW, NOW)
    assert delivery is not None
    library.outbox.finish(delivery, "me", NOW, version="one")
    library.sinks.release(sink.id, "me", NOW)
    return sink
