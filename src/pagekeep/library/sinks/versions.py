"""The version of an item: what changes when a sink should have it again."""

from __future__ import annotations

import hashlib
import json
import uuid
from typing import Final

from pagekeep.markdown.frontmatter import split_block
from pagekeep.model import Item

_NAMESPACE: Final = uuid.UUID("8f9f6f43-5f1e-4d11-9d0a-3f8f3c6a7d52")


def body_of(item: Item) -> str:
    """Return the item's Markdown without frontmatter."""
    return split_block(item.content)[1]


def version_of(item: Item) -> str:
    """Return the version of an item: a hash of everything that sinks may send.

    Pinning, archiving and reading change nothing, nor does another time of saving in the frontmatter.
    """
    about = item.metadata
    fields = [
        item.url_full,
        item.title,
        item.author,
        item.published_at,
        list(about.tags),
        about.quality,
        about.word_count,
    ]
    digest = hashlib.sha256(json.dumps(fields, ensure_ascii=False).encode("utf-8", "replace"))
    digest.update(body_of(item).encode("utf-8", "replace"))
    return digest.hexdigest()[:32]


def message_id(sink_id: str, item_id: str, version: str) -> str:
    """Return the id of the message that brings this version of the item to the sink."""
    return str(uuid.uuid5(_NAMESPACE, f"{sink_id}/{item_id}/{version}"))
