"""Values of sinks: where items are sent on to, and what waits to be delivered. All frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal

from pagekeep.values import dataclass

SinkState = Literal["active", "off"]
DeliveryState = Literal["queued", "dead"]


@dataclass(frozen=True, slots=True)
class Sink:
    """A place that items are sent on to, such as another program."""

    id: str
    """UUID as text."""
    user_id: str
    kind: str
    """The name of its module in `library/sinks/kinds/`."""
    name: str
    """What its owner calls it; unique."""
    address: str
    """URL of the other program."""
    options: Mapping[str, Any]
    """`rules`: searches, of which an item must match one; `settings`: those of its kind; `secret`: where the secret is read
    from (`env`, `command`), if it is not stored."""
    state: SinkState
    created_at: str
    secret: str | None = field(default=None, repr=False)
    """Encrypted."""
    hidden: bool = False
    """Made by another part of Pagekeep for its own events, as the webhook of a crawl is; it gets no items."""
    error: str | None = None
    """Why the last attempt failed, if it did."""
    sent: int = 0
    """Deliveries that succeeded."""
    sent_at: str | None = None
    due_at: str | None = None
    """When the next delivery is due; `None` when nothing waits."""

    @property
    def rules(self) -> tuple[str, ...]:
        """Searches, of which an item must match one; without any, no items are sent."""
        return tuple(self.options.get("rules") or ())

    @property
    def settings(self) -> Mapping[str, str]:
        """The settings of its kind."""
        return dict(self.options.get("settings") or {})


@dataclass(frozen=True, slots=True)
class Delivery:
    """What waits to be delivered to a sink: an item as it is then, or an event with its own body."""

    position: int
    """Deliveries of a sink are made in this order."""
    sink_id: str
    item_id: str | None
    event: str | None
    """The id of an event, by which its receiver knows repeated ones; `None` for an item."""
    body: Mapping[str, Any] | None
    """The body of an event."""
    state: DeliveryState
    attempts: int
    error: Mapping[str, Any] | None
    """JSON form of the last failure."""
    created_at: str
    tried_at: str | None = None


@dataclass(frozen=True, slots=True)
class SentItem:
    """The version of an item that a sink has."""

    version: str
    remote_id: str | None
    """Its name at the sink, if that gave one."""
    sent_at: str


@dataclass(frozen=True, slots=True)
class ChangedItem:
    """An item that has changed since the rules of the sinks were last applied to it."""

    number: int
    item_id: str
