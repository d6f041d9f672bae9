"""Parse URLs as people type and paste them."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_FULL_URL: Final = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_LABEL: Final = re.compile(r"[^\W_](?:[\w-]{0,61}[^\W_])?")
_ENDS_HOST: Final = re.compile(r"[/?#]")


class TypedUrl(NamedTuple):
    """A URL and the text it was parsed from."""

    line: str
    url: str

    @property
    def is_completed(self) -> bool:
        """Whether the scheme was added."""
        return self.line != self.url


def parse_urls(text: str) -> list[TypedUrl]:
    """Return the URLs of all lines without repeats; a line without a URL is returned unchanged, for the caller to reject."""
    return list(dict.fromkeys(one for line in text.splitlines() for one in _parse_line(line.strip())))


def _parse_line(line: str) -> list[TypedUrl]:
    """Return the URLs of one line; words next to a full URL are its title, as applications share it."""
    words = line.split()
    full = [word for word in words if _FULL_URL.match(word)]
    if full:
        return [TypedUrl(word, word) for word in full]
    if words and all(map(_begins_with_host, words)):
        return [TypedUrl(word, f"https://{word}") for word in words]
    return [TypedUrl(line, line)] if line else []


def _begins_with_host(word: str) -> bool:
    """Return whether the word looks like `example.com/post`, which every browser completes."""
    host, _, port = _ENDS_HOST.split(word, maxsplit=1)[0].partition(":")
    labels = host.split(".")
    top = labels[-1]
    is_name = len(labels) > 1 and len(top) > 1 and (top.isalpha() or top.startswith("xn--"))
    return is_name and (not port or port.isdecimal()) and all(map(_LABEL.fullmatch, labels))
