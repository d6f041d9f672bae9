"""What is wrong with a rule file, and suggestions for misspelt words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from pagekeep.model import RuleFault

_MAX_WORD_CHARS: Final = 80
"""Characters of a misspelt word that are compared: comparing takes time quadratic in its length."""


@dataclass(slots=True)
class Faults:
    """Collects everything that is wrong with a file while it is read."""

    file: str
    items: list[RuleFault] = field(default_factory=list)
    rule: str = ""
    """The id of the rule being read."""

    def add(self, line: int, path: str, message: str, suggestion: str = "") -> None:
        """Record a fault of the current rule."""
        self.items.append(RuleFault(self.file, line, path, message, suggestion, self.rule))


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a suggestion: the nearest known word, or all known words."""
    names = list(known)
    near = nearest(word, names)
    return f"Did you mean `{near}`?" if near else f"Known: {', '.join(names)}."


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word nearest to a misspelt one."""
    from difflib import get_close_matches  # imported late: only files with faults need it

    return next(iter(get_close_matches(word.lower()[:_MAX_WORD_CHARS], list(known), n=1)), None)
