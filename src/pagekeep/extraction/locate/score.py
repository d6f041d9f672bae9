"""The score of a result from 0 to 100, by its title, length, structure, words and sentences."""

from __future__ import annotations

from typing import Final

from pagekeep.text import compile_lazily

MIN_SCORE: Final = 30
"""Under this a strategy's result is refused."""
GOOD_SCORE: Final = 60
"""Under this the next strategy is tried too, and the result is not green. Both are the specification's."""
BLOCKS: Final = tuple("p h1 h2 h3 h4 h5 h6 li blockquote pre table figure dt".split())
"""The blocks that make up the structure of a text."""

# Pairs of threshold and points: the first threshold that the count is over decides.
_LENGTH: Final = ((2_000, 40), (500, 25), (100, 10))
_STRUCTURE: Final = ((10, 20), (5, 12), (2, 6))
_WORDS: Final = ((500, 10), (100, 5))
_SENTENCES: Final = ((10, 10), (3, 5))
TITLE_POINTS: Final = 20
_LETTERS_PER_WORD: Final = 5
"""Length is counted in words of this many letters, so that scripts with short words score like others."""
_WORDS_PER_SENTENCE: Final = 25
"""Used for scripts without full stops."""
_SENTENCE_END: Final = compile_lazily(r"[.!?\u3002\uff01\uff1f\u061f\u0964\u0589\u1362\u2026]+")
SURELY_GOOD_WORDS: Final = 500
"""Over this many words length, words and sentences alone make a good score."""


def score(*, has_title: bool, words: int, blocks: int, text: str) -> int:
    """Return the score of a text."""
    sentences = words // _WORDS_PER_SENTENCE
    if sentences <= _SENTENCES[0][0]:  # else the full stops change nothing
        sentences = max(sentences, len(_SENTENCE_END.findall(text)))
    points = (
        TITLE_POINTS if has_title else 0,
        _points(words * (_LETTERS_PER_WORD + 1), _LENGTH),
        _points(blocks, _STRUCTURE),
        _points(words, _WORDS),
        _points(sentences, _SENTENCES),
    )
    return sum(points)


def _points(count: int, table: tuple[tuple[int, int], ...]) -> int:
    return next((points for threshold, points in table if count > threshold), 0)
