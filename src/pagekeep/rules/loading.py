"""Load rule files into typed rules, and write rules as YAML that loads as the same rules.

Every fault is reported, and a faulty rule does not affect the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, fields, replace
from pathlib import Path
from typing import Any, Final

import yaml

from pagekeep.model import RuleFault
from pagekeep.rules import hosts, schema
from pagekeep.rules.outline import Entries, Items, Outline, OutlineError, Value, outline
from pagekeep.rules.rule import Loaded, Rule, Source
from pagekeep.rules.value_types import Faults, is_null

MAX_RULES: Final = 5_000
"""Rules in one file; all shipped files together have under 200."""
_MAX_ID_CHARS: Final = 80


def read(data: bytes | str, name: str, *, shipped: bool = False) -> Loaded:
    """Read the rules in a file's content. Raises nothing: what is wrong is in the faults."""
    faults = Faults(name)
    try:
        tree = outline(data)
    except OutlineError as error:
        faults.add(error.line, "", error.message, error.suggestion)
        return Loaded((), tuple(faults.items))
    lines: dict[str, int] = {}
    rules = [
        replace(rule, source=Source(name, node.line, shipped))
        for index, node in enumerate(_entries(tree, faults))
        if (rule := _read_rule(node, f"[{index}]", faults, lines))
    ]
    return Loaded(tuple(rules), _sort_by_line(faults.items))


def _entries(tree: Outline | None, faults: Faults) -> list[Outline]:
    if tree is None or is_null(tree):
        return []
    if not isinstance(tree, Items):
        faults.add(tree.line, "", "A rule file must be a list of rules.", "Start each rule with `- id: `.")
        return []
    if len(tree.items) > MAX_RULES:
        faults.add(tree.line, "", f"The file has more than {MAX_RULES} rules; the rest were skipped.", "Split it.")
    return tree.items[:MAX_RULES]


def _read_rule(node: Outline, path: str, faults: Faults, lines: dict[str, int]) -> Rule | None:
    """Return the rule, or `None` when it has faults; `lines` remembers where each id was first used."""
    before = len(faults.items)
    faults.rule = _id_of(node)
    if faults.rule and lines.setdefault(faults.rule, node.line) != node.line:
        message = f"Duplicate id: line {lines[faults.rule]} already defines the rule `{faults.rule}`."
        faults.add(node.line, f"{path}.id", message, "Give it another id.")
    rule: Rule | None = schema.RULE.read(node, path, faults)
    if rule:
        _check_whole(rule, node, path, faults)
    faults.rule = ""
    return rule if len(faults.items) == before else None


def _id_of(node: Outline) -> str:
    pairs = node.pairs if isinstance(node, Entries) else []
    return next(
        (value.text[:_MAX_ID_CHARS] for key, value in pairs if key.text == "id" and isinstance(value, Value)), ""
    )


def _check_whole(rule: Rule, node: Outline, path: str, faults: Faults) -> None:
    """Check what depends on more than one key."""
    if not any(getattr(rule, name) for name in schema.EFFECTS):
        faults.add(node.line, path, "The rule does nothing.", f"Add one of: {', '.join(schema.EFFECTS)}.")
    for key in ("selector_overrides", "thread"):
        if getattr(rule, key) and rule.phase == "post":
            message = f"`{key}` takes effect before extraction only."
            faults.add(node.line, f"{path}.{key}", message, "Use `phase: pre` or `phase: both`.")
    for index, action in enumerate(rule.actions):
        if (action.position == "index") != (action.index is not None):
            here = f"{path}.actions[{index}]"
            faults.add(node.line, here, "`position: index` and `index` need each other.", "Set both or neither.")


def _sort_by_line(faults: Iterable[RuleFault]) -> tuple[RuleFault, ...]:
    return tuple(sorted(faults, key=lambda fault: (fault.file, fault.line)))


def _unique(rules: Iterable[Rule], faults: Iterable[RuleFault]) -> Loaded:
    """Return the rules of several files without those whose id an earlier file defines."""
    known: dict[str, Rule] = {}
    duplicates = []
    for rule in rules:
        first = known.setdefault(rule.id, rule)
        if first is not rule and first.source and rule.source:
            message = f"Duplicate id: {first.source.name}, line {first.source.line}, already defines `{rule.id}`."
            where = rule.source
            duplicates.append(RuleFault(where.name, where.line, "id", message, "Give it another id.", rule.id))
    return Loaded(tuple(known.values()), _sort_by_line([*faults, *duplicates]))


def read_files(paths: Iterable[Path], *, shipped: bool = False) -> Loaded:
    """Read the rules of several files; of two rules with one id the first counts."""
    rules: list[Rule] = []
    faults: list[RuleFault] = []
    for path in paths:
        try:
            loaded = read(path.read_bytes(), path.name, shipped=shipped)
        except OSError:
            faults.append(RuleFault(path.name, 1, "", "The file cannot be read.", "Check its permissions."))
            continue
        rules += loaded.rules
        faults += loaded.faults
    return _unique(rules, faults)


def check(loaded: Loaded) -> Loaded:
    """Return the rules that can match a page, and everything that is wrong with the others.

    A closer look than loading takes: also at rules that are well-formed but never match.
    """
    faults = [fault for rule in loaded.rules for fault in _check_domains(rule)]
    faulty = {fault.rule for fault in faults}
    good = tuple(rule for rule in loaded.rules if rule.id not in faulty)
    return Loaded(good, _sort_by_line((*loaded.faults, *faults)))


def _check_domains(rule: Rule) -> Iterator[RuleFault]:
    """Find domains that cannot be registered. Not part of loading: the public suffix list takes 50 ms to read."""
    where = rule.source
    for domain in rule.trigger.host.etld_plus_one if rule.trigger.host and where else ():
        registered = hosts.registrable(domain)
        if where and registered != domain:
            suggestion = f"Did you mean `{registered}`?" if registered else "Use a domain below it, or `ends_with`."
            message = f"`{domain}` is not a registered domain, so the rule never matches."
            yield RuleFault(where.name, where.line, "trigger.host.etld_plus_one", message, suggestion, rule.id)


_DUMPER: Final[Any] = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_MAX_LINE: Final = 110
"""Where YAML folds a long line: as wide as the shipped rule files."""
_KEYS: Final = {"class_": "class"}
_OMITTED: Final = frozenset({"source"})
_FIRST: Final = ("id", "phase", "priority", "trigger")


def dump_rules(rules: Iterable[Rule]) -> str:
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
