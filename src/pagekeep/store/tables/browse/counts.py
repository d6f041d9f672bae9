"""Counts of items by state, tag, site, author, language, quality and month, which triggers of the database keep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pagekeep.model.browse import CountedKind, CountPage, ItemCount
from pagekeep.store.engine import Transaction
from pagekeep.store.search.filters import tag_key
from pagekeep.store.storable import clean_text, parse_json
from pagekeep.store.table import Table, reads, writes

MAX_PAGE: Final = 200
"""Counts of one page."""
_MAX_SECONDS: Final = 5.0
_MAX_FAULTS: Final = 20
_STARTS: Final = " -./_:"
"""What a part of a word begins after."""


class CountTable(Table):
    """The counts of a user's items. Deleted items count as `trash` only."""

    @reads
    def counts(self, tx: Transaction, kinds: Sequence[CountedKind]) -> dict[str, dict[str, int]]:
        """Return all counts of some kinds: kind to key to count. For kinds with few keys, such as states and months."""
        found: dict[str, dict[str, int]] = {kind: {} for kind in kinds}
        for kind in kinds:
            rows = tx.all(
                "SELECT key, count FROM item_counts WHERE user_id = :user AND kind = :kind ORDER BY key",
                user=tx.user_id,
                kind=kind,
            )
            found[kind] = {key: int(count) for key, count in rows}
        return found

    @reads
    def count_page(
        self,
        tx: Transaction,
        kind: CountedKind,
        *,
        text: str = "",
        by_name: bool = False,
        limit: int = 100,
        skip: int = 0,
    ) -> CountPage:
        """Return counts of a kind whose key contains the text, the largest first or by name, and how many there are."""
        where, values = _where(tx, kind, text)
        order = "key" if by_name else "count DESC, key"
        tx.limit_time(_MAX_SECONDS)
        total = int(tx.all(f"SELECT COUNT(*) FROM item_counts WHERE {where}", **values)[0][0])
        size = max(1, min(limit, MAX_PAGE))
        rows = tx.all(
            f"SELECT key, count FROM item_counts WHERE {where} ORDER BY {order} LIMIT {size} OFFSET {max(0, int(skip))}",
            **values,
        )
        return CountPage(tuple(_label(tx, kind, rows)), total)

    @reads
    def suggest(self, tx: Transaction, kind: CountedKind, text: str, limit: int = 10) -> tuple[ItemCount, ...]:
        """Return the keys that continue the text: those that begin with it, then those with a word that does, then others."""
        where, values = _where(tx, kind, text)
        name, words = "LOWER(key)", [f"{start}{values.get('plain', '')}" for start in _STARTS]
        rank = ""
        if "plain" in values:
            begins = " OR ".join(f"{name} LIKE :w{number} ESCAPE '!'" for number in range(len(words)))
            rank = f"CASE WHEN {name} LIKE :begin ESCAPE '!' THEN 0 WHEN {begins} THEN 1 ELSE 2 END, "
            plain = values.pop("plain")
            values["begin"] = f"{plain}%"
            values.update({f"w{number}": f"%{word}%" for number, word in enumerate(words)})
        tx.limit_time(_MAX_SECONDS)
        rows = tx.all(
            f"SELECT key, count FROM item_counts WHERE {where} ORDER BY {rank}count DESC, key "
            f"LIMIT {max(1, min(limit, MAX_PAGE))}",
            **values,
        )
        return tuple(_label(tx, kind, rows))

    @writes
    def recount(self, tx: Transaction) -> int:
        """Count all items again; return how many counts were wrong."""
        tx.lock("counts")
        wrong = len(_differences(tx))
        if wrong:
            tx.run("DELETE FROM item_counts WHERE user_id = :user", user=tx.user_id)
            tx.run(
                "INSERT INTO item_counts (user_id, kind, key, count) SELECT user_id, kind, key, SUM(count) "
                f"FROM {tx.facets} WHERE user_id = :user GROUP BY user_id, kind, key",
                user=tx.user_id,
            )
        return wrong

    @reads
    def count_faults(self, tx: Transaction) -> list[str]:
        """Return which counts are wrong."""
        return [
            f"The count of {kind} {key!r} is {kept}, but there are {real}."
            for kind, key, kept, real in _differences(tx)[:_MAX_FAULTS]
        ]


def _differences(tx: Transaction) -> list[tuple[str, str, int, int]]:
    kept = {
        (kind, key): int(count)
        for kind, key, count in tx.all(
            "SELECT kind, key, count FROM item_counts WHERE user_id = :user", user=tx.user_id
        )
    }
    real = {
        (kind, key): int(count)
        for kind, key, count in tx.all(
            f"SELECT kind, key, SUM(count) FROM {tx.facets} WHERE user_id = :user GROUP BY kind, key", user=tx.user_id
        )
    }
    names = sorted(name for name in {*kept, *real} if kept.get(name) != real.get(name))
    return [(*name, kept.get(name, 0), real.get(name, 0)) for name in names]


def _where(tx: Transaction, kind: CountedKind, text: str) -> tuple[str, dict[str, str]]:
    """Return the condition that a key contains the text, ignoring case; `plain` is the text, ready for a pattern."""
    values = {"user": tx.user_id, "kind": kind}
    wanted = tag_key(text) if kind == "tag" else clean_text(text).strip().lower()[:200]
    if not wanted:
        return "user_id = :user AND kind = :kind", values
    plain = wanted.replace("!", "!!").replace("%", "!%").replace("_", "!_")
    values |= {"part": f"%{plain}%", "plain": plain}
    return "user_id = :user AND kind = :kind AND LOWER(key) LIKE :part ESCAPE '!'", values


def _label(tx: Transaction, kind: CountedKind, rows: Sequence[tuple[str, int]]) -> list[ItemCount]:
    """Return counts with the names to show: of a tag, as one of its items spells it."""
    if kind != "tag":
        return [ItemCount(key, key, int(count)) for key, count in rows]
    return [ItemCount(key, _spelling(tx, key), int(count)) for key, count in rows]


def _spelling(tx: Transaction, key: str) -> str:
    rows = tx.all(
        "SELECT i.metadata FROM item_tags t JOIN items i ON i.user_id = t.user_id AND i.id = t.item_id "
        "WHERE t.user_id = :user AND t.tag = :tag AND i.deleted_at IS NULL ORDER BY t.item_id LIMIT 1",
        user=tx.user_id,
        tag=key,
    )
    tags = parse_json(rows[0][0]).get("tags", ()) if rows else ()
    return next((tag for tag in tags if isinstance(tag, str) and tag_key(tag) == key), key)
