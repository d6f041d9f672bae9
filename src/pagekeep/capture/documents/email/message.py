"""The parts and headers of a message: read with bounds on their depth, number and size, whatever the headers promise.

Headers are bounded before anything parses them, and decoded in linear time. The policy `email.policy.default` of the
standard library needs 7 s and 1.7 GB for 16,000 encoded words, and raises errors for unknown character sets. So words are
decoded here, with the character sets of the web, and only short values go to `email.utils`."""

from __future__ import annotations

import binascii
import re
from dataclasses import field
from datetime import UTC
from email.message import Message as Headers
from email.utils import getaddresses, parsedate_to_datetime
from typing import Final

from pagekeep import dom
from pagekeep.text import one_line
from pagekeep.values import dataclass

MAX_DEPTH: Final = 12
"""Parts within parts that are read; real messages have up to 6, forwarded ones a few more."""
MAX_PARTS: Final = 500
"""Parts of a message with all that is inside it; a digest of a busy list has about 100."""
_MIME_HEADERS: Final = ("content-type", "content-disposition")
_UU_BEGIN: Final = re.compile(rb"^begin [0-7]{3,4} .*$", re.M)
_FROM_LINE: Final = re.compile(rb"From [^\r\n]*\r?\n")
_PGP: Final = re.compile(rb"\s*-----BEGIN PGP MESSAGE-----")
_OPAQUE_TYPES: Final = frozenset({"application/pkcs7-mime", "application/x-pkcs7-mime"})


def parse_message(data: bytes) -> Message:
    """Return a message with its parts; what is beyond the bounds is left out and named."""
    line = _FROM_LINE.match(data)
    return _Parser().read(data[line.end() :] if line else data)


def raw_headers(data: bytes) -> dict[str, list[str]]:
    """Return the headers of a message, not decoded."""
    line = _FROM_LINE.match(data)
    return read_headers(split_head(data[line.end() :] if line else data)[0])


class _Parser:
    """Reads one message; counts its parts."""

    def __init__(self) -> None:
        self.parts = 0

    def read(self, data: bytes, depth: int = 0) -> Message:
        head, body = split_head(data)
        raw = read_headers(head)
        message = Message(headers=raw)
        self._add_part(message, raw, body, depth)
        return message

    def _add_part(
        self, message: Message, raw: dict[str, list[str]], body: bytes, depth: int, default: str = ""
    ) -> None:
        self.parts += 1
        if self.parts > MAX_PARTS or depth > MAX_DEPTH:
            _note(message, f"more than {MAX_PARTS} parts" if self.parts > MAX_PARTS else "parts nested too deep")
            return
        about = _mime_headers(raw, default)
        kind = about.get_content_type()
        if kind.startswith("multipart/"):
            self._add_multipart(message, about, body, depth, kind)
        elif kind in _OPAQUE_TYPES and (about.get_param("smime-type") or "") != "certs-only":
            message.encrypted = "S/MIME"
        elif kind == "message/rfc822" or (kind == "message/global"):
            message.inner.append(self.read(_decode_body(body, raw), depth + 1))
        else:
            message.leaves.append(_make_leaf(about, raw, body))
            if kind == "text/plain" and _PGP.match(message.leaves[-1].body):
                message.encrypted = "OpenPGP"

    def _add_multipart(self, message: Message, about: Headers, body: bytes, depth: int, kind: str) -> None:
        if kind == "multipart/encrypted":
            message.encrypted = "S/MIME" if "pkcs7" in str(about.get_param("protocol") or "") else "OpenPGP"
            return
        boundary = _parameter(about, "boundary").rstrip().encode("utf-8", "replace")[:200]
        parts = _split_parts(body, boundary) if boundary else [body]
        if kind == "multipart/digest":
            message.is_digest = True
        for part in parts:
            if self.parts > MAX_PARTS:
                _note(message, f"more than {MAX_PARTS} parts")
                return
            head, rest = split_head(part)
            default = "message/rfc822" if kind == "multipart/digest" else ""
            self._add_part(message, read_headers(head), rest, depth + 1, default)


def _note(message: Message, text: str) -> None:
    if text not in message.truncated:
        message.truncated.append(text)


def _mime_headers(raw: dict[str, list[str]], default: str) -> Headers:
    """Return the headers that say what a part is, for the standard library to take apart."""
    headers = Headers()
    if default:
        headers.set_default_type(default)
    for name in _MIME_HEADERS:
        if name in raw:
            headers[name] = raw[name][0].replace("\n", " ").replace("\r", " ")
    return headers


