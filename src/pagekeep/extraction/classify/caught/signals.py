"""The signals that the detectors use: the page's words and markup, collected once, and phrases found in many languages."""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property
from typing import Final
from urllib.parse import urlsplit

from pagekeep import dom
from pagekeep.extraction.classify.browser_need import RenderSigns
from pagekeep.extraction.input.structured import Structured, type_names
from pagekeep.extraction.locate.survey import TEXT, Survey
from pagekeep.model import Strategy
from pagekeep.text import compile_lazily
from pagekeep.values import dataclass

# How much of a page is searched; walls are short, and their marks are at the start or the end of the markup.
_MAX_TEXT_CHARS: Final = 12_000
_HEAD_CHARS: Final = 60_000
_TAIL_CHARS: Final = 20_000
_MAX_REMOVED: Final = 50
_MAX_HEADINGS: Final = 3
_HEADING_CHARS: Final = 300
_CONTENT_TYPES: Final = compile_lazily(
    r"(?:Article|Posting|Report|Recipe|HowTo|Product|Event|Question|Review|Movie|Book|Recording|Album|Episode)$"
)


@dataclass(frozen=True)
class Signals:
    """The page before anything was pruned from it.

    Texts are computed on first use, which most pages never need: the survey keeps its nodes, and pruning moves nodes
    without changing their text.
    """

    survey: Survey
    structured: Structured
    render_signs: RenderSigns
    source: str
    title: str
    """The `<title>` in lower case, on one line."""
    passwords: int
    """Number of password fields; 0 on a page with much text."""
    url: str | None
    status: int | None
    removed: tuple[dom.Element, ...] = ()
    """Elements that rules removed from the page: the text of a wall identifies it even then."""

    @cached_property
    def text(self) -> str:
        """Return the start of the visible text in lower case, on one line."""
        removed = [dom.text_of(node)[:_MAX_TEXT_CHARS] for node in self.removed[:_MAX_REMOVED]]
        # Piece by piece, because most of them are in ASCII, which takes a tenth of the time of other letters.
        pieces = [text.lower() for text in (*_texts(self.survey, 0, _MAX_TEXT_CHARS), *removed)]
        return normalise(" ".join(pieces), is_lower=True)

    @cached_property
    def headings(self) -> tuple[str, ...]:
        """Return the page's first `<h1>` headings in lower case, else the first `<h2>`."""
        survey = self.survey
        indexes = survey.places.get("h1") or survey.places.get("h2", [])[:1]
        headings = (normalise(" ".join(_texts(survey, index, _HEADING_CHARS))) for index in indexes[:_MAX_HEADINGS])
        return tuple(heading for heading in headings if heading)

    @cached_property
    def markup(self) -> str:
        """Return the start and end of the markup, where walls leave their marks."""
        source = self.source
        return (
            source if len(source) <= _HEAD_CHARS + _TAIL_CHARS else f"{source[:_HEAD_CHARS]}\n{source[-_TAIL_CHARS:]}"
        )

    def find_mark(self, marks: tuple[tuple[str, str], ...]) -> str | None:
        """Return the name of the first mark in the markup, from pairs of mark and name."""
        return next((name for mark, name in marks if mark in self.markup), None)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the page's title and headings."""
        return (self.title, *self.headings) if self.title else self.headings

    @cached_property
    def is_declared(self) -> bool:
        """Return whether the page declares itself an article, product or similar, which walls do not."""
        if any(_CONTENT_TYPES.search(name) for item in self.structured.json_ld for name in type_names(item)):
            return True
        kind = self.structured.opengraph.get("og:type", "")
        return kind.lower() in ("article", "product") or "article:published_time" in self.structured.opengraph

    @cached_property
    def host(self) -> str:
        """Return the host of the page's URL in lower case."""
        return _split(self.url)[0]

    @cached_property
    def path(self) -> str:
        """Return the path of the page's URL in lower case."""
        return _split(self.url)[1]


@dataclass(frozen=True, slots=True)
class Extracted:
    """What extraction found in the page."""

    text: str
    """The text in lower case, on one line; empty for a bookmark."""
    words: int
    strategy: Strategy


def normalise(text: str, *, is_lower: bool = False) -> str:
    """Return the text in lower case, on one line, with plain apostrophes."""
    return " ".join((text if is_lower else text.lower()).replace("’", "'").split())


def _split(url: str | None) -> tuple[str, str]:
    try:
        parts = urlsplit(url or "")
        return (parts.hostname or "").lower(), parts.path.lower()
    except ValueError:
        return "", ""


def _texts(survey: Survey, root: int, limit: int) -> list[str]:
    """Return the texts below the root in document order, about `limit` characters, without `<noscript>`."""
    places, end = survey.places[TEXT], survey.end[root]
    noscripts = [(index, survey.end[index]) for index in survey.places.get("noscript", ()) if index > root]
    noscripts.reverse()
    texts: list[str] = []
    for number in range(bisect_left(places, root + 1), bisect_left(places, end)):
        if limit <= 0:
            break
        while noscripts and noscripts[-1][1] <= places[number]:
            noscripts.pop()
        if not noscripts or noscripts[-1][0] > places[number]:
            texts.append(survey.texts[number][:limit])
            limit -= len(survey.texts[number])
    return texts


def collect_signals(
    document: dom.Document,
    survey: Survey,
    structured: Structured,
    signs: RenderSigns,
    source: str,
    url: str | None,
    status: int | None,
    removed: tuple[dom.Element, ...] = (),
) -> Signals:
    """Collect the signals of a page; call it before pruning."""
    title = dom.first(document, "title")
    title_text = normalise(dom.text_of(title)[:_HEADING_CHARS]) if title is not None else ""
    passwords = len(dom.select(document, "input[type=password]")) if signs.light else 0
    return Signals(survey, structured, signs, source, title_text, passwords, url, status, removed)


_QUOTED_CHARS: Final = 80
"""Characters of a phrase that a reason quotes."""


class Wording:
    """Phrases as pairs of a stem and a pattern.

    Every match of the pattern contains the stem, and the pattern is tried only if the text contains it: searching for a
    stem takes a hundredth of the time of a pattern.
    """

    def __init__(self, *phrases: tuple[str, str]) -> None:
        self.phrases = tuple((stem, compile_lazily(pattern)) for stem, pattern in phrases)

    def find(self, text: str) -> str | None:
        """Return the first phrase of the list that the lower-case text contains, as written there."""
        for stem, pattern in self.phrases:
            if stem in text and (match := pattern.search(text)):
                return match[0].strip()[:_QUOTED_CHARS]
        return None


class Names:
    """Patterns for the start of titles and headings that name a wall or an error."""

    def __init__(self, *patterns: str) -> None:
        self._pattern = compile_lazily("|".join(patterns))

    def find(self, names: tuple[str, ...]) -> str | None:
        """Return the matching start of the first name that matches."""
        matches = (self._pattern.match(name) for name in names)
        return next((match[0].strip()[:_QUOTED_CHARS] for match in matches if match), None)
