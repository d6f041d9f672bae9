"""What an import brings, and the making of checked rules from plain data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import yaml

from pagekeep.rules import selectors
from pagekeep.rules.loading import Loaded, read
from pagekeep.rules.rule import Rule

_ACTION: Final = re.compile(r"\[0\]\.actions\[(\d{1,6})\]")


class LeftOut(NamedTuple):
    """Something that was not carried over."""

    file: str
    line: int
    """0 where the format has no lines."""
    what: str
    why: str

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        return f"{where}: {self.what}: {self.why}"


class Imported(NamedTuple):
    """The rules, each of them good, and everything that is not in them."""

    rules: tuple[Rule, ...]
    left_out: tuple[LeftOut, ...]

    @classmethod
    def together(cls, parts: Iterable[Imported]) -> Imported:
        """Several imports as one; of two rules with one id the first counts."""
        rules: dict[str, Rule] = {}
        left_out: list[LeftOut] = []
        for part in parts:
            left_out += part.left_out
            for rule in part.rules:
                if rules.setdefault(rule.id, rule) is not rule and rule.source:
                    left_out.append(LeftOut(rule.source.name, 0, rule.id, "there is a rule of this name already"))
        return cls(tuple(rules.values()), tuple(left_out))


def make_rule(data: Mapping[str, Any], file: str) -> Imported:
    """The rule that the data says, through the same reader as any file's; an action that is wrong is left out."""
    loaded = _read(data, file)
    faults = [
        LeftOut(file, 0, fault.path.partition(".")[2] or str(data.get("id")), fault.message) for fault in loaded.faults
    ]
    wrong = {int(found[1]) for fault in loaded.faults if (found := _ACTION.match(fault.path))}
    if wrong:
        actions = [action for number, action in enumerate(data["actions"]) if number not in wrong]
        rest = {name: value for name, value in data.items() if name != "actions"}
        loaded = _read({**rest, "actions": actions} if actions else rest, file)
    return Imported(loaded.rules, tuple(faults))


def _read(data: Mapping[str, Any], file: str) -> Loaded:
    return read(yaml.safe_dump([dict(data)], allow_unicode=True, sort_keys=False), file)


def selector_fault(selector: str) -> str:
    """What is wrong with a selector; empty when it is good."""
    try:
        selectors.check(selector)
    except selectors.SelectorFault as fault:
        return str(fault)
    return ""
