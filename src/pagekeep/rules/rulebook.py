"""The rules in force: find those that match a page, by host, address and names on the page."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import repeat
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

from pagekeep import dom
from pagekeep.model import RuleFault
from pagekeep.rules import hosts
from pagekeep.rules.hosts import Host
from pagekeep.rules.rule import DomTrigger, HostTrigger, Rendering, Rule
from pagekeep.text import compile_lazily
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

_FEW_NAMES: Final = 3
"""Classes and ids that a page is searched for one by one: collecting all its names takes as long as three searches."""
_INVISIBLE: Final = "script, style, template, noscript"
_HOST_WORDS: Final = {
    "equals": "host is {}",
    "equals_www": "host is exactly {}",
    "ends_with": "host ends with {}",
    "etld_plus_one": "registered domain is {}",
}


class Index:
    """The rules of one phase, indexed by host or, without one, by what the page must contain."""

    def __init__(self, rules: Mapping[int, Rule], numbers: Iterable[int] = ()) -> None:
        self._rules = rules
        """All rules by their place in the order they run; the index has those with the numbers."""
        self._by_host: dict[tuple[str, str], list[int]] = {}
        self._by_class: dict[str, list[int]] = {}
        self._by_id: dict[str, list[int]] = {}
        self._by_class_part: dict[str, list[int]] = {}
        self._by_tagged: dict[str, list[int]] = {}
        self._by_other: dict[str, list[int]] = {}
        self._by_text: list[int] = []
        for number in numbers:
            trigger = rules[number].trigger
            if trigger.host:
                self._add_host(number, trigger.host)
            if trigger.dom and (trigger.host is None or trigger.mode == "any"):
                self._add_dom(number, trigger.dom)

    @classmethod
    def from_tables(cls, rules: Mapping[int, Rule], tables: Mapping[str, Any]) -> Index:
        """Return an index without building it, from what `tables` returned for the same rules."""
        index = cls(rules)
        vars(index).update(tables)
        return index

    def tables(self) -> dict[str, Any]:
        """Return the index without its rules, as plain data."""
        return {name: table for name, table in vars(self).items() if name != "_rules"}

    def match(self, host: Host | None, root: dom.Node, names: Names) -> list[tuple[Rule, str]]:
        """Return the rules that apply to the page, in order, each with what triggered it. `names` are the root's names."""
        number_of_names = len(self._by_class) + len(self._by_id) + len(self._by_class_part)
        page = _Page(root, names, is_searched=number_of_names <= _FEW_NAMES)
        by_host = self._match_host(host)
        matches = []
        for number in sorted({*by_host, *self._candidates(page)}):
            if reason := self._reason(number, by_host.get(number), page):
                matches.append((self._rules[number], reason))
        return matches

    def by_host_alone(self, host: Host | None) -> list[Rule]:
        """Return the rules that apply to every page of the host."""
        numbers = sorted(self._match_host(host))
        rules = [self._rules[number] for number in numbers]
        return [rule for rule in rules if rule.trigger.dom is None or rule.trigger.mode == "any"]

    def _add_host(self, number: int, trigger: HostTrigger) -> None:
        for form in _HOST_WORDS:
            for value in getattr(trigger, form):
                key = hosts.without_www(value) if form == "equals" else value
                self._by_host.setdefault((form, key), []).append(number)

    def _add_dom(self, number: int, trigger: DomTrigger) -> None:
        """Index the rule by its most selective condition: one selector of `all`, or every selector of `any`."""
        conditions = [(selector,) for selector in trigger.all] + ([trigger.any] if trigger.any else [])
        if conditions:
            for selector in max(conditions, key=_least_selectivity):
                self._add_selector(number, selector)
        else:
            self._by_text.append(number)

    def _add_selector(self, number: int, selector: str) -> None:
        places = {"class": self._by_class, "id": self._by_id, "class_part": self._by_class_part}
        selector_needs = needs(selector)
        if all(need.place in places for need in selector_needs):
            for need in selector_needs:
                places[need.place].setdefault(need.token, []).append(number)
        elif all(need.place == "tag" for need in selector_needs):
            self._by_tagged.setdefault(selector, []).append(number)
        else:
            self._by_other.setdefault(selector, []).append(number)

    def _match_host(self, host: Host | None) -> dict[int, str]:
        """Return the numbers of the rules that name the host, each with the most exact form that matched."""
        reasons: dict[int, str] = {}
        for form, value in _forms(host) if host and self._by_host else ():
            for number in self._by_host.get((form, value), ()):
                if form != "etld_plus_one" or (host and hosts.registrable(host.name) == value):
                    reasons.setdefault(number, _HOST_WORDS[form].format(value))
        return reasons

    def _candidates(self, page: _Page) -> set[int]:
        """Return the numbers of the rules whose DOM trigger may match the page."""
        numbers: set[int] = set(self._by_text)
        if page.is_searched:
            numbers.update(*self._by_class.values(), *self._by_id.values(), *self._by_class_part.values())
            return numbers.union(self._candidates_by_selector(page))
        if self._by_class:
            for token in self._by_class.keys() & page.names.classes:
                numbers.update(self._by_class[token])
        for part, owners in self._by_class_part.items():
            if part in page.names.lines:
                numbers.update(owners)
        if self._by_id:
            for token in self._by_id.keys() & page.names.ids:
                numbers.update(self._by_id[token])
        return numbers.union(self._candidates_by_selector(page))

    def _candidates_by_selector(self, page: _Page) -> set[int]:
        """Return the numbers of the rules that only a search of the page can rule out, and does not."""
        numbers: set[int] = set()
        for selector, owners in self._by_tagged.items():
            if page.finds(selector):
                numbers.update(owners)
        others = {
            selector: owners
            for selector, owners in self._by_other.items()
            if page.is_searched or page.names.may_match(selector)
        }
        if others:
            numbers.update(page.owners_of_found(others))
        return numbers

    def _reason(self, number: int, host: str | None, page: _Page) -> str:
        """Return what triggered the rule, for people; empty when it does not apply."""
        trigger = self._rules[number].trigger
        if trigger.host and trigger.dom:
            both = trigger.mode == "all"
            if host is None and both:
                return ""
            reason = page.match_trigger(trigger.dom)
            if both:
                return f"{host}, {reason}" if reason else ""
            return host or reason
        return page.match_trigger(trigger.dom) if trigger.dom else host or ""


