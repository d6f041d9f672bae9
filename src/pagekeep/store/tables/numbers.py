"""Numbers of items, for programs that know only numbers of 32 bits: given once, and never to another item."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from pagekeep.store.engine import Row, Transaction
from pagekeep.store.storable import clean_id
from pagekeep.store.table import Table, reads

MAX_NUMBER: Final = 2**31 - 1
_LIST_LENGTH: Final = 100
"""Values in one list of a statement."""


class NumberTable(Table):
    """The numbers of a user's items."""

    @reads
    def numbers(self, tx: Transaction, item_ids: Sequence[str]) -> dict[str, int]:
        """Return the numbers of these items, by their ids."""
        ids = [clean_id(item_id) for item_id in item_ids]
        return {str(row[0]): row[1] for row in _select(tx, "item_id", ids)}

    @reads
    def numbered(self, tx: Transaction, numbers: Sequence[int]) -> dict[int, str]:
        """Return the ids of the items with these numbers; those of purged items are among them."""
        known = [number for number in numbers if 0 < number <= MAX_NUMBER]
        return {row[1]: str(row[0]) for row in _select(tx, "number", known)}

    @reads
    def addresses(self, tx: Transaction) -> list[tuple[str, str, str]]:
        """Return id, normalised URL and URL as entered of all items that are not deleted."""
        rows = tx.all(
            "SELECT id, url, url_full FROM items WHERE user_id = :user AND deleted_at IS NULL", user=tx.user_id
        )
        return [(str(item_id), url, url_full) for item_id, url, url_full in rows]


def _select(tx: Transaction, column: str, values: Sequence[str | int]) -> Iterator[Row]:
    for begin in range(0, len(values), _LIST_LENGTH):
        part = list(values[begin : begin + _LIST_LENGTH])
        # Always a list of full length, so that the statement is prepared once.
        names = {f"n{at}": value for at, value in enumerate([*part, *part[:1] * (_LIST_LENGTH - len(part))])}
        marks = ", ".join(f":{name}" for name in names)
        sql = f"SELECT item_id, number FROM item_numbers WHERE user_id = :user AND {column} IN ({marks})"
        yield from tx.all(sql, user=tx.user_id, **names)


def lock(tx: Transaction) -> None:
    """Let no other transaction of the user give numbers until the end of this one; after the locks of addresses."""
    tx.lock(f"numbers {tx.user_id}")


def give(tx: Transaction, item_ids: Sequence[str]) -> None:
    """Give the next numbers to new items, in their order; one that had a number before keeps it."""
    if not item_ids:
        return
    last = tx.all("SELECT COALESCE(MAX(number), 0) FROM item_numbers WHERE user_id = :user", user=tx.user_id)[0][0]
    tx.many(
        "INSERT INTO item_numbers (user_id, item_id, number) VALUES (:user, :id, :number) "
        "ON CONFLICT (user_id, item_id) DO NOTHING",
        [{"user": tx.user_id, "id": item_id, "number": last + at} for at, item_id in enumerate(item_ids, start=1)],
    )


def give_missing(tx: Transaction) -> None:
    """Give numbers to all items without one, as after a restore from an older backup, in the order they were saved."""
    rows = tx.all(
        "SELECT i.id FROM items i WHERE i.user_id = :user AND NOT EXISTS (SELECT 1 FROM item_numbers n "
        "WHERE n.user_id = i.user_id AND n.item_id = i.id) ORDER BY i.seq",
        user=tx.user_id,
    )
    give(tx, [str(row[0]) for row in rows])
