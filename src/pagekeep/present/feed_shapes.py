"""JSON shapes of feeds, their entries and mail sources, as every door shows them. A password is never part of them."""

from __future__ import annotations

from typing import Any, Literal

from pagekeep import model
from pagekeep.present.json_shapes import TypedDict, same_as, shape_of, to_json


@shape_of(model.Feed, "settings", title="label", failures="attempts")
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


@shape_of(
    model.Entry,
    read=lambda entry: entry.read_at is not None,
    kept=lambda entry: entry.kept_at is not None,
    categories=lambda entry: entry.extra.get("categories") or [],
    enclosures=lambda entry: entry.extra.get("enclosures") or [],
    image=lambda entry: entry.extra.get("image"),
    comments=lambda entry: entry.extra.get("comments"),
)
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


@same_as(model.PublishedFeed)
class PublishedFeed(TypedDict):
    """A list or search that others can read as a feed."""

    last_used_at: str | None


class FoundFeed(TypedDict):
    """A feed that was found at an address."""

    address: str
    title: str


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


@shape_of(
    model.MailSource,
    "folder",
    folder="folder.folder",
    failures="attempts",
    counts=lambda source: {name: source.counts.get(name, 0) for name in MailCounts.__annotations__},
)
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


def feed_shape(feed: model.Feed, counts: model.EntryCounts) -> Feed:
    """Return a feed with the numbers of its entries."""
    return to_json(Feed, feed, unread=counts.unread, entries=counts.total, left_out=counts.left_out)


def whole_entry_shape(entry: model.Entry) -> WholeEntry:
    """Return an entry with its text."""
    return {**to_json(Entry, entry), "content": entry.content}
