"""What the reader of a file type returns: the document as HTML with its metadata, or why it cannot be read."""

from __future__ import annotations

from dataclasses import field

from pagekeep.model import Caught, Metadata, PageWarning, Removal
from pagekeep.values import dataclass


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A document as its reader understood it."""

    html: str
    """The content, in the vocabulary of clean HTML or close to it."""
    metadata: Metadata
    how: str
    """How it was read, in plain words, for `--explain`."""
    removals: tuple[Removal, ...] = ()
    warnings: tuple[PageWarning, ...] = ()
    caught: Caught | None = None
    """Why there is no text: an encrypted or damaged file, or a scan."""
    page_count: int | None = None
    """How many pages the file has, if its type has pages."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Step name to seconds, only when the caller gave a timer."""
    is_web: bool = False
    """Whether the HTML was written for the web's habits, as that of an e-mail is: then no clean-up step is left out."""
    markdown: str | None = None
    """The content as Markdown, where the file is Markdown: it stays as it was written."""
    address: str | None = None
    """The document's own address, for a file that was read without one."""
