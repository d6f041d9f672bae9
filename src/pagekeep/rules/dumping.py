"""Rules written as YAML that loads as the same rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from typing import Any, Final

import yaml

from pagekeep.rules.rule import Rule

_DUMPER: Final[Any] = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_NAMES: Final = {"class_": "class"}
_LEFT_OUT: Final = frozenset({"source"})
_ALWAYS: Final = ("id", "phase", "priority", "trigger")


def dump(rules: Iterable[Rule]) -> str:
    """A file of these rules. Keys that say what holds anyway are left out."""
    plain = [rule_data(rule) for rule in rules]
    if not plain:
        return "[]\n"
    return str(
        yaml.dump(plain, Dumper=_DUMPER, sort_keys=False, allow_unicode=True, width=110, default_flow_style=False)
    )


def rule_data(rule: Rule) -> dict[str, Any]:
    """The rule as plain data, as it would stand in a file: also its JSON."""
    data = _plain(rule)
    first = {name: data[name] for name in _ALWAYS if name in data}
    return {**first, **data}


def _plain(value: Any) -> Any:
    if hasattr(value, "__dataclass_fields__"):
        return {
            _NAMES.get(field.name, field.name): _plain(getattr(value, field.name))
            for field in fields(value)
            if field.name not in _LEFT_OUT and not _holds_anyway(field, getattr(value, field.name))
        }
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, tuple):
        return _plain(value[0]) if len(value) == 1 and isinstance(value[0], str) else [_plain(item) for item in value]
    return value


def _holds_anyway(field: Any, value: Any) -> bool:
    if field.default is not MISSING:
        return bool(value == field.default)
    return field.default_factory is not MISSING and not value
