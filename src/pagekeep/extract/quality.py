"""How good the result is: a score for programs, a level and colour for people, checks that say why."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pagekeep import dom
from pagekeep.model import Check, Colour, Level, Metadata, Quality, Strategy

_SENTENCE_END: Final = re.compile(r"[.!?\u3002\uff01\uff1f\u061f\u0964\u0589\u1362\u2026]+")
_BLOCKS: Final = tuple("p h1 h2 h3 h4 h5 h6 li blockquote pre table figure dt".split())
_PARAGRAPHS: Final = tuple("p blockquote pre li".split())

_LEVELS: Final[dict[Strategy, tuple[Level, Colour]]] = {
    "readability": ("article", "green"),
    "simplified": ("simplified", "yellow"),
    "full_page": ("simplified", "yellow"),
    "bookmark": ("bookmark", "orange"),
    "verbatim": ("article", "green"),
    "discarded": ("discarded", "grey"),
}

# Points by the first threshold that the count is over.
_LENGTH: Final = ((2_000, 40), (500, 25), (100, 10))
_STRUCTURE: Final = ((10, 20), (5, 12), (2, 6))
_WORDS: Final = ((500, 10), (100, 5))
_SENTENCES: Final = ((10, 10), (3, 5))

_LETTERS_A_WORD: Final = 5
"""Length is counted in words of this many letters, so that a script of short words scores like any other."""
_WORDS_A_SENTENCE: Final = 25
"""In a script without full stops, so many words make a sentence."""


@dataclass(frozen=True, slots=True)
class Written:
    """The content in all its forms, as it leaves the house."""

    root: dom.Element
    """The tree of the clean HTML."""
    html: str
    text: str
    markdown: str
    word_count: int
    code_blocks: int
    """How many the page had before clean-up. Other things are fair to count only afterwards: layout tables, spacer images
    and menus made of lists vanish in the clean-up by design."""


def assess(written: Written, strategy: Strategy, metadata: Metadata, reason: str | None) -> Quality:
    """Score, level and checks of one result; `reason` is why extraction failed, on a bookmark."""
    level, colour = _LEVELS[strategy]
    message = _message(level, written.word_count)
    return Quality(_score(written, metadata), level, colour, message, _checks(written, metadata), reason)


def discarded(reason: str) -> Quality:
    """The verdict on a page that a rule wants none of."""
    return Quality(0, *_LEVELS["discarded"], "Discarded by a rule", (), reason)


def _message(level: Level, words: int) -> str:
    if level == "article":
        return f"Article captured ({words} words)"
    return "Article captured (simplified)" if level == "simplified" else "Saved as bookmark - extraction failed"


def _score(written: Written, metadata: Metadata) -> int:
    words = written.word_count
    blocks = len(dom.tagged(written.root, _BLOCKS))
    sentences = words // _WORDS_A_SENTENCE
    if sentences <= _SENTENCES[0][0]:  # else the full stops change nothing
        sentences = max(sentences, len(_SENTENCE_END.findall(written.text)))
    points = (
        20 if metadata.title else 0,
        _points(words * (_LETTERS_A_WORD + 1), _LENGTH),
        _points(blocks, _STRUCTURE),
        _points(words, _WORDS),
        _points(sentences, _SENTENCES),
    )
    return sum(points)


def _points(count: int, table: tuple[tuple[int, int], ...]) -> int:
    return next((points for threshold, points in table if count > threshold), 0)


def _checks(written: Written, metadata: Metadata) -> tuple[Check, ...]:
    paragraphs = len(dom.tagged(written.root, _PARAGRAPHS))
    characters = len(written.text)
    density = characters / len(written.html) if written.html else 0.0
    linked = sum(len(dom.text_of(link)) for link in dom.select(written.root, "a"))
    link_density = min(1.0, linked / characters) if characters else 0.0
    known = [name for name in ("title", "author", "published") if getattr(metadata, name)]
    lost = lost_elements(written)
    return (
        Check("words", written.word_count > 100, f"{written.word_count} words"),
        Check("paragraphs", paragraphs > 2, f"{paragraphs} paragraphs"),
        Check("text_density", density > 0.25, f"{density:.0%} of the content's HTML is text"),
        Check("link_density", link_density < 0.3, f"{link_density:.0%} of the text stands in links"),
        Check("metadata", "title" in known and len(known) > 1, f"known: {', '.join(known) or 'nothing'}"),
        Check("nothing_lost", not lost, "; ".join(lost) or "code, tables, lists, images and math are all there"),
    )


_COUNTED: Final = {
    "code blocks": "pre",
    "tables": "table",
    "lists": "ul, :not(.footnotes) > ol",
    "images": "img",
    "math": ".math-inline, .math-block",
}
_FENCE: Final = re.compile(r"^[ >\t]*(?:[-*+\d.]+\s+)*(`{3,}|~{3,})", re.M)
_TABLE_RULE: Final = re.compile(r"^[ >\t]*\|(?:\s*:?-+:?\s*\|)+\s*$", re.M)
_LIST_ITEM: Final = re.compile(r"^[ >\t]*(?:[-*+]|\d+[.)])\s", re.M)
_WRITTEN: Final[dict[str, Callable[[str], int]]] = {
    "code blocks": lambda markdown: len(_FENCE.findall(markdown)) // 2,
    "tables": lambda markdown: bool(_TABLE_RULE.search(markdown)),
    "lists": lambda markdown: bool(_LIST_ITEM.search(markdown)),
    "images": lambda markdown: markdown.count("!["),
    "math": lambda markdown: markdown.count("$") // 2,
}
"""How many of each the Markdown shows; of tables and lists, whether it shows any."""


def lost_elements(written: Written) -> list[str]:
    """What the clean tree holds and the Markdown does not, in words."""
    had = {name: len(dom.select(written.root, selector)) for name, selector in _COUNTED.items()}
    has = {name: count(written.markdown) for name, count in _WRITTEN.items() if had[name]}
    lost = [f"{had[name] - has[name]} of {had[name]} {name} lost" for name in _EXACT if has.get(name, 0) < had[name]]
    lost += [f"all {had[name]} {name} lost" for name in _IN_ALL if had[name] and not has[name]]
    if written.code_blocks and not had["code blocks"]:
        lost.append(f"all {written.code_blocks} code blocks lost in the clean-up")
    return lost


_EXACT: Final = ("code blocks", "images", "math")
_IN_ALL: Final = ("tables", "lists")
"""Nested tables are flattened and neighbouring lists merge, so there only a whole loss is told."""
