"""Changes of many items at once, which can be undone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pagekeep.errors import NotFound, Outdated
from pagekeep.model import Item, RawPage
from pagekeep.model.lists.values import Action, ItemChange, UndoResult
from pagekeep.store.engine import Transaction
from pagekeep.store.storable import clean_id, clean_json, clean_text, parse_json
from pagekeep.store.table import Table, reads, writes
from pagekeep.store.tables.items import SELECT, add_page, item_of
from pagekeep.store.tables.lists.apply_change import apply_change, record_page, undo_change, undo_tags

MAX_ACTIONS: Final = 50
"""Actions of a user that can be undone; older ones are forgotten."""
MAX_WAITING: Final = 1_000
"""Items that wait are counted up to this number."""
_OF: Final = "user_id = :user AND action_id = :action"


class ActionTable(Table):
    """A user's last changes."""

    @writes
    def add_action(self, tx: Transaction, action_id: str, label: str, now: str) -> None:
        """Begin an action, and forget those that are too old."""
        _add(tx, clean_id(action_id), label, now)

    @writes
    def drop_action(self, tx: Transaction, action_id: str) -> None:
        """Forget an action that changed nothing."""
        tx.run("DELETE FROM actions WHERE user_id = :user AND id = :id", user=tx.user_id, id=clean_id(action_id))

    @writes
    def add_waiting(self, tx: Transaction, action_id: str, item_ids: Sequence[str]) -> None:
        """Note items that an action is to change."""
        tx.many(
            "INSERT INTO action_items (user_id, action_id, item_id) VALUES (:user, :action, :item) "
            "ON CONFLICT (user_id, action_id, item_id) DO NOTHING",
            [{"user": tx.user_id, "action": clean_id(action_id), "item": clean_id(one)} for one in item_ids],
        )

    @reads
    def waiting_items(self, tx: Transaction, action_id: str, limit: int) -> tuple[str, ...]:
        """Return ids of items that an action has still to change."""
        sql = f"SELECT item_id FROM action_items WHERE {_OF} AND change IS NULL ORDER BY item_id LIMIT :limit"
        return tuple(str(row[0]) for row in tx.all(sql, user=tx.user_id, action=clean_id(action_id), limit=limit))

    @writes
    def change_items(
        self,
        tx: Transaction,
        action_id: str,
        item_ids: Sequence[str],
        change: ItemChange,
        now: str,
        *,
        label: str | None = None,
        unchanged_since: str | None = None,
    ) -> tuple[Item, ...]:
        """Change items, and note what is needed to undo that, all or nothing; return the items that exist.

        With a label the action begins here, in the same transaction. `Outdated` when an item's `updated_at` is not
        `unchanged_since`, `NotFound` when none of the items of a new action exists.
        """
        key, ids = clean_id(action_id), list(dict.fromkeys(map(clean_id, item_ids)))
        locked = {one: _lock(tx, one) for one in sorted(ids)}  # in the same order for all: no two wait for each other
        if label is not None:
            if not any(locked.values()):
                raise NotFound("None of these items is in the library.")
            _add(tx, key, label, now)
        changed, records = [], dict[str, dict[str, Any]]()
        for item_id in ids:
            found = locked[item_id]
            if found is None:
                records[item_id] = {}
                continue
            if unchanged_since is not None and found[0].updated_at != unchanged_since:
                raise Outdated("The item was changed in the meantime.")
            item, records[item_id] = apply_change(tx, *found, change, now)
            changed.append(item)
        _put(tx, key, records)
        return tuple(changed)

    @reads
    def action_items(self, tx: Transaction, action_id: str, limit: int) -> tuple[str, ...]:
        """Return ids of items that an action changed."""
        sql = f"SELECT item_id FROM action_items WHERE {_OF} AND change IS NOT NULL ORDER BY item_id LIMIT :limit"
        return tuple(str(row[0]) for row in tx.all(sql, user=tx.user_id, action=clean_id(action_id), limit=limit))

    @writes
    def record_reparse(self, tx: Transaction, action_id: str, item_id: str, before: Item | None) -> None:
        """Note how an item was before it was extracted again; `None` when it was not."""
        found = _lock(tx, clean_id(item_id))
        record = record_page(before, found[0]) if before and found else {}
        _put(tx, clean_id(action_id), {clean_id(item_id): record})

    @writes
    def add_page_for(
        self, tx: Transaction, action_id: str, item: Item, raw: RawPage | None, *, held_job: str | None = None
    ) -> Item | None:
        """Save a page whose URL is new, as `add_page` does, and note in the same transaction that the action added it."""
        added = add_page(tx, item, raw if self._keep_raw else None, held_job)
        if added is not None:
            _note_added(tx, action_id, (added.id,))
        return added

    @writes
    def record_added(self, tx: Transaction, action_id: str, item_ids: Sequence[str]) -> None:
        """Note items that an action added, or took out of the trash: undoing it moves them to the trash."""
        _note_added(tx, action_id, item_ids)

    @reads
    def action(self, tx: Transaction, action_id: str) -> Action:
        """Return an action; `NotFound` when there is none with this id."""
        rows = _select(tx, "AND id = :id", id=clean_id(action_id))
        if not rows:
            raise _no_action()
        return rows[0]

    @reads
    def actions(self, tx: Transaction, limit: int = 20) -> tuple[Action, ...]:
        """Return the last actions, newest first."""
        return tuple(_select(tx, "ORDER BY created_at DESC, id DESC LIMIT :limit", limit=limit))

    @writes
    def undo_items(self, tx: Transaction, action_id: str, limit: int, now: str) -> UndoResult:
        """Undo an action for some of its items. Those that it has not changed yet, it will not change any more."""
        key = clean_id(action_id)
        if not tx.run(
            "UPDATE actions SET undone_at = COALESCE(undone_at, :now) WHERE user_id = :user AND id = :action",
            user=tx.user_id,
            action=key,
            now=now,
        ):
            raise _no_action()
        tx.run(f"DELETE FROM action_items WHERE {_OF} AND change IS NULL", user=tx.user_id, action=key)
        rows = tx.all(
            f"SELECT item_id, change FROM action_items WHERE {_OF} ORDER BY item_id LIMIT :limit",
            user=tx.user_id,
            action=key,
            limit=limit,
        )
        records = {str(item_id): parse_json(record) for item_id, record in rows}
        of_tags = {item_id: record for item_id, record in records.items() if record.keys() == {"tags"}}
        undone = undo_tags(tx, of_tags, now)
        for item_id, record in records.items():
            if item_id not in of_tags:
                found = _lock(tx, item_id)
                undone += found is not None and undo_change(tx, *found, record, now)
        tx.many(
            f"DELETE FROM action_items WHERE {_OF} AND item_id = :item",
            [{"user": tx.user_id, "action": key, "item": item_id} for item_id in records],
        )
        left = tx.all(
            f"SELECT COUNT(*) FROM (SELECT 1 FROM action_items WHERE {_OF} LIMIT {MAX_WAITING}) counted",
            user=tx.user_id,
            action=key,
        )
        return UndoResult(undone, len(rows) - undone, int(left[0][0]))


