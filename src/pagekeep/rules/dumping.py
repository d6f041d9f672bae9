"""Write rules as YAML that loads as the same rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from typing import Any, Final

import yaml

from pagekeep.rules.rule import Rule

_DUMPER: Final[Any] = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_MAX_LINE: Final = 110
"""Where YAML folds a long line: as wide as the shipped rule files."""
_KEYS: Final = {"class_": "class"}
_OMITTED: Final = frozenset({"source"})
_FIRST: Final = ("id", "phase", "priority", "trigger")


def dump(rules: Iterable[Rule]) -> str:
    """Return a rule file with these rules, without keys that have their default value."""
    data = [rule_data(rule) for rule in rules]
    if not data:
        return "[]\n"
    return str(
        yaml.dump(data, Dumper=_DUMPER, sort_keys=False, allow_unicode=True, width=_MAX_LINE, default_flow_style=False)
    )


def rule_data(rule: Rule) -> dict[str, Any]:
    """Return the rule as plain data, as in a rule file and in JSON."""
    data = _plain(rule)
    first = {name: data[name] for name in _FIRST if name in data}
    return {**first, **data}


def _plain(value: Any) -> Any:
    if hasattr(value, "__dataclass_fields__"):
        return {
            _KEYS.get(field.name, field.name): _plain(getattr(value, field.name))
            for field in fields(value)
            if field.name not in _OMITTED and not _is_default(field, getattr(value, field.name))
        }
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, tuple):
        return _plain(value[0]) if len(value) == 1 and isinstance(value[0], str) else [_plain(item) for item in value]
    return value


def _is_default(field: Any, value: Any) -> bool:
    if field.default is not MISSING:
        return bool(value == field.default)
    return field.default_factory is not MISSING and not value
