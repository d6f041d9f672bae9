"""The parts of a message: read with bounds on their depth, number and size, whatever the headers promise."""

from __future__ import annotations

import binascii
import re
from email.message import Message as Headers
from typing import Final

from pagekeep.capture.documents.email.headers import decode_base64, decode_words, read_headers, split_head
from pagekeep.capture.documents.email.values import Leaf, Message

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
        boundary = _boundary(about)
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


def _boundary(about: Headers) -> bytes:
    return _parameter(about, "boundary").rstrip().encode("utf-8", "replace")[:200]


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
