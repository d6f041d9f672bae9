"""Numbers in place of ids, for programs that know only numbers of 32 bits: of items, annotations and tags."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from pagekeep.errors import NotFound
from pagekeep.model import Annotation, Item
from pagekeep.store import Store
from pagekeep.store.search.filters import tag_key

_31_BITS: Final = 0x7FFF_FFFF
_HALF: Final = 0x8000_0000
_REST_OF_ID: Final = "-0000-0000-0000-000000000000", "-ffff-ffff-ffff-ffffffffffff"


def number_items(store: Store, items: Iterable[Item]) -> dict[str, int]:
    """Return the numbers of items, by their ids. They stay the same in a restored library."""
    return store.numbers([item.id for item in items])


def get_numbered(store: Store, number: int) -> Item:
    """Return the item with this number; `NotFound` when there is none, or it is deleted."""
    item_id = store.numbered([number]).get(number)
    item = store.get(item_id) if item_id is not None else None
    if item is None or item.deleted_at is not None:
        raise NotFound(f"There is no item with the number {number}.")
    return item


def find_hashed(store: Store, hashes: Sequence[str]) -> dict[str, int]:
    """Return the numbers of the items whose address, normalised or as entered, has one of these SHA-1 hashes."""
    wanted = {value.lower() for value in hashes}
    found: dict[str, str] = {}
    for item_id, *urls in store.addresses():
        for url in urls:
            value = hash_address(url)
            if value in wanted:
                found[value] = item_id
    numbers = store.numbers(list(found.values()))
    return {value: numbers[item_id] for value, item_id in found.items() if item_id in numbers}


def hash_address(url: str) -> str:
    """Return the SHA-1 hash by which some programs look an address up."""
    return hashlib.sha1(url.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()


def annotation_number(annotation: Annotation) -> int:
    """Return the number of an annotation: the first 31 bits of its id that are not the first one."""
    return int(annotation.id[:8], 16) & _31_BITS


def get_numbered_annotation(store: Store, number: int) -> Annotation:
    """Return the annotation with this number; `NotFound` unless there is exactly one."""
    found: list[Annotation] = []
    for begin in (number, number | _HALF) if 0 <= number <= _31_BITS else ():
        low, high = (f"{begin:08x}{rest}" for rest in _REST_OF_ID)
        found += store.annotations_between(low, high)
    if len(found) != 1:
        raise NotFound(f"There is no annotation with the number {number}.")
    return found[0]


def annotations_of(store: Store, items: Iterable[Item]) -> Mapping[str, tuple[Annotation, ...]]:
    """Return the annotations of several items by the item's id, oldest first."""
    return store.annotations_of([item.id for item in items])


def tag_number(tag: str) -> int:
    """Return the number of a tag, the same for every spelling of it."""
    return int(hashlib.sha256(tag_key(tag).encode()).hexdigest()[:8], 16) & _31_BITS


def same_tag(one: str, other: str) -> bool:
    """Return whether two spellings are the same tag."""
    return tag_key(one) == tag_key(other)
