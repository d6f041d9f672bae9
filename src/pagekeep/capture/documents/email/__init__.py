"""E-mail: headers and parts with bounds, then the HTML or plain text of the message as a list of steps.

A message is known by its subject, sender, date, list and address; of a forwarded one, those of the original."""

from __future__ import annotations

import hashlib
import re
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from email.utils import format_datetime
from html import escape
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import quote, urlsplit

from pagekeep import dom
from pagekeep.capture.documents.email import furniture, html_body
from pagekeep.capture.documents.email.furniture import Block, collect_blocks
from pagekeep.capture.documents.email.html_body import Body, make_body, unwrap
from pagekeep.capture.documents.email.message import (
    Leaf,
    Message,
    decode_bytes,
    decode_words,
    parse_date,
    parse_mailboxes,
    parse_message,
)
from pagekeep.capture.documents.email.plain_text import text_to_html
from pagekeep.capture.documents.parsed import ParsedDocument
from pagekeep.extraction.steps import Step, Stopwatch, run_steps
from pagekeep.model import Caught, CaughtKind, Metadata, Options, PageWarning, Removal
from pagekeep.text import count_words, number_of, one_line
from pagekeep.values import dataclass

_MAX_BODY_PARTS: Final = 20
"""Parts with text that are joined: some programs write text, attachment, text."""
_MAX_TEXT_CHARS: Final = 5_000_000
_MAX_DIGEST: Final = 200
"""Messages of a digest that are read."""
_MAX_DESCRIPTION_CHARS: Final = 300
_MIN_DESCRIPTION_WORDS: Final = 3

STEPS: Final[list[Step[Body]]] = [
    Step("mail-hidden", html_body.drop_hidden),
    Step("mail-pixels", html_body.drop_pixels),
    Step("mail-icons", html_body.drop_icons),
    Step("mail-links", html_body.resolve_links),
    Step("mail-pictures", html_body.resolve_pictures),
    Step("mail-tables", html_body.flatten_tables),
    Step("mail-online", furniture.find_online),
    Step("mail-head", furniture.drop_head),
    Step("mail-footer", furniture.drop_footer),
]
"""What happens to the body of a message, in this order."""


def read(data: bytes, url: str | None, options: Options) -> ParsedDocument:
    """Return the document in a message; one that is encrypted, or has no text, says so."""
    outer = parse_message(data)
    message = unpack_forwarded(outer, _count_own_words(outer))
    if message.encrypted:
        return _refuse_encrypted(message, data)
    html, is_html = _body_html(message)
    stopwatch = Stopwatch(options.timer) if options.timer else None
    body = make_body(html, message)
    body.names = sender_names(message)
    description = _find_preview(body)
    is_list = "list-id" in message.headers
    steps = [Step("mail-forwarded", find_original), *STEPS] if _is_forward(message, is_list) else STEPS
    removals = run_steps(steps, body, skip=options.skip_steps, record=stopwatch.record if stopwatch else None)
    about = read_metadata(message, description=description, online=body.online)
    address = about.canonical or message_address(outer, data)
    if not dom.text_of(body.root).strip() and dom.first(body.root, "img") is None:
        refusal = _refuse("empty_file", "The message has no text", "The file is kept.", about, address)
        return replace(refusal, warnings=_warnings(message))
    return ParsedDocument(
        dom.html_of(body.root),
        about,
        _describe(message, is_html),
        tuple(removals),
        _warnings(message),
        seconds=dict(stopwatch.seconds) if stopwatch else {},
        is_web=True,
        address=address,
    )


@dataclass(frozen=True, slots=True)
class FindAddress:
    """Find the address of a message, in a worker process."""

    data: bytes
    on_web: bool = True
    """Whether it may be the one on the web that the message names; else it is always its `mid:`."""

    def run(self) -> str:
        """Return the address under which the message is known."""
        if self.on_web:
            return read(self.data, None, Options()).address or ""
        return message_address(parse_message(self.data), self.data)


def _is_forward(message: Message, is_list: bool) -> bool:
    return split_subject(message.header("subject"), is_list=is_list)[2]


def _body_leaves(message: Message) -> tuple[list[Leaf], list[Leaf]]:
    """Return the parts with the text of the message: as HTML, and as plain text."""
    shown = [leaf for leaf in message.leaves if not leaf.is_attachment]
    html = [leaf for leaf in shown if leaf.content_type == "text/html" and leaf.body.strip()]
    plain = [leaf for leaf in shown if leaf.content_type in ("text/plain", "text/enriched") and leaf.body.strip()]
    return html[:_MAX_BODY_PARTS], plain[:_MAX_BODY_PARTS]


