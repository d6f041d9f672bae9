"""What is damaged in a library that is backed up, and which good copies an earlier backup has of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from pagekeep.errors import StoreError
from pagekeep.model import Item
from pagekeep.store.storable import is_row_sound, is_text_sound, metadata_from_json, parse_json


@dataclass(slots=True)
class BackupReport:
    """What a backup wrote, and what is damaged in the library."""

    items: int = 0
    damaged: list[str] = field(default_factory=list)
    """Raw pages and kept files that are missing or damaged in the library and in the backup, by their hashes."""
    damaged_texts: list[str] = field(default_factory=list)
    """Items whose text is damaged in the library, and of which the backup has no good copy."""
    recovered: list[str] = field(default_factory=list)
    """Raw pages and kept files that are missing or damaged in the library, and that an earlier backup had."""
    recovered_texts: list[str] = field(default_factory=list)
    """Items whose text is damaged in the library, and was taken from an earlier backup."""

    @property
    def complete(self) -> bool:
        """Whether the backup has everything."""
        return not self.damaged and not self.damaged_texts

    @property
    def library_intact(self) -> bool:
        """Whether nothing is damaged in the library."""
        return self.complete and not self.recovered and not self.recovered_texts


class GoodText(NamedTuple):
    """The text of an item in an earlier backup."""

    content: str
    hashes: Mapping[str, str | None]
    """Fields of the metadata that belong to it."""

    def with_hashes(self, metadata: Mapping[str, Any]) -> dict[str, Any]:
        """Return the metadata of the item, as it is stored, with the hashes of this text."""
        merged = {**metadata, **self.hashes}
        return {name: value for name, value in merged.items() if value is not None}


TEXT_COLUMNS: Final = tuple(field.name for field in fields(Item))
"""What must be known of an item to say whether its text is sound."""


def text_columns(stored_text: str) -> tuple[str, ...]:
    """Return how `TEXT_COLUMNS` are selected; `stored_text` is how the engine selects a text as it is stored."""
    return tuple(stored_text.format(name) if name == "content" else name for name in TEXT_COLUMNS)


@dataclass(frozen=True, slots=True)
class DamagedText:
    """An item whose text does not have its hash."""

    item: Item
    """As it is in the library, without the text."""
    digest: bytes
    """Of the text."""

    def good_copy(self, row: Mapping[str, Any]) -> GoodText | None:
        """Return the text of the same item in an earlier backup, if it is good and the same version.

        It is the same when it has the hash that the library recorded, or when it is the library's: then the hash is damaged.
        """
        content, own = read_text(row["content"]), self.item.metadata
        if content is None or not is_row_sound({**row, "content": content}):
            return None
        has_hash = own.text_hash is not None or (own.content_hash is not None and not own.edited)
        if has_hash and is_text_sound(replace(self.item, content=content)):
            return GoodText(content, {})
        if _digest(content) == self.digest:
            metadata = metadata_from_json(parse_json(row["metadata"]))
            return GoodText(content, {"text_hash": metadata.text_hash, "content_hash": metadata.content_hash})
        return None


def read_text(value: str | bytes | memoryview) -> str | None:
    """Return a text as a string; None when it is not UTF-8, which SQLite does not check."""
    if isinstance(value, str):
        return value
    try:
        return bytes(value).decode()
    except UnicodeDecodeError:
        return None


def find_damaged_texts(rows: Iterable[tuple[Any, ...]]) -> list[DamagedText]:
    """Return the items whose text is damaged, from rows of `TEXT_COLUMNS`."""
    items = (check_text(dict(zip(TEXT_COLUMNS, row, strict=True))) for row in rows)
    return [DamagedText(replace(item, content=""), _digest(item.content)) for item, is_sound in items if not is_sound]


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def check_text(values: Mapping[str, Any]) -> tuple[Item, bool]:
    """Return an item, and whether its text is sound; `StoreError` when its metadata cannot be read."""
    content, fields_ = read_text(values["content"]), {name: values[name] for name in TEXT_COLUMNS}
    try:
        metadata = metadata_from_json(parse_json(values["metadata"]))
    except (ValueError, TypeError, AttributeError) as error:
        raise StoreError(
            f"The library is damaged, so it was not backed up: the metadata of the item {values['id']} cannot be read.",
            suggestions=(
                "Run `pagekeep repair LIBRARY` to save what can be read.",
                "The earlier backup was not changed.",
            ),
        ) from error
    text = bytes(values["content"]).decode("utf-8", "replace") if content is None else content
    item = Item(**{**fields_, "content": text, "metadata": metadata})
    return item, content is not None and is_text_sound(item)


def refuse_worse(path: Path, texts: Sequence[DamagedText]) -> None:
    """Raise `StoreError` when the earlier backup has older texts that are good of items whose texts are damaged now."""
    if texts:
        first = texts[0].item
        raise StoreError(
            f"The text of {len(texts):,} items is damaged in the library, and the earlier backup has an older text that is "
            f"good, so {path} was not replaced. The first: {first.id} ({first.title:.60}).",
            suggestions=(
                f"`pagekeep reparse {first.id}` makes the text again from its raw page; `pagekeep verify` lists all.",
                "Or back up to another file.",
            ),
        )
