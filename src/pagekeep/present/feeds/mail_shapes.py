"""JSON shapes of mail sources, as every door shows them. A password is never part of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pagekeep import model

if TYPE_CHECKING:
    from typing import TypedDict
else:
    try:  # as in `json_shapes`
        from typing_extensions import TypedDict
    except ImportError:
        from typing import TypedDict


class MailCounts(TypedDict):
    """Messages since the source was added."""

    added: int
    unwanted: int
    """Of other senders: not stored."""
    too_large: int
    failed: int
    """In the inbox without their text, which could not be read."""
    paused: int
    """Of newsletters that are paused: not stored."""


class MailSource(TypedDict):
    """A folder of a mailbox that is polled for newsletters."""

    id: str
    host: str
    port: int
    user: str
    folder: str
    security: Literal["tls", "plain"]
    senders: list[str]
    """Addresses and domains whose messages are taken; `*` takes all."""
    every: str
    """Such as `15m`."""
    created_at: str
    next_at: str
    polled_at: str | None
    failures: int
    """Polls that failed since the last that succeeded."""
    error: str | None
    counts: MailCounts
    others: dict[str, int]
    """The latest other senders, with their numbers of messages."""


def mail_source_shape(source: model.MailSource, every: str) -> MailSource:
    """Return a mail source."""
    folder, counts = source.folder, source.counts
    return {
        "id": source.id,
        "host": folder.host,
        "port": folder.port,
        "user": folder.user,
        "folder": folder.folder,
        "security": folder.security,
        "senders": list(source.senders),
        "every": every,
        "created_at": source.created_at,
        "next_at": source.next_at,
        "polled_at": source.polled_at,
        "failures": source.attempts,
        "error": source.error,
        "counts": {
            "added": counts.get("added", 0),
            "unwanted": counts.get("unwanted", 0),
            "too_large": counts.get("too_large", 0),
            "failed": counts.get("failed", 0),
            "paused": counts.get("paused", 0),
        },
        "others": dict(source.others),
    }
