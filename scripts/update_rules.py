"""Write the reference in docs/rules.md from the schema; with `--check`, write nothing and fail when out of date."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from pagekeep.rules import schema
from pagekeep.rules.value_types import (
    Choice,
    Group,
    HostName,
    Key,
    ListOf,
    Nullable,
    OneOrMore,
    Selector,
    Share,
    Switch,
    Text,
    ValueType,
    Whole,
)

PAGE = Path(__file__).resolve().parent.parent / "docs" / "rules.md"
BEGIN, END = "<!-- reference: begin, by scripts/update_rules.py -->", "<!-- reference: end -->"
HEAD = "| key | takes | |\n|---|---|---|\n"


def reference() -> str:
    sections = [HEAD + "\n".join(_rows(schema.RULE, "")), "\n### Actions\n", HEAD + "\n".join(_actions())]
    return "\n".join(sections) + "\n"


def _rows(group: Group, path: str) -> Iterator[str]:
    for key in group.keys:
        yield _row(f"{path}{key.name}", key)
        inner = key.type
        if isinstance(inner, Group) and inner is not schema.METADATA:
            yield from _rows(inner, f"{path}{key.name}.")


def _row(name: str, key: Key) -> str:
    default = f" Default `{str(key.default).lower()}`." if key.default is not None else ""
    must = " **Required.**" if key.required else ""
    return f"| `{name}` | {_takes(key.type)} | {key.help}{default}{must} |"


def _actions() -> Iterator[str]:
    for op, group in schema.ACTION.cases.items():
        keys = [f"`{key.name}`" + ("" if key.required else "?") for key in group.keys if key.name != "op"]
        yield f"| `op: {op}` | {', '.join(keys)} | {group.keys[0].help} |"


def _takes(value_type: ValueType) -> str:
    match value_type:
        case Group() if value_type is schema.METADATA:
            names = ", ".join(f"`{key.name}`" for key in value_type.keys)
            return f"any of {names}, each `{{selector, attr?}}` or `none`"
        case Group():
            return "keys"
        case Choice():
            return " or ".join(f"`{word}`" for word in value_type.words)
        case OneOrMore():
            return f"{_takes(value_type.type)}, or a list"
        case ListOf():
            return "a list"
        case Nullable():
            return f"{_takes(value_type.type)} or `null`"
        case Whole():
            return f"{value_type.minimum} to {value_type.maximum}"
    words = {Selector: "a selector", HostName: "a host", Text: "a string", Share: "0 to 1", Switch: "`true` or `false`"}
    return words.get(type(value_type), "a name")


def page() -> str:
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    return f"{before}{BEGIN}\n{reference()}{END}{rest.partition(END)[2]}"


def main() -> int:
    if "--check" in sys.argv[1:]:
        return int(PAGE.read_text(encoding="utf-8") != page())
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