def _least_selectivity(selectors: Iterable[str]) -> int:
    return min(selectivity(need) for selector in selectors for need in needs(selector))


def _forms(host: Host) -> Iterable[tuple[str, str]]:
    yield "equals", host.bare
    yield "equals_www", host.name
    for suffix in host.suffixes:
        yield "ends_with", suffix
    for suffix in host.suffixes:
        yield "etld_plus_one", suffix


class _Page:
    """Answers questions about one page, and remembers the answers."""

    def __init__(self, root: dom.Node, names: Names, *, is_searched: bool = False) -> None:
        self.root = root
        self.names = names
        self.is_searched = is_searched
        """Whether selectors are run without looking for their names first, because there are few."""
        self._text: str | None = None
        self._found: dict[str, bool] = {}

    def finds(self, selector: str) -> bool:
        known = self._found.get(selector)
        if known is None:
            known = self.is_searched or self.names.may_match(selector)
            known = known and dom.first(self.root, selector) is not None
            self._found[selector] = known
        return known

    def owners_of_found(self, owners: Mapping[str, list[int]]) -> list[int]:
        """Return the owners of the selectors that match; one query for all of them usually finds nothing."""
        numbers: list[int] = []
        left = list(owners)
        while left and (node := dom.first(self.root, ", ".join(left))):
            matching = [selector for selector in left if dom.matches(node, selector)]
            if not matching:
                return [number for selector in left for number in owners[selector]]  # each is tested by itself later
            for selector in matching:
                self._found[selector] = True
                numbers += owners[selector]
            left = [selector for selector in left if selector not in matching]
        return numbers

    def match_trigger(self, trigger: DomTrigger) -> str:
        """Return what the page contains of the trigger, for people; empty when it does not match."""
        reasons: list[str] = []
        if trigger.any:
            first = next((selector for selector in trigger.any if self.finds(selector)), None)
            if first is None:
                return ""
            reasons.append(f"found {first}")
        if trigger.all:
            if not all(self.finds(selector) for selector in trigger.all):
                return ""
            reasons.append(f"found {' and '.join(trigger.all)}")
        if trigger.any_text_contains:
            text = next((text for text in trigger.any_text_contains if self._contains(text)), None)
            if text is None:
                return ""
            reasons.append(f"text contains {text}")
        return ", ".join(reasons)

    def _contains(self, text: str) -> bool:
        """Return whether the visible text contains it, ignoring case; searching all text first is cheap."""
        if self._text is None:
            self._text = dom.text_of(self.root).casefold()
        folded = text.casefold()
        return folded in self._text and folded in self._visible_text().casefold()

    def _visible_text(self) -> str:
        hidden = set(dom.select(self.root, _INVISIBLE))
        pieces: list[str] = []
        pending: list[dom.Node] = [self.root]
        while pending:
            node = pending.pop()
            if isinstance(node, dom.Text):
                pieces.append(node.data)
            elif node not in hidden:
                pending.extend(reversed(node.children))
        return "".join(pieces)


