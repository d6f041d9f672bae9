"""The content as it is returned: a tree for the writers, and what is made of it when it is first read."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, NamedTuple

from pagekeep import dom
from pagekeep.extraction.output import references
from pagekeep.extraction.output.read_content import read_content
from pagekeep.extraction.output.sanitise import sanitise, sanitise_html
from pagekeep.model import Link, Media
from pagekeep.model.clean_tree import CleanTree, read_tree
from pagekeep.model.on_demand import OnDemand


class CleanHtml(OnDemand[str]):
    """Clean HTML, which passes the sanitiser when it is first read."""

    __slots__ = ("_is_safe", "draft")

    def __init__(self, draft: str, *, is_safe: bool = False) -> None:
        self.draft = draft
        """HTML in which the sanitiser has nothing to change."""
        self._is_safe = is_safe

    def make(self) -> str:
        """Return the HTML."""
        if not self._is_safe:
            self.draft, self._is_safe = sanitise_html(self.draft), True
        return self.draft


class Links(OnDemand[tuple[Link, ...]]):
    """The links of the content."""

    __slots__ = ("_html",)

    def __init__(self, html: CleanHtml) -> None:
        self._html = html

    def make(self) -> tuple[Link, ...]:
        """Return the links; none if they cannot be listed, because the content is complete without."""
        with suppress(Exception):
            return references.links(dom.parse_fragment(self._html.make()))
        return ()


class MediaFiles(OnDemand[tuple[Media, ...]]):
    """The images, videos and audio of the content."""

    __slots__ = ("_html",)

    def __init__(self, html: CleanHtml) -> None:
        self._html = html

    def make(self) -> tuple[Media, ...]:
        """Return the images, videos and audio; none if they cannot be listed, because the content is complete without."""
        with suppress(Exception):
            return references.media(dom.parse_fragment(self._html.make()))
        return ()


def list_on_demand(html: CleanHtml) -> tuple[Any, Any]:
    """Return the links and the media of the content, to be listed when they are first read."""
    return Links(html).as_value(), MediaFiles(html).as_value()


class Content(NamedTuple):
    """The content with nothing outside the vocabulary of clean HTML."""

    tree: CleanTree
    html: CleanHtml
    root: dom.Element
    """The same tree in the HTML library. It may have other attributes too."""


def sanitise_content(root: dom.Element) -> Content:
    """Return what is below the root with nothing outside the vocabulary."""
    read = read_content(root)
    if read is not None:
        return Content(read[0], CleanHtml(read[1]), root)
    html, parsed = sanitise(root)
    return Content(read_tree(parsed), CleanHtml(html, is_safe=True), parsed)
