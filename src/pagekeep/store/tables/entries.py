"""Entries of feeds: they wait in the feed inbox, apart from the items of the library."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
import uuid
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any, Final

from pagekeep.errors import InvalidQuery, NotFound, StoreError
from pagekeep.model import AddedEntries, Entry, EntryCounts, EntryPage, EntryQuery, EntryState, NewEntry, RawPage
from pagekeep.store.blob_files import pack, unpack
from pagekeep.store.engine import Part, Row, Transaction, read_page_key, read_page_time, reads, write_page_key, writes
from pagekeep.store.query import words
from pagekeep.store.storable import clean_id, clean_json, clean_text, clean_time, parse_json, url_hash

MAX_ENTRIES: Final = 200
"""Entries of one page."""
_SEARCHED_CHARS: Final = 20_000
"""Characters of an entry's text that are searched."""
_MAX_SEARCH_SECONDS: Final = 10.0
_COLUMNS: Final = (
    *(
        "id",
        "feed_id",
        "guid",
        "url",
        "title",
        "author",
        "published_at",
        "found_at",
        "updated_at",
        "sorted_at",
        "read_at",
    ),
    *("kept_at", "item_id", "extra"),
)
_NAMES: Final = ", ".join(_COLUMNS)
_PAGE: Final = ("encoding", "content_type", "final_url", "status", "rendered", "fetched_at")
_ONE: Final = "user_id = :user AND id = :id AND dropped_at IS NULL"
_PREFIX: Final = re.compile(r"[0-9a-f][0-9a-f-]{3,35}")
_NO_PATTERN: Final = str.maketrans("", "", "%_\\")
"""Removes what LIKE gives a meaning; no search word has these."""
_STATES: Final[dict[EntryState, str]] = {
    "unread": "read_at IS NULL",
    "read": "read_at IS NOT NULL",
    "kept": "kept_at IS NOT NULL",
    "all": "TRUE",
}


