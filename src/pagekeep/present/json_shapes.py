"""How the library looks from outside: the one JSON shape that every door answers with.

    items       {"items": [item, ...], "next": key or null}; with a search, each item has `snippet` and `rank`; one that was
                read has `content`; one that was saved has `outcome` (added, updated, kept), `note` and `warnings`
    saves       the same, and "errors": [{"url", "type", "message", "suggestions"}, ...] for the pages that failed
    jobs        {"jobs": [job, ...]}
    over HTTP   what is one of its kind stands under its name: {"item": item}, {"job": job}, {"token": token}...
    one error   {"success": false, "error": {"type", "message", "suggestions"}}

Moments are ISO 8601 in UTC. `next` goes back as `after`. Keys may be added, never renamed or removed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pagekeep.model import Annotation, Hit, Item, Job, Page, RuleFault, Token, plain

if TYPE_CHECKING:
    from pagekeep.model import SaveResult
    from pagekeep.rules.rule import Rule


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
        "pinned": bool(known.pinned),
        "archived": bool(known.archived),
        "discarded": known.discarded,
        "edited": known.edited,
        "tags": list(known.tags),
        "quality": known.quality,
        "score": known.score,
        "strategy": known.strategy,
        "word_count": known.word_count,
        "reading_time": known.reading_time,
        "language": known.language,
        "reason": known.reason,
        "suggestion": known.suggestion,
        "last_error": known.last_error,
        "retry_count": known.retry_count,
        "parser_version": known.parser_version,
        "used_js_rendering": bool(known.used_js_rendering),
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
        "task": job.options.get("task", "save"),
        "item_id": job.options.get("item"),
        "report": job.options.get("report"),
        "options": dict(job.options),
    }


def saved_shape(saved: SaveResult) -> dict[str, Any]:
    """An item as it came out of a save."""
    told = {"outcome": saved.outcome, "note": saved.note, "warnings": [warning.text for warning in saved.warnings]}
    return {**item_shape(saved.item), **told}


def page_shape(page: Page) -> dict[str, Any]:
    """A page that was read and not stored."""
    return {**page.to_json(), "document": page.document}


def trace_shape(page: Page) -> dict[str, Any]:
    """How a page was extracted; the texts of its warnings are in `notes`."""
    shape: dict[str, Any] = plain(page.trace)
    return shape | {"notes": [warning["text"] for warning in shape.pop("warnings")]}


def annotation_shape(annotation: Annotation) -> dict[str, Any]:
    """A marked passage as plain JSON types."""
    shape: dict[str, Any] = plain(annotation)
    return shape


def token_shape(token: Token) -> dict[str, Any]:
    """What is known of a token; the token itself is not."""
    shape: dict[str, Any] = plain(token)
    return {name: value for name, value in shape.items() if name != "user_id"}


def rule_shape(rule: Rule) -> dict[str, Any]:
    """A rule as it would stand in a file, and where it does."""
    from pagekeep.rules.dumping import rule_data

    source = rule.source
    where = {"file": source.name, "line": source.line, "shipped": source.shipped} if source else None
    return {**rule_data(rule), "source": where}


def fault_shape(fault: RuleFault) -> dict[str, Any]:
    """What is wrong with a file of rules, and where."""
    return {name: getattr(fault, name) for name in ("file", "line", "path", "rule", "message", "suggestion")}
