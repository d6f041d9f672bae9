"""The sort key of a URL in the index of a web archive (SURT), by which replay programs find its record.

The host is reversed (`com,example)/path`), and what rarely makes another page is normalised: case, `www.`, session ids, the
order of parameters.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote_from_bytes, unquote_to_bytes

_DEFAULT_PORTS: Final = {b"http": b"80", b"https": b"443"}
_URL: Final = re.compile(rb"(?s)(?i:(https?))://(?:[^/?#@]*@)?(\[[^\]]*\]|[^/?#:]*)(?::(\d*))?([^?#]*)(?:\?([^#]*))?")
_WWW: Final = re.compile(rb"www\d*\.")
_SAFE: Final = rb"""!"$&'()*+,-./:;<=>?@[\]^_`{|}~"""
_PATH_SESSIONS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rb"^(.*/)\((?:[a-z]\([0-9a-z]{24}\))+\)/([^?]+\.aspx.*)$",
        rb"^(.*/)\([0-9a-z]{24}\)/([^?]+\.aspx.*)$",
    )
)
_QUERY_SESSIONS: Final = tuple(
    re.compile(rb"^(.*)(?:" + pattern + rb")(?:&(.*))?$", re.IGNORECASE)
    for pattern in (
        rb"jsessionid=[0-9a-z]{32}",
        rb"phpsessid=[0-9a-z]{32}",
        rb"sid=[0-9a-z]{32}",
        rb"aspsessionid[a-z]{8}=[a-z]{24}",
        rb"cfid=[^&]+&cftoken=[^&]+",
    )
)


def surt(url: str) -> str:
    """Return the key of an http or https URL; other URIs are their own key."""
    found = _URL.match(url.strip().encode("utf-8", "replace"))
    if found is None:
        return url
    scheme, host, port, path, query = found.groups()
    key = _host(host)
    if port and port != _DEFAULT_PORTS[scheme.lower()]:
        key += b":" + port
    key += b")" + _path(path)
    if query:
        arranged = _query(query)
        key += b"?" + arranged if arranged else b""
    return key.decode("ascii", "replace")


def _host(host: bytes) -> bytes:
    name = _unescape(host).lower().replace(b"..", b".").strip(b".")
    if not name.isascii():
        try:
            name = name.decode("utf-8").encode("idna")
        except UnicodeError:
            name = _escape(name)
    name = name[found.end() :] if (found := _WWW.match(name)) else name
    return b",".join(reversed(name.split(b".")))


def _path(path: bytes) -> bytes:
    parts: list[bytes] = []
    *_, last = pieces = _unescape(path).split(b"/")[1:] or [b""]
    for piece in pieces:
        if piece == b"..":
            if parts:
                parts.pop()
            else:
                parts.append(piece)
        elif piece != b".":
            parts.append(piece)
    folders = [part for part in parts[:-1] if part]
    last = parts[-1] if parts else b""
    clean = _escape(b"/" + b"/".join([*folders, last])).lower()
    for pattern in _PATH_SESSIONS:
        clean = pattern.sub(rb"\1\2", clean)
    return clean[:-1] if len(clean) > 1 and clean.endswith(b"/") else clean


def _query(query: bytes) -> bytes:
    clean = _escape(_unescape(query))
    for pattern in _QUERY_SESSIONS:
        clean = pattern.sub(rb"\1\2", clean)
    return b"&".join(
        b"=".join(pair) for pair in sorted(tuple(part.split(b"=", 1)) for part in clean.lower().split(b"&"))
    )


def _unescape(text: bytes) -> bytes:
    while (plain := unquote_to_bytes(text)) != text:
        text = plain
    return text


def _escape(text: bytes) -> bytes:
    return quote_from_bytes(text, safe=_SAFE).encode("ascii")