def _count_own_words(message: Message) -> int:
    html, plain = _body_leaves(message)
    text = _text(plain[0])[:20_000] if plain else dom.text_of(dom.parse(_text(html[0])[:200_000])) if html else ""
    return count_words(text)


def _text(leaf: Leaf) -> str:
    return decode_bytes(leaf.body, leaf.charset)[:_MAX_TEXT_CHARS].replace("\0", "")


def _body_html(message: Message) -> tuple[str, bool]:
    """Return the text of a message as HTML, and whether it came as HTML."""
    if message.is_digest and message.inner:
        return _digest_html(message), False
    html, plain = _body_leaves(message)
    if any(len(leaf.body) > _MAX_TEXT_CHARS for leaf in (*html, *plain)):
        message.truncated.append(f"a text of more than {_MAX_TEXT_CHARS // 1_000_000} million characters")
    if html:
        joined = "\n".join(map(_text, html))
        if dom.text_of(dom.parse(joined)).strip() or not plain:
            return joined, True
    return "\n".join(
        text_to_html(_text(leaf), is_flowed=leaf.is_flowed, drops_space=leaf.drops_space) for leaf in plain
    ), False


def _digest_html(message: Message) -> str:
    """Return the messages of a digest, each under its subject."""
    parts = []
    for inner in message.inner[:_MAX_DIGEST]:
        subject, is_reply, _ = split_subject(inner.header("subject"), is_list=True)
        title = f"Re: {subject}" if is_reply else subject or "(no subject)"
        sender = next((box.label for box in parse_mailboxes(inner.header("from"))), "")
        date = (parse_date(inner.header("date")) or "")[:10]
        line = escape(", ".join(filter(None, (sender, date))))
        html, plain = _body_leaves(inner)
        text = "\n".join(text_to_html(_text(leaf), is_flowed=leaf.is_flowed) for leaf in plain) if plain else ""
        text = text or "\n".join(dom.inner_html(make_body(_text(leaf), inner).root) for leaf in html)
        parts.append(f"<h2>{escape(title)}</h2><p><em>{line}</em></p>{text}")
    return "".join(parts)


def _find_preview(body: Body) -> str:
    """Return the text that the message hides for its preview: it is a summary."""
    for node in dom.select(body.root, "[style],[class]")[:200]:
        hides = html_body.is_hiding(node)
        text = one_line(dom.text_of(node)) if hides else ""
        if hides and count_words(text) >= _MIN_DESCRIPTION_WORDS and len(text) <= 3 * _MAX_DESCRIPTION_CHARS:
            return html_body.without_filler(text)[:_MAX_DESCRIPTION_CHARS]
    return ""


def _warnings(message: Message) -> tuple[PageWarning, ...]:
    return tuple(PageWarning("truncated", f"the message has {what}") for what in message.truncated)


def _describe(message: Message, is_html: bool) -> str:
    if message.is_digest:
        return f"a digest of {number_of(len(message.inner), 'message')}"
    attached = sum(1 for leaf in message.leaves if leaf.is_attachment)
    return f"an e-mail, read from its {'HTML' if is_html else 'plain text'}" + (
        f", with {number_of(attached, 'attachment')}" if attached else ""
    )


def _refuse_encrypted(message: Message, data: bytes) -> ParsedDocument:
    hint = "Save the decrypted message from your mail program. The file is kept."
    about = read_metadata(message)
    reason = f"The message is encrypted ({message.encrypted})"
    return _refuse("encrypted_file", reason, hint, about, about.canonical or message_address(message, data))


def _refuse(kind: CaughtKind, reason: str, suggestion: str, about: Metadata, address: str) -> ParsedDocument:
    return ParsedDocument("", about, reason, caught=Caught(kind, reason, suggestion), address=address)


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


