"""Which rules may be for a page, found by its host and its class and id tokens instead of asking every rule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from pagekeep import dom
from pagekeep.rules import hosts
from pagekeep.rules.hosts import Host
from pagekeep.rules.names import Names
from pagekeep.rules.needs import needs
from pagekeep.rules.rule import DomTrigger, HostTrigger, Rule

_UNREAD: Final = "script, style, template, noscript"
_HOST_WORDS: Final = {
    "equals": "host is {}",
    "equals_www": "host is exactly {}",
    "ends_with": "host ends with {}",
    "etld_plus_one": "registered domain is {}",
}


class Index:
    """Rules of one phase. Those tied to a host stand under it, the others under what the page must hold."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._rules = tuple(rules)
        self._by_host: dict[tuple[str, str], list[int]] = {}
        self._by_class: dict[str, list[int]] = {}
        self._by_id: dict[str, list[int]] = {}
        self._by_class_part: dict[str, list[int]] = {}
        self._by_tagged: dict[str, list[int]] = {}
        self._by_other: dict[str, list[int]] = {}
        self._by_text: list[int] = []
        for number, rule in enumerate(self._rules):
            trigger = rule.trigger
            if trigger.host:
                self._add_host(number, trigger.host)
            if trigger.dom and (trigger.host is None or trigger.mode == "any"):
                self._add_dom(number, trigger.dom)

    def match(self, host: Host | None, root: dom.Node, names: Names) -> list[tuple[Rule, str]]:
        """The rules that are for the page, in order, each with what set it off. `names` are those of the root."""
        if not self._rules:
            return []
        page = _Page(root, names)
        by_host = self._hosts(host)
        found = []
        for number in sorted({*by_host, *self._candidates(page)}):
            why = self._why(number, by_host.get(number), page)
            if why:
                found.append((self._rules[number], why))
        return found

    def by_host_alone(self, host: Host | None) -> list[Rule]:
        """The rules for which the host is enough."""
        numbers = sorted(self._hosts(host))
        rules = [self._rules[number] for number in numbers]
        return [rule for rule in rules if rule.trigger.dom is None or rule.trigger.mode == "any"]

    def _add_host(self, number: int, trigger: HostTrigger) -> None:
        for form in _HOST_WORDS:
            for value in getattr(trigger, form):
                key = hosts.without_www(value) if form == "equals" else value
                self._by_host.setdefault((form, key), []).append(number)

    def _add_dom(self, number: int, trigger: DomTrigger) -> None:
        """Under one selector that must match, or under each of those of which one must: whichever is rarer."""
        musts = [(selector,) for selector in trigger.all] + ([trigger.any] if trigger.any else [])
        if musts:
            for selector in max(musts, key=_sharpness):
                self._add_selector(number, selector)
        else:
            self._by_text.append(number)

    def _add_selector(self, number: int, selector: str) -> None:
        places = {"class": self._by_class, "id": self._by_id, "class_part": self._by_class_part}
        found = needs(selector)
        if all(need.place in places for need in found):
            for need in found:
                places[need.place].setdefault(need.token, []).append(number)
        elif all(need.place == "tag" for need in found):
            self._by_tagged.setdefault(selector, []).append(number)
        else:
            self._by_other.setdefault(selector, []).append(number)

    def _hosts(self, host: Host | None) -> dict[int, str]:
        """Numbers of the rules whose host form fits, with the form that did, the most exact first."""
        found: dict[int, str] = {}
        for form, value in _forms(host) if host and self._by_host else ():
            for number in self._by_host.get((form, value), ()):
                if form != "etld_plus_one" or (host and hosts.registrable(host.name) == value):
                    found.setdefault(number, _HOST_WORDS[form].format(value))
        return found

    def _candidates(self, page: _Page) -> set[int]:
        """Numbers of the rules whose need the page meets."""
        numbers: set[int] = set(self._by_text)
        if self._by_class:
            for token in self._by_class.keys() & page.names.classes:
                numbers.update(self._by_class[token])
        for part, owners in self._by_class_part.items():
            if part in page.names.lines:
                numbers.update(owners)
        if self._by_id:
            for token in self._by_id.keys() & page.names.ids:
                numbers.update(self._by_id[token])
        for selector, owners in self._by_tagged.items():
            if page.finds(selector):
                numbers.update(owners)
        if self._by_other:
            numbers.update(page.owners_of_found(self._by_other))
        return numbers

    def _why(self, number: int, host: str | None, page: _Page) -> str:
        """What set the rule off, in plain words; empty when it is not for the page."""
        trigger = self._rules[number].trigger
        if trigger.host and trigger.dom:
            both = trigger.mode == "all"
            if host is None and both:
                return ""
            found = page.holds(trigger.dom)
            if both:
                return f"{host}, {found}" if found else ""
            return host or found
        return page.holds(trigger.dom) if trigger.dom else host or ""


def _sharpness(selectors: Iterable[str]) -> int:
    """How few pages the weakest need of these selectors lets through."""
    order = ("any", "tag", "class_part", "id", "class")
    return min(order.index(need.place) for selector in selectors for need in needs(selector))


def _forms(host: Host) -> Iterable[tuple[str, str]]:
    yield "equals", host.bare
    yield "equals_www", host.name
    for suffix in host.suffixes:
        yield "ends_with", suffix
    for suffix in host.suffixes:
        yield "etld_plus_one", suffix


class _Page:
    """What is asked about one page, each thing found out once and only when asked."""

    def __init__(self, root: dom.Node, names: Names) -> None:
        self.root = root
        self.names = names
        self._text: str | None = None
        self._found: dict[str, bool] = {}

    def finds(self, selector: str) -> bool:
        known = self._found.get(selector)
        if known is None:
            known = self.names.may_find(selector) and dom.first(self.root, selector) is not None
            self._found[selector] = known
        return known

    def owners_of_found(self, owners: Mapping[str, list[int]]) -> list[int]:
        """Owners of the selectors that match, asked all at once as long as nothing does."""
        numbers: list[int] = []
        left = list(owners)
        while left and (node := dom.first(self.root, ", ".join(left))):
            matching = [selector for selector in left if dom.matches(node, selector)]
            if not matching:
                return [number for selector in left for number in owners[selector]]  # let each be asked by itself
            for selector in matching:
                self._found[selector] = True
                numbers += owners[selector]
            left = [selector for selector in left if selector not in matching]
        return numbers

    def holds(self, trigger: DomTrigger) -> str:
        """What of the trigger was found, in plain words; empty when it does not hold."""
        said: list[str] = []
        if trigger.any:
            first = next((selector for selector in trigger.any if self.finds(selector)), None)
            if first is None:
                return ""
            said.append(f"found {first}")
        if trigger.all:
            if not all(self.finds(selector) for selector in trigger.all):
                return ""
            said.append(f"found {' and '.join(trigger.all)}")
        if trigger.any_text_contains:
            text = next((text for text in trigger.any_text_contains if self._says(text)), None)
            if text is None:
                return ""
            said.append(f"text contains {text}")
        return ", ".join(said)

    def _says(self, text: str) -> bool:
        """Whether people read it: first in all text, which is cheap, then without what no one sees."""
        if self._text is None:
            self._text = dom.text_of(self.root)
        return text in self._text and text in self._read_text()

    def _read_text(self) -> str:
        hidden = set(dom.select(self.root, _UNREAD))
        pieces: list[str] = []
        pending: list[dom.Node] = [self.root]
        while pending:
            node = pending.pop()
            if isinstance(node, dom.Text):
                pieces.append(node.data)
            elif node not in hidden:
                pending.extend(reversed(node.children))
        return "".join(pieces)
