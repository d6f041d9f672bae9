"""JSON shapes of sinks and the outbox, as every door shows them. A secret is never part of them."""

from __future__ import annotations

from typing import Any, Literal

from pagekeep.model import sinks as model
from pagekeep.present.json_shapes import TypedDict, shape_of


@shape_of(model.Sink)
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


@shape_of(model.Delivery)
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
