"""All active rules, indexed so that matching a page that no rule applies to costs almost nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal

from pagekeep import dom
from pagekeep.model import RuleFault
from pagekeep.rules import hosts
from pagekeep.rules.index import Index
from pagekeep.rules.prefilter import Names
from pagekeep.rules.rule import Rendering, Rule
from pagekeep.values import dataclass


@dataclass(frozen=True, slots=True)
class Matched:
    """A rule that applies to the page, and what triggered it."""

    rule: Rule
    trigger: str
    """For people, such as `host ends with wsj.com` or `found .swiper-slide`."""


class Rulebook:
    """Rules in the order they run. Immutable: built once, used for every page."""

    def __init__(self, rules: tuple[Rule, ...] = (), faults: tuple[RuleFault, ...] = ()) -> None:
        ordered = dict(enumerate(sorted(rules, key=lambda rule: -rule.priority)))
        self.faults = faults
        """What is wrong with the rules that were left out."""
        self._rules: Mapping[int, Rule] = ordered
        self._count = len(ordered)
        self._indexes = {
            phase: Index(ordered, [number for number, rule in ordered.items() if rule.phase in (phase, "both")])
            for phase in PHASES
        }
        self._renderings = Index(ordered, [number for number, rule in ordered.items() if rule.rendering])

    @classmethod
    def from_tables(cls, rules: Mapping[int, Rule], tables: Mapping[str, Any]) -> Rulebook:
        """Return a rulebook without reading its rules, from what `tables` returned for the same ones."""
        book = cls()
        book._rules, book._count = rules, tables["count"]
        book._indexes = {phase: Index.from_tables(rules, tables[phase]) for phase in PHASES}
        book._renderings = Index.from_tables(rules, tables["renderings"])
        return book

    def tables(self) -> dict[str, Any]:
        """Return the number of rules and their indexes as plain data."""
        indexes: dict[str, Any] = {phase: index.tables() for phase, index in self._indexes.items()}
        return {"count": self._count, "renderings": self._renderings.tables(), **indexes}

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """Return all rules in the order they run."""
        return tuple(self._rules[number] for number in range(self._count))

    def match(
        self,
        phase: Literal["pre", "post"],
        url: str | None,
        root: dom.Node,
        names: Names | None = None,
        platform: Collection[str] = (),
    ) -> tuple[Matched, ...]:
        """Return the rules of the phase that apply to the page, in the order they run; `root` is the raw or extracted tree.

        `platform` are the ids of rules that apply to the page in any case, because most pages of its site match them.
        """
        matches = self._indexes[phase].match(hosts.of_url(url), root, names or Names(root))
        matched = [Matched(rule, reason) for rule, reason in matches]
        return tuple(self._with_platform(phase, matched, platform) if platform else matched)

    def _with_platform(self, phase: str, matched: list[Matched], platform: Collection[str]) -> list[Matched]:
        known = {match.rule.id for match in matched}
        more = [
            Matched(rule, "most pages of the site match it")
            for rule in self.rules
            if rule.id in platform and rule.id not in known and rule.phase in (phase, "both")
        ]
        places = {rule.id: place for place, rule in enumerate(self.rules)} if more else {}
        return sorted([*matched, *more], key=lambda match: places[match.rule.id]) if more else matched

    def rendering(self, url: str) -> Rendering | None:
        """Return how to fetch the URL by the rules that match its host alone: `force` before `never` before `auto`."""
        renderings = [rule.rendering for rule in self._renderings.by_host_alone(hosts.of_url(url)) if rule.rendering]
        return max(renderings, key=lambda rendering: _PRECEDENCE[rendering.mode], default=None)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the rules without their index, which the worker process builds again."""
        return _rebuild, ([_picklable(rule) for rule in self.rules], self.faults)

    def without(self, rule_id: str) -> Rulebook:
        """Return the rulebook without one rule, to measure its effect."""
        return Rulebook(tuple(rule for rule in self.rules if rule.id != rule_id))


def _picklable(rule: Rule) -> Rule:
    return replace(rule, metadata=dict(rule.metadata))  # a mapping proxy cannot be pickled


def _rebuild(rules: list[Rule], faults: tuple[RuleFault, ...]) -> Rulebook:
    frozen = (replace(rule, metadata=MappingProxyType(rule.metadata)) for rule in rules)
    return Rulebook(tuple(frozen), faults)


PHASES: tuple[Literal["pre", "post"], ...] = ("pre", "post")
_PRECEDENCE = {"auto": 0, "never": 1, "force": 2}
