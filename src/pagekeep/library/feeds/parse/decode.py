"""The text of a feed's document, by byte order mark, content, HTTP header and XML declaration; bytes are often mislabelled."""

from __future__ import annotations

import re
from typing import Final

from pagekeep import dom
from pagekeep.library.feeds.parse.values import MAX_ENTRIES

_DECLARATION: Final = re.compile(rb"\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9._:-]{1,40})[\"']", re.I)
_TEXT_DECLARATION: Final = re.compile(r"^\s*<\?xml[^>]{0,400}\?>", re.I)
_START: Final = re.compile(r"<\?xml\b|<(?:\w{1,20}:)?(?:rss|feed|RDF|opml|channel)\b", re.I)
_JUNK_CHARS: Final = 20_000
"""Where a feed may begin: programs write warnings before it."""
_ILLEGAL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that XML cannot hold."""
_ENTRY: Final = re.compile(r"<(?:\w{1,20}:)?(?:item|entry)[\s>/]", re.I)
_ENTRY_END: Final = re.compile(r"</(?:\w{1,20}:)?(?:item|entry)\s*>", re.I)
_BOMS: Final = (
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
    (b"<\x00?\x00", "utf-16-le"),
    (b"\x00<\x00?", "utf-16-be"),
)


def decode(body: bytes, charset: str | None = None) -> str:
    """Return the text; nothing is raised, whatever the bytes are."""
    for mark, name in _BOMS:
        if body.startswith(mark):
            return body.decode(name, "replace").removeprefix("\ufeff")
    try:
        return body.decode("utf-8")  # text in another encoding is hardly ever valid UTF-8
    except UnicodeDecodeError:
        pass
    declared = _DECLARATION.match(body)
    labels = (charset, declared[1].decode("ascii") if declared else None)
    for label in labels:
        # Labels of the web only: Python has codecs that take quadratic time.
        if label and label.lower() not in ("utf-8", "utf8", "us-ascii", "ascii"):
            found = dom.decode(body, label)
            if found is not None:
                return found[0]
    return _decode_mixed(body)


def _decode_mixed(body: bytes) -> str:
    """Return text that is mostly UTF-8, or else in Windows' encoding for Western Europe."""
    text = body.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    kept = sum(1 for char in text if char > "\x7f") - broken
    return text if kept > 3 * broken else body.decode("windows-1252", "replace")


def to_xml(text: str) -> bytes:
    """Return the document as clean UTF-8 without declaration, from its first element on, with a limited number of entries."""
    found = _START.search(text[:_JUNK_CHARS])
    text = _TEXT_DECLARATION.sub("", text[found.start() :] if found else text.lstrip())
    return _ILLEGAL.sub("", _limit_entries(text)).encode("utf-8", "replace")


def _limit_entries(text: str) -> str:
    """Return the document without entries over the limit: its end follows the last one that stays."""
    for count, found in enumerate(_ENTRY.finditer(text)):
        if count == MAX_ENTRIES:
            ends = [end.end() for end in _ENTRY_END.finditer(text, max(found.start(), len(text) - _JUNK_CHARS))]
            return text[: found.start()] + (text[ends[-1] :] if ends else "")
    return text
