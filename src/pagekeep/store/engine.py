"""What the shelves need from a database: transactions, and the few things that each engine says in its own way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from pagekeep.model import ItemQuery
from pagekeep.store.search.filters import Where

Row = tuple[Any, ...]
T = TypeVar("T")


class Transaction(Protocol):
    """A running transaction of one user. SQL is common to both engines, with `:name` for parameters."""

    user_id: str
    for_update: str
    """Appended to a SELECT whose row is about to be changed."""
    skip_locked: str
    """Appended to a SELECT that takes a row nobody else is taking."""

    def all(self, sql: str, **values: Any) -> list[Row]:
        """All rows."""

    def run(self, sql: str, **values: Any) -> int:
        """How many rows were changed."""

    def many(self, sql: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """The same statement for every row."""

    def lock(self, name: str) -> None:
        """Until the end of the transaction nobody else holds this name."""

    def json(self, value: Mapping[str, Any]) -> Any:
        """A mapping as a parameter."""

    def put_words(self, seq: int, head: str, body: str, count: int) -> None:
        """Index an item's search words, in place of those it had."""

    def add_words(self, rows: Sequence[tuple[int, str, str, int]]) -> None:
        """Index the words of new items: seq, head, body and count of each."""

    def drop_words(self, seq: int) -> None:
        """Take an item out of the index."""

    def candidates(
        self, query: ItemQuery, where: Where, *, head: bool, top: int, bottom: int, limit: int
    ) -> list[tuple[int, str, str]]:
        """(seq, head words, body words) of matching items with `bottom <= seq < top`, newest first; those with all terms
        in the head, or the others."""


class Engine(Protocol):
    """A database that is open for one user."""

    user_id: str
    everyone: bool
    """Whether jobs of all users are to be had."""

    def read(self, work: Callable[[Transaction], T]) -> T:
        """Do the work on one consistent state."""

    def write(self, work: Callable[[Transaction], T]) -> T:
        """Do the work wholly or not at all; again when another writer was in the way, so it must have no other effect."""

    def close(self) -> None:
        """Let go of files and connections."""

    def backup(self, path: str) -> None:
        """A consistent copy."""

    def faults(self) -> Iterator[str]:
        """What the database itself finds wrong."""
