"""The content as it is returned: a tree for the writers, and what is made of it when it is first read."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, NamedTuple

from pagekeep import dom
from pagekeep.extraction.output import references
from pagekeep.extraction.output.sanitise import sanitise
from pagekeep.model import Link, Media
from pagekeep.model.clean_tree import CleanTree, read_tree
from pagekeep.model.on_demand import OnDemand


class Links(OnDemand[tuple[Link, ...]]):
    """The links of the content."""

    __slots__ = ("_html",)

    def __init__(self, html: str) -> None:
        self._html = html

    def make(self) -> tuple[Link, ...]:
        """Return the links; none if they cannot be listed, because the content is complete without."""
        with suppress(Exception):
            return references.links(dom.parse_fragment(self._html))
        return ()


class MediaFiles(OnDemand[tuple[Media, ...]]):
    """The images, videos and audio of the content."""

    __slots__ = ("_html",)

    def __init__(self, html: str) -> None:
        self._html = html

    def make(self) -> tuple[Media, ...]:
        """Return the images, videos and audio; none if they cannot be listed, because the content is complete without."""
        with suppress(Exception):
            return references.media(dom.parse_fragment(self._html))
        return ()


def list_on_demand(html: str) -> tuple[Any, Any]:
    """Return the links and the media of the content, to be listed when they are first read."""
    return Links(html).as_value(), MediaFiles(html).as_value()


class Content(NamedTuple):
    """The content with nothing outside the vocabulary of clean HTML: as a tree, as HTML, and as parsed from it."""

    tree: CleanTree
    html: str
    root: dom.Element


def sanitise_content(root: dom.Element) -> Content:
    """Return what is below the root with nothing outside the vocabulary."""
    html, parsed = sanitise(root)
    return Content(read_tree(parsed), html, parsed)
