"""Shows where two texts differ: words that only one of them has are marked."""

from __future__ import annotations

import re
from collections import Counter
from html import escape

from pagekeep.lab.metrics import words

CLIP = 12_000
"""Characters shown of a text; beyond, nobody reads side by side."""

_WORD = re.compile(r"\w+")


def mark(text: str, other: str, css_class: str) -> str:
    """The text as HTML, every word beyond those the other text has wrapped in `<mark>`.

    Counts as the F1 does. Lines both texts share claim their words first, so that marks fall where the texts part.
    """
    lines, others = text.splitlines(), other.splitlines()
    spare = Counter(words(other))
    kept = _shared(lines, others)
    for index in kept:
        spare.subtract(words(lines[index]))
    shown = [
        escape(line) if index in kept else _mark_line(line, spare, css_class)
        for index, line in enumerate(lines[: _line_at(lines, CLIP)])
    ]
    ending = "\n[...]" if len(shown) < len(lines) else ""
    return re.sub(r"\n{3,}", "\n\n", "\n".join(shown)) + ending


def _shared(lines: list[str], others: list[str]) -> dict[int, None]:
    """Places of the lines that the others have too, each as often as they have it."""
    left = Counter(tuple(words(line)) for line in others)
    kept: dict[int, None] = {}
    for index, line in enumerate(lines):
        key = tuple(words(line))
        if left[key] > 0:
            left[key] -= 1
            kept[index] = None
    return kept


def _line_at(lines: list[str], limit: int) -> int:
    """How many lines fit in the limit, at least one."""
    length = 0
    for index, line in enumerate(lines):
        length += len(line)
        if length > limit:
            return index + 1
    return len(lines)


def _mark_line(line: str, spare: Counter[str], css_class: str) -> str:
    parts, end, run = [], 0, False
    for found in _WORD.finditer(line[:CLIP]):
        word = found.group().lower()
        spare[word] -= 1
        extra = spare[word] < 0
        if extra != run:
            close = "</mark>" if run else ""
            between = escape(line[end : found.start()])
            parts.append(f'{close}{between}<mark class="{css_class}">' if extra else f"{close}{between}")
        else:
            parts.append(escape(line[end : found.start()]))
        parts.append(escape(found.group()))
        end, run = found.end(), extra
    return "".join(parts) + ("</mark>" if run else "") + escape(line[end:CLIP])
