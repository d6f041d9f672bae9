"""Every field of an item's metadata is stored and read back as it was."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from pagekeep.model import ItemMetadata
from pagekeep.store.storable import TYPES, metadata_from_json, metadata_to_json

EXAMPLES: dict[type, Any] = {str: "article", bool: True, int: 7, list: ("tide", "clock")}


@pytest.mark.parametrize("name", [field.name for field in fields(ItemMetadata) if field.name != "extra"])
def test_a_field_survives_being_stored(name: str) -> None:
    value = (
        (1, 7)
        if name == "heading_pages"
        else EXAMPLES.get(TYPES[name], {"type": "FetchTimeout", "message": "Too slow."})
    )
    metadata = ItemMetadata(**{name: value})
    assert metadata_from_json(metadata_to_json(metadata)) == metadata


def test_unknown_keys_and_values_of_the_wrong_type_are_kept_as_they_are() -> None:
    stored = {"shelf": "kitchen", "word_count": "many", "score": True, "tags": []}
    assert metadata_to_json(metadata_from_json(stored)) == stored
