"""Normalise values to plain text: one line, no markup, no entities, no invisible characters."""

from __future__ import annotations

import html
import re
from functools import lru_cache
from typing import Final

from pagekeep.text import compile_lazily

_TAG: Final = compile_lazily(r"</?[a-zA-Z][^<>]{0,500}>")
_INVISIBLE: Final = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\u00ad\u200b\u2060\ufeff\ufffd\ud800-\udfff]+")
_MAX_CHARS: Final = 500
_RAW_FACTOR: Final = 4
"""Raw text is longer than the result: markup, entities and white space go; the rest need not be processed."""
_WORD: Final = re.compile(r"\w+")
_NOT_WORD: Final = re.compile(r"\W+")
_SQUEEZED: Final = 256
"""Texts that are remembered: those of a page, such as its title, are compared several times each."""


def one_line(value: object, limit: int = _MAX_CHARS) -> str:
    """Return the value on one line without markup, cut at a word to `limit` characters; empty when it is not text."""
    if not isinstance(value, str):
        return ""
    text = value.strip()[: limit * _RAW_FACTOR]
    if "&" in text:
        # Twice: double escaping is common.
        text = html.unescape(html.unescape(text))
    if "<" in text:
        text = _TAG.sub(" ", text)
    return tidy(text, limit)


def tidy(text: str, limit: int = _MAX_CHARS) -> str:
    """Return text of the page on one line; unlike in `one_line`, `<table>` is text that the page shows, not markup."""
    text = " ".join(_INVISIBLE.sub("", text.strip()[: limit * _RAW_FACTOR]).split())
    return text if len(text) <= limit else text[:limit].rpartition(" ")[0] or text[:limit]


def split_words(text: str) -> list[str]:
    """Return the words of a text in lower case, for comparing."""
    return _WORD.findall(text.lower())


@lru_cache(maxsize=_SQUEEZED)
def squeeze(text: str) -> str:
    """Return only letters and digits in lower case, for comparing names that differ in spacing or punctuation."""
    return _NOT_WORD.sub("", text.lower())
