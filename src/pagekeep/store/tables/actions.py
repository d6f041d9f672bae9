"""Changes of items that can be undone: of many at once by the user, and of new items by save rules."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Final, get_args

from pagekeep.errors import InvalidQuery, NotFound, Outdated
from pagekeep.model import DERIVED_METADATA, Item, ItemMetadata
from pagekeep.model.lists import (
    Action,
    ItemChange,
    KeepPictures,
    SaveActions,
    SaveRule,
    UndoResult,
    carry_edits,
    edit,
    page_values,
)
from pagekeep.model.tags import change_tags, without_tags
from pagekeep.store.engine import Part, Row, Transaction, reads, writes
from pagekeep.store.query import parse_query
from pagekeep.store.storable import (
    carry_stamp,
    clean_id,
    clean_item,
    clean_json,
    clean_text,
    is_text_sound,
    metadata_from_json,
    metadata_to_json,
    parse_json,
)
from pagekeep.store.tables import item_rows
from pagekeep.store.tables.find import item_matches
from pagekeep.store.tables.item_rows import SELECT, item_of
from pagekeep.store.tables.lists import add_to_list, put_back, remove_from_list

MAX_ACTIONS: Final = 50
"""Actions of a user that can be undone; older ones are forgotten."""
MAX_WAITING: Final = 1_000
"""Items that wait are counted up to this number."""
_OF: Final = "user_id = :user AND action_id = :action"


class Actions(Part):
    """A user's last changes."""

    @writes
    def add(self, tx: Transaction, action_id: str, label: str, now: str) -> None:
        """Begin an action, and forget those that are too old."""
        _add(tx, clean_id(action_id), label, now)

    @writes
    def remove(self, tx: Transaction, action_id: str) -> None:
        """Forget an action that changed nothing."""
        tx.run("DELETE FROM actions WHERE user_id = :user AND id = :id", id=clean_id(action_id))

    @writes
    def add_waiting(self, tx: Transaction, action_id: str, item_ids: Sequence[str]) -> None:
        """Note items that an action is to change."""
        tx.many(
            "INSERT INTO action_items (user_id, action_id, item_id) VALUES (:user, :action, :item) "
            "ON CONFLICT (user_id, action_id, item_id) DO NOTHING",
            [{"action": clean_id(action_id), "item": clean_id(one)} for one in item_ids],
        )

    @reads
    def waiting_items(self, tx: Transaction, action_id: str, limit: int) -> tuple[str, ...]:
        """Return ids of items that an action has still to change."""
        sql = f"SELECT item_id FROM action_items WHERE {_OF} AND change IS NULL ORDER BY item_id LIMIT :limit"
        return tuple(str(row[0]) for row in tx.all(sql, action=clean_id(action_id), limit=limit))

    @writes
    def change(
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
    def changed_items(self, tx: Transaction, action_id: str, limit: int) -> tuple[str, ...]:
        """Return ids of items that an action changed."""
        sql = f"SELECT item_id FROM action_items WHERE {_OF} AND change IS NOT NULL ORDER BY item_id LIMIT :limit"
        return tuple(str(row[0]) for row in tx.all(sql, action=clean_id(action_id), limit=limit))

    @writes
    def record_reparse(self, tx: Transaction, action_id: str, item_id: str, before: Item | None) -> None:
        """Note how an item was before it was extracted again; `None` when it was not."""
        found = _lock(tx, clean_id(item_id))
        record = record_page(before, found[0]) if before and found else {}
        _put(tx, clean_id(action_id), {clean_id(item_id): record})

    @writes
    def record_added(self, tx: Transaction, action_id: str, item_ids: Sequence[str]) -> None:
        """Note items that an action added, or took out of the trash: undoing it moves them to the trash."""
        note_added(tx, action_id, item_ids)

    @reads
    def get(self, tx: Transaction, action_id: str) -> Action:
        """Return an action; `NotFound` when there is none with this id."""
        rows = _select(tx, "AND id = :id", id=clean_id(action_id))
        if not rows:
            raise _no_action()
        return rows[0]

    @reads
    def list(self, tx: Transaction, limit: int = 20) -> tuple[Action, ...]:
        """Return the last actions, newest first."""
        return tuple(_select(tx, "ORDER BY created_at DESC, id DESC LIMIT :limit", limit=limit))

    @writes
    def undo(self, tx: Transaction, action_id: str, limit: int, now: str) -> UndoResult:
        """Undo an action for some of its items. Those that it has not changed yet, it will not change any more."""
        key = clean_id(action_id)
        if not tx.run(
            "UPDATE actions SET undone_at = COALESCE(undone_at, :now) WHERE user_id = :user AND id = :action",
            action=key,
            now=now,
        ):
            raise _no_action()
        tx.run(f"DELETE FROM action_items WHERE {_OF} AND change IS NULL", action=key)
        rows = tx.all(
            f"SELECT item_id, change FROM action_items WHERE {_OF} ORDER BY item_id LIMIT :limit",
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
            [{"action": key, "item": item_id} for item_id in records],
        )
        left = tx.all(
            f"SELECT COUNT(*) FROM (SELECT 1 FROM action_items WHERE {_OF} LIMIT {MAX_WAITING}) counted", action=key
        )
        return UndoResult(undone, len(rows) - undone, int(left[0][0]))


def _add(tx: Transaction, action_id: str, label: str, now: str) -> None:
    tx.run(
        "INSERT INTO actions (user_id, id, created_at, changed, label) VALUES (:user, :id, :now, 0, :label)",
        id=action_id,
        now=now,
        label=clean_text(label),
    )
    old = tx.all(
        f"SELECT id FROM actions WHERE user_id = :user ORDER BY created_at DESC, id DESC LIMIT 100 OFFSET {MAX_ACTIONS}"
    )
    for (one,) in old:
        tx.run("DELETE FROM actions WHERE user_id = :user AND id = :id", id=one)


def note_added(tx: Transaction, action_id: str, item_ids: Sequence[str]) -> None:
    """Note items that an action added, unless the action was forgotten meanwhile because too many followed it."""
    key = clean_id(action_id)
    if tx.all("SELECT 1 FROM actions WHERE user_id = :user AND id = :id", id=key):
        _put(tx, key, {clean_id(one): {"deleted": [True, False]} for one in item_ids})


def add_records(tx: Transaction, action_id: str, records: Sequence[tuple[str, str]]) -> None:
    """Note what an action changed about many items: the id of each, and the change as JSON.

    Nothing is noted when the action was forgotten meanwhile because too many followed it.
    """
    sql = "UPDATE actions SET changed = changed + :count WHERE user_id = :user AND id = :action"
    if tx.run(sql, action=action_id, count=len(records)):
        tx.add_changes(action_id, records)


def _put(tx: Transaction, action_id: str, records: Mapping[str, dict[str, Any]]) -> None:
    """Note what an action changed about items; nothing is kept of an item that stayed as it was."""
    rows = [{"action": action_id, "item": item_id} for item_id in records]
    tx.many(f"DELETE FROM action_items WHERE {_OF} AND item_id = :item", rows)
    changed = [row | {"change": tx.json(clean_json(records[row["item"]]))} for row in rows if records[row["item"]]]
    if not changed:
        return
    tx.many(
        "INSERT INTO action_items (user_id, action_id, item_id, change) VALUES (:user, :action, :item, :change)",
        changed,
    )
    sql = "UPDATE actions SET changed = changed + :count WHERE user_id = :user AND id = :action"
    if not tx.run(sql, action=action_id, count=len(changed)):
        raise _no_action()


def _lock(tx: Transaction, item_id: str) -> tuple[Item, int] | None:
    rows = tx.all(f"{SELECT} WHERE i.user_id = :user AND i.id = :id {tx.for_update}", id=item_id)
    return (item_of(rows[0]), rows[0][-1]) if rows else None


def _select(tx: Transaction, rest: str, **values: Any) -> list[Action]:
    rows = tx.all(
        "SELECT id, label, created_at, changed, (SELECT COUNT(*) FROM (SELECT 1 FROM action_items w "
        f"WHERE w.user_id = actions.user_id AND w.action_id = actions.id AND w.change IS NULL LIMIT {MAX_WAITING}) counted), "
        f"undone_at FROM actions WHERE user_id = :user {rest}",
        **values,
    )
    return [Action(str(row[0]), row[1], row[2], int(row[3]), int(row[4]), row[5]) for row in rows]


def _no_action() -> NotFound:
    return NotFound("There is no such action.", suggestions=(f"The last {MAX_ACTIONS} actions can be undone.",))


_FIELDS: Final = ("pinned", "archived", "keep_pictures", "failed", "notes")
"""Metadata that is undone if it still has the value that was set."""
_TAGS: Final = ("tags", "refused_tags")


def apply_change(
    tx: Transaction, item: Item, seq: int, change: ItemChange, now: str, metadata: ItemMetadata | None = None
) -> tuple[Item, dict[str, Any]]:
    """Return the item as it is stored now, and what was changed about it; the latter is empty when nothing was.

    `metadata` is stored in place of the item's own.
    """
    known = metadata or item.metadata
    base = known.tags if change.tags is None else change.tags
    fields: dict[str, Any] = {
        "tags": change_tags(base, change.add_tags, change.remove_tags),
        "refused_tags": change_tags(known.refused_tags, change.refuse_tags, change.add_tags),
    }
    fields |= {name: getattr(change, name) for name in _FIELDS if getattr(change, name) is not None}
    if change.notes == "":
        fields["notes"] = None
    new = replace(item, metadata=replace(known, **fields))
    if change.edits or change.reset:
        new = edit(new, change.edits, change.reset)
    if change.deleted is not None and change.deleted != (item.deleted_at is not None):
        new = replace(new, deleted_at=now if change.deleted else None)
    new = store_item(tx, item, new, seq, now)
    record = _compare(item, new)
    added = [one for one in change.add_to if add_to_list(tx, one, [item.id], now)]
    removed = [(one, place) for one in change.remove_from if (place := remove_from_list(tx, one, item.id)) is not None]
    if added:
        record["added_to"] = added
    if removed:
        record["removed_from"] = [list(pair) for pair in removed]
    return new, record


def store_item(tx: Transaction, old: Item, new: Item, seq: int, now: str) -> Item:
    """Store a changed item; one that is the same stays as it is."""
    if new == old:
        return old
    new = replace(clean_item(new), updated_at=now)
    if _indexed(new) != _indexed(old):
        return item_rows.rewrite(tx, old, new, seq)
    new = carry_stamp(old, new)
    item_rows.put_metadata(tx, old, new, seq)
    return new


def undo_change(tx: Transaction, item: Item, seq: int, record: Mapping[str, Any], now: str) -> bool:
    """Undo a recorded change; return whether all of it could be undone, and nothing was changed again since."""
    new, whole = item, True
    for name in _FIELDS:
        if name in record:
            same = getattr(item.metadata, name) == record[name][1]
            new = replace(new, metadata=replace(new.metadata, **{name: record[name][0]})) if same else new
            whole = whole and same
    for name in _TAGS:
        if name in record:
            tags: dict[str, Any] = {name: _undo_tags(getattr(item.metadata, name), *record[name])}
            new = replace(new, metadata=replace(new.metadata, **tags))
    if "page" in record:
        new, same = _undo_page(new, record["page"])
        whole = whole and same
    if "edits" in record:
        new, same = _undo_edits(new, *record["edits"])
        whole = whole and same
    if "deleted" in record and (new.deleted_at is not None) == record["deleted"][1]:
        new = replace(new, deleted_at=now if record["deleted"][0] else None)
    store_item(tx, item, new, seq, now)
    for one in record.get("added_to", ()):
        remove_from_list(tx, one, item.id)
    for one, place in record.get("removed_from", ()):
        put_back(tx, one, item.id, place, now)
    return whole


def undo_tags(tx: Transaction, records: Mapping[str, Mapping[str, Any]], now: str) -> int:
    """Undo changes of tags alone, of many items, without reading their texts; return how many items there are."""
    found = item_rows.lock_tags(tx, sorted(records))
    lists = []
    for item_id, (seq, tags) in found.items():
        new = _undo_tags(tags, *records[item_id]["tags"])
        if new != tags:
            lists.append((seq, new))
            item_rows.index_tags(tx, item_id, new)
    tx.put_tags(lists, now)
    return len(found)


def record_page(before: Item, after: Item) -> dict[str, Any]:
    """Return what is needed to undo a new extraction of an item; empty when it changed nothing."""
    if before.metadata.text_hash == after.metadata.text_hash:
        return {}
    stored = {"content": before.content, "values": page_values(before), "metadata": metadata_to_json(before.metadata)}
    packed = base64.b64encode(zlib.compress(json.dumps(stored).encode())).decode()
    return {"page": {"packed": packed, "hash": after.metadata.text_hash}}


def _undo_page(item: Item, page: Mapping[str, Any]) -> tuple[Item, bool]:
    if item.metadata.text_hash != page["hash"]:
        return item, False
    stored = json.loads(zlib.decompress(base64.b64decode(page["packed"])))
    old, values = metadata_from_json(stored["metadata"]), stored["values"]
    if old.raw_hash not in (None, item.metadata.raw_hash):  # the text is from a page that the item has no more
        return item, False
    if not is_text_sound(replace(item, content=stored["content"], metadata=old)):  # it was damaged
        return item, False
    derived = {name: getattr(old, name) for name in DERIVED_METADATA} | {"edits": None, "page_values": None}
    restored = replace(
        item,
        content=stored["content"],
        title=values["title"] or item.url,
        author=values["author"],
        published_at=values["published_at"],
        metadata=replace(item.metadata, **derived | {"site_name": values["site_name"]}),
    )
    return carry_edits(item, restored), True


def _undo_edits(item: Item, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> tuple[Item, bool]:
    """Undo edits field by field; one that was edited again since stays."""
    old, new, now = before or {}, after or {}, item.metadata.edits or {}
    changed = [name for name in {**old, **new} if (name in old, old.get(name)) != (name in new, new.get(name))]
    same = [name for name in changed if (name in now, now.get(name)) == (name in new, new.get(name))]
    values = {name: old[name] for name in same if name in old}
    return edit(item, values, [name for name in same if name not in old]), len(same) == len(changed)


def _undo_tags(now: Sequence[str], before: Sequence[str], after: Sequence[str]) -> tuple[str, ...]:
    if list(now) == list(after):
        return tuple(before)
    if len(before) == len(after) == 1:  # a tag was renamed: it gets its name back at its place
        return change_tags([before[0] if tag == after[0] else tag for tag in now], (), ())
    added, removed = without_tags(after, before), without_tags(before, after)
    return change_tags(without_tags(now, added), removed, ())


def _compare(old: Item, new: Item) -> dict[str, Any]:
    """Return what was changed, each as the value before and after."""
    record: dict[str, Any] = {}
    for name in (*_FIELDS, *_TAGS, "edits"):
        before, after = getattr(old.metadata, name), getattr(new.metadata, name)
        if before != after:
            record[name] = [before, after]
    if (old.deleted_at is None) != (new.deleted_at is None):
        record["deleted"] = [old.deleted_at is not None, new.deleted_at is not None]
    return record


def _indexed(item: Item) -> tuple[object, ...]:
    """Return what the columns and the search words of an item are made of, apart from its metadata."""
    return item.title, item.author, item.published_at, item.metadata.site_name, item.content


_COLUMNS: Final = ("id", "name", "query", "actions", "enabled", "position", "created_at", "updated_at")
_NAMES: Final = ", ".join(_COLUMNS)


class SaveRules(Part):
    """A user's save rules."""

    @reads
    def list(self, tx: Transaction) -> tuple[SaveRule, ...]:
        """Return all save rules in their order."""
        return select_rules(tx)

    @writes
    def put(self, tx: Transaction, rule: SaveRule) -> SaveRule:
        """Add a save rule, or change the one with its id."""
        rule = replace(rule, id=clean_id(rule.id), name=clean_text(rule.name), query=clean_text(rule.query))
        tx.run(
            f"INSERT INTO save_rules (user_id, {_NAMES}) VALUES (:user, {', '.join(f':{name}' for name in _COLUMNS)}) "
            "ON CONFLICT (user_id, id) DO UPDATE SET name = excluded.name, query = excluded.query, "
            "actions = excluded.actions, enabled = excluded.enabled, position = excluded.position, "
            "updated_at = excluded.updated_at",
            **{name: getattr(rule, name) for name in _COLUMNS}
            | {"enabled": int(rule.enabled), "actions": tx.json(clean_json(asdict(rule.actions)))},
        )
        return rule

    @writes
    def remove(self, tx: Transaction, rule_id: str) -> None:
        """Remove a save rule; `NotFound` when there is none with this id."""
        sql = "DELETE FROM save_rules WHERE user_id = :user AND id = :id"
        if not tx.run(sql, id=clean_id(rule_id)):
            raise NotFound("There is no such save rule.")


def select_rules(tx: Transaction, where: str = "TRUE") -> tuple[SaveRule, ...]:
    """Return save rules in their order."""
    rows = tx.all(f"SELECT {_NAMES} FROM save_rules WHERE user_id = :user AND {where} ORDER BY position, id")
    return tuple(map(_rule, rows))


def enabled_rules(tx: Transaction) -> tuple[SaveRule, ...]:
    """Return the save rules that are switched on."""
    return select_rules(tx, "enabled = 1")


def apply_rules(tx: Transaction, item: Item, seq: int, rules: Sequence[SaveRule]) -> Item:
    """Apply save rules to a new item that is stored and indexed; each rule applies to an item at most once."""
    for rule in rules:
        if rule.id in item.metadata.applied_rules or not _applies(tx, item, rule):
            continue
        metadata = replace(item.metadata, applied_rules=(*item.metadata.applied_rules, rule.id))
        item, _ = apply_change(tx, item, seq, rule_change(rule, item), item.updated_at, metadata=metadata)
    return item


def rule_change(rule: SaveRule, item: Item) -> ItemChange:
    """Return what a rule changes about an item; what the user decided about it stays."""
    actions, known = rule.actions, item.metadata
    return ItemChange(
        pinned=True if actions.pin and known.pinned is None else None,
        archived=True if actions.archive and known.archived is None else None,
        add_tags=actions.tags,
        keep_pictures=actions.keep_pictures,
        add_to=actions.lists,
    )


def _applies(tx: Transaction, item: Item, rule: SaveRule) -> bool:
    try:
        return item_matches(tx, item.id, parse_query(rule.query))
    except InvalidQuery:  # it names a list that is gone: the rules page shows that
        return False


def _rule(row: Row) -> SaveRule:
    values: dict[str, Any] = dict(zip(_COLUMNS, row, strict=True))
    actions = actions_from_json(parse_json(values["actions"]))
    return SaveRule(**values | {"id": str(values["id"]), "enabled": bool(values["enabled"]), "actions": actions})


def actions_from_json(stored: Mapping[str, Any]) -> SaveActions:
    """Return the actions of a rule; values of the wrong type are left out."""

    def texts(name: str) -> tuple[str, ...]:
        values = stored.get(name)
        return tuple(text for text in values if isinstance(text, str)) if isinstance(values, list) else ()

    pictures = stored.get("keep_pictures")
    return SaveActions(
        tags=texts("tags"),
        archive=stored.get("archive") is True,
        pin=stored.get("pin") is True,
        keep_pictures=pictures if pictures in get_args(KeepPictures) else None,
        lists=texts("lists"),
    )
