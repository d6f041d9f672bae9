"""The result of an import, and building checked rules from plain data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import yaml

from pagekeep.rules import selectors
from pagekeep.rules.loading import read
from pagekeep.rules.rule import Loaded, Rule

_ACTION: Final = re.compile(r"\[0\]\.actions\[(\d{1,6})\]")


class LeftOut(NamedTuple):
    """Something that could not be imported."""

    file: str
    line: int
    """0 if the format has no lines."""
    what: str
    why: str

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        return f"{where}: {self.what}: {self.why}"


class Imported(NamedTuple):
    """The imported rules, all valid, and everything that was left out."""

    rules: tuple[Rule, ...]
    left_out: tuple[LeftOut, ...]

    @classmethod
    def merge(cls, parts: Iterable[Imported]) -> Imported:
        """Merge several imports; of two rules with one id the first counts."""
        rules: dict[str, Rule] = {}
        left_out: list[LeftOut] = []
        for part in parts:
            left_out += part.left_out
            for rule in part.rules:
                if rules.setdefault(rule.id, rule) is not rule and rule.source:
                    left_out.append(LeftOut(rule.source.name, 0, rule.id, "another rule already has this id"))
        return cls(tuple(rules.values()), tuple(left_out))


def make_rule(data: Mapping[str, Any], file: str) -> Imported:
    """Build a rule from data with the loader of rule files; an invalid action is left out."""
    loaded = _read(data, file)
    faults = [
        LeftOut(file, 0, fault.path.partition(".")[2] or str(data.get("id")), fault.message) for fault in loaded.faults
    ]
    invalid = {int(match[1]) for fault in loaded.faults if (match := _ACTION.match(fault.path))}
    if invalid:
        actions = [action for number, action in enumerate(data["actions"]) if number not in invalid]
        rest = {name: value for name, value in data.items() if name != "actions"}
        loaded = _read({**rest, "actions": actions} if actions else rest, file)
    return Imported(loaded.rules, tuple(faults))


def _read(data: Mapping[str, Any], file: str) -> Loaded:
    return read(yaml.safe_dump([dict(data)], allow_unicode=True, sort_keys=False), file)


def selector_fault(selector: str) -> str:
    """Return what is wrong with a selector; empty when it is valid."""
    try:
        selectors.check(selector)
    except selectors.SelectorFault as fault:
        return str(fault)
    return ""