class Entries(Part):
    """A user's feed inbox."""

    @writes
    def put(
        self, tx: Transaction, feed_id: str, entries: Sequence[NewEntry], now: str, listed: Collection[str] = ()
    ) -> AddedEntries:
        """Add the entries of a feed that are new, and update those that changed; read and kept states stay.

        An entry is known by its guid; or by its address, if no other entry here has the address and the guid of the stored
        one has gone from the feed. `listed` are the guid hashes of all that the feed has now. `NotFound` when there is no
        such feed.
        """
        feed_id = clean_id(feed_id)
        tx.lock(f"feed {feed_id}")
        if not tx.all("SELECT 1 FROM feeds WHERE user_id = :user AND id = :id", id=feed_id):
            raise NotFound("There is no such feed.")
        known = _Known(tx, feed_id, entries, listed)
        added, updated, unchanged = list[str](), list[str](), 0
        for entry in {guid_hash(entry.guid): entry for entry in reversed(entries)}.values():
            values = _values(tx, entry)
            entry_id, fingerprint = known.find(values)
            if entry_id is None:
                added.append(_insert(tx, feed_id, values, now))
                _put_page(tx, added[-1], entry.page)
            elif fingerprint != values["fingerprint"]:
                updated.append(entry_id)
                _update(tx, entry_id, values, now)
                _put_page(tx, entry_id, entry.page)
            else:
                unchanged += 1
        return AddedEntries(tuple(added), tuple(updated), unchanged)

    @reads
    def fingerprints(self, tx: Transaction, feed_id: str) -> dict[str, str]:
        """Return guid hash to fingerprint of all entries of a feed, also of those that have left the inbox."""
        rows = tx.all(
            "SELECT guid_hash, fingerprint FROM feed_entries WHERE user_id = :user AND feed_id = :feed",
            feed=clean_id(feed_id),
        )
        return dict(rows)

    @writes
    def set_text(
        self, tx: Transaction, entry_id: str, content: str, page: RawPage | None, extra: dict[str, Any]
    ) -> None:
        """Replace the text of an entry by that of its page; an entry that has left the inbox stays out."""
        values = {"id": clean_id(entry_id)}
        rows = tx.all(f"SELECT title, author, extra FROM feed_entries WHERE {_ONE} {tx.for_update}", **values)
        if not rows:
            return
        title, author, stored = rows[0]
        tx.run(
            f"UPDATE feed_entries SET content = :content, words = :words, extra = :extra WHERE {_ONE}",
            content=clean_text(content),
            words=_words(title, author, content),
            extra=tx.json(clean_json({**parse_json(stored), **extra})),
            **values,
        )
        _put_page(tx, values["id"], page)

    @reads
    def find(self, tx: Transaction, query: EntryQuery) -> EntryPage:
        """Return one page of the entries that the query describes, newest first."""
        tx.limit_time(_MAX_SEARCH_SECONDS)
        limit = max(1, min(query.limit, MAX_ENTRIES))
        where, values = _where(tx, query)
        kind = ["entries", sorted(query.feed_ids or ()), query.state, list(query.words), list(query.excluded)]
        if query.after is not None:
            time, entry_id = read_page_key(query.after, kind, str, str)
            where += " AND (sorted_at, id) < (:time, :last)"
            values |= {"time": read_page_time(time) or tx.no_time, "last": clean_id(entry_id)}
        names = f"{_NAMES}, content" if query.content else _NAMES
        rows = tx.all(
            f"SELECT {names} FROM feed_entries WHERE {where} ORDER BY sorted_at DESC, id DESC LIMIT {limit + 1}",
            **values,
        )
        entries = tuple(map(_entry, rows[:limit]))
        more = len(rows) > limit
        return EntryPage(entries, write_page_key(kind, entries[-1].sorted_at, entries[-1].id) if more else None)

    @reads
    def get(self, tx: Transaction, entry_id: str) -> Entry:
        """Return an entry with its text, by its id or a unique beginning of it; `NotFound` when there is none."""
        sql = f"SELECT {_NAMES}, content FROM feed_entries WHERE"
        rows = tx.all(f"{sql} {_ONE}", id=clean_id(entry_id))
        if not rows and _PREFIX.fullmatch(entry_id.lower()):
            digits = entry_id.lower().replace("-", "")[:32]
            rows = tx.all(
                f"{sql} user_id = :user AND dropped_at IS NULL AND id >= :low AND id <= :high LIMIT 2",
                low=str(uuid.UUID(f"{digits:0<32}")),
                high=str(uuid.UUID(f"{digits:f<32}")),
            )
        if len(rows) > 1:
            raise InvalidQuery(f"More than one entry id starts with {entry_id}.", suggestions=("Give more of the id.",))
        if not rows:
            raise NotFound("There is no such entry in the feed inbox.", suggestions=("It may have left by its age.",))
        return _entry(rows[0])

    @reads
    def page(self, tx: Transaction, entry_id: str) -> RawPage | None:
        """Return what an entry's text was made of, if that was stored."""
        rows = tx.all(
            f"SELECT page, {', '.join(_PAGE)} FROM entry_pages WHERE user_id = :user AND entry_id = :id",
            id=clean_id(entry_id),
        )
        if not rows:
            return None
        fields = dict(zip(_PAGE, rows[0][1:], strict=True))
        return RawPage(_unpack(rows[0][0]), **fields | {"rendered": bool(fields["rendered"])})

    @reads
    def counts(self, tx: Transaction) -> dict[str, EntryCounts]:
        """Return how many entries of each feed are unread and in all; feeds without entries are missing."""
        rows = tx.all(
            "SELECT feed_id, SUM(CASE WHEN read_at IS NULL THEN 1 ELSE 0 END), COUNT(*) FROM feed_entries "
            "WHERE user_id = :user AND dropped_at IS NULL GROUP BY feed_id"
        )
        return {feed_id: EntryCounts(int(unread), int(total)) for feed_id, unread, total in rows}

    @reads
    def left_out(self, tx: Transaction) -> dict[str, int]:
        """Return how many entries of each feed have left the inbox while the feed lists them; feeds without are missing."""
        rows = tx.all(
            "SELECT feed_id, COUNT(*) FROM feed_entries WHERE user_id = :user AND dropped_at IS NOT NULL GROUP BY feed_id"
        )
        return {feed_id: int(count) for feed_id, count in rows}

    @reads
    def since(self, tx: Transaction, since: str) -> dict[str, tuple[int, int, int]]:
        """Return how many entries of each feed were added, updated and left out from a time on; feeds without are missing."""
        rows = tx.all(
            "SELECT feed_id, SUM(CASE WHEN found_at >= :since AND dropped_at IS NULL THEN 1 ELSE 0 END), "
            "SUM(CASE WHEN found_at < :since AND dropped_at IS NULL THEN 1 ELSE 0 END), "
            "SUM(CASE WHEN found_at >= :since AND dropped_at IS NOT NULL THEN 1 ELSE 0 END) "
            "FROM feed_entries WHERE user_id = :user AND updated_at >= :since GROUP BY feed_id",
            since=since,
        )
        return {feed_id: (int(added), int(updated), int(left_out)) for feed_id, added, updated, left_out in rows}

    @writes
    def mark(self, tx: Transaction, entry_ids: Sequence[str], read: bool, now: str) -> int:
        """Mark these entries as read, or as unread; return how many were not."""
        time = now if read else None
        sql = f"UPDATE feed_entries SET read_at = :time WHERE {_ONE} AND {_STATES['unread' if read else 'read']}"
        return sum(tx.run(sql, id=one, time=time) for one in map(clean_id, entry_ids))

    @writes
    def mark_all_read(self, tx: Transaction, query: EntryQuery, found_before: str, now: str) -> int:
        """Mark all entries of a query as read that were in the inbox at a time; return how many were not."""
        where, values = _where(tx, query)
        return tx.run(
            f"UPDATE feed_entries SET read_at = :now WHERE {where} AND read_at IS NULL AND found_at <= :found",
            now=now,
            found=clean_time(found_before),
            **values,
        )

    @writes
    def mark_kept(self, tx: Transaction, entry_id: str, item_id: str | None, now: str) -> Entry:
        """Note that an item is made of an entry, or was made, which is then read too."""
        values = {"id": clean_id(entry_id)}
        tx.run(
            "UPDATE feed_entries SET kept_at = COALESCE(kept_at, :now), item_id = COALESCE(:item, item_id), "
            f"read_at = COALESCE(read_at, :now) WHERE {_ONE}",
            item=None if item_id is None else clean_id(item_id),
            now=now,
            **values,
        )
        rows = tx.all(f"SELECT {_NAMES}, content FROM feed_entries WHERE {_ONE}", **values)
        if not rows:
            raise NotFound("There is no such entry in the feed inbox.")
        return _entry(rows[0])

    @writes
    def trim(
        self,
        tx: Transaction,
        feed_id: str,
        now: str,
        *,
        count: int,
        since: str | None,
        least: int,
        listed: Collection[str],
    ) -> tuple[str, ...]:
        """Remove entries over the number or from before a time from the inbox; return their ids.

        The newest, as many as `least`, stay whatever their time. `listed` are the guid hashes that the feed has now: of
        these a mark stays, so that they do not come back.
        """
        values = {"feed": clean_id(feed_id)}
        rows = tx.all(
            "SELECT id, guid_hash, sorted_at, dropped_at FROM feed_entries WHERE user_id = :user AND feed_id = :feed "
            "ORDER BY sorted_at DESC, id DESC",
            **values,
        )
        place, removed = 0, list[str]()
        for entry_id, name, sorted_at, dropped_at in rows:
            place += dropped_at is None
            over = (count and place > count) or (since is not None and sorted_at < since and place > least)
            if dropped_at is None and not over:
                continue
            if name not in listed:
                tx.run("DELETE FROM feed_entries WHERE user_id = :user AND id = :id", id=entry_id)
            elif dropped_at is None:
                _drop(tx, entry_id, now)
            if dropped_at is None:
                removed.append(entry_id)
        return tuple(removed)


