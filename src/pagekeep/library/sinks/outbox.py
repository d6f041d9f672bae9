"""The outbox of sinks: which rules put an item into it, and delivering what waits, in order."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import uuid
from asyncio import to_thread
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from pagekeep import clock
from pagekeep.errors import InvalidQuery, NotFound, PagekeepError, StoreError, Unexpected
from pagekeep.library.items.find import item_matches
from pagekeep.library.queue import MAX_PAUSE, pause_after
from pagekeep.library.sinks.api import SECONDS, Api, NotSent
from pagekeep.library.sinks.kind import EventMessage, ItemMessage, all_kinds, get_kind
from pagekeep.markdown.frontmatter import split_block
from pagekeep.model import Item
from pagekeep.model.sinks import Delivery, Sink
from pagekeep.store import Store

_log: Final = logging.getLogger("pagekeep.sinks")
LEASE_SECONDS: Final = 120.0
"""After this long another process takes over. One delivery takes at most some requests of 20 seconds."""
MAX_ATTEMPTS: Final = 16
FIRST_PAUSE: Final = 5.0
"""Seconds before the second attempt; each later pause is four times as long, up to `MAX_PAUSE`: 5 s, 20 s, 80 s, 5 min,
21 min, 85 min, then 6 hours. With 16 attempts that is more than two days."""

Outcome = Literal["sent", "nothing", "retry", "dead", "off"]


@dataclass(frozen=True, slots=True)
class Pace:
    """How long things take; tests use shorter times."""

    lease_seconds: float = LEASE_SECONDS
    first_pause: float = FIRST_PAUSE
    request_seconds: float = SECONDS
    max_wait: float = MAX_PAUSE
    """The longest wait that a busy sink can ask for."""


USUAL_PACE: Final = Pace()


@dataclass(frozen=True, slots=True)
class Deliverer:
    """Delivers to one sink at a time, for one user."""

    store: Store
    worker: str
    """Unique among all processes."""
    open_api: Callable[[Sink], Api]
    """Returns the way to a sink's program; raises `PagekeepError` when its secret cannot be read."""
    pace: Pace = USUAL_PACE

    async def run(self, sink_id: str, stopping: asyncio.Event) -> int:
        """Deliver until nothing is left, the sink fails, or it is time to stop; return how many were delivered."""
        now = clock.now()
        far = clock.add_seconds(now, self.pace.lease_seconds + 2 * MAX_PAUSE)
        until = clock.add_seconds(now, self.pace.lease_seconds)
        sink = await to_thread(self.store.sinks.lease, sink_id, self.worker, now, until, far)
        if sink is None:
            return 0
        sent, apis = 0, list[Api]()
        while not stopping.is_set():
            now = clock.now()
            until = clock.add_seconds(now, self.pace.lease_seconds)
            delivery = await to_thread(self.store.outbox.begin, sink.id, self.worker, now, until)
            if delivery is None:
                return sent
            outcome = await self._try(sink, apis, delivery)
            sent += outcome == "sent"
            if outcome in ("retry", "off"):
                return sent
        await to_thread(self.store.sinks.release, sink.id, self.worker, clock.now())
        return sent

    async def _try(self, sink: Sink, apis: list[Api], delivery: Delivery) -> Outcome:
        """Make one delivery, and settle it. `apis` has the way to the sink's program once it is open."""
        try:
            if not apis:
                apis.append(await to_thread(self.open_api, sink))
            return await self._deliver(sink, apis[0], delivery)
        except asyncio.CancelledError:
            # It is tried again at once. It may have arrived, so the attempt counts.
            await to_thread(self.store.sinks.release, delivery.sink_id, self.worker, clock.now())
            raise
        except PagekeepError as error:
            if isinstance(error, StoreError) and not isinstance(error, InvalidQuery):
                raise
            return await to_thread(self._fail, sink, delivery, error)
        except Exception as error:  # a fault of ours must not end the process; the outbox shows it
            unexpected = Unexpected(f"{type(error).__name__} while sending.")
            return await to_thread(self._fail, sink, delivery, unexpected)

    async def _deliver(self, sink: Sink, api: Api, delivery: Delivery) -> Outcome:
        kind = get_kind(sink.kind)
        if delivery.event is not None:
            await kind.send_event(api, EventMessage(delivery.event, delivery.body or {}, self.store))
            await to_thread(self.store.outbox.finish, delivery, self.worker, clock.now())
            return "sent"
        message = await to_thread(self._read_item, sink, delivery)
        if message is None:
            await to_thread(lambda: self.store.outbox.finish(delivery, self.worker, clock.now(), sent=False))
            return "nothing"
        remote_id = await kind.send_item(api, message)
        await to_thread(
            lambda: self.store.outbox.finish(
                delivery, self.worker, clock.now(), version=message.version, remote_id=remote_id
            )
        )
        return "sent"

    def _read_item(self, sink: Sink, delivery: Delivery) -> ItemMessage | None:
        """Return the item as it is now, which is read after the delivery began: every later change is delivered after it.

        `None` when there is nothing to send: it was deleted, or the sink has this version.
        """
        try:
            item = self.store.items.get(delivery.item_id or "")
        except NotFound:
            return None
        version, earlier = version_of(item), self.store.outbox.sent_item(sink.id, item.id)
        if item.deleted_at is not None or (earlier is not None and earlier.version == version):
            return None
        return ItemMessage(
            id=message_id(sink.id, item.id, version),
            version=version,
            item=item,
            markdown=body_of(item),
            earlier=earlier,
            repeated=delivery.attempts > 1,
        )

    def _fail(self, sink: Sink, delivery: Delivery, error: PagekeepError) -> Outcome:
        now = clock.now()
        passing, wait, off = True, None, False
        if isinstance(error, NotSent):
            passing, wait, off = error.retry, error.wait, error.switch_off
        busy = wait is not None
        retry_at = None
        if off or (passing and (busy or delivery.attempts < MAX_ATTEMPTS)):
            seconds = pause_after(delivery.attempts, self.pace.first_pause) if wait is None else wait
            retry_at = clock.add_seconds(now, min(seconds, self.pace.max_wait))
        self.store.outbox.fail(
            delivery,
            self.worker,
            error.to_json()["error"],
            retry_at=retry_at,
            now=now,
            counts=not busy and not off,
        )
        if off:
            self.store.sinks.switch(sink.id, on=False, error=error.message, now=now)
        outcome: Outcome = "off" if off else "retry" if retry_at else "dead"
        fields = {
            "sink": sink.id,
            "kind": sink.kind,
            "user": sink.user_id,
            "error": error.type,
            "status": getattr(error, "status", None),
            "attempts": delivery.attempts,
            "retry_at": retry_at,
            "state": outcome,
        }
        _log.warning("delivery failed", extra={"fields": fields})
        return outcome


