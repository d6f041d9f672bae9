"""What the store needs from a database, and what its parts share: transactions, and keys of pages."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec, Protocol, TypeVar

from pagekeep.errors import InvalidQuery, StoreError
from pagekeep.model import ItemQuery, Term
from pagekeep.store.backup.damage import BackupReport
from pagekeep.store.blob_files import BlobFolder
from pagekeep.store.filters import Where
from pagekeep.store.storable import Sign, clean_text, clean_time

Row = tuple[Any, ...]
T = TypeVar("T")


class Transaction(Protocol):
    """A running transaction of one user. SQL is the same for both engines, with `:name` for parameters; `:user` is the user."""

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


P = ParamSpec("P")


class Part:
    """A part of a user's library on any engine."""

    def __init__(self, engine: Engine, *, keep_raw: bool = True) -> None:
        self._engine = engine
        self._keep_raw = keep_raw

    def _owner(self, alias: str = "") -> tuple[str, dict[str, str]]:
        """Return the condition that rows belong to the user, or none where the store was opened for all users' jobs."""
        if self._engine.everyone:
            return "", {}
        return f"{alias}user_id = :user AND ", {"user": self._engine.user_id}


S = TypeVar("S", bound=Part)


def reads(method: Callable[Concatenate[S, Transaction, P], T]) -> Callable[Concatenate[S, P], T]:
    """Run the method in a transaction that sees one consistent state; callers leave `tx` out."""

    @wraps(method)
    def run(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._engine.read(lambda tx: method(self, tx, *args, **kwargs))

    return run


def writes(method: Callable[Concatenate[S, Transaction, P], T]) -> Callable[Concatenate[S, P], T]:
    """Run the method in a transaction that happens wholly or not at all; callers leave `tx` out.

    It may run again when another writer was in the way, so it must have no effect outside the transaction.
    """

    @wraps(method)
    def run(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._engine.write(lambda tx: method(self, tx, *args, **kwargs))

    return run


_LIST_LENGTHS: Final = (1, 10, 100, 500)
"""Values in one list of a statement: few lengths, so that few statements are prepared. SQLite allows 999 parameters."""


def select_in(tx: Transaction, sql: str, values: Collection[int | str], **others: Any) -> Iterator[Row]:
    """Yield the rows of a query for any number of values, which take the place of `:list` in it."""
    left = list(values)
    while left:
        part, left = left[: _LIST_LENGTHS[-1]], left[_LIST_LENGTHS[-1] :]
        length = next(length for length in _LIST_LENGTHS if length >= len(part))
        names = {f"n{at}": value for at, value in enumerate(part + part[-1:] * (length - len(part)))}
        yield from tx.all(sql.replace(":list", ", ".join(f":{name}" for name in names)), **names, **others)


_MAX_NUMBER: Final = 2**62
"""A forged key may hold any number; integers of the engines have 64 bits."""


def write_page_key(kind: list[Any], *values: Any) -> str:
    """Return the key for a page of this kind of list."""
    return base64.urlsafe_b64encode(json.dumps([kind, *values]).encode()).decode().rstrip("=")


def read_page_key(key: str, kind: list[Any], *types: type) -> list[Any]:
    """Return the values of a key that was written for the same kind of list; `InvalidQuery` for any other text."""
    try:
        written_for, *values = json.loads(base64.urlsafe_b64decode(key.encode() + b"=="))
    except (ValueError, TypeError, binascii.Error, RecursionError):
        written_for, values = None, []
    fits = written_for == kind and len(values) == len(types) and all(map(isinstance, values, types))
    if not fits or not all(0 <= value < _MAX_NUMBER for value in values if isinstance(value, int)):
        raise _foreign_key()
    return [clean_text(value) if isinstance(value, str) else value for value in values]


def read_page_time(value: str) -> str:
    """Return a time of a key, or the empty text of an item without one; `InvalidQuery` for any other text."""
    try:
        return clean_time(value) if value else ""
    except StoreError:
        raise _foreign_key() from None


def _foreign_key() -> InvalidQuery:
    return InvalidQuery("The page key does not belong to this list.", suggestions=("Start from the first page.",))
