"""The library as a whole: counts, outdated items, versions, faults."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from pagekeep.store.engine import Transaction
from pagekeep.store.storable import NO_ID
from pagekeep.store.table import Table, reads
from pagekeep.store.tables import raw_pages

BATCH: Final = 200
"""Ids that are read at a time: few enough that none waits long in memory."""


class StatisticsTable(Table):
    """Questions about all items of a user."""

    @reads
    def stats(self, tx: Transaction) -> Mapping[str, Any]:
        """Return counts: items, by quality, archived, pinned, failed, deleted, domains, words; raw pages and their bytes.

        Deleted items count in `deleted` only, failed saves in `failed` only.
        """
        user = {"user": tx.user_id}
        kept: dict[str, dict[str, int]] = {"state": {}, "quality": {}, "words": {}, "files": {}, "bytes": {}}
        kinds = ", ".join(f"'{kind}'" for kind in kept)
        for kind, key, count in tx.all(
            f"SELECT kind, key, count FROM item_counts WHERE user_id = :user AND kind IN ({kinds}) ORDER BY kind, key",
            **user,
        ):
            kept[kind][key] = int(count)
        domains = tx.all("SELECT COUNT(*) FROM item_counts WHERE user_id = :user AND kind = 'site'", **user)[0][0]
        state = kept["state"]
        return {
            "items": state.get("all", 0),
            "quality": kept["quality"],
            "archived": state.get("archive", 0),
            "pinned": state.get("pinned", 0),
            "failed": state.get("failed", 0),
            "deleted": state.get("trash", 0),
            "domains": int(domains),
            "words": kept["words"].get("all", 0),
            "raw_pages": kept["files"].get("raw", 0),
            "raw_bytes": kept["bytes"].get("raw_unpacked", 0),
            "raw_bytes_packed": kept["bytes"].get("raw", 0),
        }

    @reads
    def tag_counts(self, tx: Transaction) -> Sequence[tuple[str, int]]:
        """Return the tags of items that are not deleted with their number of items, the most used first."""
        rows = tx.all(
            "SELECT key, count FROM item_counts WHERE user_id = :user AND kind = 'tag' ORDER BY count DESC, key",
            user=tx.user_id,
        )
        return [(tag, int(count)) for tag, count in rows]

    def stale(self, *, parser_version: int, rules_hash: str | None, limit: int | None = None) -> Iterator[str]:
        """Yield ids of items with a raw page that an older parser or other rules extracted, oldest saved first.

        They are read in batches, so that the caller may change each item before the next.
        """
        left, after = limit, ("0001-01-01T00:00:00.000000Z", NO_ID)
        while left is None or left > 0:
            size = BATCH if left is None else min(left, BATCH)
            batch = self._stale(parser_version, rules_hash, after, size)
            yield from (item_id for _, item_id in batch)
            if len(batch) < size:
                return
            after = batch[-1]
            left = None if left is None else left - len(batch)

    @reads
    def _stale(
        self, tx: Transaction, parser_version: int, rules_hash: str | None, after: tuple[str, str], limit: int
    ) -> list[tuple[str, str]]:
        """Return (saved_at, id) of the next outdated items."""
        values: dict[str, Any] = {"user": tx.user_id, "version": parser_version, "saved": after[0], "id": after[1]}
        rules = ""
        if rules_hash is not None:
            rules, values["rules"] = " OR COALESCE(i.rules_hash, '') <> :rules", rules_hash
        rows = tx.all(
            "SELECT i.saved_at, i.id FROM items i WHERE i.user_id = :user AND (i.saved_at, i.id) > (:saved, :id) "
            f"AND i.deleted_at IS NULL AND (COALESCE(i.parser_version, -1) < :version{rules}) "
            "AND EXISTS (SELECT 1 FROM raw_pages p WHERE p.user_id = i.user_id AND p.item_id = i.id) "
            f"ORDER BY i.saved_at, i.id LIMIT {int(limit)}",
            **values,
        )
        return [(saved, item_id) for saved, item_id in rows]

    def all_ids(self) -> Iterator[str]:
        """Yield the ids of all items, deleted ones too, without reading anything else of them."""
        last = NO_ID
        while True:
            batch = self._ids_after(last)
            yield from batch
            if len(batch) < BATCH:
                return
            last = batch[-1]

    @reads
    def _ids_after(self, tx: Transaction, last: str) -> list[str]:
        rows = tx.all(
            f"SELECT id FROM items WHERE user_id = :user AND id > :last ORDER BY id LIMIT {BATCH}",
            user=tx.user_id,
            last=last,
        )
        return [item_id for (item_id,) in rows]

    @reads
    def versions(self, tx: Transaction) -> Sequence[tuple[str, str]]:
        """Return (id, version) of every item that is not deleted, by id.

        Every change of an item, its annotations or its kept pictures changes its version, so that a copy can be kept up to
        date.
        """
        user = {"user": tx.user_id}
        annotated = tx.all(
            "SELECT item_id, COUNT(*), MAX(updated_at) FROM annotations WHERE user_id = :user GROUP BY item_id", **user
        )
        annotations = {item_id: f" {count} {latest}" for item_id, count, latest in annotated}
        kept = tx.all(
            "SELECT item_id, COUNT(*), MAX(created_at) FROM item_blobs WHERE user_id = :user AND hash IS NOT NULL "
            "AND role IN ('picture', 'hero') GROUP BY item_id",
            **user,
        )
        pictures = {item_id: f" p{count} {latest}" for item_id, count, latest in kept}
        rows = tx.all(
            "SELECT id, updated_at FROM items WHERE user_id = :user AND deleted_at IS NULL ORDER BY id", **user
        )
        return [
            (item_id, f"{updated}{annotations.get(item_id, '')}{pictures.get(item_id, '')}")
            for item_id, updated in rows
        ]

    @reads
    def faults(self, tx: Transaction) -> list[str]:
        """Return what is wrong with the stored items."""
        unindexed = tx.all(
            "SELECT i.id FROM items i LEFT JOIN item_words w ON w.seq = i.seq WHERE i.user_id = :user AND w.seq IS NULL "
            "ORDER BY i.id",
            user=tx.user_id,
        )
        return [f"The item {item_id} is missing from the search index." for (item_id,) in unindexed] + raw_pages.faults(
            tx
        )
