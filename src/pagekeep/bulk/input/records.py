"""The records of an input: a page with its place, or the reason why it cannot be read."""

from __future__ import annotations

from dataclasses import dataclass

from pagekeep.errors import PagekeepError, TooLarge


@dataclass(frozen=True, slots=True)
class InputColumns:
    """The columns with the page and its address; `None` to try the usual names."""

    html: str | None = None
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """A page to extract."""

    place: str
    """File and position; it identifies the record in the output."""
    url: str | None
    html: bytes | str
    encoding: str | None = None
    """The character set in the HTTP headers."""
    status: int | None = None
    content_type: str | None = None
    """As the server or the file's name declares it, for what the content cannot show."""

    @property
    def size(self) -> int:
        """Length of the page."""
        return len(self.html)


@dataclass(frozen=True, slots=True)
class RefusedRecord:
    """A record without a complete page. It has a row in the output like any other."""

    place: str
    url: str | None
    error: PagekeepError

    size = 0


@dataclass(frozen=True, slots=True)
class Span:
    """A range of bytes in a local file: workers read it themselves, so that the bytes are not sent to them."""

    path: str
    start: int
    size: int

    def read(self) -> bytes:
        """Return the bytes; raise `OSError` when the file has been changed or removed."""
        with open(self.path, "rb", buffering=0) as file:
            file.seek(self.start)
            data = file.read(self.size)
        if len(data) < self.size:
            raise OSError("the file has become shorter")
        return data


@dataclass(frozen=True, slots=True)
class Line:
    """A line of JSON that the worker decodes, to take that load off the one process that feeds all workers."""

    place: str
    data: bytes | Span
    columns: InputColumns
    max_bytes: int

    @property
    def size(self) -> int:
        """Bytes of the line."""
        return len(self.data) if isinstance(self.data, bytes) else self.data.size


def check_size(place: str, url: str | None, size: int, max_bytes: int) -> RefusedRecord | None:
    """Return the refusal of a page that is too large, or `None`."""
    if size <= max_bytes:
        return None
    limit = f"{max_bytes / 1e6:g} MB"
    return RefusedRecord(place, url, TooLarge(f"The page is larger than {limit}.", suggestions=()))


def first_line(error: Exception) -> str:
    """Return what an error of a library says, in one line."""
    text = str(getattr(error, "strerror", None) or error).strip() or type(error).__name__
    return text.splitlines()[0][:200].rstrip(".")
