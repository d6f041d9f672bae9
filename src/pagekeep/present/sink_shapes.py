"""JSON shapes of sinks and the outbox, as every door shows them. A secret is never part of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pagekeep.model import sinks as model

if TYPE_CHECKING:
    from typing import TypedDict
else:
    try:  # as in `json_shapes`
        from typing_extensions import TypedDict
    except ImportError:
        from typing import TypedDict


class Sink(TypedDict):
    """A place that items are sent on to."""

    id: str
    kind: str
    name: str
    address: str
    rules: list[str]
    """Searches, of which an item must match one; `*` is every item."""
    settings: dict[str, str]
    state: Literal["active", "off"]
    has_secret: bool
    error: str | None
    """Why the last attempt failed, if it did."""
    waiting: int
    dead: int
    """Deliveries that failed for good."""
    sent: int
    sent_at: str | None
    due_at: str | None
    """When the next delivery is due; null when nothing waits."""
    created_at: str


class Delivery(TypedDict):
    """What waits to be delivered to a sink, or failed for good."""

    position: int
    sink: str
    """The name of the sink."""
    item_id: str | None
    title: str
    """Title of the item, or type of the event."""
    state: Literal["queued", "dead"]
    attempts: int
    error: dict[str, Any] | None
    created_at: str
    tried_at: str | None


class KindSetting(TypedDict):
    """A setting of a kind of sink."""

    name: str
    label: str
    help: str
    default: str


class SinkKind(TypedDict):
    """A kind of sink."""

    name: str
    label: str
    help: str
    address: str
    """The usual address; empty when there is none."""
    secret: str
    """What its secret is called."""
    makes_secret: bool
    """Whether Pagekeep makes the secret, and shows it once, unless you give one."""
    pairs: bool
    """Whether the secret comes from pairing with a code that the other program shows."""
    settings: list[KindSetting]


def sink_shape(sink: model.Sink, *, waiting: int, dead: int, has_secret: bool) -> Sink:
    """Return a sink."""
    return {
        "id": sink.id,
        "kind": sink.kind,
        "name": sink.name,
        "address": sink.address,
        "rules": list(sink.rules),
        "settings": dict(sink.settings),
        "state": sink.state,
        "has_secret": has_secret,
        "error": sink.error,
        "waiting": waiting,
        "dead": dead,
        "sent": sink.sent,
        "sent_at": sink.sent_at,
        "due_at": sink.due_at,
        "created_at": sink.created_at,
    }


def delivery_shape(delivery: model.Delivery, sink: str, title: str) -> Delivery:
    """Return a delivery."""
    return {
        "position": delivery.position,
        "sink": sink,
        "item_id": delivery.item_id,
        "title": title,
        "state": delivery.state,
        "attempts": delivery.attempts,
        "error": dict(delivery.error) if delivery.error else None,
        "created_at": delivery.created_at,
        "tried_at": delivery.tried_at,
    }
