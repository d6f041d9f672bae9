"""What a message says about itself: subject, sender, date, list, and the address under which it is known."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import quote, urlsplit

from pagekeep.capture.documents.email.headers import decode_words, parse_date, parse_mailboxes
from pagekeep.capture.documents.email.links import unwrap
from pagekeep.capture.documents.email.values import Message
from pagekeep.model import Metadata
from pagekeep.text import one_line

_REPLY: Final = re.compile(
    r"\s*(?:re|aw|antw|antwort|sv|vs|ref|rép|odp|res|rif|отв|رد|回复|回覆|답장)\s?(?:\[\d+\]|\(\d+\))?\s?[:\uff1a]\s*",
    re.I,
)
_FORWARD: Final = re.compile(
    r"\s*(?:fwd?|wg|tr|rv|vb|doorst|i|enc|pd|пер|转发|轉寄|전달)\s?(?:\[\d+\]|\(\d+\))?\s?[:\uff1a]\s*", re.I
)
_LIST_TAG: Final = re.compile(r"\s*\[[^\[\]]{1,60}\]\s*")
_MAX_PREFIXES: Final = 10
_MAX_TITLE_CHARS: Final = 500
_VIA: Final = re.compile(r"\s+(?:via|per|über)\s+.{1,100}$", re.I)
_ADDRESS: Final = re.compile(r"<\s*(https?://[^\s<>]{4,2000})\s*>|^\s*(https?://[^\s<>]{4,2000})\s*$")
_MESSAGE_ID: Final = re.compile(r"<?\s*([^\s<>]{3,400})\s*>?")
_LIST_ID: Final = re.compile(r"(.*?)<([^<>]{1,200})>")
_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})?")
_SAFE: Final = "@!$&'*+=.-_~"
"""Characters of a message id that need no escape in its address (RFC 2392)."""


def split_subject(subject: str, *, is_list: bool) -> tuple[str, bool, bool]:
    """Return a subject without its marks, whether it is a reply, and whether it is forwarded.

    The name of a list in brackets is such a mark only in the mail of a list: others write `[1/3]` or `[Update]`.
    """
    text, is_reply, is_forward = decode_words(subject)[:_MAX_TITLE_CHARS], False, False
    for _ in range(_MAX_PREFIXES):
        reply, forward, tag = _REPLY.match(text), _FORWARD.match(text), _LIST_TAG.match(text) if is_list else None
        found = reply or forward or tag
        if found is None or not text[found.end() :].strip():
            break
        is_reply, is_forward = is_reply or reply is not None, is_forward or forward is not None
        text = text[found.end() :]
    return text.strip(), is_reply, is_forward


def read_metadata(message: Message, *, description: str = "", online: str = "") -> Metadata:
    """Return the metadata of a message; `online` is the link under which it can be read on the web."""
    is_list = "list-id" in message.headers
    title, is_reply, is_forward = split_subject(message.header("subject"), is_list=is_list)
    prefix = "Fwd: " if is_forward else "Re: " if is_reply else ""
    senders = parse_mailboxes(message.header("from")) or parse_mailboxes(message.header("sender"))
    author = senders[0].label if senders else ""
    language = _LANGUAGE.match(message.header("content-language").strip())
    values: dict[str, Any] = {
        "title": f"{prefix}{title}" if title else None,
        "author": (_VIA.sub("", author) if is_list else author) or None,
        "published": parse_date(message.header("date")),
        "description": description or None,
        "site_name": list_name(message) or None,
        "canonical": web_address(message, online) or None,
        "language": language[0].lower() if language else None,
    }
    origins = {name: "mail" for name, value in values.items() if value}
    return replace(Metadata(origins=MappingProxyType(origins)), **values)


def sender_names(message: Message) -> tuple[str, ...]:
    """Return the names of sender and list, and the subject."""
    senders = parse_mailboxes(message.header("from"))
    subject = split_subject(message.header("subject"), is_list="list-id" in message.headers)[0]
    return (*(box.name for box in senders[:3]), list_name(message), subject)


def list_name(message: Message) -> str:
    """Return the name of the list or newsletter that sent the message."""
    match = _LIST_ID.match(message.header("list-id"))
    name = decode_words(match[1]).strip("\"' ") if match else ""
    return name[:100] if any(map(str.isalpha, name)) else ""


def web_address(message: Message, online: str) -> str:
    """Return the address of the message on the web: in an archive, as a post, or what its "view online" link leads to."""
    for name in ("archived-at", "list-post"):
        match = _ADDRESS.search(message.header(name))
        address = unwrap((match[1] or match[2]) if match else "")
        if address and _has_path(address):
            return address
    return online if online and _has_path(online) else ""


def _has_path(address: str) -> bool:
    """Return whether an address is that of a page, and not of a whole site."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return bool(parts.hostname) and (len(parts.path) > 1 or bool(parts.query))


def message_address(message: Message, data: bytes) -> str:
    """Return the `mid:` address of a message (RFC 2392); one without an id gets one from its content."""
    match = _MESSAGE_ID.search(one_line(message.header("message-id")))
    name = match[1] if match else f"{hashlib.sha256(data).hexdigest()[:24]}@message.invalid"
    return f"mid:{quote(name, safe=_SAFE)}"
