"""Crawls as a whole: start, list, cancel and remove them, add addresses, and read their pages in order."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from pagekeep.errors import NotFound
from pagekeep.model import RawPage
from pagekeep.model.crawl import Crawl, CrawledPage, NewAddress
from pagekeep.store.blob_files import unpack
from pagekeep.store.engine import Part, Row, Transaction, reads, select_in, writes
from pagekeep.store.storable import clean_id, clean_json, clean_text, parse_json, url_hash
from pagekeep.store.tables import snapshots
from pagekeep.store.tables.sinks import add_event

_DROP_BATCH: Final = 200
"""Pages of an earlier run that one transaction deletes."""
_PAGE: Final = (
    "p.position, p.url, p.via, p.depth, p.parent, p.outcome, p.lastmod, r.status, r.fetched_at, r.facts, r.page"
)
_JOIN: Final = (
    "crawl_pages p LEFT JOIN crawl_results r ON r.user_id = p.user_id AND r.crawl_id = p.crawl_id AND r.run = p.run "
    "AND r.position = p.position WHERE p.user_id = :user AND p.crawl_id = :crawl AND p.run = :run"
)


class Crawls(Part):
    """A user's crawls."""

    @writes
    def start(
        self,
        tx: Transaction,
        name: str,
        url: str,
        options: Mapping[str, Any],
        first: Sequence[NewAddress],
        counts: Mapping[str, Mapping[str, int]],
        now: str,
    ) -> Crawl:
        """Return the crawl with this name: a new one, the one that is not done, or the next run of one that is.

        `first` are the addresses and `counts` the counts that a run begins with.
        """
        key = url_hash(name)
        tx.lock(f"crawl {key}")
        rows = tx.all(f"{SELECT_CRAWL} WHERE user_id = :user AND name_hash = :name {tx.for_update}", name=key)
        if rows:
            known = read_crawl(rows[0])
            if known.state == "done":
                _begin_run(tx, known, options, first, counts, now)
            else:
                _set(tx, known.id, state="running", reason=None, finished_at=None, options=tx.json(clean_json(options)))
            return _get(tx, known.id)
        crawl_id = str(uuid.uuid4())
        tx.run(
            "INSERT INTO crawls (user_id, id, name_hash, url, state, run, admitted, settled, kept, size, created_at, "
            "started_at, options, counts) VALUES (:user, :id, :name, :url, 'running', 0, 0, 0, 0, 0, :now, :now, :options, "
            ":counts)",
            id=crawl_id,
            name=key,
            url=clean_text(url),
            now=now,
            options=tx.json(clean_json(options)),
            counts=tx.json({}),
        )
        _begin_run(tx, _get(tx, crawl_id), options, first, counts, now)
        return _get(tx, crawl_id)

    @reads
    def get(self, tx: Transaction, crawl_id: str) -> Crawl:
        """Return a crawl; `NotFound` when there is none."""
        return _get(tx, crawl_id)

    @reads
    def list(self, tx: Transaction, limit: int = 100) -> tuple[Crawl, ...]:
        """Return the user's crawls, the newest first."""
        rows = tx.all(
            f"{SELECT_CRAWL} WHERE user_id = :user ORDER BY started_at DESC, id LIMIT :limit", limit=max(1, limit)
        )
        return tuple(map(read_crawl, rows))

    @reads
    def running(self, tx: Transaction) -> tuple[tuple[str, str], ...]:
        """Return user and id of every running crawl, of all users where the store was opened for workers."""
        owner, values = self._owner()
        rows = tx.all(
            f"SELECT user_id, id FROM crawls WHERE {owner}state = 'running' ORDER BY created_at, id", **values
        )
        return tuple((user, crawl_id) for user, crawl_id in rows)

    @writes
    def resume(self, tx: Transaction, crawl_id: str, options: Mapping[str, Any], now: str) -> Crawl:
        """Let a crawl go on where it ended, with other options, such as larger limits."""
        _get(tx, crawl_id)
        _set(
            tx, crawl_id, state="running", reason=None, finished_at=None, started_at=now,
            options=tx.json(clean_json(options)),
        )  # fmt: skip
        return _get(tx, crawl_id)

    @writes
    def cancel(self, tx: Transaction, crawl_id: str, now: str) -> Crawl:
        """End a running crawl; its pages stay."""
        crawl = _get(tx, crawl_id)
        if crawl.state == "running":
            _set(tx, crawl_id, state="cancelled", reason="cancelled", finished_at=now)
            post_events(tx, crawl, crawl.options.get("webhook"), [{"type": "failed"}], now)
        return _get(tx, crawl_id)

    @writes
    def remove(self, tx: Transaction, crawl_id: str) -> None:
        """Delete a crawl with its pages; `NotFound` when there is none."""
        crawl = _get(tx, crawl_id)
        bodies = tx.all(
            "SELECT DISTINCT body_hash FROM crawl_results WHERE user_id = :user AND crawl_id = :crawl "
            "AND body_hash IS NOT NULL",
            crawl=crawl.id,
        )
        for table in ("crawl_results", "crawl_pages", "crawl_counts"):
            tx.run(f"DELETE FROM {table} WHERE user_id = :user AND crawl_id = :crawl", crawl=crawl.id)
        tx.run("DELETE FROM crawls WHERE user_id = :user AND id = :crawl", crawl=crawl.id)
        for (name,) in bodies:
            snapshots.drop_body(tx, name)

    @writes
    def remove_earlier_run(self, tx: Transaction, crawl_id: str) -> int:
        """Delete some pages of runs before the current one; return how many."""
        crawl = _get(tx, crawl_id)
        values = in_run(crawl)
        older = "user_id = :user AND crawl_id = :crawl AND run < :run"
        rows = tx.all(
            f"SELECT run, position FROM crawl_pages WHERE {older} ORDER BY run, position LIMIT {_DROP_BATCH}", **values
        )
        for run, position in rows:
            row = values | {"run": run, "position": position}
            bodies = tx.all(
                f"DELETE FROM crawl_results WHERE {IN_RUN} AND position = :position RETURNING body_hash", **row
            )
            tx.run(f"DELETE FROM crawl_pages WHERE {IN_RUN} AND position = :position", **row)
            for (name,) in bodies:
                if name is not None:
                    snapshots.drop_body(tx, name)
        if not rows:
            tx.run(f"DELETE FROM crawl_counts WHERE {older}", **values)
        return len(rows)

    @reads
    def pages(
        self,
        tx: Transaction,
        crawl_id: str,
        outcomes: Sequence[str],
        *,
        after: int = -1,
        limit: int = 100,
    ) -> tuple[CrawledPage, ...]:
        """Return settled addresses of the current run with these outcomes, in order, from after a position."""
        values = in_run(_get(tx, crawl_id)) | {f"o{number}": name for number, name in enumerate(outcomes)}
        names = ", ".join(f":o{number}" for number in range(len(outcomes)))
        rows = tx.all(
            f"SELECT {_PAGE} FROM {_JOIN} AND p.kind = 'page' AND p.state = 'settled' AND p.position > :after "
            f"AND p.outcome IN ({names}) ORDER BY p.position LIMIT :limit",
            after=after,
            limit=max(1, limit),
            **values,
        )
        return tuple(map(_crawled, rows))

    @reads
    def robots(self, tx: Transaction, crawl_id: str) -> tuple[CrawledPage, ...]:
        """Return the robots.txt of every host that is decided; the content has its text as `robots`."""
        rows = tx.all(
            f"SELECT {_PAGE} FROM {_JOIN} AND p.kind = 'robots' AND p.state = 'settled' ORDER BY p.position",
            **in_run(_get(tx, crawl_id)),
        )
        return tuple(map(_crawled, rows))

    @reads
    def raw(self, tx: Transaction, crawl_id: str, position: int) -> RawPage | None:
        """Return the response of a page of the current run, if it was kept."""
        values = in_run(_get(tx, crawl_id))
        rows = tx.all(
            "SELECT b.body, r.encoding, r.content_type, p.url, r.status, r.rendered, r.fetched_at, r.etag, r.last_modified, "
            "r.headers FROM raw_bodies b JOIN crawl_results r ON b.user_id = r.user_id AND b.hash = r.body_hash JOIN "
            "crawl_pages p ON p.user_id = r.user_id AND p.crawl_id = r.crawl_id AND p.run = r.run AND p.position = r.position "
            "WHERE r.user_id = :user AND r.crawl_id = :crawl AND r.run = :run AND r.position = :position",
            position=position,
            **values,
        )
        if not rows:
            return None
        body, encoding, content_type, url, status, rendered, fetched_at, etag, modified, headers = rows[0]
        return RawPage(
            unpack(body), encoding, content_type, url, status, bool(rendered), fetched_at, etag, modified,
            parse_json(headers),
        )  # fmt: skip


