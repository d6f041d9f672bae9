"""The schema for editors says what the loader reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from pagekeep.rules.loading import read
from pagekeep.rules.schema import schema
from tests.rules.test_loading import rule

RULE = schema()["items"]


def parts(value: Any) -> Iterator[dict[str, Any]]:
    """Every schema in the schema."""
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from parts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from parts(inner)


def test_every_key_is_described() -> None:
    described = [key for part in parts(schema()) for key in part.get("properties", {}).values()]
    assert len(described) > 50
    assert all(key["description"].endswith(".") for key in described)


def test_no_object_takes_unknown_keys() -> None:
    objects = [part for part in parts(schema()) if part.get("type") == "object"]
    assert all(part["additionalProperties"] is False for part in objects)


@pytest.mark.parametrize("key", RULE["required"])
def test_what_the_schema_requires_the_loader_requires(key: str) -> None:
    assert f"The key `{key}` is missing." in [fault.message for fault in read(rule(**{key: "-"}), "x").faults]


@pytest.mark.parametrize(
    "action", RULE["properties"]["actions"]["items"]["oneOf"], ids=lambda part: part["properties"]["op"]["enum"][0]
)
def test_every_action_of_the_schema_is_read(action: dict[str, Any]) -> None:
    example = {"tag": "h2", "wrapper_tag": "div", "attrs": "style", "attr": "title", "method": "move_to_top"}
    (op,) = action["properties"]["op"]["enum"]
    keys = {name: example.get(name, "p") for name in action["required"] if name != "op"}
    written = ", ".join(f"{name}: {value}" for name, value in keys.items())
    assert read(rule(actions=f"[{{op: {op}, {written}}}]"), "x").faults == ()
