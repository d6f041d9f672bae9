"""A rendered page; separate from the renderer, so that a server need not import it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape

ImageUrl = Callable[[str], str]
"""Returns the URL from which the browser loads an image, by the image's original URL."""


@dataclass(frozen=True, slots=True)
class Heading:
    """An entry of the table of contents."""

    level: int
    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Rendered:
    """A rendered page."""

    html: str
    """Safe to insert into a page."""
    headings: tuple[Heading, ...] = ()
    is_temporary: bool = False
    """Whether this is a fallback because the server was busy: it must not be cached."""


def render_source(markdown: str, reason: str, *, is_temporary: bool = False) -> Rendered:
    """Return the Markdown source with a notice of why it is not rendered."""
    text = markdown.encode("utf-8", "replace").decode()
    return Rendered(f'<p role="note">{escape(reason)}</p>\n<pre>{escape(text)}</pre>', is_temporary=is_temporary)
