"""Messages, read in workers: their attachments as items, and a message as an entry of the feed inbox."""

from __future__ import annotations

import re
from asyncio import to_thread
from dataclasses import dataclass
from functools import partial
from typing import Final
from urllib.parse import quote

from pagekeep import clock
from pagekeep.capture.documents.email import list_name, message_address
from pagekeep.capture.documents.email.message import Message, decode_words, parse_mailboxes, parse_message, read_headers
from pagekeep.capture.documents.file_types import FILE_TYPES, declared_type, detect
from pagekeep.capture.documents.read import read_document
from pagekeep.capture.from_url import Request, Retrieval
from pagekeep.capture.uploads import MAIL_TYPE
from pagekeep.errors import PagekeepError, StoreError
from pagekeep.library.items import build_item
from pagekeep.model import Fetched, Item, NewEntry, Options
from pagekeep.store import Store
from pagekeep.workers import DOCUMENT

MAX_ATTACHMENTS: Final = 10
"""Of one message; the first ones."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file in a message."""

    url: str
    """The address of its message, its number among the parts, and its name."""
    content_type: str
    body: bytes


@dataclass(frozen=True, slots=True)
class FindAttachments:
    """Find the attachments that can be read, in a worker process."""

    data: bytes
    max_bytes: int

    def run(self) -> tuple[Attachment, ...]:
        """Return the first attachments of known types, each within the limit of a file."""
        message = parse_message(self.data)
        base, found = message_address(message, self.data), list[Attachment]()
        for number, leaf in enumerate(message.leaves, 1):
            if not (leaf.is_attachment or leaf.filename) or not 0 < len(leaf.body) <= self.max_bytes:
                continue
            file_type = detect(leaf.body, declared_type(leaf.filename))
            if file_type is None or file_type.content_type == MAIL_TYPE:
                continue
            name = quote(leaf.filename or f"attachment.{file_type.suffix}", safe="")
            found.append(Attachment(f"{base}/{number}/{name}", file_type.content_type, leaf.body))
        return tuple(found[:MAX_ATTACHMENTS])


async def keep_attachments(
    item: Item, data: bytes, store: Store, retrieval: Retrieval, tags: tuple[str, ...] = ()
) -> Item:
    """Save the attachments of a message, and return its item with links to theirs; one that fails is left out."""
    from pagekeep.library.saving.save import save  # which calls this function

    found = await retrieval.run(FindAttachments(data, retrieval.settings.max_bytes), DOCUMENT)
    kept: list[str] = []
    for one in found:
        page = Fetched(
            url=one.url, final_url=one.url, status=200, headers={}, body=one.body, content_type=one.content_type
        )
        try:
            saved = await save(Request(one.url), store, retrieval, tags=tags, uploaded=page, source="mail")
        except StoreError:
            raise
        except PagekeepError:
            continue
        await to_thread(partial(store.items.set_metadata, saved.item.id, clock.now(), part_of=item.id))
        kept.append(saved.item.id)
    if not kept or tuple(kept) == item.metadata.attachments:
        return item
    return await to_thread(partial(store.items.set_metadata, item.id, clock.now(), attachments=tuple(kept)))


_LIST_ID: Final = re.compile(r"<([^<>\s]{1,250})>")
_MAIL: Final = next(one for one in FILE_TYPES if one.content_type == MAIL_TYPE)
_UNREADABLE: Final = "This message could not be read: {reason} Keep it to have its file in the library."


@dataclass(frozen=True, slots=True)
class Letter:
    """A message, ready for the feed inbox."""

    feed: str
    """What identifies the newsletter: the id of its list, else the address of its sender."""
    feed_title: str
    entry: NewEntry
    is_read: bool = True
    """Whether its text could be read."""


@dataclass(frozen=True, slots=True)
class ReadLetter:
    """Read a message, in a worker process."""

    data: bytes
    now: str
    options: Options

    def run(self) -> Letter:
        """Return the message with its text; one that is encrypted or empty says so."""
        page = read_document(_MAIL, self.data, None, self.options)
        message = parse_message(self.data)
        about = page.metadata
        content = f"{page.caught.reason}. {page.caught.suggestion}\n" if page.caught else page.markdown
        own = message_address(message, self.data)
        address = page.url or own
        entry = _make_entry(self.data, own, address, about.title or "(no subject)", content, self.now)
        feed, title = _find_feed(message)
        return Letter(feed, title, _with_about(entry, about.author, about.published, about.canonical))


def _make_entry(data: bytes, own: str, address: str, title: str, content: str, now: str) -> NewEntry:
    fetched = Fetched(url=address, final_url=address, status=200, headers={}, body=data, content_type=MAIL_TYPE)
    page = build_item.to_raw_page(fetched, now)
    return NewEntry(guid=own, title=title, content=content, page=page, extra={"full": True})


def _with_about(entry: NewEntry, author: str | None, published: str | None, url: str | None) -> NewEntry:
    from dataclasses import replace

    return replace(entry, author=author, published_at=published, url=url)


def _find_feed(message: Message) -> tuple[str, str]:
    """Return what identifies the newsletter of a message, and its name."""
    sender = next(iter(parse_mailboxes(message.header("from"))), None)
    address = (sender.address or sender.name).lower() if sender else ""
    name = sender.label if sender else ""
    found = _LIST_ID.search(message.header("list-id"))
    return (found[1].lower() if found else address or "unknown sender"), list_name(message) or name or "Unknown sender"


async def read_letter(data: bytes, now: str, retrieval: Retrieval) -> Letter:
    """Return a message ready for the feed inbox; one that no worker can read is there too, with the reason."""
    try:
        return await retrieval.run(ReadLetter(data, now, Options(max_bytes=retrieval.settings.max_bytes)), DOCUMENT)
    except StoreError:
        raise
    except PagekeepError as error:
        return _unreadable(data, now, error)


def _unreadable(data: bytes, now: str, error: PagekeepError) -> Letter:
    head = Message(headers=read_headers(data[:64_000]))
    own = message_address(head, data)
    title = decode_words(head.header("subject")) or "(no subject)"
    feed, name = _find_feed(head)
    return Letter(feed, name, _make_entry(data, own, own, title, _UNREADABLE.format(reason=error.message), now), False)
