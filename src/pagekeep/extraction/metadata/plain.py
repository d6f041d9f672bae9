"""Values as people read them: one line, no markup, no entities, no invisible characters."""

from __future__ import annotations

import html
import re
from typing import Final

_TAG: Final = re.compile(r"</?[a-zA-Z][^<>]{0,500}>")
_UNSEEN: Final = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\u00ad\u200b\u2060\ufeff\ufffd\ud800-\udfff]+")
_WORD: Final = re.compile(r"\w+")
_NOT_WORD: Final = re.compile(r"\W+")


def one_line(value: object, limit: int = 500) -> str:
    """The value's words on one line, at most `limit` characters, cut at a word; empty when it is not text."""
    if not isinstance(value, str):
        return ""
    text = value.strip()[: limit * 4]
    if "&" in text:
        # Twice: a title escaped once too often is common.
        text = html.unescape(html.unescape(text))
    if "<" in text:
        text = _TAG.sub(" ", text)
    return tidy(text, limit)


def tidy(text: str, limit: int = 500) -> str:
    """Text of the page itself on one line: like `one_line`, but `<table>` is a word the page shows, not markup."""
    text = " ".join(_UNSEEN.sub("", text.strip()[: limit * 4]).split())
    return text if len(text) <= limit else text[:limit].rpartition(" ")[0] or text[:limit]


def words(text: str) -> list[str]:
    """The words of a text in lower case, for comparing."""
    return _WORD.findall(text.lower())


def squeezed(text: str) -> str:
    """The letters and digits of a text in lower case, for comparing names that differ in spacing or punctuation."""
    return _NOT_WORD.sub("", text.lower())
