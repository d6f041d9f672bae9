"""Feeds that the user subscribed to, and lists that others read as feeds."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, Final, get_args

from pagekeep.errors import InvalidQuery, NotFound
from pagekeep.model import Feed, FeedContent, FeedKind, FeedSettings, FeedStatus, PollOutcome, PublishedFeed
from pagekeep.store.engine import Part, Row, Transaction, reads, writes
from pagekeep.store.storable import clean_id, clean_json, clean_text, parse_json, url_hash

_COLUMNS: Final = (
    *("id", "user_id", "kind", "address", "title", "site", "folder", "settings", "status", "attempts", "next_at"),
    *("polled_at", "created_at", "updated_at", "state"),
)
_NAMES: Final = ", ".join(_COLUMNS)
_LISTS: Final = ("tags", "include", "exclude")
_NUMBERS: Final = ("keep_count", "keep_days", "every")
_MIN_PREFIX: Final = 4


class Feeds(Part):
    """A user's feeds."""

    @writes
    def add(
        self,
        tx: Transaction,
        kind: FeedKind,
        address: str,
        *,
        now: str,
        title: str = "",
        site: str | None = None,
        folder: str = "",
        settings: FeedSettings | None = None,
    ) -> tuple[Feed, bool]:
        """Return the feed with this address and whether it is new; one that exists stays as it is."""
        changed = tx.run(
            "INSERT INTO feeds (user_id, id, kind, address_hash, status, next_at, created_at, updated_at, folder, settings, "
            "state, address, site, title) VALUES (:user, :id, :kind, :hash, 'active', :now, :now, :now, :folder, :settings, "
            ":state, :address, :site, :title) ON CONFLICT (user_id, address_hash) DO NOTHING",
            id=str(uuid.uuid4()),
            kind=kind,
            hash=url_hash(address),
            now=now,
            folder=clean_text(folder),
            settings=tx.json(settings_to_json(settings or FeedSettings())),
            state=tx.json({}),
            address=clean_text(address),
            site=None if site is None else clean_text(site),
            title=clean_text(title),
        )
        return _select(tx, "address_hash = :hash", hash=url_hash(address))[0], changed == 1

    @reads
    def list(self, tx: Transaction) -> tuple[Feed, ...]:
        """Return all feeds by folder and title."""
        found = _select(tx, "TRUE")
        return tuple(sorted(found, key=lambda feed: (feed.folder.casefold(), feed.label.casefold(), feed.id)))

    @reads
    def get(self, tx: Transaction, key: str) -> Feed:
        """Return the feed with this id, unique beginning of an id, or address; `NotFound` when there is none."""
        found = _select(tx, "id = :id OR address_hash = :hash", id=clean_id(key), hash=url_hash(key))
        if not found and len(key) >= _MIN_PREFIX:
            found = [feed for feed in _select(tx, "TRUE") if feed.id.startswith(key.lower())]
        if len(found) > 1:
            raise InvalidQuery(f"More than one feed id starts with {key:.40}.", suggestions=("Give more of the id.",))
        if not found:
            raise NotFound(f"There is no feed {key:.200}.", suggestions=("List your feeds.",))
        return found[0]

    @writes
    def change(
        self,
        tx: Transaction,
        feed_id: str,
        now: str,
        *,
        folder: str | None = None,
        settings: FeedSettings | None = None,
        status: FeedStatus | None = None,
        next_at: str | None = None,
    ) -> Feed:
        """Change what the user set; `None` leaves it. A feed that is made active again is polled as a new one."""
        values: dict[str, Any] = {"status": status, "next_at": next_at}
        values["folder"] = None if folder is None else clean_text(folder)
        values["settings"] = None if settings is None else tx.json(settings_to_json(settings))
        values["attempts"] = 0 if status == "active" else None
        values = {name: value for name, value in values.items() if value is not None}
        sets = "".join(f", {name} = :{name}" for name in values)
        sql = f"UPDATE feeds SET updated_at = :now{sets} WHERE user_id = :user AND id = :id"
        if not tx.run(sql, id=clean_id(feed_id), now=now, **values):
            raise NotFound("There is no such feed.")
        return _select(tx, "id = :id", id=clean_id(feed_id))[0]

    @writes
    def remove(self, tx: Transaction, feed_id: str) -> bool:
        """Remove a feed with its entries; items that were kept stay. Return whether there was one."""
        return tx.run("DELETE FROM feeds WHERE user_id = :user AND id = :id", id=clean_id(feed_id)) == 1

    @reads
    def due(self, tx: Transaction, now: str, far: str, limit: int) -> tuple[Feed, ...]:
        """Return web feeds to poll now: those whose time has come, or was set while the clock was ahead."""
        where = "kind = 'web' AND status = 'active' AND (next_at <= :now OR next_at > :far)"
        return tuple(_select(tx, where, "ORDER BY next_at, id LIMIT :limit", now=now, far=far, limit=limit))

    @reads
    def next_poll(self, tx: Transaction) -> str | None:
        """Return when the next web feed is to be polled; `None` when there is none."""
        rows = tx.all("SELECT MIN(next_at) FROM feeds WHERE user_id = :user AND kind = 'web' AND status = 'active'")
        return rows[0][0] or None

    @writes
    def settle_polls(self, tx: Transaction, outcomes: Sequence[PollOutcome], now: str) -> None:
        """Store what polls found out about their feeds. A feed that was removed or changed its status meanwhile stays so."""
        for outcome in outcomes:
            _settle(tx, outcome, now)

    @writes
    def publish(self, tx: Transaction, published: PublishedFeed) -> None:
        """Store what a published feed shows."""
        tx.run(
            "INSERT INTO published_feeds (user_id, id, title, query, created_at) VALUES (:user, :id, :title, :query, :now)",
            id=clean_id(published.id),
            title=clean_text(published.title),
            query=clean_text(published.query),
            now=published.created_at,
        )

    @reads
    def published(self, tx: Transaction) -> tuple[PublishedFeed, ...]:
        """Return all published feeds, oldest first."""
        rows = tx.all(
            "SELECT id, title, query, created_at FROM published_feeds WHERE user_id = :user ORDER BY created_at, id"
        )
        return tuple(PublishedFeed(*row) for row in rows)

    @writes
    def unpublish(self, tx: Transaction, feed_id: str) -> bool:
        """Forget a published feed; return whether there was one."""
        sql = "DELETE FROM published_feeds WHERE user_id = :user AND id = :id"
        return tx.run(sql, id=clean_id(feed_id)) == 1


