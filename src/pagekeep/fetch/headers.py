"""Check the headers that a caller wants to send, and read those that a server sent."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from pagekeep.errors import FetchError

CLIENT_HEADERS: Final = frozenset(
    {"accept-encoding", "connection", "content-length", "host", "te", "transfer-encoding", "upgrade"}
)
"""Headers that only the client may set: it relies on their values."""

MAX_HEADERS: Final = 100
"""Headers of a response that are stored; real ones have about 20."""
MAX_HEADER_CHARS: Final = 4_000
"""Longer values are cut: the longest real ones are content security policies."""
_MAX_HEADER_NAME_CHARS: Final = 100
_PRIVATE_HEADERS: Final = frozenset({"set-cookie", "set-cookie2"})
"""Headers that may hold a session of the user. An archive is made to be shared."""

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9a-z-]+")
_VALUE = re.compile("[^\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]*")
_COOKIE_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_COOKIE_VALUE = re.compile("[^\x00-\x1f\x7f;\ud800-\udfff]*")


class Headers:
    """The headers of a response. Cookies are separate: they are used during the fetch and never stored with the page."""

    def __init__(self, raw: Sequence[tuple[bytes, bytes]]) -> None:
        fields: dict[str, str] = {}
        self.cookies: list[str] = []
        for key, value in raw:
            name, text = key.decode("latin-1").lower(), _decode(value)
            if name == "set-cookie":
                self.cookies.append(text)
            else:
                fields[name] = f"{fields[name]}, {text}" if name in fields else text
        self.fields: Mapping[str, str] = fields


def _decode(value: bytes) -> str:
    """Decode a header value as UTF-8, which servers send (redirects to `/straße`), else as the standard's latin-1."""
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")


def check_headers(headers: Mapping[str, str] | None) -> dict[str, str]:
    """Return a caller's headers with lower-case names; raise `FetchError` for one that cannot be sent."""
    lowered = {name.lower(): value.strip() for name, value in (headers or {}).items()}
    for name, value in lowered.items():
        if name in CLIENT_HEADERS or not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
            raise FetchError(f"The header {name!r:.60} cannot be sent.", suggestions=("Remove this header.",))
    return lowered


def check_cookies(cookies: Mapping[str, str] | None) -> Mapping[str, str]:
    """Return a caller's cookies; raise `FetchError` for one that cannot be sent."""
    for name, value in (cookies or {}).items():
        if not _COOKIE_NAME.fullmatch(name) or not _COOKIE_VALUE.fullmatch(value):
            raise FetchError(f"The cookie {name!r:.60} cannot be sent.", suggestions=("Remove this cookie.",))
    return cookies or {}


def keep_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of a response that are stored with its page, within limits and without cookies."""
    kept: dict[str, str] = {}
    for name, value in list(headers.items())[:MAX_HEADERS]:
        lower = name.lower()
        if len(name) <= _MAX_HEADER_NAME_CHARS and lower not in _PRIVATE_HEADERS:
            kept[lower] = value[:MAX_HEADER_CHARS]
    return kept
