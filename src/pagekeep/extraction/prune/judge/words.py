"""Words: those in the names of elements, in short blocks and in paragraphs, as the judge compares them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from pagekeep import dom
from pagekeep.text import compile_lazily

_SHORT_CHARS: Final = 100
"""Characters up to which the words of a block are looked up: longer texts are about anything."""
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_TOPIC_CHARS: Final = 4
"""Letters of a word that may be about the subject."""
_TOPIC_WORD: Final = compile_lazily(rf"[^\W\d_]{{{_TOPIC_CHARS},}}")
_LETTERS: Final = bytes(code if code > 127 or chr(code).isalpha() else ord(" ") for code in range(256))
"""Turns everything in ASCII that is not a letter into a space."""
_NAME_WORD: Final = re.compile(r"[a-z]{2,}|[A-Z][a-z]+|[A-Z]{2,}(?![a-z])")
_MAX_NAME_CHARS: Final = 300


@lru_cache(maxsize=8192)
def split_names(names: str) -> tuple[str, ...]:
    """Return the words of a class or id attribute, in lower case."""
    return tuple(dict.fromkeys(word.lower() for word in _NAME_WORD.findall(names[:_MAX_NAME_CHARS])))


def name_words(node: dom.Node) -> tuple[str, ...]:
    """Return the words in the class and id of an element."""
    if not isinstance(node, dom.Element):
        return ()
    names, identifier = node.attr("class"), node.attr("id")
    if not identifier:
        return split_names(names) if names else ()
    return split_names(f"{names} {identifier}" if names else identifier)


def short_words(text: str) -> list[str]:
    """Return the words of a short block, in lower case."""
    return _WORD.findall(text.lower()) if len(text) <= _SHORT_CHARS else []


def split_words(text: str) -> list[bytes]:
    """Return the words of a text, in lower case and UTF-8; longer ones are whole, others may be several in one."""
    # Searching them by a pattern takes three times as long. Signs that are not in ASCII are left to `split_signs`.
    return text.lower().encode("utf-8", "surrogatepass").translate(_LETTERS).split()


def split_signs(word: bytes) -> list[bytes]:
    """Return the longer words in a word that is not in ASCII."""
    return [part.encode() for part in _TOPIC_WORD.findall(word.decode("utf-8", "surrogatepass"))]


def find_topics(text: str) -> list[bytes]:
    """Return the longer words of a text, in lower case and UTF-8."""
    words = split_words(text)
    found = [word for word in words if len(word) >= _TOPIC_CHARS]
    if text.isascii():
        return found
    plain = [word for word in found if word.isascii()]
    return (
        plain
        if len(plain) == len(found)
        else plain + [part for word in found if not word.isascii() for part in split_signs(word)]
    )
