"""Adding addresses to a frontier, and looking up which are in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from pagekeep.model.crawl import Crawl, NewAddress
from pagekeep.store.engine import Transaction
from pagekeep.store.storable import clean_text
from pagekeep.store.tables.crawls.rows import IN_RUN, in_run

_BATCH: Final = 200
"""Values of one query."""
_ADD: Final = (
    "INSERT INTO crawl_pages (user_id, crawl_id, run, position, url_hash, kind, via, depth, parent, hops, chain, state, "
    "attempts, due_at, host, url, lastmod) VALUES (:user, :crawl, :run, :position, :url_hash, :kind, :via, :depth, :parent, "
    ":hops, :chain, 'queued', 0, :now, :host, :url, :lastmod)"
)


def add_addresses(tx: Transaction, crawl: Crawl, position: int, addresses: Sequence[NewAddress], now: str) -> None:
    """Add addresses to the frontier from this position on."""
    key = in_run(tx, crawl)
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
        self._key = in_run(tx, crawl)

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
        found: dict[str, int] = {}
        for marks, values in _batches(names):
            sql = f"SELECT name, number FROM crawl_counts WHERE {IN_RUN} AND name IN ({marks})"
            found |= dict(self._tx.all(sql, **self._key, **values))
        return found

    def address(self, position: int) -> tuple[str, str, int | None] | None:
        """Return the URL hash of an address, how it was found, and its parent."""
        sql = f"SELECT url_hash, via, parent FROM crawl_pages WHERE {IN_RUN} AND position = :position"
        rows = self._tx.all(sql, position=position, **self._key)
        return (rows[0][0], rows[0][1], rows[0][2]) if rows else None

    def _find(self, column: str, hashes: Iterable[str]) -> set[str]:
        found: set[str] = set()
        for marks, values in _batches(hashes):
            sql = f"SELECT {column} FROM crawl_pages WHERE {IN_RUN} AND {column} IN ({marks})"
            found.update(row[0] for row in self._tx.all(sql, **self._key, **values))
        return found


def _batches(names: Iterable[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the marks and values of queries for some of the names each; always the same number of marks, so that few
    different queries are prepared."""
    listed = sorted(set(names))
    for start in range(0, len(listed), _BATCH):
        part = listed[start : start + _BATCH]
        size = next(size for size in (1, 10, 50, _BATCH) if size >= len(part))
        part += part[-1:] * (size - len(part))
        yield ", ".join(f":v{number}" for number in range(size)), {f"v{n}": name for n, name in enumerate(part)}
