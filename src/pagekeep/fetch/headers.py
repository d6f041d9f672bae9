"""Headers, both ways: what a caller may send, and what a server sent."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from pagekeep.errors import FetchError

OURS: Final = frozenset(
    {"accept-encoding", "connection", "content-length", "host", "te", "transfer-encoding", "upgrade"}
)
"""Headers that belong to the client: setting one would break what it relies on."""

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9a-z-]+")
_VALUE = re.compile("[^\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]*")
_COOKIE_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_COOKIE_VALUE = re.compile("[^\x00-\x1f\x7f;\ud800-\udfff]*")


class Headers:
    """A response's headers. Cookies stand apart: they serve this fetch and are never kept with the page."""

    def __init__(self, raw: Sequence[tuple[bytes, bytes]]) -> None:
        single: dict[str, str] = {}
        self.cookies: list[str] = []
        for key, value in raw:
            name, text = key.decode("latin-1").lower(), _decoded(value)
            if name == "set-cookie":
                self.cookies.append(text)
            else:
                single[name] = f"{single[name]}, {text}" if name in single else text
        self.single: Mapping[str, str] = single


def _decoded(value: bytes) -> str:
    """Servers write UTF-8 into headers (redirects to `/straße`) although the standard knows only latin-1."""
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")


def checked(headers: Mapping[str, str] | None) -> dict[str, str]:
    """A caller's headers with names in lower case; `FetchError` for one that cannot or must not be sent."""
    lowered = {name.lower(): value.strip() for name, value in (headers or {}).items()}
    for name, value in lowered.items():
        if name in OURS or not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
            raise FetchError(f"The header {name!r:.60} cannot be sent.", suggestions=("Leave this header out.",))
    return lowered


def checked_cookies(cookies: Mapping[str, str] | None) -> Mapping[str, str]:
    """A caller's cookies; `FetchError` for one that would break the header it travels in."""
    for name, value in (cookies or {}).items():
        if not _COOKIE_NAME.fullmatch(name) or not _COOKIE_VALUE.fullmatch(value):
            raise FetchError(f"The cookie {name!r:.60} cannot be sent.", suggestions=("Leave this cookie out.",))
    return cookies or {}
