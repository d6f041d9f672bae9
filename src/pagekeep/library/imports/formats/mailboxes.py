"""Mail: single messages (`.eml`), mailboxes in one file (mbox), and folders of messages (Maildir)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO, Final

from pagekeep import clock
from pagekeep.capture.documents.email import message_address
from pagekeep.capture.documents.email import read as read_mail
from pagekeep.capture.documents.email.message import decode_words, parse_date, parse_message, raw_headers
from pagekeep.capture.documents.file_types import detect
from pagekeep.capture.uploads import MAIL_TYPE
from pagekeep.errors import PagekeepError
from pagekeep.library.imports.formats.documents import file_page
from pagekeep.library.imports.input.records import Sample
from pagekeep.library.imports.input.row import Fault, ParsedRow, Place, Row
from pagekeep.library.imports.input.source import Source, Tree
from pagekeep.model import Options

MAX_MESSAGE_BYTES: Final = 10_000_000
_MAX_LINE_BYTES: Final = 1_000_000
_START_BYTES: Final = 1_024
_FROM: Final = re.compile(rb"From [^\r\n]*(?:\d\d:\d\d|\d{4})[^\r\n]*\r?\n?")
"""The line before each message of a mailbox: it has a date."""
_QUOTED_FROM: Final = re.compile(rb">+From ")
_MAILDIR: Final = re.compile(r"(?:^|/)(?:cur|new)/[^/]+$")
_FLAGS: Final = re.compile(r"[:;!]2,([A-Za-z]*)$")
_SYSTEM_LABELS: Final = frozenset(
    "inbox unread opened archived important starred sent draft trash spam chat personal updates promotions social "
    "forums".split()
)
_MAX_LABELS: Final = 20


def matches(sample: Sample) -> bool:
    """Return whether the file is a message or a mailbox."""
    with sample.source.open() as stream:
        found = detect(stream.read(_START_BYTES))
    return found is not None and found.content_type == MAIL_TYPE


def read(source: Source) -> Iterator[ParsedRow]:
    """Yield every message of a file."""
    with source.open() as stream:
        for line, entry, message in split_mailbox(stream):
            place = Place(line, entry, source.part)
            if message is None:
                yield Fault(place, f"The message is larger than {MAX_MESSAGE_BYTES // 1_000_000} MB.")
            else:
                yield make_row(place, message)


def matches_tree(names: list[str]) -> bool:
    """Return whether the folder is a Maildir, or has some in it."""
    return any(map(_MAILDIR.search, names))


def read_tree(tree: Tree) -> Iterator[ParsedRow]:
    """Yield every message of a Maildir; a flagged one is pinned."""
    for entry, name in enumerate(filter(_MAILDIR.search, tree.names()), 1):
        place = Place(0, entry, name)
        try:
            with tree.source(name).open() as stream:
                body = stream.read(MAX_MESSAGE_BYTES + 1)
        except PagekeepError as error:
            yield Fault(place, error.message)
            continue
        if len(body) > MAX_MESSAGE_BYTES:
            yield Fault(place, f"The message is larger than {MAX_MESSAGE_BYTES // 1_000_000} MB.")
            continue
        flags = _FLAGS.search(name)
        yield make_row(place, body, pinned=flags is not None and "F" in flags[1])


def split_mailbox(stream: BinaryIO) -> Iterator[tuple[int, int, bytes | None]]:
    """Yield line, number and bytes of each message of a mailbox; `None` for one that is too large, which is not held.

    A file that does not begin with the line of a mailbox is one message.
    """
    first = stream.readline(_MAX_LINE_BYTES)
    is_mailbox = _FROM.fullmatch(first) is not None
    message = _Gathered(1, 1)
    if not is_mailbox:
        message.add(first)
    is_after_blank, number = False, 1
    while line := stream.readline(_MAX_LINE_BYTES):
        number += 1
        if is_mailbox and is_after_blank and line.startswith(b"From ") and _FROM.fullmatch(line):
            yield message.finish()
            message = _Gathered(number, message.entry + 1)
        else:
            unquoted = line[1:] if is_mailbox and _QUOTED_FROM.match(line) else line
            message.add(unquoted)
        is_after_blank = not line.strip()
    yield message.finish()


class _Gathered:
    """The lines of one message, up to the limit."""

    def __init__(self, line: int, entry: int) -> None:
        self.line, self.entry, self.size = line, entry, 0
        self._parts: list[bytes] = []

    def add(self, line: bytes) -> None:
        """Add a line; of a message that is too large, none is held."""
        self.size += len(line)
        if self.size <= MAX_MESSAGE_BYTES:
            self._parts.append(line)
        else:
            self._parts.clear()

    def finish(self) -> tuple[int, int, bytes | None]:
        """Return the message with its place."""
        return self.line, self.entry, b"".join(self._parts) if self.size <= MAX_MESSAGE_BYTES else None


def make_row(place: Place, body: bytes, *, pinned: bool = False) -> ParsedRow:
    """Return a message as a row, under its address; one whose text cannot be read is a fault that says why."""
    found = detect(body[:_START_BYTES])
    if found is None or found.content_type != MAIL_TYPE:
        return Fault(place, "It is not a message: headers of mail are missing.", body[:200].decode("utf-8", "replace"))
    try:
        return _make_row(place, body, pinned=pinned)
    except Exception as error:  # a fault of ours in one message must not end the import of thousands
        return Fault(
            place, f"The message cannot be read ({type(error).__name__}).", body[:200].decode("utf-8", "replace")
        )


def _make_row(place: Place, body: bytes, *, pinned: bool) -> ParsedRow:
    headers = raw_headers(body)
    title = decode_words((headers.get("subject") or [""])[0])
    own = message_address(parse_message(body), body)
    parsed = read_mail(body, None, Options())
    if parsed.caught is not None:
        return Fault(place, f"{parsed.caught.reason}. {parsed.caught.suggestion}", title[:200])
    address = parsed.address or own
    date = parse_date((headers.get("date") or [""])[0])
    labels = [decode_words(label) for label in ",".join(headers.get("x-gmail-labels") or []).split(",")]
    page = file_page(body, address, f"{date[:-1]}.000000Z" if date else None, MAIL_TYPE)
    return Row(
        place,
        url=address,
        title=title,
        saved_at=page.fetched_at if date else clock.now(),
        tags=tuple(label for label in labels if label and label.lower() not in _SYSTEM_LABELS)[:_MAX_LABELS],
        pinned=pinned or any(label.lower() == "starred" for label in labels),
        page=page,
    )
