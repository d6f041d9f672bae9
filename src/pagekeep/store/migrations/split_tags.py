"""Move the tags that earlier versions added by themselves from the tags to the suggested ones.

They wrote a page's own tags into its frontmatter and, at its first save, after the requested ones into the item's tags. A
tag counts as added only where nothing indicates the user: the page was saved directly, its frontmatter has the tag, and the
tag is at its place in that order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import yaml

from pagekeep.model import Item
from pagekeep.store.engine import Transaction
from pagekeep.store.metadata_json import metadata_to_json
from pagekeep.store.tables import items

_BATCH: Final = 200
"""Items that are read at a time."""
_HEAD_CHARS: Final = 20_000
"""Characters of a document in which its frontmatter is."""
_LINE: Final = re.compile(r"^tags: (\[.{0,5000}\])$", re.MULTILINE)


def split_tags(tx: Transaction) -> None:
    """Split the tags of all items of the transaction's user."""
    after = -1
    while rows := tx.all(
        f"{items.SELECT} WHERE i.user_id = :user AND i.seq > :after "
        "AND i.id IN (SELECT t.item_id FROM item_tags t WHERE t.user_id = :user) "
        f"ORDER BY i.seq LIMIT {_BATCH}",
        user=tx.user_id,
        after=after,
    ):
        for row in rows:
            after = row[-1]
            _split_item(tx, items.item_of(row), after)


def _split_item(tx: Transaction, item: Item, seq: int) -> None:
    suggested = find_added(item)
    if not suggested:
        return
    tags = tuple(tag for tag in item.metadata.tags if tag not in suggested)
    metadata = replace(item.metadata, tags=tags, suggested_tags=suggested)
    tx.run(
        "UPDATE items SET metadata = :metadata WHERE seq = :seq", metadata=tx.json(metadata_to_json(metadata)), seq=seq
    )
    items.index(tx, replace(item, metadata=metadata), seq)


def find_added(item: Item) -> tuple[str, ...]:
    """Return the tags that the program added to the item by itself."""
    about = item.metadata
    if about.suggested_tags or about.imported or item.source.startswith("import:") or item.saved_at != item.created_at:
        return ()
    places = {tag: place for place, tag in enumerate(_read_own(item.content))}
    added: list[str] = []
    bound = len(places)
    for tag in reversed(about.tags):  # a requested tag comes before the page's own, so it is out of their order
        if places.get(tag, bound) < bound:
            bound = places[tag]
            added.append(tag)
    return tuple(reversed(added))


def _read_own(content: str) -> Sequence[str]:
    """Return the tags in the frontmatter of a document."""
    block = content[:_HEAD_CHARS].partition("\n---\n")[0] if content.startswith("---\n") else ""
    found = _LINE.search(block)
    try:
        values: Any = yaml.safe_load(found[1]) if found else []
    except yaml.YAMLError:
        return ()
    return [value for value in values if isinstance(value, str)] if isinstance(values, list) else ()
