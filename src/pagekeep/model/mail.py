"""Values of mailboxes that are polled for newsletters. All frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from pagekeep.values import dataclass


@dataclass(frozen=True, slots=True)
class MailFolder:
    """A folder of a mailbox on a server."""

    host: str
    port: int
    user: str
    folder: str = "INBOX"
    security: Literal["tls", "plain"] = "tls"
    """`plain` is without encryption, and only to this machine."""


@dataclass(frozen=True, slots=True)
class MailPosition:
    """How far a folder was read."""

    validity: int = 0
    """Changes when the server numbers the messages of the folder again."""
    uid: int = 0
    """The last message that was read; 0 for none."""


@dataclass(frozen=True, slots=True)
class MailSource:
    """A folder of a mailbox that is polled."""

    id: str
    """UUID as text."""
    folder: MailFolder
    senders: tuple[str, ...]
    """Addresses and domains whose messages are taken; `*` takes all."""
    every: int
    """Seconds between two polls."""
    created_at: str
    next_at: str
    polled_at: str | None
    attempts: int
    """Failed polls since the last that succeeded."""
    error: str | None = None
    """Why the last poll failed, if it did."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """Messages since the source was added: `added`, `unwanted` (of other senders), `too_large`, `failed`, `paused`."""
    others: Mapping[str, int] = field(default_factory=dict)
    """Other senders, the latest, and how many messages they sent."""
    position: MailPosition = field(default_factory=MailPosition)
    schedule_id: str = ""

    @property
    def account(self) -> str:
        """User name and host: what its password is looked up by."""
        return f"{self.folder.user}@{self.folder.host}"

    @property
    def label(self) -> str:
        """How it is shown."""
        return f"{self.account}/{self.folder.folder}"
