"""What the parts of a store share: every public method is one transaction, and its signature is written once."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from pagekeep.store.engine import Engine, Transaction

P = ParamSpec("P")
T = TypeVar("T")


class Table:
    """A part of a user's library on any engine."""

    def __init__(self, engine: Engine, *, keep_raw: bool = True) -> None:
        self._engine = engine
        self._keep_raw = keep_raw
        self.user_id = engine.user_id


S = TypeVar("S", bound=Table)


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