def _parameter(about: Headers, name: str, header: str = "content-type") -> str:
    """Return a parameter of a header as text, whatever way it is encoded."""
    try:
        value = about.get_param(name, "", header)
    except (ValueError, LookupError, TypeError, IndexError):
        return ""
    if isinstance(value, tuple):  # RFC 2231: character set, language, text
        charset, _, text = value
        try:
            return text.encode("latin-1", "replace").decode(charset or "ascii", "replace")
        except (LookupError, ValueError):
            return text
    return str(value or "")


def _split_parts(body: bytes, boundary: bytes) -> list[bytes]:
    """Return what is between the lines of a boundary, at most one part more than is read."""
    mark = re.compile(rb"(?:^|\r?\n|\r)--" + re.escape(boundary) + rb"(--)?[ \t]*(?=\r?\n|\r|$)")
    parts: list[bytes] = []
    start: int | None = None
    for match in mark.finditer(body):
        if start is not None:
            parts.append(body[start : match.start()])
        start = match.end()
        if match[1] or len(parts) > MAX_PARTS:
            start = None
            break
    if start is not None:  # the last line is missing, as in a message that was cut
        parts.append(body[start:])
    return [_without_line_end(part) for part in parts]


def _without_line_end(part: bytes) -> bytes:
    """Return a part without the end of the boundary's line."""
    if part.startswith(b"\r\n"):
        return part[2:]
    return part[1:] if part[:1] in (b"\n", b"\r") else part


def _make_leaf(about: Headers, raw: dict[str, list[str]], body: bytes) -> Leaf:
    name = _parameter(about, "filename", "content-disposition") or _parameter(about, "name")
    disposition = (raw.get("content-disposition") or [""])[0].partition(";")[0].strip().lower()
    kind = about.get_content_type()
    return Leaf(
        content_type=kind,
        body=_decode_body(body, raw),
        charset=_parameter(about, "charset") or None,
        filename=decode_words(name)[:200],
        content_id=(raw.get("content-id") or [""])[0].strip().strip("<>")[:300],
        is_attachment=disposition == "attachment" or (bool(name) and not kind.startswith("text/") and not disposition),
        is_flowed=_parameter(about, "format").lower() == "flowed",
        drops_space=_parameter(about, "delsp").lower() == "yes",
    )


def _decode_body(body: bytes, raw: dict[str, list[str]]) -> bytes:
    """Return the content of a part without its transfer encoding."""
    encoding = (raw.get("content-transfer-encoding") or [""])[0].strip().lower()
    if encoding == "base64":
        return decode_base64(body)
    if encoding == "quoted-printable":
        return binascii.a2b_qp(body)
    if encoding in ("x-uuencode", "uuencode", "uue", "x-uue"):
        return _decode_uu(body)
    return body


def _decode_uu(body: bytes) -> bytes:
    begin = _UU_BEGIN.search(body)
    lines = body[begin.end() :].splitlines() if begin else []
    decoded = bytearray()
    for line in lines:
        if line == b"end":
            break
        try:
            decoded += binascii.a2b_uu(line)
        except binascii.Error:
            continue
    return bytes(decoded)


@dataclass(frozen=True, slots=True)
class Mailbox:
    """A name with its mail address; either may be empty."""

    name: str
    address: str

    @property
    def label(self) -> str:
        """What a reader sees: the name, else the address."""
        return self.name or self.address


@dataclass(frozen=True, slots=True)
class Leaf:
    """One part of a message that is not made of parts, decoded."""

    content_type: str
    body: bytes
    charset: str | None = None
    filename: str = ""
    content_id: str = ""
    """Without its angle brackets; empty when it has none."""
    is_attachment: bool = False
    is_flowed: bool = False
    """Plain text whose soft line ends are marked (RFC 3676)."""
    drops_space: bool = False
    """Whether the space that marks a soft line end is part of the mark."""


@dataclass(slots=True)
class Message:
    """A message as its headers and parts say."""

    headers: dict[str, list[str]] = field(default_factory=dict)
    """Raw values by name in lower case, without line ends."""
    leaves: list[Leaf] = field(default_factory=list)
    inner: list[Message] = field(default_factory=list)
    """Messages inside this one: forwarded as attachments, or those of a digest."""
    is_digest: bool = False
    encrypted: str = ""
    """What it is encrypted with, if it is: "S/MIME" or "OpenPGP"."""
    truncated: list[str] = field(default_factory=list)
    """What was left out because there was too much of it, in plain words."""

    def header(self, name: str) -> str:
        """Return the first raw value of a header, or an empty text."""
        values = self.headers.get(name)
        return values[0] if values else ""


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
