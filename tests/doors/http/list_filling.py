"""A list, a save rule and an action of a user, for the tests that walk all routes."""

from __future__ import annotations

import uuid

from pagekeep.library.lists import lists, save_rules
from pagekeep.model.lists.values import SaveActions
from pagekeep.store import Store


def fill_lists(library: Store, item_id: str, word: str) -> dict[str, str]:
    """Return the ids of what was added, by the names of the placeholders."""
    made = [lists.add_list(library, f"{word} {uuid.uuid4()}").id for _ in range(2)]
    rules = [save_rules.add_rule(library, word, f"-{word}nothing", SaveActions(tags=(word,))) for _ in range(2)]
    actions = [lists.add_items(library, one, [item_id]).action.id for one in made]
    return {
        "list": made[0],
        "other_list": made[1],
        "save_rule": rules[0].id,
        "other_save_rule": rules[1].id,
        "action": actions[0],
    }