def _settle(tx: Transaction, outcome: PollOutcome, now: str) -> None:
    texts = {name: getattr(outcome, name) for name in ("title", "site")}
    values: dict[str, Any] = {name: clean_text(text) for name, text in texts.items() if text is not None}
    moved = outcome.address is not None and not tx.all(
        "SELECT 1 FROM feeds WHERE user_id = :user AND address_hash = :hash", hash=url_hash(outcome.address)
    )
    if moved and outcome.address is not None:  # not to the address of another feed
        values |= {"address": clean_text(outcome.address), "address_hash": url_hash(outcome.address)}
    sets = "".join(f", {name} = :{name}" for name in values)
    tx.run(
        "UPDATE feeds SET state = :state, next_at = CASE WHEN next_at = :due THEN :next ELSE next_at END, "
        f"attempts = :attempts, polled_at = :now, status = :status{sets} "
        "WHERE user_id = :user AND id = :id AND status = 'active'",
        id=clean_id(outcome.feed_id),
        state=tx.json(clean_json(outcome.state)),
        due=outcome.due_at,
        next=outcome.next_at,
        attempts=outcome.attempts,
        status=outcome.status,
        now=now,
        **values,
    )


def settings_to_json(settings: FeedSettings) -> dict[str, Any]:
    """Return the stored form of what the user set: without what is not."""
    default = FeedSettings()
    return clean_json({name: value for name, value in asdict(settings).items() if value != getattr(default, name)})


def settings_from_json(stored: Mapping[str, Any]) -> FeedSettings:
    """Return what the user set; values of the wrong type are left out."""
    known = {one.name for one in fields(FeedSettings)}
    values: dict[str, Any] = {name: value for name, value in stored.items() if name in known}
    for name in _LISTS:
        if name in values:
            values[name] = tuple(text for text in values[name] if isinstance(text, str))
    for name in _NUMBERS:
        if not isinstance(values.get(name), int):
            values.pop(name, None)
    if values.get("content") not in get_args(FeedContent):
        values.pop("content", None)
    return FeedSettings(**values)


def _select(tx: Transaction, where: str, order: str = "", **values: Any) -> list[Feed]:
    rows = tx.all(f"SELECT {_NAMES} FROM feeds WHERE user_id = :user AND ({where}) {order}", **values)
    return [_feed(row) for row in rows]


def _feed(row: Row) -> Feed:
    values = dict(zip(_COLUMNS, row, strict=True))
    settings = settings_from_json(parse_json(values["settings"]))
    return Feed(**values | {"settings": settings, "state": parse_json(values["state"])})
