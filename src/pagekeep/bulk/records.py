"""What comes in: one page with where it stood, or the reason why it cannot be read."""

from __future__ import annotations

from dataclasses import dataclass

from pagekeep.errors import PagekeepError


@dataclass(frozen=True, slots=True)
class Record:
    """A page to be read."""

    place: str
    """Where it stood: file and position. Names it in the output when it has no address."""
    url: str | None
    html: bytes | str
    encoding: str | None = None
    """Character set that the transport named."""
    status: int | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """A record that holds no page, or not a whole one. It is accounted for in the output like any other."""

    place: str
    url: str | None
    error: PagekeepError
