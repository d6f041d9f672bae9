"""Forwarded messages: the original sender, subject and date take the place of those of the forwarder."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import datetime
from email.utils import format_datetime
from typing import Final

from pagekeep import dom
from pagekeep.capture.documents.email.about import sender_names
from pagekeep.capture.documents.email.furniture import Block, collect_blocks
from pagekeep.capture.documents.email.headers import parse_date
from pagekeep.capture.documents.email.html_body import Body
from pagekeep.capture.documents.email.values import Message
from pagekeep.model import Removal
from pagekeep.text import count_words, one_line

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


def unpack(message: Message, words: int) -> Message:
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
    for quote in dom.tagged(body.root, ("blockquote",))[:3]:
        if count_words(dom.text_of(quote)) >= 0.8 * count_words(dom.text_of(body.root)):
            dom.retag(quote, "div")
    return removals
