"""What comes in: one page with where it stood, or the reason why it cannot be read."""

from __future__ import annotations

from dataclasses import dataclass

from pagekeep.errors import PagekeepError


@dataclass(frozen=True, slots=True)
class Columns:
    """Where a table or a line keeps the page and its address; `None` for the usual names."""

    html: str | None = None
    url: str | None = None


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

    @property
    def size(self) -> int:
        """Of the page."""
        return len(self.html)


@dataclass(frozen=True, slots=True)
class Refused:
    """A record that holds no page, or not a whole one. It is accounted for in the output like any other."""

    place: str
    url: str | None
    error: PagekeepError

    size = 0


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes that lie in a file of this machine. Who needs them reads them, so that they need not travel."""

    path: str
    start: int
    size: int

    def read(self) -> bytes:
        """The bytes; `OSError` when they are not there any more."""
        with open(self.path, "rb", buffering=0) as file:
            file.seek(self.start)
            data = file.read(self.size)
        if len(data) < self.size:
            raise OSError("it became shorter")
        return data


@dataclass(frozen=True, slots=True)
class Line:
    """A line of JSON as it stands. Who reads the page decodes it, so that the one process that feeds all others need not."""

    place: str
    data: bytes | Span
    columns: Columns
    max_bytes: int

    @property
    def size(self) -> int:
        """Of the line."""
        return len(self.data) if isinstance(self.data, bytes) else self.data.size