class _Known:
    """What the inbox has of a feed, to compare new entries with."""

    def __init__(self, tx: Transaction, feed_id: str, entries: Sequence[NewEntry], listed: Collection[str]) -> None:
        self.tx, self.feed_id = tx, feed_id
        self.listed = {guid_hash(entry.guid) for entry in entries} | set(listed)
        self.addresses = Counter(_address_hash(entry.url) for entry in entries)

    def find(self, values: dict[str, Any]) -> tuple[str | None, str | None]:
        """Return the id and the fingerprint of the stored entry; `None` twice when it is new."""
        owner = {"feed": self.feed_id}
        sql = "SELECT id, fingerprint, guid_hash FROM feed_entries WHERE user_id = :user AND feed_id = :feed AND "
        rows = self.tx.all(f"{sql} guid_hash = :hash", hash=values["guid_hash"], **owner)
        if not rows and values["url_hash"] and self.addresses[values["url_hash"]] == 1:
            found = self.tx.all(f"{sql} url_hash = :hash", hash=values["url_hash"], **owner)
            rows = [row for row in found if row[2] not in self.listed] if len(found) == 1 else []
        return (rows[0][0], rows[0][1]) if rows else (None, None)


def guid_hash(guid: str) -> str:
    """Return the form of a guid in indexes."""
    return url_hash(f"guid {guid}")


def _address_hash(url: str | None) -> str | None:
    return url_hash(url) if url else None


def _words(title: str, author: str | None, content: str) -> str:
    found = words(f"{title} {author or ''} {content[:_SEARCHED_CHARS]}")
    return f" {' '.join(found)} "


