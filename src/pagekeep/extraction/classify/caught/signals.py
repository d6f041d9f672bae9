"""What the detectors look at: the page's own words and marks, gathered once and read only when the page is light."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final
from urllib.parse import urlsplit

from pagekeep import dom
from pagekeep.extraction.classify.browser_need import Promise
from pagekeep.extraction.input.structured import Structured, type_names
from pagekeep.extraction.locate.survey import TEXT, Survey
from pagekeep.model import Strategy

_MAX_TEXT: Final = 12_000
_HEAD: Final = 60_000
_TAIL: Final = 20_000
_MAX_GONE: Final = 50
_MAX_HEADINGS: Final = 3
_HEADING_CHARS: Final = 300
_THINGS: Final = re.compile(
    r"(?:Article|Posting|Report|Recipe|HowTo|Product|Event|Question|Review|Movie|Book|Recording|Album|Episode)$"
)


@dataclass(frozen=True)
class Signals:
    """The page before anything was cut out of it.

    Texts are worked out on first use, and most pages never ask: the survey keeps its nodes, and the cut moves nodes
    without changing what they say.
    """

    survey: Survey
    structured: Structured
    promise: Promise
    source: str
    title: str
    """The `<title>`, lower-cased, in one line."""
    passwords: int
    """Password fields; not counted on a page with much text."""
    url: str | None
    status: int | None
    gone: tuple[dom.Element, ...] = ()
    """What rules removed from the page: a notice that is in the way is still what the page says."""

    @cached_property
    def text(self) -> str:
        """The beginning of the visible text, lower-cased, in one line."""
        removed = [dom.text_of(node)[:_MAX_TEXT] for node in self.gone[:_MAX_GONE]]
        return normal(" ".join([*_texts(self.survey, 0, _MAX_TEXT), *removed]))

    @cached_property
    def headings(self) -> tuple[str, ...]:
        """The page's first headings, lower-cased: every `h1` first, else the first `h2`."""
        survey = self.survey
        places = [index for index, tag in enumerate(survey.tag) if tag == "h1"]
        if not places and "h2" in survey.tag:
            places = [survey.tag.index("h2")]
        said = (normal(" ".join(_texts(survey, index, _HEADING_CHARS))) for index in places[:_MAX_HEADINGS])
        return tuple(heading for heading in said if heading)

    @cached_property
    def markup(self) -> str:
        """The markup's beginning and end, as written, where walls leave their marks."""
        source = self.source
        return source if len(source) <= _HEAD + _TAIL else f"{source[:_HEAD]}\n{source[-_TAIL:]}"

    def marked(self, marks: tuple[tuple[str, str], ...]) -> str | None:
        """Whose mark the markup bears: of pairs of mark and name, the first name."""
        return next((name for mark, name in marks if mark in self.markup), None)

    @property
    def names(self) -> tuple[str, ...]:
        """What the page calls itself: title and headings."""
        return (self.title, *self.headings) if self.title else self.headings

    @cached_property
    def is_declared(self) -> bool:
        """The page declares itself an article, product or the like: walls do not."""
        if any(_THINGS.search(name) for item in self.structured.json_ld for name in type_names(item)):
            return True
        kind = self.structured.opengraph.get("og:type", "")
        return kind.lower() in ("article", "product") or "article:published_time" in self.structured.opengraph

    @cached_property
    def host(self) -> str:
        """The host of the page's address, lower-cased."""
        return _split(self.url)[0]

    @cached_property
    def path(self) -> str:
        """The path of the page's address, lower-cased."""
        return _split(self.url)[1]


@dataclass(frozen=True, slots=True)
class Found:
    """What extraction made of the page."""

    text: str
    """Lower-cased, in one line; empty when only a bookmark was made."""
    words: int
    strategy: Strategy


def normal(text: str) -> str:
    """Lower-cased, in one line, with plain apostrophes."""
    return " ".join(text.lower().replace("’", "'").split())


def _split(url: str | None) -> tuple[str, str]:
    try:
        parts = urlsplit(url or "")
        return (parts.hostname or "").lower(), parts.path.lower()
    except ValueError:
        return "", ""


def _texts(survey: Survey, root: int, limit: int) -> list[str]:
    """Texts below the root in document order, about `limit` characters, without `<noscript>`."""
    texts: list[str] = []
    index, end = root + 1, survey.end[root]
    while index < end and limit > 0:
        tag = survey.tag[index]
        if tag == TEXT:
            data = survey.nodes[index].data  # type: ignore[attr-defined]
            texts.append(data[:limit])
            limit -= len(data)
        index = survey.end[index] if tag == "noscript" else index + 1
    return texts


def gather(
    document: dom.Document,
    survey: Survey,
    structured: Structured,
    promise: Promise,
    source: str,
    url: str | None,
    status: int | None,
    gone: tuple[dom.Element, ...] = (),
) -> Signals:
    """The signals of a page; ask before the cut."""
    title = dom.first(document, "title")
    said = normal(dom.text_of(title)[:_HEADING_CHARS]) if title is not None else ""
    passwords = len(dom.select(document, "input[type=password]")) if promise.light else 0
    return Signals(survey, structured, promise, source, said, passwords, url, status, gone)
