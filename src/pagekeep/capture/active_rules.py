"""The site rules in force for an owner, and how to tell two sets of them apart."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Final

from pagekeep.config import Settings, rules_folder
from pagekeep.errors import RuleError
from pagekeep.model import RuleFault
from pagekeep.rules import Rulebook, load
from pagekeep.rules.loading import Loaded, read

_State = tuple[tuple[str, int, int], ...]
_UNFIT: Final = re.compile(r"[^a-z0-9-]+")


def in_force(settings: Settings) -> Rulebook:
    """The shipped rules and the owner's own as they are now; read again only when a file of them has changed."""
    folder = rules_folder(settings)
    return _loaded(folder, _state(folder))


@lru_cache(maxsize=4)
def _loaded(folder: Path, _state: _State) -> Rulebook:
    return load(folder)


def _state(folder: Path) -> _State:
    """What tells whether a file was changed."""
    try:
        with os.scandir(folder) as entries:
            found = [(entry.name, entry.stat()) for entry in entries if entry.name.endswith(".yaml")]
    except OSError:
        return ()
    return tuple(sorted((name, known.st_mtime_ns, known.st_size) for name, known in found))


def written(yaml: str) -> Loaded:
    """The rules someone is writing, and what is wrong with them."""
    return read(yaml, "your rules")


def joined(rules: Rulebook, tried: Loaded) -> Rulebook:
    """The rules in force with those that are tried, which stand in for others of the same id."""
    replaced = {rule.id for rule in tried.rules}
    return Rulebook((*tried.rules, *(rule for rule in rules.rules if rule.id not in replaced)))


def without(rules: Rulebook, tried: Loaded) -> tuple[Rulebook, tuple[str, ...]]:
    """The rules less those that are tried just as they are, and the ids of these: no rule is compared with itself."""
    said = {rule.id: replace(rule, source=None) for rule in tried.rules}
    same = {rule.id for rule in rules.rules if rule.id in said and replace(rule, source=None) == said[rule.id]}
    left = Rulebook(tuple(rule for rule in rules.rules if rule.id not in same)) if same else rules
    return left, tuple(name for name in said if name in same)


def keep(settings: Settings, yaml: str) -> str:
    """Put rules among the owner's own, in a file named for the first of them, and tell its name.

    `RuleError` when anything is wrong with them, or one of them stands in another file of the owner's.
    """
    found = written(yaml)
    if found.faults or not found.rules:
        raise RuleError.of(
            found.faults or (RuleFault("your rules", 1, "", "There is no rule.", "Begin with `- id: `."),)
        )
    folder = rules_folder(settings)
    name = f"{_UNFIT.sub('-', found.rules[0].id.lower()).strip('-')[:80] or 'rule'}.yaml"
    _refuse_doubles(in_force(settings), found, name)
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f".{name}.{os.getpid()}.part"
    draft.write_text(yaml if yaml.endswith("\n") else f"{yaml}\n", encoding="utf-8")
    draft.replace(folder / name)
    return name


def _refuse_doubles(rules: Rulebook, new: Loaded, name: str) -> None:
    own = {rule.id: rule.source for rule in rules.rules if rule.source and not rule.source.shipped}
    said, step = "There is a rule of this id already.", "Give it another id."
    faults = tuple(
        RuleFault("your rules", rule.source.line if rule.source else 1, "id", said, step, rule.id)
        for rule in new.rules
        if (there := own.get(rule.id)) and there.name != name
    )
    if faults:
        raise RuleError.of(faults)


@lru_cache(maxsize=8)
def fingerprint(rules: Rulebook) -> str:
    """Changes when any rule says something else, so that pages read by other rules can be found.

    It is of all rules and not of those that matched: whether a new rule matches a page is known only by reading it.
    """
    said = "\n".join(repr(replace(rule, source=None)) for rule in rules.rules)  # where it is written says nothing
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:16]
