"""Save rules: what happens to new items that a search finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Final, get_args

from pagekeep.errors import InvalidQuery, NotFound
from pagekeep.model import Item
from pagekeep.model.lists.values import ItemChange, KeepPictures, SaveActions, SaveRule
from pagekeep.store.engine import Row, Transaction
from pagekeep.store.search.query import parse_query
from pagekeep.store.storable import clean_id, clean_json, clean_text, parse_json
from pagekeep.store.table import Table, reads, writes
from pagekeep.store.tables.find import item_matches
from pagekeep.store.tables.lists.apply_change import apply_change

_COLUMNS: Final = ("id", "name", "query", "actions", "enabled", "position", "created_at", "updated_at")
_NAMES: Final = ", ".join(_COLUMNS)


class SaveRuleTable(Table):
    """A user's save rules."""

    @reads
    def save_rules(self, tx: Transaction) -> tuple[SaveRule, ...]:
        """Return all save rules in their order."""
        return select_rules(tx)

    @writes
    def put_save_rule(self, tx: Transaction, rule: SaveRule) -> SaveRule:
        """Add a save rule, or change the one with its id."""
        rule = replace(rule, id=clean_id(rule.id), name=clean_text(rule.name), query=clean_text(rule.query))
        tx.run(
            f"INSERT INTO save_rules (user_id, {_NAMES}) VALUES (:user, {', '.join(f':{name}' for name in _COLUMNS)}) "
            "ON CONFLICT (user_id, id) DO UPDATE SET name = excluded.name, query = excluded.query, "
            "actions = excluded.actions, enabled = excluded.enabled, position = excluded.position, "
            "updated_at = excluded.updated_at",
            **{name: getattr(rule, name) for name in _COLUMNS}
            | {"user": tx.user_id, "enabled": int(rule.enabled), "actions": tx.json(clean_json(asdict(rule.actions)))},
        )
        return rule

    @writes
    def remove_save_rule(self, tx: Transaction, rule_id: str) -> None:
        """Remove a save rule; `NotFound` when there is none with this id."""
        sql = "DELETE FROM save_rules WHERE user_id = :user AND id = :id"
        if not tx.run(sql, user=tx.user_id, id=clean_id(rule_id)):
            raise NotFound("There is no such save rule.")


def select_rules(tx: Transaction, where: str = "TRUE") -> tuple[SaveRule, ...]:
    """Return save rules in their order."""
    rows = tx.all(
        f"SELECT {_NAMES} FROM save_rules WHERE user_id = :user AND {where} ORDER BY position, id", user=tx.user_id
    )
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
