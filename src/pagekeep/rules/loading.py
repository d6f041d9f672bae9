"""Files of rules read into typed rules; every fault of a file is told, and no fault takes other rules along."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from pagekeep.errors import RuleError
from pagekeep.model import RuleFault
from pagekeep.rules import table
from pagekeep.rules.kinds import Faults, is_null
from pagekeep.rules.outline import Entries, Items, Outline, OutlineError, Value, outline
from pagekeep.rules.rule import Rule, Source
from pagekeep.rules.rulebook import Rulebook

MAX_RULES = 5_000


class Loaded(NamedTuple):
    """The good rules of a file, in its order, and what was wrong with the others."""

    rules: tuple[Rule, ...]
    faults: tuple[RuleFault, ...]


def read(data: bytes | str, name: str, *, shipped: bool = False) -> Loaded:
    """The rules of a file's content. Raises nothing: what is wrong is in the faults."""
    faults = Faults(name)
    try:
        tree = outline(data)
    except OutlineError as error:
        faults.add(error.line, "", error.message, error.suggestion)
        return Loaded((), tuple(faults.found))
    lines: dict[str, int] = {}
    rules = [
        replace(made, source=Source(name, node.line, shipped))
        for index, node in enumerate(_entries(tree, faults))
        if (made := _rule(node, f"[{index}]", faults, lines))
    ]
    return Loaded(tuple(rules), _in_order(faults.found))


def _entries(tree: Outline | None, faults: Faults) -> list[Outline]:
    if tree is None or is_null(tree):
        return []
    if not isinstance(tree, Items):
        faults.add(tree.line, "", "A file of rules is a list.", "Begin each rule with `- id: `.")
        return []
    if len(tree.items) > MAX_RULES:
        faults.add(tree.line, "", f"The file has more than {MAX_RULES} rules; the rest was left out.")
    return tree.items[:MAX_RULES]


def _rule(node: Outline, path: str, faults: Faults, lines: dict[str, int]) -> Rule | None:
    """The rule, unless something is wrong with it. `lines` knows where each id was first seen, in good rules or bad."""
    before = len(faults.found)
    faults.rule = _id_of(node)
    if faults.rule and lines.setdefault(faults.rule, node.line) != node.line:
        said = f"There is a rule `{faults.rule}` already, in line {lines[faults.rule]}."
        faults.add(node.line, f"{path}.id", said, "Give it another id.")
    made: Rule | None = table.RULE.read(node, path, faults)
    if made:
        _check_whole(made, node, path, faults)
    faults.rule = ""
    return made if len(faults.found) == before else None


def _id_of(node: Outline) -> str:
    pairs = node.pairs if isinstance(node, Entries) else []
    return next((value.text[:80] for key, value in pairs if key.text == "id" and isinstance(value, Value)), "")


def _check_whole(made: Rule, node: Outline, path: str, faults: Faults) -> None:
    """What no key alone can tell."""
    if not any(getattr(made, name) for name in table.EFFECTS):
        faults.add(node.line, path, "The rule does nothing.", f"Give it one of: {', '.join(table.EFFECTS)}.")
    if made.selector_overrides and made.phase == "post":
        faults.add(
            node.line,
            f"{path}.selector_overrides",
            "The part to look at is chosen before the content is looked for.",
            "Write `phase: pre` or `phase: both`.",
        )
    for index, action in enumerate(made.actions):
        if (action.position == "index") != (action.index is not None):
            here = f"{path}.actions[{index}]"
            faults.add(node.line, here, "`position: index` and `index` go together.", "Give both, or neither.")


def _in_order(faults: Iterable[RuleFault]) -> tuple[RuleFault, ...]:
    return tuple(sorted(faults, key=lambda fault: (fault.file, fault.line)))


def _unique(rules: Iterable[Rule], faults: Iterable[RuleFault]) -> Loaded:
    """The rules of several files, without those whose id stood in a file before."""
    known: dict[str, Rule] = {}
    doubles = []
    for rule in rules:
        first = known.setdefault(rule.id, rule)
        if first is not rule and first.source and rule.source:
            said = f"There is a rule `{rule.id}` already: {first.source.name}, line {first.source.line}."
            where = rule.source
            doubles.append(RuleFault(where.name, where.line, "id", said, "Give it another id.", rule.id))
    return Loaded(tuple(known.values()), _in_order([*faults, *doubles]))


def read_files(paths: Iterable[Path], *, shipped: bool = False) -> Loaded:
    """The rules of several files; an id that stands in two of them counts once."""
    rules: list[Rule] = []
    faults: list[RuleFault] = []
    for path in paths:
        try:
            loaded = read(path.read_bytes(), path.name, shipped=shipped)
        except OSError:
            faults.append(RuleFault(path.name, 1, "", "The file cannot be read.", "Check who may read it."))
            continue
        rules += loaded.rules
        faults += loaded.faults
    return _unique(rules, faults)


@lru_cache(maxsize=1)
def shipped() -> Rulebook:
    """The rules that come with Pagekeep. A fault in one is ours, and raises `RuleError`."""
    sites = Path(__file__).with_name("sites")  # importlib.resources would take 8 ms to import
    found = read_files(sorted(sites.glob("*.yaml")), shipped=True)
    if found.faults:
        raise RuleError.of(found.faults)
    return Rulebook(found.rules)


def load(folder: Path) -> Rulebook:
    """The shipped rules and those in the folder's `*.yaml` files, which replace shipped ones of the same id.

    A folder that is not there holds no rules. What is wrong is in `Rulebook.faults`; the rules concerned are left out.
    """
    own = read_files(sorted(folder.glob("*.yaml")))
    if not own.rules and not own.faults:
        return shipped()
    replaced = {rule.id for rule in own.rules}
    kept = tuple(rule for rule in shipped().rules if rule.id not in replaced)
    return Rulebook((*own.rules, *kept), own.faults)
