"""Addresses as people type and paste them."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_WHOLE: Final = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_LABEL: Final = re.compile(r"[^\W_](?:[\w-]{0,61}[^\W_])?")
_ENDS_HOST: Final = re.compile(r"[/?#]")


class Typed(NamedTuple):
    """An address, and what was written for it."""

    line: str
    url: str

    @property
    def is_completed(self) -> bool:
        """Whether the address says more than what was written."""
        return self.line != self.url


def typed(text: str) -> list[Typed]:
    """What stands in each line, once; a line that holds no address is there as it is, for whoever must refuse it."""
    return list(dict.fromkeys(found for line in text.splitlines() for found in _in_line(line.strip())))


def _in_line(line: str) -> list[Typed]:
    """Words beside a whole address are its title, as applications share it."""
    words = line.split()
    whole = [word for word in words if _WHOLE.match(word)]
    if whole:
        return [Typed(word, word) for word in whole]
    if words and all(map(_begins_with_host, words)):
        return [Typed(word, f"https://{word}") for word in words]
    return [Typed(line, line)] if line else []


def _begins_with_host(word: str) -> bool:
    """Whether it goes on like `example.com/post`, which every browser completes."""
    host, _, port = _ENDS_HOST.split(word, maxsplit=1)[0].partition(":")
    labels = host.split(".")
    top = labels[-1]
    named = len(labels) > 1 and len(top) > 1 and (top.isalpha() or top.startswith("xn--"))
    return named and (not port or port.isdecimal()) and all(map(_LABEL.fullmatch, labels))