def _crawled(row: Row) -> CrawledPage:
    position, url, via, depth, parent, outcome, lastmod, status, fetched_at, facts, page = row
    known = parse_json(facts) or {}
    return CrawledPage(
        position=position,
        url=known.get("page") or url,
        requested=url,
        via=via,
        depth=depth,
        parent=parent,
        outcome=outcome,
        status=status or 0,
        fetched_at=fetched_at,
        lastmod=lastmod,
        facts=known,
        content=parse_json(page) or {},
    )


def _get(tx: Transaction, crawl_id: str) -> Crawl:
    crawl = find_crawl(tx, crawl_id)
    if crawl is None:
        raise NotFound(f"There is no crawl {crawl_id:.200}.", suggestions=("Look for its id in the list of crawls.",))
    return crawl


def _set(tx: Transaction, crawl_id: str, **values: Any) -> None:
    changes = ", ".join(f"{name} = :{name}" for name in values)
    tx.run(f"UPDATE crawls SET {changes} WHERE user_id = :user AND id = :id", id=clean_id(crawl_id), **values)


def _begin_run(
    tx: Transaction,
    crawl: Crawl,
    options: Mapping[str, Any],
    first: Sequence[NewAddress],
    counts: Mapping[str, Mapping[str, int]],
    now: str,
) -> None:
    _set(
        tx, crawl.id, state="running", reason=None, run=crawl.run + 1, admitted=len(first), settled=0, kept=0, size=0,
        started_at=now, finished_at=None, options=tx.json(clean_json(options)), counts=tx.json(clean_json(counts)),
    )  # fmt: skip
    add_addresses(tx, _get(tx, crawl.id), 0, first, now)


