"""How far each item has been read, and where to go on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from pagekeep.errors import NotFound
from pagekeep.model.reading import ReadingState, ReadState
from pagekeep.store.engine import Row, Transaction
from pagekeep.store.storable import clean_id, clean_time
from pagekeep.store.table import Table, reads, writes

COLUMNS: Final = (
    "item_id",
    "state",
    "chosen",
    "progress",
    "block",
    "block_offset",
    "updated_at",
    "read_at",
)
_NAMES: Final = ", ".join(f"r.{name}" for name in COLUMNS)
_SELECT: Final = f"SELECT {_NAMES} FROM reading_states r WHERE r.user_id = :user"
_PUT: Final = (
    f"INSERT INTO reading_states (user_id, {', '.join(COLUMNS)}) VALUES (:user, {', '.join(f':{name}' for name in COLUMNS)}) "
    f"ON CONFLICT (user_id, item_id) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in COLUMNS[1:])}"
)
_WHOLE: Final = 10_000
"""Progress and offset are stored in ten-thousandths."""
_MAX_BLOCK: Final = 2**31 - 1
_LIST_LENGTH: Final = 100
"""Values in one list of a statement."""
_IN_INBOX: Final = (
    "EXISTS (SELECT 1 FROM items i WHERE i.user_id = r.user_id AND i.id = r.item_id AND i.deleted_at IS NULL "
    "AND NOT i.failed AND NOT COALESCE(i.archived, FALSE))"
)


class ReadingTable(Table):
    """How far a user's items have been read."""

    @reads
    def reading_state(self, tx: Transaction, item_id: str) -> ReadingState:
        """Return how far an item has been read; of one that was never opened, the state at its beginning."""
        return _get(tx, clean_id(item_id)) or ReadingState(item_id)

    @reads
    def reading_states(self, tx: Transaction, item_ids: Sequence[str]) -> dict[str, ReadingState]:
        """Return how far items have been read, by their ids; those that nothing is known about are left out."""
        found: dict[str, ReadingState] = {}
        for begin in range(0, len(item_ids), _LIST_LENGTH):
            ids = [clean_id(item_id) for item_id in item_ids[begin : begin + _LIST_LENGTH]]
            values = {f"n{at}": value for at, value in enumerate([*ids, *ids[:1] * (_LIST_LENGTH - len(ids))])}
            marks = ", ".join(f":{name}" for name in values)
            rows = tx.all(f"{_SELECT} AND r.item_id IN ({marks})", user=tx.user_id, **values)
            found.update((state.item_id, state) for state in map(_state_of, rows))
        return found

    @writes
    def change_reading(
        self, tx: Transaction, item_id: str, change: Callable[[ReadingState], ReadingState]
    ) -> ReadingState:
        """Change how far an item has been read, and return it; `NotFound` when there is no such item.

        `change` gets the stored state and returns the new one, or the same to leave it. It may be called again.
        """
        item_id = clean_id(item_id)
        if not tx.all("SELECT 1 FROM items WHERE user_id = :user AND id = :id", user=tx.user_id, id=item_id):
            raise NotFound(f"There is no item {item_id}.")
        tx.lock(f"reading {item_id}")
        old = _get(tx, item_id) or ReadingState(item_id)
        new = change(old)
        if new == old:
            return old
        tx.run(_PUT, user=tx.user_id, **_values(new))
        return _get(tx, item_id) or new

    @reads
    def items_in_state(self, tx: Transaction, state: ReadState, limit: int) -> tuple[ReadingState, ...]:
        """Return the inbox's items in this state, those read last first."""
        rows = tx.all(
            f"{_SELECT} AND r.state = :state AND {_IN_INBOX} ORDER BY r.updated_at DESC, r.item_id DESC LIMIT :limit",
            user=tx.user_id,
            state=state,
            limit=max(1, limit),
        )
        return tuple(map(_state_of, rows))


def put_newer(tx: Transaction, states: Iterable[ReadingState]) -> None:
    """Store states of an import; what was reported later stays. Their items exist."""
    rows = [{"user": tx.user_id, **_values(state)} for state in states]
    if rows:
        tx.many(f"{_PUT} WHERE reading_states.updated_at < excluded.updated_at", rows)


def _get(tx: Transaction, item_id: str) -> ReadingState | None:
    rows = tx.all(f"{_SELECT} AND r.item_id = :id", user=tx.user_id, id=item_id)
    return _state_of(rows[0]) if rows else None


def _state_of(row: Row) -> ReadingState:
    item_id, state, chosen, progress, block, offset, updated_at, read_at = row
    return ReadingState(
        str(item_id), state, bool(chosen), progress / _WHOLE, block, offset / _WHOLE, updated_at, read_at
    )


def _values(state: ReadingState) -> dict[str, Any]:
    return {
        "item_id": state.item_id,
        "state": state.state,
        "chosen": state.chosen,
        "progress": _ten_thousandths(state.progress),
        "block": max(0, min(state.block, _MAX_BLOCK)),
        "block_offset": _ten_thousandths(state.offset),
        "updated_at": clean_time(state.updated_at),
        "read_at": clean_time(state.read_at) if state.read_at else None,
    }


def _ten_thousandths(part: float) -> int:
    return round(max(0.0, min(part, 1.0)) * _WHOLE)
