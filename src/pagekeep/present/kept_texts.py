"""Texts in memory: those of a whole library, which programs that synchronise ask for again and again."""

from __future__ import annotations

from collections import OrderedDict
from hashlib import sha256


class KeptTexts:
    """Texts by what they were made of; when they are too large together, those that were not used for longest are dropped.

    The key is a cryptographic hash: users share these texts, and must not be able to replace those of others.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._texts: OrderedDict[bytes, bytes] = OrderedDict()

    def get(self, *made_of: str) -> str | None:
        """Return the text, if it is kept."""
        key = _key(made_of)
        text = self._texts.get(key)
        if text is None:
            return None
        self._texts.move_to_end(key)
        return text.decode()

    def put(self, text: str, *made_of: str) -> None:
        """Keep a text."""
        data, key = text.encode("utf-8", "replace"), _key(made_of)
        self._bytes += len(data) - len(self._texts.pop(key, b""))
        self._texts[key] = data
        while self._bytes > self._max_bytes:
            self._bytes -= len(self._texts.popitem(last=False)[1])


def _key(made_of: tuple[str, ...]) -> bytes:
    lengths = ":".join(str(len(part)) for part in made_of)
    return sha256("\n".join((lengths, *made_of)).encode("utf-8", "surrogatepass")).digest()