Place = Literal["class", "id", "class_part", "rare", "tag", "any"]


class Need(NamedTuple):
    """A token and where it must occur. `tag` and `any` cannot be looked up: the selector has to be run.

    For `rare` the token is one of `RARE`, and where it occurs follows from its form.
    """

    place: Place
    token: str


ANY: Final = Need("any", "")
RARE: Final = ("[data-testid]", "relative-time", "faceplate-timeago", "model-response", "share-viewer")
"""Attributes and custom elements that rules and metadata look for. The library has no index of them, so that each would be
a search of the whole page; here all are found by one, together with the ids."""
_SELECTIVITY: Final[dict[Place, int]] = {"class": 5, "id": 4, "class_part": 3, "rare": 2, "tag": 1, "any": 0}

_NAME: Final = r"-?[A-Za-z_][A-Za-z0-9_-]*|--[A-Za-z0-9_-]+"
_PIECE: Final = compile_lazily(
    rf"""
      (?P<class>\.(?:{_NAME}))
    | (?P<id>\#(?:{_NAME}))
    | (?P<attribute>\[\s*class\s*[~|^$*]?=\s*(?:"(?P<double>[^"\\\]]+)"|'(?P<single>[^'\\\]]+)'|(?P<bare>{_NAME}))\s*[is]?\s*\])
    | (?P<other_attribute>\[\s*(?P<attribute_name>[A-Za-z-]*+)[^\]\\"']*+(?:(?:"[^"\\]*+"|'[^'\\]*+')[^\]\\"']*+)?\])
    | (?P<nested>:[a-z-]+\()
    | (?P<pseudo>:[a-z-]+)
    | (?P<tag>{_NAME})
    | (?P<comma>\s*,\s*)
    | (?P<between>[\s>+~]+|\*)
    """,
    re.VERBOSE,
)
_BRACKETS: Final = compile_lazily(r"""[()]|"[^"\\]*"|'[^'\\]*'|[^()"'\\]+""")
_CACHED_SELECTORS: Final = 8_192
"""The shipped rules have 2,400 selectors, and users add some."""


def needs(selector: str) -> tuple[Need, ...]:
    """Return one need for each selector of the list: where no need is met, the selector matches nothing."""
    return tuple(max(options, key=selectivity, default=ANY) for options in all_needs(selector))


@lru_cache(maxsize=_CACHED_SELECTORS)
def all_needs(selector: str) -> tuple[tuple[Need, ...], ...]:
    """Return all needs of each selector of the list: where one is not met, that selector matches nothing."""
    alternatives: list[list[Need]] = [[]]
    position = 0
    while position < len(selector):
        piece = _PIECE.match(selector, position)
        if piece is None:
            return ((),)  # an escape or a namespace: too rare to parse
        position = piece.end()
        if piece.lastgroup == "comma":
            alternatives.append([])
        elif piece.lastgroup == "nested":
            position = _skip_bracket(selector, position)
            if position < 0:
                return ((),)
        elif need := _need(piece):
            alternatives[-1].append(need)
    return tuple(map(tuple, alternatives))


