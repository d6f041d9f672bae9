"""Counts of items by state, tag, site and more, and the words of the library."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from pagekeep.model.library import CountedKind, CountPage, ItemCount
from pagekeep.model.tags import tag_key
from pagekeep.store.engine import Part, Transaction, reads, select_in, writes
from pagekeep.store.storable import clean_text, parse_json

MAX_PAGE: Final = 200
"""Counts of one page."""
_MAX_SECONDS: Final = 5.0
_MAX_FAULTS: Final = 20
_STARTS: Final = " -./_:"
"""What a part of a word begins after."""


class Counts(Part):
    """The counts of a user's items. Deleted items count as `trash` only, failed saves as `failed`."""

    @reads
    def get(self, tx: Transaction, kinds: Sequence[CountedKind]) -> dict[str, dict[str, int]]:
        """Return all counts of some kinds: kind to key to count. For kinds with few keys, such as states and months."""
        found: dict[str, dict[str, int]] = {kind: {} for kind in kinds}
        names = {f"k{number}": kind for number, kind in enumerate(found)}
        marks = ", ".join(f":{name}" for name in names)
        rows = tx.all(
            f"SELECT kind, key, count FROM item_counts WHERE user_id = :user AND kind IN ({marks}) ORDER BY kind, key",
            **names,
        )
        for kind, key, count in rows:
            found[kind][key] = int(count)
        return found

    @reads
    def page(
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
            tx.run("DELETE FROM item_counts WHERE user_id = :user")
            tx.run(
                "INSERT INTO item_counts (user_id, kind, key, count) SELECT user_id, kind, key, SUM(count) "
                f"FROM {_facets(tx)} WHERE f.user_id = :user GROUP BY user_id, kind, key"
            )
        return wrong

    @reads
    def faults(self, tx: Transaction) -> list[str]:
        """Return which counts are wrong."""
        return [
            f"The count of {kind} {key!r} is {kept}, but there are {real}."
            for kind, key, kept, real in _differences(tx)[:_MAX_FAULTS]
        ]

    @reads
    def totals(self, tx: Transaction) -> Mapping[str, Any]:
        """Return counts: items, by quality, archived, pinned, failed, deleted, domains, words; raw pages and their bytes.

        Deleted items count in `deleted` only, failed saves in `failed` only.
        """
        kept: dict[str, dict[str, int]] = {"state": {}, "quality": {}, "words": {}, "files": {}, "bytes": {}}
        kinds = ", ".join(f"'{kind}'" for kind in kept)
        for kind, key, count in tx.all(
            f"SELECT kind, key, count FROM item_counts WHERE user_id = :user AND kind IN ({kinds}) ORDER BY kind, key"
        ):
            kept[kind][key] = int(count)
        domains = tx.all("SELECT COUNT(*) FROM item_counts WHERE user_id = :user AND kind = 'site'")[0][0]
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
    def nearest_word(self, tx: Transaction, word: str, *, prefix: bool = False) -> str | None:
        """Return the word of the library nearest to this one; `None` when it is a word of it, or none is near.

        With `prefix`, the beginning of a word counts as one.
        """
        if not _is_word(word):
            return None
        tx.limit_time(_MAX_WORD_SECONDS)
        end = word + "\U0010ffff" if prefix else word
        known = tx.all(
            "SELECT 1 FROM vocabulary WHERE user_id = :user AND word >= :word AND word <= :end LIMIT 1",
            word=word,
            end=end,
        )
        return None if known else _nearest(word, _near(tx, word))


def _differences(tx: Transaction) -> list[tuple[str, str, int, int]]:
    kept = {
        (kind, key): int(count)
        for kind, key, count in tx.all("SELECT kind, key, count FROM item_counts WHERE user_id = :user")
    }
    real = {
        (kind, key): int(count)
        for kind, key, count in tx.all(
            f"SELECT kind, key, SUM(count) FROM {_facets(tx)} WHERE f.user_id = :user GROUP BY kind, key"
        )
    }
    names = sorted(name for name in {*kept, *real} if kept.get(name) != real.get(name))
    return [(*name, kept.get(name, 0), real.get(name, 0)) for name in names]


def _facets(tx: Transaction) -> str:
    return f"(SELECT user_id, kind, key, count FROM {tx.facets}) f"


def _where(tx: Transaction, kind: CountedKind, text: str) -> tuple[str, dict[str, str]]:
    """Return the condition that a key contains the text, ignoring case; `plain` is the text, ready for a pattern."""
    values: dict[str, str] = {"kind": kind}
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
    rows = select_in(
        tx,
        "SELECT c.key, (SELECT i.tags FROM item_tags t JOIN items i ON i.user_id = t.user_id AND i.id = t.item_id "
        "WHERE t.user_id = c.user_id AND t.tag = c.key AND i.deleted_at IS NULL AND NOT i.failed ORDER BY t.item_id LIMIT 1) "
        "FROM item_counts c WHERE c.user_id = :user AND c.kind = 'tag' AND c.key IN (:list)",
        keys,
    )
    return {key: next((tag for tag in texts(tags) if tag_key(tag) == key), key) for key, tags in rows}


def texts(tags: Any) -> tuple[str, ...]:
    """Return the texts in a stored list."""
    return tuple(tag for tag in parse_json(tags) or () if isinstance(tag, str))


MIN_CHARS, MAX_CHARS = 4, 24
"""Of shorter words too many are near; longer ones are seldom words."""
_LONG_CHARS: Final = 8
"""Words of this length may have two mistakes, shorter ones only one."""
_MAX_COMPARED: Final = 50_000
_MAX_WORD_SECONDS: Final = 2.0
_ROWS: Final = 100
"""Words in one statement."""
_FEW_ROWS: Final = 4
"""Words in a statement for a tag."""
_MAX_SHARED: Final = 4
"""Letters by which two words with two mistakes can differ."""


def add_words(tx: Transaction, *texts: str) -> None:
    """Add the words of an item, which are joined by spaces, to the vocabulary."""
    found = sorted({word for text in texts for word in text.split(" ") if _is_word(word)})
    size = _ROWS if len(found) > _FEW_ROWS else _FEW_ROWS
    for begin in range(0, len(found), size):
        part = found[begin : begin + size]
        # Always a list of full length, so that the statement is prepared once.
        names = {f"w{at}": word for at, word in enumerate([*part, *part[:1] * (size - len(part))])}
        rows = ", ".join(f"(:user, :{name})" for name in names)
        tx.run(f"INSERT INTO vocabulary (user_id, word) VALUES {rows} ON CONFLICT (user_id, word) DO NOTHING", **names)


def _is_word(word: str) -> bool:
    return MIN_CHARS <= len(word) <= MAX_CHARS and word.isalpha()


def _near(tx: Transaction, word: str) -> list[str]:
    """Return words of about this length that begin with its first letter, or its second if the two were swapped."""
    found: list[str] = []
    for letter in dict.fromkeys(word[:2]):
        rows = tx.all(
            "SELECT word FROM vocabulary WHERE user_id = :user AND word >= :first AND word < :last "
            f"AND LENGTH(word) BETWEEN :low AND :high ORDER BY word LIMIT {_MAX_COMPARED}",
            first=letter,
            last=chr(ord(letter) + 1),
            low=len(word) - 2,
            high=len(word) + 2,
        )
        found += [row[0] for row in rows]
    return found


def _nearest(word: str, others: Iterable[str]) -> str | None:
    """Return the word with the fewest mistakes, the first of several."""
    most, letters = (2 if len(word) >= _LONG_CHARS else 1), set(word)
    best: tuple[int, int, str] | None = None
    for other in others:
        if abs(len(other) - len(word)) > most or len(letters ^ set(other)) > _MAX_SHARED:
            continue
        mistakes = count_mistakes(word, other, most)
        rank = (mistakes, abs(len(other) - len(word)), other)
        if mistakes <= most and (best is None or rank < best):
            best = rank
    return best[2] if best else None


def count_mistakes(one: str, other: str, limit: int) -> int:
    """Return how many letters are missing, added, replaced or swapped between two words; more than `limit` when many are."""
    before, row = list[int](), list(range(len(other) + 1))
    for at, letter in enumerate(one, start=1):
        earlier, before, row = before, row, [at]
        for place, compared in enumerate(other, start=1):
            cost = min(before[place] + 1, row[place - 1] + 1, before[place - 1] + (letter != compared))
            if at > 1 and place > 1 and letter == other[place - 2] and one[at - 2] == compared:
                cost = min(cost, earlier[place - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return limit + 1
    return row[-1]
