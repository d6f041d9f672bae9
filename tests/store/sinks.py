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
    return library.add_sink(sink)


def fill_sink(library: Store) -> Sink:
    """A sink with a delivery, an event, and a changed item."""
    sink = add_sink(library, secret="sealed")
    item = library.find(ItemQuery()).items[0]
    library.note_changed([item.id])
    library.route(library.changed_items()[0], "one", [sink.id], NOW)
    library.post_event(sink.id, "secret", {"secret": "words"}, NOW)
    library.note_changed([item.id])
    library.lease_sink(sink.id, "me", NOW, NOW, NOW)
    delivery = library.begin_delivery(sink.id, "me", NOW, NOW)
    assert delivery is not None
    library.finish_delivery(delivery, "me", NOW, version="one")
    library.release_sink(sink.id, "me", NOW)
    return sink