EVERYTHING: Final = "*"
"""The rule that every item matches."""
_BATCH: Final = 100


def route_changes(store: Store, *, limit: int = _BATCH) -> int:
    """Apply the rules to items that have changed; return how many were looked at.

    Killed at any point, it loses nothing: an item stays marked as changed until its deliveries are in the outbox.
    """
    changed = store.outbox.changed_items(limit)
    sinks = [sink for sink in store.sinks.list() if sink.state == "active" and sink.rules] if changed else []
    for entry in changed:
        try:
            item = store.items.get(entry.item_id)
        except NotFound:  # purged
            item = None
        if item is None or item.deleted_at is not None:
            store.outbox.route(entry, None, (), clock.now())
            continue
        wanted = [sink.id for sink in sinks if takes(store, sink, item)]
        store.outbox.route(entry, version_of(item), wanted, clock.now())
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


_NAMESPACE: Final = uuid.UUID("8f9f6f43-5f1e-4d11-9d0a-3f8f3c6a7d52")


def body_of(item: Item) -> str:
    """Return the item's Markdown without frontmatter."""
    return split_block(item.content)[1]


def version_of(item: Item) -> str:
    """Return the version of an item: a hash of everything that sinks may send.

    Pinning, archiving and reading change nothing, nor does another time of saving in the frontmatter.
    """
    about = item.metadata
    fields = [
        item.url_full,
        item.title,
        item.author,
        item.published_at,
        list(about.tags),
        about.quality,
        about.word_count,
    ]
    digest = hashlib.sha256(json.dumps(fields, ensure_ascii=False).encode("utf-8", "replace"))
    digest.update(body_of(item).encode("utf-8", "replace"))
    return digest.hexdigest()[:32]


def message_id(sink_id: str, item_id: str, version: str) -> str:
    """Return the id of the message that brings this version of the item to the sink."""
    return str(uuid.uuid5(_NAMESPACE, f"{sink_id}/{item_id}/{version}"))
