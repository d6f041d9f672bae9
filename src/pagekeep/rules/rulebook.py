"""All rules that are in force, indexed so that a page which none of them is for costs next to nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

from pagekeep import dom
from pagekeep.model import RuleFault
from pagekeep.rules import hosts
from pagekeep.rules.index import Index
from pagekeep.rules.names import Names
from pagekeep.rules.rule import Rendering, Rule


@dataclass(frozen=True, slots=True)
class Matched:
    """A rule that is for the page, and what set it off."""

    rule: Rule
    trigger: str
    """In plain words: `host ends with wsj.com`, `found .swiper-slide`."""


class Rulebook:
    """Rules in the order they run. Immutable; made once, asked for every page."""

    def __init__(self, rules: tuple[Rule, ...] = (), faults: tuple[RuleFault, ...] = ()) -> None:
        self.rules = tuple(sorted(rules, key=lambda rule: -rule.priority))
        self.faults = faults
        """What was wrong with rules that were left out; doors show it."""
        self._indexes = {
            phase: Index([rule for rule in self.rules if rule.phase in (phase, "both")]) for phase in PHASES
        }
        self._renderings = Index([rule for rule in self.rules if rule.rendering])

    def match(
        self, phase: Literal["pre", "post"], url: str | None, root: dom.Node, names: Names | None = None
    ) -> tuple[Matched, ...]:
        """Rules of the phase that are for this page, in the order they run. `root` is the raw or the extracted tree."""
        found = self._indexes[phase].match(hosts.of_url(url), root, names or Names(root))
        return tuple(Matched(rule, why) for rule, why in found)

    def rendering(self, url: str) -> Rendering | None:
        """What rules that match by host alone say about fetching: `force` wins over `never` over `auto`."""
        said = [rule.rendering for rule in self._renderings.by_host_alone(hosts.of_url(url)) if rule.rendering]
        return max(said, key=lambda rendering: _STRENGTH[rendering.mode], default=None)

    def __reduce__(self) -> tuple[object, ...]:
        """Rulebooks travel to processes that read pages; the index is made anew there."""
        return _made_again, ([_plain(rule) for rule in self.rules], self.faults)

    def without(self, rule_id: str) -> Rulebook:
        """The same rules but one, to measure what it is worth."""
        return Rulebook(tuple(rule for rule in self.rules if rule.id != rule_id))


def _plain(rule: Rule) -> Rule:
    return replace(rule, metadata=dict(rule.metadata))  # a mapping proxy cannot be pickled


def _made_again(rules: list[Rule], faults: tuple[RuleFault, ...]) -> Rulebook:
    frozen = (replace(rule, metadata=MappingProxyType(rule.metadata)) for rule in rules)
    return Rulebook(tuple(frozen), faults)


PHASES: tuple[Literal["pre", "post"], ...] = ("pre", "post")
_STRENGTH = {"auto": 0, "never": 1, "force": 2}
