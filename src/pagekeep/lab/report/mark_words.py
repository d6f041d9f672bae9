"""Mark the words that only one of two texts has."""

from __future__ import annotations

import re
from collections import Counter
from html import escape

from pagekeep.lab.metrics import split_words

MAX_CHARS = 12_000
"""How much of a text is shown: long enough to compare, short enough for a page with many texts."""

_WORD = re.compile(r"\w+")


def mark_differences(text: str, other: str, css_class: str) -> str:
    """Return the text as HTML with `<mark>` around every word that the other text lacks.

    Words are counted as for the F1. Lines that both texts have are matched first, so that marks are where the texts differ.
    """
    lines, others = text.splitlines(), other.splitlines()
    spare = Counter(split_words(other))
    shared = _find_shared_lines(lines, others)
    for index in shared:
        spare.subtract(split_words(lines[index]))
    html_lines = [
        escape(line) if index in shared else _mark_line(line, spare, css_class)
        for index, line in enumerate(lines[: _count_fitting_lines(lines, MAX_CHARS)])
    ]
    ending = "\n[...]" if len(html_lines) < len(lines) else ""
    return re.sub(r"\n{3,}", "\n\n", "\n".join(html_lines)) + ending


def _find_shared_lines(lines: list[str], others: list[str]) -> dict[int, None]:
    """Return the indexes of lines that the others have too, each as often as they have it."""
    unmatched = Counter(tuple(split_words(line)) for line in others)
    shared: dict[int, None] = {}
    for index, line in enumerate(lines):
        key = tuple(split_words(line))
        if unmatched[key] > 0:
            unmatched[key] -= 1
            shared[index] = None
    return shared


def _count_fitting_lines(lines: list[str], limit: int) -> int:
    """Return how many lines fit in the limit, at least one."""
    length = 0
    for index, line in enumerate(lines):
        length += len(line)
        if length > limit:
            return index + 1
    return len(lines)


def _mark_line(line: str, spare: Counter[str], css_class: str) -> str:
    parts, end, run = [], 0, False
    for match in _WORD.finditer(line[:MAX_CHARS]):
        word = match.group().lower()
        spare[word] -= 1
        extra = spare[word] < 0
        if extra != run:
            close = "</mark>" if run else ""
            between = escape(line[end : match.start()])
            parts.append(f'{close}{between}<mark class="{css_class}">' if extra else f"{close}{between}")
        else:
            parts.append(escape(line[end : match.start()]))
        parts.append(escape(match.group()))
        end, run = match.end(), extra
    return "".join(parts) + ("</mark>" if run else "") + escape(line[end:MAX_CHARS])