def _values(tx: Transaction, entry: NewEntry) -> dict[str, Any]:
    """Return the values of the columns that a feed determines."""
    texts = {name: getattr(entry, name) for name in ("guid", "url", "title", "author", "content")}
    cleaned: dict[str, Any] = {name: text if text is None else clean_text(text) for name, text in texts.items()}
    extra = clean_json(entry.extra)
    published = clean_time(entry.published_at) if entry.published_at else None
    marks = [*(cleaned[name] for name in ("title", "author", "url", "content")), extra]
    return cleaned | {
        "extra": tx.json(extra),
        "published_at": published,
        "guid_hash": guid_hash(entry.guid),
        "url_hash": _address_hash(entry.url),
        "fingerprint": entry.fingerprint or hashlib.sha256(json.dumps(marks, sort_keys=True).encode()).hexdigest(),
        "words": _words(entry.title, entry.author, entry.content),
    }


def _insert(tx: Transaction, feed_id: str, values: dict[str, Any], now: str) -> str:
    entry_id = str(uuid.uuid4())
    names = ", ".join(values)
    tx.run(
        f"INSERT INTO feed_entries (user_id, id, feed_id, sorted_at, found_at, updated_at, {names}) "
        f"VALUES (:user, :id, :feed, :sorted, :now, :now, {', '.join(f':{name}' for name in values)})",
        id=entry_id,
        feed=feed_id,
        sorted=min(values["published_at"] or now, now),
        now=now,
        **values,
    )
    return entry_id


def _update(tx: Transaction, entry_id: str, values: dict[str, Any], now: str) -> None:
    """Replace what the feed determines; one that has left the inbox changes nothing but what it is known by."""
    sets = ", ".join(f"{name} = :{name}" for name in values)
    known = {name: values[name] for name in ("guid", "guid_hash", "url_hash", "fingerprint")}
    where = {"id": entry_id}
    changed = tx.run(f"UPDATE feed_entries SET {sets}, updated_at = :now WHERE {_ONE}", now=now, **where, **values)
    if not changed:
        sets = ", ".join(f"{name} = :{name}" for name in known)
        tx.run(f"UPDATE feed_entries SET {sets} WHERE user_id = :user AND id = :id", **where, **known)


def _drop(tx: Transaction, entry_id: str, now: str) -> None:
    """Take an entry out of the inbox and leave a mark."""
    tx.run(
        "UPDATE feed_entries SET dropped_at = :now, content = '', words = '', title = '' WHERE user_id = :user AND id = :id",
        now=now,
        id=entry_id,
    )
    tx.run("DELETE FROM entry_pages WHERE user_id = :user AND entry_id = :id", id=entry_id)


def _put_page(tx: Transaction, entry_id: str, page: RawPage | None) -> None:
    owner = {"id": entry_id}
    tx.run("DELETE FROM entry_pages WHERE user_id = :user AND entry_id = :id", **owner)
    if page is None or not tx.all(f"SELECT 1 FROM feed_entries WHERE {_ONE}", **owner):
        return
    fields: dict[str, Any] = {name: getattr(page, name) for name in _PAGE}
    fields |= {name: clean_text(fields[name]) for name in ("content_type", "final_url")}
    tx.run(
        f"INSERT INTO entry_pages (user_id, entry_id, page, {', '.join(_PAGE)}) "
        f"VALUES (:user, :id, :page, {', '.join(f':{name}' for name in _PAGE)})",
        page=base64.b64encode(pack(page.body)).decode(),
        **owner,
        **fields,
    )


def _unpack(page: str) -> bytes:
    try:
        return unpack(base64.b64decode(page, validate=True))
    except binascii.Error:
        raise StoreError("A stored page of the feed inbox is damaged.", suggestions=("Restore a backup.",)) from None


def _where(tx: Transaction, query: EntryQuery) -> tuple[str, dict[str, Any]]:
    parts, values = ["user_id = :user", "dropped_at IS NULL", _STATES[query.state]], dict[str, Any]()
    if query.feed_ids is not None:
        names = [f"f{number}" for number in range(len(query.feed_ids))]
        values |= dict(zip(names, map(clean_id, query.feed_ids), strict=True))
        parts.append(f"feed_id IN ({', '.join(f':{name}' for name in names)})" if names else "FALSE")
    for number, text in enumerate((*query.words, *query.excluded)):
        values[f"w{number}"] = f"%{clean_text(text).translate(_NO_PATTERN)}%"
        parts.append(f"words {'NOT ' if number >= len(query.words) else ''}LIKE :w{number}")
    return " AND ".join(parts), values


def _entry(row: Row) -> Entry:
    values = dict(zip((*_COLUMNS, "content"), row, strict=False))
    return Entry(**values | {"extra": parse_json(values["extra"])})
