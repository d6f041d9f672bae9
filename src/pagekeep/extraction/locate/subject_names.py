"""Recognise class names and ids that name the subject of a text: `copyright-law` is not a footer.

Words such as `comment` or `copyright` in a name make an element suspect (`class_names`). Where a name of several words
describes what the element is about, and the element has prose, it is content after all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from pagekeep import dom
from pagekeep.extraction.locate.class_names import Sign, find_signs
from pagekeep.extraction.locate.survey import Survey
from pagekeep.text import compile_lazily

_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_MIN_SENTENCE_CHARS: Final = 400
"""Characters of sentences that an element named after its subject has; a notice or a form has fewer."""
_MAX_LINK_SHARE: Final = 0.2
"""Share of text in links below which the text is prose and not a list of other pages."""
_HEADING_NODES: Final = 8
"""Nodes within which the element must have its heading."""
_HEADING_CHARS: Final = 200
"""Characters of a heading that are compared with a name, more than a name has."""
_MAX_NAMES: Final = 40
"""Names of one element that are read, a bound on work."""

_HYPHENATED: Final = compile_lazily(r"[a-z]+(?:-[a-z]+){1,7}")
_WORD: Final = compile_lazily(r"[a-z0-9]+")
_PHRASE_WORDS: Final = frozenset("about against and for from in of on the to under upon".split())
"""Words of sentences: with one of them inside, a name is a phrase."""
_LAYOUT_WORDS: Final = frozenset(
    "actions area bar block body bottom box btn button card col column container content count details field footer form"
    " grid group header holder icon info inline inner item js label layout left line link links list main menu message meta"
    " module nav note notice outer page panel right row section sidebar site statement submit text title top widget wrap"
    " wrapper year".split()
)
"""Words for parts of a layout: beside one of them, a suspect word says what the part is."""
_DISCUSSION: Final = int(Sign.COMMENTS | Sign.REVIEWS | Sign.MEMBER)
"""Signs of texts by readers: these have prose too, and their names are many."""


def is_named_after_subject(survey: Survey, sentences: Sequence[int], index: int, suspicious: int) -> bool:
    """Return whether each name that makes the element suspect is about its subject, and the element has prose."""
    node = survey.nodes[index]
    is_prose = survey.linked[index] < _MAX_LINK_SHARE * survey.chars[index] and sentences[index] > _MIN_SENTENCE_CHARS
    if not is_prose or not isinstance(node, dom.Element):
        return False
    names = [(name, signs) for name in _names(node) if (signs := find_signs(name) & suspicious)]
    heading = _heading_words(survey, index)
    return bool(names) and all(_is_subject(name, signs, heading) for name, signs in names)


def _names(node: dom.Element) -> Iterator[str]:
    yield from (node.attr("class") or "").split()[:_MAX_NAMES]
    if name := node.attr("id"):
        yield name


def _heading_words(survey: Survey, index: int) -> list[str]:
    """Return the words of the heading that the element starts with."""
    for inner in range(index + 1, min(survey.end[index], index + _HEADING_NODES)):
        if survey.tag[inner] in _HEADINGS:
            return _content_words(_WORD.findall(dom.text_of(survey.nodes[inner])[:_HEADING_CHARS].lower()))
    return []


def _content_words(words: list[str]) -> list[str]:
    return [word for word in words if word not in _PHRASE_WORDS and word not in ("a", "an")]


def _is_subject(name: str, signs: int, heading: list[str]) -> bool:
    """Return whether the name is the heading's words, a phrase, or a suspect word before another that is not of a layout."""
    if not _HYPHENATED.fullmatch(name):
        return False
    words = name.split("-")
    own = _content_words(words)
    if len(own) > 1 and own == heading[: len(own)]:
        return True
    if not _PHRASE_WORDS.isdisjoint(words[1:-1]) and _LAYOUT_WORDS.isdisjoint(words[:-1]):
        return True
    return not signs & _DISCUSSION and bool(find_signs(words[0]) & signs) and _LAYOUT_WORDS.isdisjoint(words[1:])
