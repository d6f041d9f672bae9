"""The words of the library, and the one nearest to a word that is not among them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pagekeep.store.engine import Transaction
from pagekeep.store.table import Table, reads

MIN_CHARS, MAX_CHARS = 4, 24
"""Of shorter words too many are near; longer ones are seldom words."""
_LONG_CHARS: Final = 8
"""Words of this length may have two mistakes, shorter ones only one."""
_MAX_COMPARED: Final = 50_000
_MAX_SECONDS: Final = 2.0
_ROWS: Final = 100
"""Words in one statement."""
_FEW_ROWS: Final = 4
"""Words in a statement for a tag."""
_MAX_SHARED: Final = 4
"""Letters by which two words with two mistakes can differ."""


class VocabularyTable(Table):
    """A user's words."""

    @reads
    def nearest_word(self, tx: Transaction, word: str, *, prefix: bool = False) -> str | None:
        """Return the word of the library nearest to this one; `None` when it is a word of it, or none is near.

        With `prefix`, the beginning of a word counts as one.
        """
        if not _is_word(word):
            return None
        tx.limit_time(_MAX_SECONDS)
        end = word + "\U0010ffff" if prefix else word
        known = tx.all(
            "SELECT 1 FROM vocabulary WHERE user_id = :user AND word >= :word AND word <= :end LIMIT 1",
            user=tx.user_id,
            word=word,
            end=end,
        )
        return None if known else _nearest(word, _near(tx, word))


def add_words(tx: Transaction, *texts: str) -> None:
    """Add the words of an item, which are joined by spaces, to the vocabulary."""
    found = sorted({word for text in texts for word in text.split(" ") if _is_word(word)})
    size = _ROWS if len(found) > _FEW_ROWS else _FEW_ROWS
    for begin in range(0, len(found), size):
        part = found[begin : begin + size]
        # Always a list of full length, so that the statement is prepared once.
        names = {f"w{at}": word for at, word in enumerate([*part, *part[:1] * (size - len(part))])}
        rows = ", ".join(f"(:user, :{name})" for name in names)
        tx.run(
            f"INSERT INTO vocabulary (user_id, word) VALUES {rows} ON CONFLICT (user_id, word) DO NOTHING",
            user=tx.user_id,
            **names,
        )


def _is_word(word: str) -> bool:
    return MIN_CHARS <= len(word) <= MAX_CHARS and word.isalpha()


def _near(tx: Transaction, word: str) -> list[str]:
    """Return words of about this length that begin with its first letter, or its second if the two were swapped."""
    found: list[str] = []
    for letter in dict.fromkeys(word[:2]):
        rows = tx.all(
            "SELECT word FROM vocabulary WHERE user_id = :user AND word >= :first AND word < :last "
            f"AND LENGTH(word) BETWEEN :low AND :high ORDER BY word LIMIT {_MAX_COMPARED}",
            user=tx.user_id,
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
