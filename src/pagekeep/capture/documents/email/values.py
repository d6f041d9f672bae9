"""Values of an e-mail on its way to HTML."""

from __future__ import annotations

from dataclasses import field

from pagekeep.values import dataclass


@dataclass(frozen=True, slots=True)
class Mailbox:
    """A name with its mail address; either may be empty."""

    name: str
    address: str

    @property
    def label(self) -> str:
        """What a reader sees: the name, else the address."""
        return self.name or self.address


@dataclass(frozen=True, slots=True)
class Leaf:
    """One part of a message that is not made of parts, decoded."""

    content_type: str
    body: bytes
    charset: str | None = None
    filename: str = ""
    content_id: str = ""
    """Without its angle brackets; empty when it has none."""
    is_attachment: bool = False
    is_flowed: bool = False
    """Plain text whose soft line ends are marked (RFC 3676)."""
    drops_space: bool = False
    """Whether the space that marks a soft line end is part of the mark."""


@dataclass(slots=True)
class Message:
    """A message as its headers and parts say."""

    headers: dict[str, list[str]] = field(default_factory=dict)
    """Raw values by name in lower case, without line ends."""
    leaves: list[Leaf] = field(default_factory=list)
    inner: list[Message] = field(default_factory=list)
    """Messages inside this one: forwarded as attachments, or those of a digest."""
    is_digest: bool = False
    encrypted: str = ""
    """What it is encrypted with, if it is: "S/MIME" or "OpenPGP"."""
    truncated: list[str] = field(default_factory=list)
    """What was left out because there was too much of it, in plain words."""

    def header(self, name: str) -> str:
        """Return the first raw value of a header, or an empty text."""
        values = self.headers.get(name)
        return values[0] if values else ""
