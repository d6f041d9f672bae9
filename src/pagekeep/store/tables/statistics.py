"""The library as a whole: counts, stale readings, faults."""

from __future__ import annotations

from typing import Any, Final

from pagekeep.store.engine import Transaction
from pagekeep.store.tables import raw_pages

BATCH: Final = 200


def stats(tx: Transaction) -> dict[str, Any]:
    """Counts of the user's items, without the deleted ones but for their own count."""
    user = {"user": tx.user_id}
    items, archived, pinned, domains, words = tx.all(
        "SELECT COUNT(*), COALESCE(SUM(i.archived), 0), COALESCE(SUM(i.pinned), 0), COUNT(DISTINCT i.domain_key), "
        "COALESCE(SUM(w.words), 0) FROM items i LEFT JOIN item_words w ON w.seq = i.seq "
        "WHERE i.user_id = :user AND i.deleted_at IS NULL",
        **user,
    )[0]
    deleted = tx.all("SELECT COUNT(*) FROM items WHERE user_id = :user AND deleted_at IS NOT NULL", **user)[0][0]
    levels = tx.all(
        "SELECT quality, COUNT(*) FROM items WHERE user_id = :user AND deleted_at IS NULL AND quality IS NOT NULL "
        "GROUP BY quality ORDER BY quality",
        **user,
    )
    pages, size, packed = tx.all(
        "SELECT COUNT(*), COALESCE(SUM(size), 0), COALESCE(SUM(packed), 0) FROM raw_bodies WHERE user_id = :user",
        **user,
    )[0]
    return {
        "items": items,
        "quality": dict(levels),
        "archived": int(archived),
        "pinned": int(pinned),
        "deleted": deleted,
        "domains": domains,
        "words": int(words),
        "raw_pages": pages,
        "raw_bytes": int(size),
        "raw_bytes_packed": int(packed),
    }


def stale(
    tx: Transaction, parser_version: int, rules_hash: str | None, after: tuple[str, str], limit: int
) -> list[tuple[str, str]]:
    """(saved_at, id) of the next items that an older parser or other rules made."""
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


def versions(tx: Transaction) -> list[tuple[str, str]]:
    """(id, version) of every item that is not deleted, in order of id. Items whose version is the same are the same."""
    user = {"user": tx.user_id}
    marked = tx.all(
        "SELECT item_id, COUNT(*), MAX(updated_at) FROM annotations WHERE user_id = :user GROUP BY item_id", **user
    )
    passages = {item_id: f" {count} {latest}" for item_id, count, latest in marked}
    rows = tx.all("SELECT id, updated_at FROM items WHERE user_id = :user AND deleted_at IS NULL ORDER BY id", **user)
    return [(item_id, f"{updated}{passages.get(item_id, '')}") for item_id, updated in rows]


def faults(tx: Transaction) -> list[str]:
    """What is not as it must be."""
    unsearchable = tx.all(
        "SELECT i.id FROM items i LEFT JOIN item_words w ON w.seq = i.seq WHERE i.user_id = :user AND w.seq IS NULL "
        "ORDER BY i.id",
        user=tx.user_id,
    )
    return [f"The item {item_id} cannot be searched." for (item_id,) in unsearchable] + raw_pages.faults(tx)