_ADD: Final = (
    "INSERT INTO crawl_pages (user_id, crawl_id, run, position, url_hash, kind, via, depth, parent, hops, chain, state, "
    "attempts, due_at, host, url, lastmod) VALUES (:user, :crawl, :run, :position, :url_hash, :kind, :via, :depth, :parent, "
    ":hops, :chain, 'queued', 0, :now, :host, :url, :lastmod)"
)


def add_addresses(tx: Transaction, crawl: Crawl, position: int, addresses: Sequence[NewAddress], now: str) -> None:
    """Add addresses to the frontier from this position on."""
    key = in_run(crawl)
    rows = [
        {
            **key,
            "position": number,
            "url_hash": address.url_hash,
            "kind": address.kind,
            "via": address.via,
            "depth": address.depth,
            "parent": address.parent,
            "hops": address.hops,
            "chain": address.chain,
            "now": now,
            "host": address.host,
            "url": clean_text(address.url),
            "lastmod": address.lastmod,
        }
        for number, address in enumerate(addresses, position)
    ]
    if rows:
        tx.many(_ADD, rows)


class Lookup:
    """What a decision may ask about the frontier."""

    def __init__(self, tx: Transaction, crawl: Crawl) -> None:
        self._tx = tx
        self._key = in_run(crawl)

    def known(self, hashes: Iterable[str]) -> set[str]:
        """Return those hashes whose address is in the frontier, or is the address of a page that was kept."""
        return self._find("url_hash", hashes) | self._find("page_hash", hashes)

    def kept(self, hashes: Iterable[str]) -> set[str]:
        """Return those hashes whose address is that of a page that was kept."""
        return self._find("page_hash", hashes)

    def contents(self, hashes: Iterable[str]) -> set[str]:
        """Return those hashes of contents that a kept page has."""
        return self._find("content_hash", hashes)

    def numbers(self, names: Iterable[str]) -> Mapping[str, int]:
        """Return the counters with these names."""
        sql = f"SELECT name, number FROM crawl_counts WHERE {IN_RUN} AND name IN (:list)"
        return dict(select_in(self._tx, sql, sorted(set(names)), **self._key))

    def address(self, position: int) -> tuple[str, str, int | None] | None:
        """Return the URL hash of an address, how it was found, and its parent."""
        sql = f"SELECT url_hash, via, parent FROM crawl_pages WHERE {IN_RUN} AND position = :position"
        rows = self._tx.all(sql, position=position, **self._key)
        return (rows[0][0], rows[0][1], rows[0][2]) if rows else None

    def _find(self, column: str, hashes: Iterable[str]) -> set[str]:
        sql = f"SELECT {column} FROM crawl_pages WHERE {IN_RUN} AND {column} IN (:list)"
        return {row[0] for row in select_in(self._tx, sql, sorted(set(hashes)), **self._key)}


