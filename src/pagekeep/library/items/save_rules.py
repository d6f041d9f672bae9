"""Save rules: what happens to new pages that a search finds. They are tried on the library before they are switched on."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Final

from pagekeep import clock
from pagekeep.errors import Conflict, InvalidQuery, NotFound
from pagekeep.library.items.change import change_found, change_whole, find_ids
from pagekeep.library.items.lists import check_query, get_manual
from pagekeep.model.lists import Action, Done, Effect, ItemChange, SaveActions, SaveRule, Trial
from pagekeep.model.tags import clean_tags, without_tags
from pagekeep.store import Store
from pagekeep.text import one_line

MAX_RULES: Final = 100
"""Rules of one user: each is looked at for every new page."""
MAX_TRIED: Final = 30
"""Pages shown of those that a rule would change."""
MAX_COUNTED: Final = 1_000
_APPLIED: Final = "Applied the save rule {}"


def get_rule(store: Store, key: str) -> SaveRule:
    """Return the save rule with this id, beginning of an id, or name; `NotFound` unless there is one."""
    wanted = key.strip().casefold()
    rules = store.save_rules.list()
    found = [rule for rule in rules if rule.id == wanted or rule.name.casefold() == wanted]
    found = found or [rule for rule in rules if len(wanted) >= 4 and rule.id.startswith(wanted)]
    if len(found) != 1:
        raise NotFound(f"There is no save rule {key:.80}.", suggestions=("Look for its name in your save rules.",))
    return found[0]


def add_rule(store: Store, name: str, query: str, actions: SaveActions) -> SaveRule:
    """Add a save rule, switched off: it is tried first."""
    rules = store.save_rules.list()
    if len(rules) >= MAX_RULES:
        raise Conflict(f"There are {MAX_RULES} save rules already.", suggestions=("Delete one that you do not need.",))
    now, query = clock.now(), _check_condition(query)
    position = max((rule.position for rule in rules), default=0) + 1
    name = one_line(name)[:100] or query[:100]
    return store.save_rules.put(
        SaveRule(str(uuid.uuid4()), name, query, check_actions(store, actions), False, position, now, now)
    )


def change_rule(
    store: Store,
    key: str,
    *,
    name: str | None = None,
    query: str | None = None,
    actions: SaveActions | None = None,
    enabled: bool | None = None,
) -> SaveRule:
    """Change a save rule, or switch it on or off; what is `None` stays."""
    rule = get_rule(store, key)
    return store.save_rules.put(
        replace(
            rule,
            name=rule.name if name is None else one_line(name)[:100] or rule.name,
            query=rule.query if query is None else _check_condition(query),
            actions=rule.actions if actions is None else check_actions(store, actions),
            enabled=rule.enabled if enabled is None else enabled,
            updated_at=clock.now(),
        )
    )


def move_rule(store: Store, key: str, step: int) -> tuple[SaveRule, ...]:
    """Move a rule up (-1) or down (1) in the order in which rules apply; return all."""
    rules = list(store.save_rules.list())
    at = rules.index(get_rule(store, key))
    rules.insert(max(0, min(len(rules) - 1, at + step)), rules.pop(at))
    for position, rule in enumerate(rules, start=1):
        if rule.position != position:
            store.save_rules.put(replace(rule, position=position))
    return store.save_rules.list()


def remove_rule(store: Store, key: str) -> SaveRule:
    """Remove a save rule and return it; what it changed stays."""
    rule = get_rule(store, key)
    store.save_rules.remove(rule.id)
    return rule


def try_rule(store: Store, query: str, actions: SaveActions) -> Trial:
    """Return what a rule would do with the pages of the library, as if they were new; nothing is changed."""
    query, actions = _check_condition(query), check_actions(store, actions)
    ids, after = find_ids(store, query)
    while after is not None and len(ids) < MAX_COUNTED:
        more, after = find_ids(store, query, after=after)
        ids += more
    return Trial(min(len(ids), MAX_COUNTED), tuple(_effect(store, one, actions) for one in ids[:MAX_TRIED]))


def apply_rule(store: Store, key: str) -> Done:
    """Do what a rule does to the pages that are in the library already, so that it can be undone."""
    rule = get_rule(store, key)
    return change_found(store, rule.query, _whole_change(rule), _APPLIED.format(rule.name))


def apply_rule_whole(store: Store, key: str) -> Action:
    """Do what a rule does to all pages that are in the library, however many, before returning."""
    rule = get_rule(store, key)
    return change_whole(store, rule.query, _whole_change(rule), _APPLIED.format(rule.name), lambda _count: None)


def _whole_change(rule: SaveRule) -> ItemChange:
    actions = rule.actions
    return ItemChange(
        pinned=True if actions.pin else None,
        archived=True if actions.archive else None,
        add_tags=actions.tags,
        keep_pictures=actions.keep_pictures,
        add_to=actions.lists,
    )


def check_actions(store: Store, actions: SaveActions) -> SaveActions:
    """Return actions as they are stored: lists by their ids; `InvalidQuery` when there are none."""
    tags = clean_tags(actions.tags)[:20]
    lists = tuple(dict.fromkeys(get_manual(store, one).id for one in actions.lists))
    checked = replace(actions, tags=tags, lists=lists)
    if checked == SaveActions():
        raise InvalidQuery("The save rule does nothing.", suggestions=("Choose at least one action.",))
    return checked


def describe_actions(store: Store, actions: SaveActions) -> tuple[str, ...]:
    """Return what a rule does, in words."""
    names = {one.id: one.name for one in store.lists.list()}
    pictures = {"all": "keep all pictures", "hero": "keep only the main picture", "none": "keep no pictures"}
    return (
        *(f"add the tag {tag}" for tag in actions.tags),
        *(["archive"] if actions.archive else []),
        *(["pin"] if actions.pin else []),
        *([pictures[actions.keep_pictures]] if actions.keep_pictures else []),
        *(f"add to the list {names.get(one, '(deleted)')}" for one in actions.lists),
    )


def _effect(store: Store, item_id: str, actions: SaveActions) -> Effect:
    item = store.items.get(item_id)
    known, own = item.metadata, {one.id for one in store.lists.of_item(item_id)}
    left = SaveActions(
        tags=without_tags(actions.tags, known.tags),
        archive=actions.archive and not known.archived,
        pin=actions.pin and not known.pinned,
        keep_pictures=None if actions.keep_pictures == known.keep_pictures else actions.keep_pictures,
        lists=tuple(one for one in actions.lists if one not in own),
    )
    return Effect(item, describe_actions(store, left))


def _check_condition(query: str) -> str:
    query = check_query(query)
    if not query:
        raise InvalidQuery(
            "The save rule has no condition.", suggestions=("Write a search, such as domain:example.com.",)
        )
    return query
