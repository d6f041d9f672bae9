"""Rules decide what goes where: every item that has changed is put into the outbox of the sinks whose rules it matches."""

from __future__ import annotations

from typing import Final

from pagekeep import clock
from pagekeep.errors import InvalidQuery, NotFound
from pagekeep.library.items import item_matches
from pagekeep.library.sinks.kind import all_kinds
from pagekeep.library.sinks.versions import version_of
from pagekeep.model import Item
from pagekeep.model.sinks import Sink
from pagekeep.store import Store

EVERYTHING: Final = "*"
"""The rule that every item matches."""
_BATCH: Final = 100


def route_changes(store: Store, *, limit: int = _BATCH) -> int:
    """Apply the rules to items that have changed; return how many were looked at.

    Killed at any point, it loses nothing: an item stays marked as changed until its deliveries are in the outbox.
    """
    changed = store.changed_items(limit)
    sinks = [sink for sink in store.sinks() if sink.state == "active" and sink.rules] if changed else []
    for entry in changed:
        try:
            item = store.get(entry.item_id)
        except NotFound:  # purged
            item = None
        if item is None or item.deleted_at is not None:
            store.route(entry, None, (), clock.now())
            continue
        wanted = [sink.id for sink in sinks if takes(store, sink, item)]
        store.route(entry, version_of(item), wanted, clock.now())
    return len(changed)


def takes(store: Store, sink: Sink, item: Item) -> bool:
    """Return whether an item goes to a sink: its kind can take it, and the item matches one of the rules."""
    kind = all_kinds().get(sink.kind)
    return kind is not None and kind.accepts(item) and any(_matches(store, item, rule) for rule in sink.rules)


def _matches(store: Store, item: Item, rule: str) -> bool:
    try:
        return item_matches(store, item.id, "" if rule == EVERYTHING else rule)
    except InvalidQuery:  # it was checked when it was added; a later version may read it differently
        return False
