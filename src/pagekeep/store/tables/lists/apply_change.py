"""Change an item, and note what is needed to undo that; undo it, as far as nothing else changed the same since."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from pagekeep.model import DERIVED_METADATA, Item, ItemMetadata
from pagekeep.model.lists.edits import carry_edits, edit, page_values
from pagekeep.model.lists.values import ItemChange
from pagekeep.model.tags import change_tags, without_tags
from pagekeep.store.engine import Transaction
from pagekeep.store.metadata_json import metadata_from_json, metadata_to_json
from pagekeep.store.storable import clean_item
from pagekeep.store.tables import items
from pagekeep.store.tables.lists.lists import add_to_list, put_back, remove_from_list
from pagekeep.store.text_stamp import carry_stamp, is_text_sound

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
        return items.rewrite(tx, old, new, seq)
    new = carry_stamp(old, new)
    items.put_metadata(tx, old, new, seq)
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
    found = items.lock_tags(tx, sorted(records))
    lists = []
    for item_id, (seq, tags) in found.items():
        new = _undo_tags(tags, *records[item_id]["tags"])
        if new != tags:
            lists.append((seq, new))
            items.index_tags(tx, item_id, new)
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
