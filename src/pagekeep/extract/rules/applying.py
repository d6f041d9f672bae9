"""Rules applied: those for the raw page before the extractor sees it, those for the result after."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Literal

from pagekeep import dom
from pagekeep.extract.rules.actions import DEEPENING, act
from pagekeep.extract.rules.removing import remove
from pagekeep.extract.rules.scope import Scoped, scope
from pagekeep.model import Removal, RuleDeed, RuleMatch
from pagekeep.rules.rule import Rendering, Rule, Thresholds
from pagekeep.rules.rulebook import Matched, Rulebook

_NO_BOUNDS: Final = Thresholds()


@dataclass(frozen=True, slots=True)
class Before:
    """What rules said about the raw page and did to it."""

    matched: tuple[RuleMatch, ...] = ()
    removals: tuple[Removal, ...] = ()
    gone: tuple[dom.Element, ...] = ()
    """What was removed: a wall is still known by what it said."""
    scope: Scoped | None = None
    bounds: Thresholds = _NO_BOUNDS
    rendering: tuple[str, Rendering] | None = None
    """What is asked of the browser, and by which rule."""
    discarded_by: str | None = None


@dataclass(frozen=True, slots=True)
class After:
    """What rules said about the result and did to it."""

    matched: tuple[RuleMatch, ...] = ()
    removals: tuple[Removal, ...] = ()
    discarded_by: str | None = None


_UNTOUCHED: Final = Before()
_UNTOUCHED_RESULT: Final = After()


@dataclass(slots=True)
class _Ledger:
    """What each rule did, as it does it."""

    phase: Literal["pre", "post"]
    matched: tuple[Matched, ...]
    deeds: list[list[RuleDeed]] = field(init=False)
    removals: list[Removal] = field(default_factory=list)
    gone: list[dom.Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.deeds = [[] for _ in self.matched]

    def told(self) -> tuple[RuleMatch, ...]:
        return tuple(
            RuleMatch(match.rule.id, self.phase, match.trigger, tuple(deeds))
            for match, deeds in zip(self.matched, self.deeds, strict=True)
        )

    def each(self) -> Iterable[tuple[Rule, list[RuleDeed]]]:
        return ((match.rule, deeds) for match, deeds in zip(self.matched, self.deeds, strict=True))


def before(rules: Rulebook, url: str | None, document: dom.Document, body: dom.Element) -> Before:
    """Apply the rules for the raw page, the body changed in place. What stands in the head can set a rule off, too."""
    matched = rules.match("pre", url, document) if rules.rules else ()
    if not matched:
        return _UNTOUCHED
    ledger = _Ledger("pre", matched)
    discarded_by = _discard(ledger)
    if discarded_by:
        return Before(ledger.told(), discarded_by=discarded_by)
    for rule, deeds in ledger.each():
        _change(body, rule, deeds, ledger)
    chosen = _scope(body, ledger)
    bounds = _bounds(ledger)
    return Before(
        matched=ledger.told(),
        removals=tuple(ledger.removals),
        gone=tuple(ledger.gone),
        scope=chosen,
        bounds=bounds,
        rendering=_rendering(ledger),
    )


def after(rules: Rulebook, url: str | None, content: dom.Element) -> After:
    """Apply the rules for the result, changed in place."""
    matched = rules.match("post", url, content) if rules.rules else ()
    if not matched:
        return _UNTOUCHED_RESULT
    ledger = _Ledger("post", matched)
    discarded_by = _discard(ledger)
    if not discarded_by:
        for rule, deeds in ledger.each():
            _change(content, rule, deeds, ledger)
        if any(deed.what in DEEPENING and deed.count for deeds in ledger.deeds for deed in deeds):
            dom.bound_depth(content)
    return After(ledger.told(), tuple(ledger.removals), discarded_by)


def _change(root: dom.Element, rule: Rule, deeds: list[RuleDeed], ledger: _Ledger) -> None:
    """A rule's removals, then its actions in their order."""
    if rule.remove:
        removed = remove(root, rule.remove, f"rule {rule.id}")
        deeds += removed.deeds
        ledger.removals += removed.removals
        ledger.gone += removed.nodes
    for action in rule.actions:
        deeds.append(act(root, action))


def _discard(ledger: _Ledger) -> str | None:
    for rule, deeds in ledger.each():
        if rule.discard:
            deeds.append(RuleDeed("discard", "", 1, 0))
            return rule.id
    return None


def _scope(body: dom.Element, ledger: _Ledger) -> Scoped | None:
    """The scope of the first rule whose scope is there. Looked for last, when the page is as the rules want it."""
    chosen: Scoped | None = None
    for rule, deeds in ledger.each():
        wanted = rule.selector_overrides
        if wanted is None:
            continue
        if chosen is not None:
            deeds.append(RuleDeed("scope", wanted.article or wanted.wrapper or "", 0, 0, "another rule was first"))
            continue
        chosen, told = scope(body, wanted)
        deeds += told
    return chosen


def _bounds(ledger: _Ledger) -> Thresholds:
    """Each bound by the first rule that sets it."""
    words: int | None = None
    links: float | None = None
    for rule, deeds in ledger.each():
        if rule.quality is not None:
            words = rule.quality.min_words if words is None else words
            links = rule.quality.max_link_density if links is None else links
            deeds.append(RuleDeed("quality", "", 0, 0, _said(rule.quality)))
    return Thresholds(words, links)


def _said(bounds: Thresholds) -> str:
    parts = []
    if bounds.min_words is not None:
        parts.append(f"at least {bounds.min_words} words")
    if bounds.max_link_density is not None:
        parts.append(f"at most {bounds.max_link_density:.0%} in links")
    return ", ".join(parts)


_STRENGTH: Final = {"force": 2, "never": 1, "auto": 0}


def _rendering(ledger: _Ledger) -> tuple[str, Rendering] | None:
    """`force` wins over `never` over `auto`; of equals, the first."""
    asked: list[tuple[str, Rendering]] = []
    for rule, deeds in ledger.each():
        if rule.rendering is not None:
            asked.append((rule.id, rule.rendering))
            deeds.append(RuleDeed("rendering", rule.rendering.wait_for or "", 0, 0, rule.rendering.mode))
    return max(asked, key=lambda pair: _STRENGTH[pair[1].mode], default=None)
