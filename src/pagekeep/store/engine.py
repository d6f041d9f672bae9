"""What the store needs from a database: transactions, and the few operations that differ between engines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from pagekeep.model import ItemQuery, Term
from pagekeep.store.backup.damage import BackupReport
from pagekeep.store.blobs.folder import BlobFolder
from pagekeep.store.search.filters import Where
from pagekeep.store.text_stamp import Sign

Row = tuple[Any, ...]
T = TypeVar("T")


class Transaction(Protocol):
    """A running transaction of one user. SQL is the same for both engines, with `:name` for parameters."""

    user_id: str
    for_update: str
    """Appended to a SELECT of a row that will be changed."""
    skip_locked: str
    """Appended to a SELECT that must leave out rows that another transaction has locked."""

    word_matches: str
    """Query for the numbers of the user's items that have `:word`, newest first, at most `:limit`."""

    no_time: str
    """Sorts before every time, where a time is missing."""
    stored_text: str
    """Pattern of the expression for a text column as it is stored: SQLite returns bytes, which may not be UTF-8."""
    sign: Sign | None
    """Signs the receipt of a text that is stored; `None` where receipts are not signed."""
    facets: str
    """Follows `SELECT user_id, kind, key, count FROM`: all that is counted, of items and of what is stored with them."""

    def all(self, sql: str, **values: Any) -> list[Row]:
        """Return all rows of a query."""

    def run(self, sql: str, **values: Any) -> int:
        """Run a statement and return how many rows it changed."""

    def many(self, sql: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Run the same statement for every row."""

    def limit_time(self, seconds: float) -> None:
        """End the transaction with `InvalidQuery` when its queries take longer."""

    def lock(self, name: str) -> None:
        """Lock a name until the end of the transaction; others who lock it wait."""

    def json(self, value: Mapping[str, Any] | Sequence[Any]) -> Any:
        """Return a mapping or list as a parameter for a JSON column."""

    def tag_list(self, tags: Sequence[str]) -> Any:
        """Return tags as a parameter for the column `tags` of `items`."""

    def put_tags(self, rows: Sequence[tuple[int, Sequence[str]]], now: str) -> None:
        """Store the tags of many items: number and tags of each."""

    def add_changes(self, action_id: str, records: Sequence[tuple[str, str]]) -> None:
        """Add rows of `action_items`: the id of each item, and its change as JSON."""

    def add_count(self, kind: str, key: str, number: int) -> None:
        """Add to a count of `item_counts` that no trigger keeps."""

    def put_words(self, seq: int, head: str, body: str, count: int) -> None:
        """Index an item's search words in place of those it had."""

    def add_words(self, rows: Sequence[tuple[int, str, str, int]]) -> None:
        """Index the words of new items: seq, head, body and count of each."""

    def drop_words(self, seq: int) -> None:
        """Remove an item from the index."""

    def select_term(self, term: Term, values: dict[str, Any], name: str) -> str:
        """Return a query for the numbers of items with the term in their texts, from `:bottom` to before `:top`."""

    def candidates(
        self, query: ItemQuery, where: Where, *, head: bool, top: int, bottom: int, limit: int
    ) -> list[tuple[int, str, str]]:
        """Return (seq, head words, body words) of matching items with `bottom <= seq < top`, newest first.

        With `head`, those with all terms in the head; otherwise the others.
        """


class Engine(Protocol):
    """A database opened for one user."""

    user_id: str
    everyone: bool
    """Whether jobs of all users can be leased."""
    sign: Sign | None
    """See `Transaction`."""
    blobs: BlobFolder | None
    """The folder of kept files; `None` when the database itself holds them."""

    def read(self, work: Callable[[Transaction], T]) -> T:
        """Run the work on one consistent state; it may run again, from its start, when the connection is lost."""

    def write(self, work: Callable[[Transaction], T]) -> T:
        """Run the work wholly or not at all.

        It may run again after a conflict, or when the connection is lost, so it must have no other effect. When this
        returns, the work was committed once.
        """

    def watch(self, lost: Callable[[], None], back: Callable[[], None]) -> None:
        """Call `lost` when the connection to a database server is lost, and `back` when it answers again, in any thread."""

    def close(self) -> None:
        """Close files and connections."""

    def backup(self, path: str) -> BackupReport:
        """Write a consistent copy, compared with all hashes, in place of an earlier one."""

    @property
    def writable(self) -> bool:
        """Whether the library can be changed, and not only read."""

    def probe(self) -> None:
        """Raise `StoreError` when the library is damaged or cannot be written, as far as a quick check finds out."""

    def faults(self) -> Iterator[str]:
        """Yield the faults that the database itself finds."""
