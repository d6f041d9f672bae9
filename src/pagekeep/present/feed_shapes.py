"""JSON shapes of feeds, their entries and mail sources, as every door shows them. A password is never part of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pagekeep import model

if TYPE_CHECKING:
    from typing import TypedDict
else:
    try:  # as in `json_shapes`
        from typing_extensions import TypedDict
    except ImportError:
        from typing import TypedDict


class Feed(TypedDict):
    """A feed that the user subscribed to."""

    id: str
    kind: str
    address: str
    title: str
    """The user's own name for it, or the feed's title, or else its address."""
    site: str | None
    folder: str
    tags: list[str]
    include: list[str]
    exclude: list[str]
    content: str
    keep_count: int
    keep_days: int
    every: int | None
    """Seconds between two polls, if the user set them."""
    status: str
    unread: int
    entries: int
    left_out: int
    """Entries that the feed lists and the inbox does not have, by `keep_count` and `keep_days`."""
    failures: int
    error: str | None
    next_at: str
    polled_at: str | None
    created_at: str


class Entry(TypedDict):
    """An entry in the feed inbox, without its text."""

    id: str
    feed_id: str
    url: str | None
    title: str
    author: str | None
    published_at: str | None
    found_at: str
    updated_at: str
    read: bool
    kept: bool
    item_id: str | None
    """The item that was made of it."""
    categories: list[str]
    enclosures: list[dict[str, Any]]
    image: str | None
    comments: str | None


class WholeEntry(Entry):
    """An entry with its text."""

    content: str
    """Markdown."""


class PublishedFeed(TypedDict):
    """A list or search that others can read as a feed."""

    id: str
    title: str
    query: str
    created_at: str
    last_used_at: str | None


class FoundFeed(TypedDict):
    """A feed that was found at an address."""

    address: str
    title: str


def feed_shape(feed: model.Feed, counts: model.EntryCounts) -> Feed:
    """Return a feed."""
    settings = feed.settings
    return {
        "id": feed.id,
        "kind": feed.kind,
        "address": feed.address,
        "title": feed.label,
        "site": feed.site,
        "folder": feed.folder,
        "tags": list(settings.tags),
        "include": list(settings.include),
        "exclude": list(settings.exclude),
        "content": settings.content,
        "keep_count": settings.keep_count,
        "keep_days": settings.keep_days,
        "every": settings.every,
        "status": feed.status,
        "unread": counts.unread,
        "entries": counts.total,
        "left_out": counts.left_out,
        "failures": feed.attempts,
        "error": feed.error,
        "next_at": feed.next_at,
        "polled_at": feed.polled_at,
        "created_at": feed.created_at,
    }


def entry_shape(entry: model.Entry) -> Entry:
    """Return an entry without its text."""
    extra = entry.extra
    return {
        "id": entry.id,
        "feed_id": entry.feed_id,
        "url": entry.url,
        "title": entry.title,
        "author": entry.author,
        "published_at": entry.published_at,
        "found_at": entry.found_at,
        "updated_at": entry.updated_at,
        "read": entry.read_at is not None,
        "kept": entry.kept_at is not None,
        "item_id": entry.item_id,
        "categories": list(extra.get("categories") or ()),
        "enclosures": list(extra.get("enclosures") or ()),
        "image": extra.get("image"),
        "comments": extra.get("comments"),
    }


def whole_entry_shape(entry: model.Entry) -> WholeEntry:
    """Return an entry with its text."""
    return {**entry_shape(entry), "content": entry.content}


def published_shape(published: model.PublishedFeed, last_used_at: str | None) -> PublishedFeed:
    """Return a published feed."""
    return {
        "id": published.id,
        "title": published.title,
        "query": published.query,
        "created_at": published.created_at,
        "last_used_at": last_used_at,
    }


class MailCounts(TypedDict):
    """Messages since the source was added."""

    added: int
    unwanted: int
    """Of other senders: not stored."""
    too_large: int
    failed: int
    """In the inbox without their text, which could not be read."""
    paused: int
    """Of newsletters that are paused: not stored."""


class MailSource(TypedDict):
    """A folder of a mailbox that is polled for newsletters."""

    id: str
    host: str
    port: int
    user: str
    folder: str
    security: Literal["tls", "plain"]
    senders: list[str]
    """Addresses and domains whose messages are taken; `*` takes all."""
    every: str
    """Such as `15m`."""
    created_at: str
    next_at: str
    polled_at: str | None
    failures: int
    """Polls that failed since the last that succeeded."""
    error: str | None
    counts: MailCounts
    others: dict[str, int]
    """The latest other senders, with their numbers of messages."""


def mail_source_shape(source: model.MailSource, every: str) -> MailSource:
    """Return a mail source."""
    folder, counts = source.folder, source.counts
    return {
        "id": source.id,
        "host": folder.host,
        "port": folder.port,
        "user": folder.user,
        "folder": folder.folder,
        "security": folder.security,
        "senders": list(source.senders),
        "every": every,
        "created_at": source.created_at,
        "next_at": source.next_at,
        "polled_at": source.polled_at,
        "failures": source.attempts,
        "error": source.error,
        "counts": {
            "added": counts.get("added", 0),
            "unwanted": counts.get("unwanted", 0),
            "too_large": counts.get("too_large", 0),
            "failed": counts.get("failed", 0),
            "paused": counts.get("paused", 0),
        },
        "others": dict(source.others),
    }