def _add(tx: Transaction, action_id: str, label: str, now: str) -> None:
    tx.run(
        "INSERT INTO actions (user_id, id, created_at, changed, label) VALUES (:user, :id, :now, 0, :label)",
        user=tx.user_id,
        id=action_id,
        now=now,
        label=clean_text(label),
    )
    old = tx.all(
        f"SELECT id FROM actions WHERE user_id = :user ORDER BY created_at DESC, id DESC LIMIT 100 OFFSET {MAX_ACTIONS}",
        user=tx.user_id,
    )
    for (one,) in old:
        tx.run("DELETE FROM actions WHERE user_id = :user AND id = :id", user=tx.user_id, id=one)


def _note_added(tx: Transaction, action_id: str, item_ids: Sequence[str]) -> None:
    """Note items that an action added, unless the action was forgotten meanwhile because too many followed it."""
    key = clean_id(action_id)
    if tx.all("SELECT 1 FROM actions WHERE user_id = :user AND id = :id", user=tx.user_id, id=key):
        _put(tx, key, {clean_id(one): {"deleted": [True, False]} for one in item_ids})


def add_records(tx: Transaction, action_id: str, records: Sequence[tuple[str, str]]) -> None:
    """Note what an action changed about many items: the id of each, and the change as JSON.

    Nothing is noted when the action was forgotten meanwhile because too many followed it.
    """
    sql = "UPDATE actions SET changed = changed + :count WHERE user_id = :user AND id = :action"
    if tx.run(sql, user=tx.user_id, action=action_id, count=len(records)):
        tx.add_changes(action_id, records)


def _put(tx: Transaction, action_id: str, records: Mapping[str, dict[str, Any]]) -> None:
    """Note what an action changed about items; nothing is kept of an item that stayed as it was."""
    rows = [{"user": tx.user_id, "action": action_id, "item": item_id} for item_id in records]
    tx.many(f"DELETE FROM action_items WHERE {_OF} AND item_id = :item", rows)
    changed = [row | {"change": tx.json(clean_json(records[row["item"]]))} for row in rows if records[row["item"]]]
    if not changed:
        return
    tx.many(
        "INSERT INTO action_items (user_id, action_id, item_id, change) VALUES (:user, :action, :item, :change)",
        changed,
    )
    sql = "UPDATE actions SET changed = changed + :count WHERE user_id = :user AND id = :action"
    if not tx.run(sql, user=tx.user_id, action=action_id, count=len(changed)):
        raise _no_action()


def _lock(tx: Transaction, item_id: str) -> tuple[Item, int] | None:
    rows = tx.all(f"{SELECT} WHERE i.user_id = :user AND i.id = :id {tx.for_update}", user=tx.user_id, id=item_id)
    return (item_of(rows[0]), rows[0][-1]) if rows else None


def _select(tx: Transaction, rest: str, **values: Any) -> list[Action]:
    rows = tx.all(
        "SELECT id, label, created_at, changed, (SELECT COUNT(*) FROM (SELECT 1 FROM action_items w "
        f"WHERE w.user_id = actions.user_id AND w.action_id = actions.id AND w.change IS NULL LIMIT {MAX_WAITING}) counted), "
        f"undone_at FROM actions WHERE user_id = :user {rest}",
        user=tx.user_id,
        **values,
    )
    return [Action(str(row[0]), row[1], row[2], int(row[3]), int(row[4]), row[5]) for row in rows]


def _no_action() -> NotFound:
    return NotFound("There is no such action.", suggestions=(f"The last {MAX_ACTIONS} actions can be undone.",))
