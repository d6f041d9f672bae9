"""Recognise elements within a sentence: a word is part of its sentence, whatever its class is called.

Links and spans within a paragraph are named after their looks (`btn`, `nav-link`), their purpose (`promo-link`) or what a
script does with them (`popup`, `tooltip`). To leave one of them out would cut words out of the sentence.
"""

from __future__ import annotations

from typing import Final

from pagekeep.extraction.locate.prose import INLINE, PHRASING
from pagekeep.extraction.locate.survey import TEXT, Survey
from pagekeep.text import compile_lazily

_CONTROLS: Final = frozenset({"button", "label"})
"""Controls, which are words of a sentence only when there are words on both sides."""
_BREAKS: Final = frozenset({"br", "img"})
"""Inline elements that end a line; what is before a picture is not part of the words below it."""
_SCAN_NODES: Final = 60
"""Nodes of a line that are searched for words on either side, and nodes of an element that are checked: a bound on work."""
_MIN_WORDS: Final = 3
"""Words on one side, where there are none on the other: with fewer it is a label with a value, or an entry with a button."""
_LINES: Final = frozenset("p li dd td th blockquote h1 h2 h3 h4 h5 h6".split())
"""Blocks that hold one text; in others, what begins with a capital letter is another text than the element before it."""
_WORD: Final = compile_lazily(r"\w+")
_ENDS_SENTENCE: Final = compile_lazily(
    r"[.!?\u2026\u3002\uff01\uff1f\u061f\u0964\u0589\u1362][\"'\u00bb\u201d\u2019)\]]*\s*$"
)
_ENDS_PART: Final = compile_lazily(r"[|\u00b7\u2022/\u2013\u2014\u00bb\u203a>\u2192-]\s*$")
_BEGINS_PART: Final = compile_lazily(r"\s*[|\u00b7\u2022/\u00ab\u2039<\u2190]")


def is_within_sentence(survey: Survey, index: int, suspicious: int) -> bool:
    """Return whether an inline element has words of the same sentence before it, after it, or both.

    Words of links and of elements with one of the `suspicious` signs make no sentence by themselves: a row of buttons is not
    a sentence.
    """
    tag = survey.tag[index]
    is_control = tag in _CONTROLS
    if tag not in PHRASING and not is_control and "-" not in tag:  # names of custom elements have a hyphen
        return False
    inside = survey.tag[index + 1 : min(survey.end[index], index + _SCAN_NODES)]
    if not survey.chars[index] or any(name not in INLINE for name in inside):
        return False
    line = _Line(survey, index, suspicious)
    before, after = line.read_before(), line.read_after()
    if not line.has_own_words or _ENDS_PART.search(before) or _BEGINS_PART.match(after):
        return False
    words_before, words_after = len(_WORD.findall(before)), len(_WORD.findall(after))
    if words_before and words_after:
        return words_before + words_after > 1
    if is_control:
        return False
    if words_before >= _MIN_WORDS and not _ENDS_SENTENCE.search(before):
        return True
    return words_after >= _MIN_WORDS and (survey.tag[line.block] in _LINES or not after.lstrip()[:1].isupper())


class _Line:
    """The line of text around an inline element."""

    def __init__(self, survey: Survey, index: int, suspicious: int) -> None:
        self._survey, self._index, self._suspicious = survey, index, suspicious
        self._around = _find_inline_ancestors(survey, index)
        self.block = survey.parent[self._around[-1] if self._around else index]
        self.has_own_words = False
        """Whether some of the words read so far are in no link."""

    def read_before(self) -> str:
        """Return the text before the element."""
        texts: list[str] = []
        for place in range(self._index - 1, max(self.block, self._index - _SCAN_NODES), -1):
            if self._survey.tag[place] == TEXT:
                texts.append(self._read(place))
            elif self._ends_line(place):
                break
        return "".join(reversed(texts))

    def read_after(self) -> str:
        """Return the text after the element."""
        texts: list[str] = []
        begin = self._survey.end[self._index]
        for place in range(begin, min(self._survey.end[self.block], begin + _SCAN_NODES)):
            if self._survey.tag[place] == TEXT:
                texts.append(self._read(place))
            elif self._ends_line(place):
                break
        return "".join(texts)

    def _ends_line(self, place: int) -> bool:
        tag = self._survey.tag[place]
        return tag in _BREAKS or (tag not in PHRASING and tag not in _CONTROLS and "-" not in tag)

    def _read(self, place: int) -> str:
        """Return a text of the line, or nothing if an element around it is suspect itself."""
        survey, above = self._survey, self._survey.parent[place]
        is_linked = False
        while above != self.block and above not in self._around:
            if survey.flags[above] & self._suspicious or survey.tag[above] in _CONTROLS:
                return ""
            is_linked = is_linked or survey.tag[above] == "a"
            above = survey.parent[above]
        data: str = survey.nodes[place].data  # type: ignore[attr-defined]
        self.has_own_words = self.has_own_words or (not is_linked and bool(_WORD.search(data)))
        return data


def _find_inline_ancestors(survey: Survey, index: int) -> list[int]:
    """Return the inline elements around the element, innermost first."""
    around: list[int] = []
    above = survey.parent[index]
    while above and survey.tag[above] in PHRASING:
        around.append(above)
        above = survey.parent[above]
    return around
