"""Items as entries of wallabag, and its parameters as queries."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final

from pagekeep import clock
from pagekeep.doors.http.compat.parameters import Parameters
from pagekeep.library.items.annotations import annotation_number
from pagekeep.library.items.find import hash_address, tag_number
from pagekeep.model import Annotation, Filter, Item, ItemQuery, Order, item_filters

VERSION: Final = "2.6.13"
"""The version of wallabag that clients see. Some compare it as text, so its last part must not begin with 0."""
USER_ID: Final = 1
"""Clients want a number, and do nothing with it."""
_ORDERS: Final[dict[str, Order]] = {"created": "saved", "updated": "updated", "archived": "updated"}
_MAX_SINCE: Final = 4_102_444_800
"""The year 2100."""
_DIGITS: Final = re.compile(r"[0-9]+")
_NO_SLUG: Final = re.compile(r"[^\w]+")


def entry(item: Item, number: int, annotations: Sequence[Annotation], user: str, content: str | None) -> dict[str, Any]:
    """Return an item as an entry; `content` is its HTML, or `None` when only the metadata was asked for."""
    known = item.metadata
    changed, hashed = _stored_date(item.updated_at), hash_address(item.url)
    return {
        "id": number,
        "uid": None,
        "title": item.title,
        "url": item.url,
        "hashed_url": hashed,
        "given_url": item.url_full,
        "hashed_given_url": hashed if item.url_full == item.url else hash_address(item.url_full),
        "origin_url": None,
        "is_archived": int(bool(known.archived)),
        "archived_at": changed if known.archived else None,
        "is_starred": int(bool(known.pinned)),
        "starred_at": changed if known.pinned else None,
        "is_public": False,
        "is_not_parsed": known.quality == "bookmark",
        "content": content,
        "created_at": _stored_date(item.saved_at),
        "updated_at": changed,
        "published_at": date(item.published_at) if item.published_at else None,
        "published_by": [item.author] if item.author else [],
        "mimetype": "text/html",
        "language": known.language,
        "reading_time": reading_minutes(known.reading_time),
        "domain_name": item.domain,
        "preview_picture": known.hero_image,
        "http_status": None if known.fetch_again is not None else "200",
        "headers": None,
        "tags": [tag(label) for label in known.tags],
        "annotations": [annotation(one) for one in annotations],
        "user_id": USER_ID,
        "user_name": user,
        "user_email": "",
        "_links": {"self": {"href": f"/api/entries/{number}"}},
    }


def tag(label: str) -> dict[str, Any]:
    """Return a tag of an entry."""
    number, slug = _tag_names(label)
    return {"id": number, "label": label, "slug": slug}


@lru_cache(4096)
def _tag_names(label: str) -> tuple[int, str]:
    return tag_number(label), _NO_SLUG.sub("-", label.casefold()).strip("-") or "tag"


def annotation(one: Annotation) -> dict[str, Any]:
    """Return an annotation. Where it begins and ends is not known: our annotations are found by their words."""
    return {
        "id": annotation_number(one),
        "annotator_schema_version": "v1.0",
        "text": one.note,
        "quote": one.quote,
        "ranges": [],
        "user": "",
        "created_at": date(one.created_at),
        "updated_at": date(one.updated_at),
    }


def _stored_date(value: str) -> str:
    """Return a time of the store, which is in UTC and has one form."""
    return f"{value[:19]}+0000"


def date(value: str) -> str | None:
    """Return a time as wallabag writes it; of a year, month or day, its beginning; `None` for any other text."""
    try:
        whole = value + "0001-01-01"[len(value) :] if len(value) < 10 else value
        time = datetime.fromisoformat(whole)
    except ValueError:
        return None
    time = time.astimezone(UTC) if time.tzinfo else time
    return time.strftime("%Y-%m-%dT%H:%M:%S+0000")


def reading_minutes(text: str | None) -> int:
    """Return the minutes of a reading time such as "8 min"."""
    found = _DIGITS.search(text or "")
    return int(found[0][:6]) if found else 0


def list_query(sent: Parameters) -> ItemQuery | None:
    """Return the query of a list; `None` when nothing can be found, as no item is public."""
    if sent.flag("public"):
        return None
    since = sent.number("since", 0, low=0, high=_MAX_SINCE)
    filters = item_filters(
        domain=sent.text("domain_name", max_chars=300) or None,
        tags=tuple(sent.list("tags") or ())[:20],
        pinned=sent.flag("starred"),
        archived=sent.flag("archive"),
        changed_since=clock.format_time(datetime.fromtimestamp(since, UTC)) if since else None,
    )
    not_parsed = sent.flag("notParsed")
    if not_parsed is not None:
        filters = (*filters, Filter("quality", "bookmark", negated=not not_parsed))
    order = _ORDERS.get(sent.text("sort", "created").lower(), "saved")
    return ItemQuery(filters=filters, order=order, descending=sent.text("order", "desc").lower() != "asc")


def envelope(total: int, entries: Sequence[Mapping[str, Any]], page: int, limit: int, address: str) -> dict[str, Any]:
    """Return a page of a list; `address` is its URL without the number of the page."""
    pages = max(1, -(-total // limit))
    link = {name: {"href": f"{address}&page={at}"} for name, at in (("self", page), ("first", 1), ("last", pages))}
    if page < pages:
        link["next"] = {"href": f"{address}&page={page + 1}"}
    return {
        "page": page,
        "limit": limit,
        "pages": pages,
        "total": total,
        "_links": link,
        "_embedded": {"items": list(entries)},
    }