def post_events(
    tx: Transaction, crawl: Crawl, sink_id: str | None, events: Iterable[Mapping[str, Any]], now: str
) -> None:
    """Put events into the outbox of a sink; without one, or when it was removed, nothing happens."""
    for event in events if sink_id else ():
        name = f"{crawl.id}-{crawl.run}-{event['type']}-{event.get('position', '')}"
        with suppress(NotFound):
            add_event(tx, str(sink_id), name, {**event, "crawl": crawl.id, "run": crawl.run}, now)


CRAWL: Final = (
    *("user_id", "id", "url", "state", "reason", "run", "admitted", "settled", "kept", "size", "created_at"),
    *("started_at", "finished_at", "options", "counts"),
)
FRONTIER: Final = (
    *("position", "url", "kind", "via", "depth", "parent", "hops", "chain", "host", "attempts", "lastmod"),
)
RESULT: Final = (
    *("body_hash", "status", "size", "rendered", "fetched_at", "encoding", "content_type", "etag", "last_modified"),
    *("made_by", "headers", "facts", "links", "page"),
)
SELECT_CRAWL: Final = f"SELECT {', '.join(CRAWL)} FROM crawls"
IN_RUN: Final = "user_id = :user AND crawl_id = :crawl AND run = :run"


def read_crawl(row: Row) -> Crawl:
    """Return a crawl from its row."""
    values = dict(zip(CRAWL, row, strict=True))
    return Crawl(**values | {"options": parse_json(values["options"]), "counts": parse_json(values["counts"])})


def find_crawl(tx: Transaction, crawl_id: str, lock: str = "") -> Crawl | None:
    """Return the user's crawl with this id, if there is one, locked as `lock` says."""
    rows = tx.all(f"{SELECT_CRAWL} WHERE user_id = :user AND id = :id {lock}", id=clean_id(crawl_id))
    return read_crawl(rows[0]) if rows else None


def in_run(crawl: Crawl) -> dict[str, Any]:
    """Return the values of `IN_RUN`."""
    return {"crawl": crawl.id, "run": crawl.run}
