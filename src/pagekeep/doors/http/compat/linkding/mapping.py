"""Items as bookmarks of linkding, and its searches as ours."""

from __future__ import annotations

import re
from typing import Any, Final

from pagekeep.library.items import tag_number
from pagekeep.model import Item

VERSION: Final = "1.41.0"
"""The version of linkding whose API this is."""
_TAG: Final = re.compile(r"(?:^|(?<=\s))#(\S+)")
_STATE: Final = re.compile(r"(?:^|(?<=\s))!(?:unread|untagged)\b")


def bookmark(item: Item, number: int) -> dict[str, Any]:
    """Return an item as a bookmark."""
    known = item.metadata
    return {
        "id": number,
        "url": item.url,
        "title": item.title,
        "description": known.description or "",
        "notes": known.notes or "",
        "web_archive_snapshot_url": (known.link or {}).get("archived") or "",
        "favicon_url": known.favicon,
        "preview_image_url": known.hero_image,
        "is_archived": bool(known.archived),
        "unread": item.last_opened_at is None,
        "shared": False,
        "tag_names": list(known.tags),
        "date_added": item.saved_at,
        "date_modified": item.updated_at,
        "website_title": None,
        "website_description": None,
    }


def tag(label: str) -> dict[str, Any]:
    """Return a tag. When it was first used is not stored."""
    return {"id": tag_number(label), "name": label, "date_added": "1970-01-01T00:00:00.000000Z"}


def query(text: str, *, archived: bool) -> str:
    """Return a search of linkding in our query language: `#sea` is a tag; `!unread` and `!untagged` are ignored."""
    ours = _STATE.sub("", _TAG.sub(lambda found: f'tag:"{found[1]}"', text))
    return f"{ours} {'' if archived else '-'}is:archived".strip()


def page(results: list[dict[str, Any]], total: int, offset: int, limit: int, address: str) -> dict[str, Any]:
    """Return a part of a list; `address` is its URL without limit and offset."""
    after, before = offset + limit, max(0, offset - limit)
    return {
        "count": total,
        "next": f"{address}limit={limit}&offset={after}" if after < total else None,
        "previous": f"{address}limit={limit}&offset={before}" if offset > 0 else None,
        "results": results,
    }