def _need(piece: re.Match[str]) -> Need | None:
    if piece.lastgroup == "class":
        return Need("class", piece[0][1:].lower())
    if piece.lastgroup == "id":
        return Need("id", piece[0][1:].lower())
    if piece.lastgroup == "attribute":
        words = (piece["double"] or piece["single"] or piece["bare"]).lower().split()
        return Need("class_part", max(words, key=len)) if words else None
    if piece.lastgroup == "tag" and "-" not in piece[0]:
        return Need("tag", piece[0].lower())
    token = piece[0] if piece.lastgroup == "tag" else f"[{piece['attribute_name']}]"
    return Need("rare", token) if token in RARE else None


def selectivity(need: Need) -> int:
    """Return a rank: the higher, the fewer pages meet the need."""
    return _SELECTIVITY[need.place]


def _skip_bracket(selector: str, position: int) -> int:
    """Return the position after the bracket that was opened before `position`; -1 when it cannot be parsed."""
    depth = 1
    while position < len(selector):
        piece = _BRACKETS.match(selector, position)
        if piece is None:
            return -1
        position = piece.end()
        depth += {"(": 1, ")": -1}.get(piece[0], 0)
        if depth == 0:
            return position
    return -1


class Names:
    """The class and id names of a tree and of the elements around it, in lower case, each collected on first use."""

    def __init__(self, root: dom.Node) -> None:
        self._root = root

    @cached_property
    def classes(self) -> frozenset[str]:
        """Return every class."""
        return frozenset(self.lines.split())

    @cached_property
    def ids(self) -> frozenset[str]:
        """Return every id; one that contains a line break, which no selector here looks for, is split there."""
        values = {value for node in self._with_id_or_rare if (value := node.attr("id"))}
        return frozenset("\n".join(values).lower().split("\n"))

    @cached_property
    def rare(self) -> frozenset[str]:
        """Return which of `RARE` there are."""
        tags = {node.tag for node in self._with_id_or_rare}
        attributes = [token for token in RARE if token[0] == "[" and self._has_attribute(token[1:-1])]
        return frozenset([*tags.intersection(RARE), *attributes])

    @cached_property
    def _with_id_or_rare(self) -> list[dom.Element]:
        return [*dom.select(self._root, _ID_OR_RARE), *self._above()]

    @cached_property
    def lines(self) -> str:
        """Return all class attributes, one per line, for a fast search for parts of names."""
        return "\n".join(self._values("class")).lower()

    def _has_attribute(self, name: str) -> bool:
        return any(value is not None for value in map(dom.Element.attr, self._with_id_or_rare, repeat(name)))

    def may_match(self, selector: str) -> bool:
        """Return whether the tree has a name the selector needs; true when in doubt."""
        return any(all(map(self._meets, alternative)) for alternative in all_needs(selector))

    def _meets(self, need: Need) -> bool:
        if need.place == "class":
            return need.token in self.classes
        if need.place == "id":
            return need.token in self.ids
        if need.place == "class_part":
            return need.token in self.lines
        return need.place != "rare" or need.token in self.rare

    def _values(self, name: str) -> set[str]:
        nodes = [*dom.select(self._root, f"[{name}]"), *self._above()]
        values = set(map(dom.Element.attr, nodes, repeat(name)))
        return {value for value in values if value}

    def _above(self) -> list[dom.Element]:
        """Return the root and the elements around it, which selectors can refer to."""
        found: list[dom.Element] = []
        above: dom.Node | None = self._root
        while above is not None:
            if isinstance(above, dom.Element):
                found.append(above)
            above = above.parent
        return found


_ID_OR_RARE: Final = ", ".join(("[id]", *RARE))
