"""Attachments of a message that can be read become items, linked to that of the message."""

from __future__ import annotations

from asyncio import to_thread
from dataclasses import dataclass
from functools import partial
from typing import Final
from urllib.parse import quote

from pagekeep import clock
from pagekeep.capture.documents.email.about import message_address
from pagekeep.capture.documents.email.message import parse_message
from pagekeep.capture.documents.file_types import declared_type, detect
from pagekeep.capture.from_url import Request, Retrieval
from pagekeep.capture.uploads import MAIL_TYPE
from pagekeep.errors import PagekeepError, StoreError
from pagekeep.model import Fetched, Item
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
    from pagekeep.library.save import save  # which calls this function

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
        await to_thread(partial(store.set_metadata, saved.item.id, clock.now(), part_of=item.id))
        kept.append(saved.item.id)
    if not kept or tuple(kept) == item.metadata.attachments:
        return item
    return await to_thread(partial(store.set_metadata, item.id, clock.now(), attachments=tuple(kept)))
