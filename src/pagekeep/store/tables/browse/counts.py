"""Counts of items by state, tag, site, author, language, quality and month, which triggers of the database keep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pagekeep.model.browse import CountedKind, CountPage, ItemCount
from pagekeep.model.tags import tag_key
from pagekeep.store.engine import Transaction
from pagekeep.store.storable import clean_text, domain_key, parse_json
from pagekeep.store.table import Table, reads, writes

MAX_PAGE: Final = 200
"""Counts of one page."""
_MAX_SECONDS: Final = 5.0
_MAX_FAULTS: Final = 20
_LIST_LENGTH: Final = 500
"""Values in one list of a statement: SQLite allows 999 parameters by default."""
_MAX_SITES: Final = 50
"""Sites in one statement."""
_STARTS: Final = " -./_:"
"""What a part of a word begins after."""


class CountTable(Table):
    """The counts of a user's items. Deleted items count as `trash` only, failed saves as `failed`."""

    @reads
    def counts(self, tx: Transaction, kinds: Sequence[CountedKind]) -> dict[str, dict[str, int]]:
        """Return all counts of some kinds: kind to key to count. For kinds with few keys, such as states and months."""
        found: dict[str, dict[str, int]] = {kind: {} for kind in kinds}
        names = {f"k{number}": kind for number, kind in enumerate(found)}
        marks = ", ".join(f":{name}" for name in names)
        rows = tx.all(
            f"SELECT kind, key, count FROM item_counts WHERE user_id = :user AND kind IN ({marks}) ORDER BY kind, key",
            user=tx.user_id,
            **names,
        )
        for kind, key, count in rows:
            found[kind][key] = int(count)
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

    @reads
    def known_tags(self, tx: Transaction, keys: Sequence[str]) -> frozenset[str]:
        """Return which of these keys of tags are in use."""
        found: set[str] = set()
        for begin in range(0, len(keys), _LIST_LENGTH):
            names = {f"k{number}": key for number, key in enumerate(keys[begin : begin + _LIST_LENGTH])}
            rows = tx.all(
                "SELECT key FROM item_counts WHERE user_id = :user AND kind = 'tag' "
                f"AND key IN ({', '.join(f':{name}' for name in names)})",
                user=tx.user_id,
                **names,
            )
            found.update(key for (key,) in rows)
        return frozenset(found)

    @reads
    def site_tags(
        self, tx: Transaction, domains: Sequence[str], limit: int
    ) -> dict[str, list[tuple[str, tuple[str, ...]]]]:
        """Return the ids and tags of the newest items of each of these domains, at most `limit` of each."""
        found: dict[str, list[tuple[str, tuple[str, ...]]]] = {domain: [] for domain in domains}
        by_key = {domain_key(domain): domain for domain in domains}
        for begin in range(0, len(by_key), _MAX_SITES):
            names = {f"d{at}": key for at, key in enumerate(list(by_key)[begin : begin + _MAX_SITES])}
            newest = (
                "SELECT * FROM (SELECT i.domain_key, i.id, i.tags FROM items i WHERE i.user_id = :user "
                f"AND i.domain_key = :{name} AND i.deleted_at IS NULL ORDER BY i.seq DESC LIMIT {int(limit)}) n{name}"
                for name in names
            )
            for key, item_id, tags in tx.all(" UNION ALL ".join(newest), user=tx.user_id, **names):
                found[by_key[key]].append((str(item_id), _texts(tags)))
        return found

    @writes
    def recount(self, tx: Transaction) -> int:
        """Count all items again; return how many counts were wrong."""
        tx.lock("counts")
        wrong = len(_differences(tx))
        if wrong:
            tx.run("DELETE FROM item_counts WHERE user_id = :user", user=tx.user_id)
            tx.run(
                "INSERT INTO item_counts (user_id, kind, key, count) SELECT user_id, kind, key, SUM(count) "
                f"FROM {_facets(tx)} WHERE f.user_id = :user GROUP BY user_id, kind, key",
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
            f"SELECT kind, key, SUM(count) FROM {_facets(tx)} WHERE f.user_id = :user GROUP BY kind, key",
            user=tx.user_id,
        )
    }
    names = sorted(name for name in {*kept, *real} if kept.get(name) != real.get(name))
    return [(*name, kept.get(name, 0), real.get(name, 0)) for name in names]


def _facets(tx: Transaction) -> str:
    return f"(SELECT user_id, kind, key, count FROM {tx.facets}) f"


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
    spelled = _spellings(tx, [key for key, _ in rows])
    return [ItemCount(key, spelled.get(key, key), int(count)) for key, count in rows]


def _spellings(tx: Transaction, keys: list[str]) -> dict[str, str]:
    """Return how the first of its items by id spells each tag."""
    if not keys:
        return {}
    names = {f"k{number}": key for number, key in enumerate([*keys, *keys[:1] * (MAX_PAGE - len(keys))])}
    rows = tx.all(
        "SELECT c.key, (SELECT i.tags FROM item_tags t JOIN items i ON i.user_id = t.user_id AND i.id = t.item_id "
        "WHERE t.user_id = c.user_id AND t.tag = c.key AND i.deleted_at IS NULL AND NOT i.failed ORDER BY t.item_id LIMIT 1) "
        "FROM item_counts c "
        f"WHERE c.user_id = :user AND c.kind = 'tag' AND c.key IN ({', '.join(f':{name}' for name in names)})",
        user=tx.user_id,
        **names,
    )
    spelled = {}
    for key, tags in rows:
        spelled[key] = next((tag for tag in _texts(tags) if tag_key(tag) == key), key)
    return spelled


def _texts(tags: Any) -> tuple[str, ...]:
    return tuple(tag for tag in parse_json(tags) or () if isinstance(tag, str))
