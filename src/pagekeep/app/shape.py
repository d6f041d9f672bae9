"""How the library looks from outside: the one JSON shape that every door answers with.

    items       {"items": [item, ...], "next": key or null}; with a search, each item has `snippet` and `rank`; one that was
                read has `content`; one that was saved has `outcome` (added, updated, kept), `note` and `warnings`
    saves       the same, and "errors": [{"url", "type", "message", "suggestions"}, ...] for the pages that failed
    jobs        {"jobs": [job, ...]}
    one error   {"success": false, "error": {"type", "message", "suggestions"}}

Moments are ISO 8601 in UTC. `next` goes back as `after`. Keys may be added, never renamed or removed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pagekeep.model import Hit, Item, Job


def item_shape(item: Item, *, content: bool = False) -> dict[str, Any]:
    """An item as plain JSON types, in a stable order; the content only where it was asked for."""
    known = item.metadata
    shape: dict[str, Any] = {
        "id": item.id,
        "url": item.url,
        "url_full": item.url_full,
        "title": item.title,
        "domain": item.domain,
        "author": item.author,
        "source": item.source,
        "pinned": bool(known.get("pinned")),
        "archived": bool(known.get("archived")),
        "discarded": bool(known.get("discarded")),
        "tags": list(known.get("tags", ())),
        "quality": known.get("quality"),
        "score": known.get("score"),
        "strategy": known.get("strategy"),
        "word_count": known.get("word_count"),
        "reading_time": known.get("reading_time"),
        "language": known.get("language"),
        "reason": known.get("reason"),
        "suggestion": known.get("suggestion"),
        "last_error": known.get("last_error"),
        "retry_count": known.get("retry_count", 0),
        "parser_version": known.get("parser_version"),
        "used_js_rendering": bool(known.get("used_js_rendering")),
        "saved_at": item.saved_at,
        "published_at": item.published_at,
        "updated_at": item.updated_at,
        "last_opened_at": item.last_opened_at,
        "deleted_at": item.deleted_at,
    }
    return {**shape, "content": item.content} if content else shape


def items_shape(items: Iterable[Item], next: str | None = None) -> dict[str, Any]:
    """A page of items, and the key of the next page."""
    return {"items": [item_shape(item) for item in items], "next": next}


def hit_shape(hit: Hit) -> dict[str, Any]:
    """An item that a search found, with the text around the words."""
    return {**item_shape(hit.item), "snippet": hit.snippet, "rank": hit.rank}


def job_shape(job: Job) -> dict[str, Any]:
    """A job as plain JSON types."""
    return {
        "id": job.id,
        "url": job.url,
        "url_full": job.url_full,
        "state": job.state,
        "attempts": job.attempts,
        "error": job.error,
        "run_after": job.run_after,
        "leased_by": job.leased_by,
        "leased_until": job.leased_until,
        "created_at": job.created_at,
        "item_id": job.options.get("item"),
        "options": dict(job.options),
    }
