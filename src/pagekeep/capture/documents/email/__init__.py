"""E-mail: headers and parts with bounds, then the HTML or plain text of the message as a list of steps."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from typing import Final

from pagekeep import dom
from pagekeep.capture.documents.email import forwarded, furniture, html_body
from pagekeep.capture.documents.email.about import message_address, read_metadata, sender_names, split_subject
from pagekeep.capture.documents.email.headers import decode_bytes, parse_date, parse_mailboxes
from pagekeep.capture.documents.email.html_body import Body, make_body
from pagekeep.capture.documents.email.message import parse_message
from pagekeep.capture.documents.email.plain_text import text_to_html
from pagekeep.capture.documents.email.values import Leaf, Message
from pagekeep.capture.documents.parsed import ParsedDocument
from pagekeep.extraction.steps import Step, Stopwatch, run_steps
from pagekeep.model import Caught, CaughtKind, Metadata, Options, PageWarning
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
    message = forwarded.unpack(outer, _count_own_words(outer))
    if message.encrypted:
        return _refuse_encrypted(message, data)
    html, is_html = _body_html(message)
    stopwatch = Stopwatch(options.timer) if options.timer else None
    body = make_body(html, message)
    body.names = sender_names(message)
    description = _find_preview(body)
    is_list = "list-id" in message.headers
    steps = [Step("mail-forwarded", forwarded.find_original), *STEPS] if _is_forward(message, is_list) else STEPS
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
