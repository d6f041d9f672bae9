"""Text and stamp of an item are written together: no change parts them, and none declares a damaged text sound."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

import pagekeep
from pagekeep.errors import FetchTimeout
from pagekeep.library.imports.build import merge_items
from pagekeep.library.items import build_item
from pagekeep.library.saving.failed_saves import keep_address
from pagekeep.model import Item, Metadata, NewItem
from pagekeep.model.lists import ItemChange
from pagekeep.store import Store
from pagekeep.store.storable import is_row_sound, is_text_sound, stamp_text
from pagekeep.store.tables.item_rows import COLUMNS
from tests.library.receipts.making import database, flip
from tests.store.making import NOW, make_item, make_raw

SOURCE = Path(pagekeep.__file__).parent


def change(**changes: Any) -> Callable[[Store, Item], object]:
    """One undoable change of an item."""

    def apply(library: Store, item: Item) -> None:
        action = str(uuid4())
        library.actions.add(action, "Edit", NOW)
        library.actions.change(action, [item.id], ItemChange(**changes), NOW)

    return apply


def keep_again(library: Store, item: Item) -> None:
    library.items.save(library.items.get(item.id), make_raw(), versions="keep")


CHANGES: dict[str, Callable[[Store, Item], object]] = {
    "tag": lambda library, item: library.items.set_metadata(item.id, NOW, tags=("new",)),
    "pin": lambda library, item: library.items.set_metadata(item.id, NOW, pinned=True),
    "tag, undoable": change(add_tags=("new",)),
    "title": change(edits={"title": "Another title"}),
    "delete": lambda library, item: library.items.delete(item.id, NOW),
    "opened": lambda library, item: library.items.mark_opened(item.id, NOW),
    "failure": lambda library, item: keep_address(library, item.url, FetchTimeout("Too slow."), known=item),
    "the same page again": keep_again,
    "import": lambda library, item: library.items.save_many(
        [NewItem(replace(item, id=str(uuid4()), metadata=replace(item.metadata, tags=("x",))))], merge_items
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_of_something_else_keeps_text_and_stamp(library: Store, where: str, name: str) -> None:
    sound, damaged = (
        library.items.save(make_item(number, user_id=library.user_id, quality="article"), make_raw())
        for number in range(2)
    )
    flip(where, library.user_id, damaged.id, "text", random.Random(3))
    for item in (sound, damaged):
        before = library.items.get(item.id)
        CHANGES[name](library, before)
        assert library.items.get(item.id).content == before.content
        assert library.items.get(item.id).metadata.text_hash == item.metadata.text_hash
    assert is_text_sound(library.items.get(sound.id))
    assert not is_text_sound(library.items.get(damaged.id))


def replace_text(library: Store, item: Item, content: str) -> Item:
    return library.items.replace_content(
        item.id,
        content=content,
        title=item.title,
        author=None,
        published_at=None,
        metadata=item.metadata,
        now=NOW,
    )


def test_a_new_text_has_a_new_stamp_and_undo_brings_back_both(library: Store) -> None:
    item = library.items.save(make_item(user_id=library.user_id), make_raw())
    action = str(uuid4())
    library.actions.add(action, "Reparse", NOW)
    new = replace_text(library, item, "Other words.")
    library.actions.record_reparse(action, item.id, item)
    assert is_text_sound(new)
    assert new.metadata.text_hash != item.metadata.text_hash
    assert library.actions.undo(action, 10, NOW).undone == 1
    back = library.items.get(item.id)
    assert (back.content, back.metadata.text_hash) == (item.content, item.metadata.text_hash)


def test_undo_does_not_bring_back_a_damaged_text(library: Store, where: str) -> None:
    item = library.items.save(make_item(user_id=library.user_id), make_raw())
    flip(where, library.user_id, item.id, "text", random.Random(3))
    action = str(uuid4())
    library.actions.add(action, "Reparse", NOW)
    damaged = library.items.get(item.id)
    replace_text(library, damaged, "Other words.")
    library.actions.record_reparse(action, item.id, damaged)
    assert library.actions.undo(action, 10, NOW).kept == 1
    assert library.items.get(item.id).content == "Other words."


def test_text_that_is_derived_again_is_stamped_again(library: Store, where: str) -> None:
    """Also where only the stamp was damaged."""
    item = library.items.save(make_item(user_id=library.user_id), make_raw())
    with database(where, library.user_id) as connection:
        stamp = item.metadata.text_hash or ""
        mark = "%s" if where.startswith("postgres") else "?"
        cast = "::jsonb" if where.startswith("postgres") else ""
        as_text = "metadata::text" if where.startswith("postgres") else "metadata"
        connection.execute(f"UPDATE items SET metadata = REPLACE({as_text}, {mark}, {mark}){cast}", (stamp, "0" * 64))
    assert not is_text_sound(library.items.get(item.id))
    assert is_text_sound(replace_text(library, item, item.content))


def older_bookmark(library: Store, about: Metadata) -> Item:
    """A page that could not be fetched twice, as older versions stored it: with both reasons, and the first stamp."""
    url = "https://harbour.example/slow"
    item = build_item.new_bookmark(
        about, url=url, url_full=f"{url}?a=1", user_id=library.user_id, now=NOW, reason="x", suggestion=None
    )
    first, second = (
        item.content.replace("extraction_failed: true\n", f"extraction_failed: true\nreason: {reason}\n")
        for reason in ("The page did not answer within 1 s.", "'It is: gone'")
    )
    stamp = stamp_text(replace(item, content=first)).metadata.text_hash
    return replace(item, content=second, metadata=replace(item.metadata, text_hash=stamp, reason="It is: gone"))


@pytest.mark.parametrize(
    "about",
    [
        Metadata(),
        Metadata(
            title="Salt: a history",
            author="Ada Reed",
            description="Where *salt* comes from.",
            hero_image="https://harbour.example/a.png",
            language="en",
            published="2024-02-03",
        ),
    ],
)
def test_second_failure_in_a_library_of_an_older_version_is_sound(library: Store, about: Metadata) -> None:
    item = older_bookmark(library, about)
    assert is_text_sound(item)
    assert is_text_sound(replace(item, saved_at="2020-01-01T00:00:00.000000Z"))  # an import had an earlier time
    for old, new in (("quality: bookmark", "quality: bookmar{"), ("source: https", "source: ittps")):
        assert old in item.content
        assert not is_text_sound(replace(item, content=item.content.replace(old, new, 1)))
    assert not is_text_sound(replace(item, content=f"{item.content}x"))
    fetched = replace(item.metadata, content_hash="0" * 64)
    assert not is_text_sound(replace(item, metadata=fetched))


def test_rows_are_judged_as_items_are(library: Store, where: str) -> None:
    sound, damaged = (library.items.save(make_item(number, user_id=library.user_id), make_raw()) for number in range(2))
    flip(where, library.user_id, damaged.id, "text", random.Random(3))
    with database(where, library.user_id) as connection:
        cursor = connection.execute(f"SELECT {', '.join(COLUMNS)} FROM items")
        names = [column[0] for column in cursor.description]
        rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    assert {str(row["id"]): is_row_sound(row) for row in rows} == {sound.id: True, damaged.id: False}
    assert not is_row_sound(rows[0] | {"metadata": "{"})


def test_one_module_writes_texts_and_stamps() -> None:
    """Contract: `tables/item_rows` alone writes texts of items; a salvage and a backup copy rows as they are stored."""
    writes = re.compile(r"INSERT INTO items\b|UPDATE items SET\b(?=[^;]*?\bcontent\s*=)|UPDATE items SET \{")
    column_writers, stampers = set(), set()
    for path in SOURCE.rglob("*.py"):
        text, name = path.read_text("utf-8"), path.relative_to(SOURCE).as_posix()
        for line in text.splitlines():
            if writes.search(line):
                column_writers.add(name)
            if re.search(r"\btext_hash\s*=(?!=)", line):
                stampers.add(name)
    assert column_writers == {"store/tables/item_rows.py", "store/salvage.py", "store/backup/library_file.py"}
    assert stampers == {"store/storable.py"}
