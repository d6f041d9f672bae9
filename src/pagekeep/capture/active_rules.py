"""Load the active site rules (built-in and the owner's own), save rules, and combine them with a draft."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Final

from pagekeep.config import Settings, rules_folder
from pagekeep.errors import RuleError
from pagekeep.model import RuleFault
from pagekeep.private_files import make_folder, private
from pagekeep.rules import Rulebook, load
from pagekeep.rules.rule import Loaded
from pagekeep.text import compile_lazily
from pagekeep.values import dataclass

_FileStates = tuple[tuple[str, int, int], ...]
"""Name, modification time and size of each rule file."""
_NOT_IN_FILE_NAMES: Final = compile_lazily(r"[^a-z0-9-]+")
_MAX_NAME_CHARS: Final = 80


def load_active(settings: Settings) -> Rulebook:
    """Return the built-in rules and the owner's own; files are read again only when one has changed."""
    folder = rules_folder(settings)
    return _load(folder, _file_states(folder))


@lru_cache(maxsize=4)
def _load(folder: Path, _states: _FileStates) -> Rulebook:
    return load(folder)


def _file_states(folder: Path) -> _FileStates:
    """Return the states of the rule files, which differ when a file was changed."""
    try:
        with os.scandir(folder) as entries:
            files = [(entry.name, entry.stat()) for entry in entries if entry.name.endswith(".yaml")]
    except OSError:
        return ()
    return tuple(sorted((name, stat.st_mtime_ns, stat.st_size) for name, stat in files))


def parse_draft(yaml: str) -> Loaded:
    """Parse the rules that a user is writing, with their faults."""
    from pagekeep.rules.loading import read  # reading YAML is not needed to extract a page

    return read(yaml, "your rules")


@dataclass(frozen=True, slots=True)
class CheckTask:
    """Check a rule file that a caller sends."""

    yaml: str

    def run(self) -> Loaded:
        """Return the rules and their faults."""
        from pagekeep.rules.loading import check, read

        return check(read(self.yaml, "rules.yaml"))


def add_draft(rules: Rulebook, draft: Loaded) -> Rulebook:
    """Return the rules with those of a draft, which replace rules of the same id."""
    replaced = {rule.id for rule in draft.rules}
    return Rulebook((*draft.rules, *(rule for rule in rules.rules if rule.id not in replaced)))


def remove_draft(rules: Rulebook, draft: Loaded) -> tuple[Rulebook, tuple[str, ...]]:
    """Return the rules without those that are equal in a draft, and their ids: a rule is not compared with itself."""
    drafted = {rule.id: replace(rule, source=None) for rule in draft.rules}
    same = {rule.id for rule in rules.rules if rule.id in drafted and replace(rule, source=None) == drafted[rule.id]}
    others = Rulebook(tuple(rule for rule in rules.rules if rule.id not in same)) if same else rules
    return others, tuple(name for name in drafted if name in same)


def save_rules(settings: Settings, yaml: str) -> str:
    """Save rules among the owner's own, in a file named after the first rule, and return its name.

    Raises `RuleError` when a rule has a fault, or is in another file of the owner already.
    """
    draft = parse_draft(yaml)
    if draft.faults or not draft.rules:
        empty = RuleFault("your rules", 1, "", "The file has no rules.", "Begin with `- id: `.")
        raise RuleError.of(draft.faults or (empty,))
    folder = rules_folder(settings)
    stem = _NOT_IN_FILE_NAMES.sub("-", draft.rules[0].id.lower()).strip("-")[:_MAX_NAME_CHARS]
    name = f"{stem or 'rule'}.yaml"
    _refuse_duplicates(load_active(settings), draft, name)
    make_folder(folder)
    part = folder / f".{name}.{os.getpid()}.part"
    with open(part, "w", encoding="utf-8", opener=private) as file:
        file.write(yaml if yaml.endswith("\n") else f"{yaml}\n")
    part.replace(folder / name)
    return name


def _refuse_duplicates(rules: Rulebook, new: Loaded, name: str) -> None:
    own = {rule.id: rule.source for rule in rules.rules if rule.source and not rule.source.shipped}
    message, suggestion = "Another file has a rule with this id.", "Use another id."
    faults = tuple(
        RuleFault("your rules", rule.source.line if rule.source else 1, "id", message, suggestion, rule.id)
        for rule in new.rules
        if (existing := own.get(rule.id)) and existing.name != name
    )
    if faults:
        raise RuleError.of(faults)


@lru_cache(maxsize=8)
def fingerprint(rules: Rulebook) -> str:
    """Return a hash of the rules, by which pages that were extracted with other rules are found.

    It covers all rules, not only those that matched: whether a new rule matches a page is known only by extracting it.
    """
    import hashlib  # it loads OpenSSL

    text = "\n".join(repr(replace(rule, source=None)) for rule in rules.rules)  # the file of a rule does not matter
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