_FIELDS: Final = {
    "from": "from|von|de|da|van|från|fra|od|от|מאת|من|发件人|差出人|寄件者|보낸 사람",
    "date": "date|sent|datum|gesendet|envoyé|fecha|enviado|data|inviato|verzonden|skickat|sendt|"
    "дата|отправлено|תאריך|تاريخ|日期|发送时间|送信日時",
    "subject": "subject|betreff|objet|asunto|assunto|oggetto|onderwerp|ämne|emne|тема|נושא|الموضوع|主题|主旨|件名|제목",
    "to": "to|an|à|para|a|aan|till|til|кому|אל|إلى|收件人|宛先|cc|kopie|reply-to|antwort an",
}
_FIELD: Final = {
    name: re.compile(rf"\s*\*?(?:{words})\s?\*?\s?[:\uff1a]\*?\s*(.*)", re.I | re.S) for name, words in _FIELDS.items()
}
_MARK: Final = re.compile(
    r"\W*(?:[-_=]{3,}|begin forwarded message|forwarded message|weitergeleitete nachricht|"
    r"anfang der weitergeleiteten|message transféré)",
    re.I,
)
_DATE_FORMS: Final = tuple(
    f"{day}{date} {time}"
    for day in ("%a ", "%A ", "")
    for date in ("%b %d %Y", "%B %d %Y", "%d %b %Y", "%d %B %Y")
    for time in ("%I:%M %p", "%H:%M", "%I:%M:%S %p", "%H:%M:%S")
)
_MAX_BLOCKS: Final = 40
_MAX_OWN_WORDS: Final = 150
"""Words of the forwarder above the message; with more it is a letter with a quote."""


def unpack_forwarded(message: Message, words: int) -> Message:
    """Return the message that was forwarded as an attachment, if the one around it has few words."""
    if len(message.inner) == 1 and not message.is_digest and words <= _MAX_OWN_WORDS // 3:
        inner = message.inner[0]
        if inner.leaves or inner.inner:
            inner.truncated += message.truncated
            return inner
    return message


def find_original(body: Body) -> list[Removal]:
    """Take sender, subject and date from the lines above a forwarded text, and remove these lines."""
    blocks = collect_blocks(body.root)[:_MAX_BLOCKS]
    own_words = 0
    for place, block in enumerate(blocks):
        found, end = _read_fields(blocks, place)
        if {"from", "subject"} <= found.keys():
            for name, value in found.items():
                if name == "date":
                    value = _parse_shown_date(value) or body.message.header("date")
                if name != "to":
                    body.message.headers[name] = [value]
            body.names = sender_names(body.message)
            return _drop_before(body, blocks[:end], own_words)
        own_words += block.words
        if own_words > _MAX_OWN_WORDS:
            break
    return []


def _parse_shown_date(text: str) -> str:
    """Return a date as programs show it in English, in the form of a header."""
    text = one_line(text.replace("\u202f", " ").replace(" at ", " ").replace(",", " "))
    for form in _DATE_FORMS:
        with suppress(ValueError):
            return format_datetime(datetime.strptime(text, form))
    return text if parse_date(text) else ""


def _read_fields(blocks: list[Block], place: int) -> tuple[dict[str, str], int]:
    """Return the fields in the lines from a block on, and the block after them."""
    found: dict[str, str] = {}
    for number in range(place, min(place + 8, len(blocks))):
        lines = _lines(blocks[number])
        named = 0
        for line in lines[:12]:
            for name, pattern in _FIELD.items():
                match = pattern.match(line)
                if match and name not in found:
                    found[name] = one_line(match[1])[:500]
                    named += 1
                    break
        if not named and not all(_MARK.match(line) for line in lines):
            return found, number
    return found, min(place + 8, len(blocks))


def _lines(block: Block) -> list[str]:
    """Return the lines of a block as they are shown."""
    parts: list[str] = []
    for node in block.nodes:
        for inner in [node, *(dom.nodes(node) if isinstance(node, dom.Element) else ())]:
            if isinstance(inner, dom.Text):
                parts.append(inner.data.replace("\n", " "))
            elif isinstance(inner, dom.Element) and inner.tag == "br":
                parts.append("\n")
    return [line for line in map(one_line, "".join(parts).split("\n")) if line]


def _drop_before(body: Body, blocks: list[Block], own_words: int) -> list[Removal]:
    removals = [Removal("forwarded", "lines of the program that forwarded the message", own_words)]
    for block in blocks:
        for node in block.nodes:
            dom.drop(node)
    for quoted in dom.tagged(body.root, ("blockquote",))[:3]:
        if count_words(dom.text_of(quoted)) >= 0.8 * count_words(dom.text_of(body.root)):
            dom.retag(quoted, "div")
    return removals
