"""Read a file as a worker does, for the tests of file types."""

from __future__ import annotations

from pagekeep.capture.documents.file_types import detect
from pagekeep.capture.documents.read import read_document
from pagekeep.model import Options, Page


def read(data: bytes, declared: str | None = None, url: str | None = None) -> Page:
    """Return the page in a file."""
    file_type = detect(data, declared)
    assert file_type is not None
    return read_document(file_type, data, url, Options())


def markdown(data: bytes, declared: str | None = None) -> str:
    """Return the Markdown of a file."""
    return read(data, declared).markdown
