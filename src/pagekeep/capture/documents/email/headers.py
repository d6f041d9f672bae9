"""Headers of a message: bounded before anything parses them, and decoded in linear time.

The policy `email.policy.default` of the standard library needs 7 s and 1.7 GB for 16,000 encoded words, and raises errors
for unknown character sets. So words are decoded here, with the character sets of the web, and only short values go to
`email.utils`.
"""

from __future__ import annotations

import binascii
import re
from datetime import UTC
from email.utils import getaddresses, parsedate_to_datetime
from typing import Final

from pagekeep import dom
from pagekeep.capture.documents.email.values import Mailbox
from pagekeep.text import one_line

MAX_HEADERS: Final = 300
"""Headers of one part that are read; real messages have up to 120, most of them from mail servers."""
MAX_HEADER_CHARS: Final = 8_000
"""Of one value with its continuation lines; longer ones are cut. Only lists of recipients and signatures are longer."""
_MAX_HEAD_BYTES: Final = 256_000
_MAX_ADDRESSES: Final = 50
_MAX_NAME_CHARS: Final = 200
_FIELD: Final = re.compile(rb"([!-9;-~]{1,80})[ \t]*:(.*)", re.S)
_WORD: Final = re.compile(r"=\?([^?\s*]{1,40})(?:\*[^?\s]{0,20})?\?([bBqQ])\?([^?\s]*)\?=")
_ESCAPE: Final = re.compile(rb"=([0-9A-Fa-f]{2})")
_OTHER_THAN_BASE64: Final = re.compile(rb"[^A-Za-z0-9+/]+")


def split_head(data: bytes) -> tuple[bytes, bytes]:
    """Return the headers of a part and what follows them."""
    start = 0
    if data[:1] in (b"\n", b"\r"):  # a part without headers
        return b"", data[2 if data.startswith(b"\r\n") else 1 :]
    ends = [place for mark in (b"\r\n\r\n", b"\n\n", b"\r\r") if (place := data.find(mark)) >= 0]
    if not ends:
        return data[:_MAX_HEAD_BYTES], b""
    start = min(ends)
    length = 4 if data.startswith(b"\r\n\r\n", start) else 2
    return data[: min(start, _MAX_HEAD_BYTES)], data[start + length :]


def read_headers(head: bytes) -> dict[str, list[str]]:
    """Return the raw values of the headers by their names in lower case, unfolded and cut to a length that is safe to parse."""
    found: dict[str, list[str]] = {}
    lines = head.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    fields: list[bytearray] = []
    for line in lines:
        if line[:1] in (b" ", b"\t"):
            if fields and len(fields[-1]) < MAX_HEADER_CHARS:
                fields[-1] += b" " + line.strip()
        elif len(fields) < MAX_HEADERS:
            fields.append(bytearray(line[:MAX_HEADER_CHARS]))
    for one in fields:
        match = _FIELD.fullmatch(bytes(one[:MAX_HEADER_CHARS]))
        if match:
            found.setdefault(match[1].decode("ascii").lower(), []).append(_as_text(match[2].strip()))
    return found


def _as_text(value: bytes) -> str:
    """Return a raw value as text; bytes outside of ASCII are UTF-8, or what the web takes old pages for."""
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("windows-1252", "replace")


def decode_words(value: str) -> str:
    """Return a value with its encoded words (RFC 2047) decoded; a word that cannot be decoded stays as it is."""
    if "=?" not in value:
        return one_line(value)
    parts: list[str] = []
    pending: list[tuple[str, bytes]] = []
    place = 0
    for match in _WORD.finditer(value):
        between = value[place : match.start()]
        if between.strip() or not pending:
            parts += [_join_words(pending), between]
            pending = []
        body = _decode_word(match[2], match[3])
        # Characters may be cut in two between words of one character set: these are decoded together.
        if pending and pending[-1][0].lower() == match[1].lower():
            pending[-1] = (match[1], pending[-1][1] + body)
        else:
            pending.append((match[1], body))
        place = match.end()
    return one_line("".join([*parts, _join_words(pending), value[place:]]))


def _decode_word(encoding: str, text: str) -> bytes:
    data = text.encode("utf-8", "replace")
    if encoding in "bB":
        return decode_base64(data)
    return _ESCAPE.sub(lambda match: bytes([int(match[1], 16)]), data.replace(b"_", b" "))


def _join_words(words: list[tuple[str, bytes]]) -> str:
    return "".join(decode_bytes(body, charset) for charset, body in words)


def decode_base64(data: bytes) -> bytes:
    """Return what is encoded; characters outside of the alphabet are left out, and missing ones at the end too."""
    data = _OTHER_THAN_BASE64.sub(b"", data)
    data = data[: len(data) - 1] if len(data) % 4 == 1 else data
    try:
        return binascii.a2b_base64(data + b"=" * (-len(data) % 4))
    except binascii.Error:
        return b""


def decode_bytes(body: bytes, charset: str | None) -> str:
    """Return bytes as text, by the character set if the web knows it, else by their content."""
    if charset and charset.lower() not in ("us-ascii", "ascii"):  # what says it is ASCII and is not may be anything
        found = dom.decode(body, charset)
        if found is not None:
            return found[0]
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError:
        found = dom.decode(body)
        return found[0] if found else body.decode("windows-1252", "replace")


def parse_mailboxes(value: str) -> list[Mailbox]:
    """Return the names and addresses in a raw header such as `From`."""
    try:
        pairs = getaddresses([value[:MAX_HEADER_CHARS]], strict=False)
    except (ValueError, TypeError, IndexError, RecursionError):  # `strict` is of 2024: older versions do not take it
        try:
            pairs = getaddresses([value[:MAX_HEADER_CHARS]])
        except (ValueError, TypeError, IndexError, RecursionError):
            return []
    found = []
    for name, address in pairs[:_MAX_ADDRESSES]:
        address = one_line(address)
        box = Mailbox(decode_words(name).strip("'\" ")[:_MAX_NAME_CHARS], address[:320] if "@" in address else "")
        if box.label:
            found.append(box)
    return found


def parse_date(value: str) -> str | None:
    """Return the date of a header in UTC, as ISO 8601; `None` for what is not a date."""
    try:
        found = parsedate_to_datetime(value[:200])
        found = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return found.strftime("%Y-%m-%dT%H:%M:%SZ") if 1970 <= found.year < 2200 else None
