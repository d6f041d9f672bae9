"""Rules applied: those for the raw page before the extractor sees it, those for the result after."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final, Literal

from pagekeep import dom
from pagekeep.extraction.locate.page_facts import Content
from pagekeep.extraction.locate.survey import Survey
from pagekeep.extraction.site_rules import include, overrides
from pagekeep.extraction.site_rules.actions import DEEPENING, act
from pagekeep.extraction.site_rules.include import Part
from pagekeep.extraction.site_rules.keep import in_place
from pagekeep.extraction.site_rules.overrides import Overrides
from pagekeep.extraction.site_rules.remove import remove
from pagekeep.extraction.site_rules.scope import Scoped, scope
from pagekeep.extraction.site_rules.select import count_words
from pagekeep.model import Removal, RuleEffect, RuleMatch
from pagekeep.rules.prefilter import Names
from pagekeep.rules.rule import Rendering, Rule, Thresholds
from pagekeep.rules.rulebook import Matched, Rulebook

_NO_BOUNDS: Final = Thresholds()
_NO_OVERRIDES: Final[Overrides] = MappingProxyType({})


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
    metadata: Overrides = field(default_factory=lambda: _NO_OVERRIDES)
    parts: tuple[Part, ...] = ()
    """What is to be put into the result."""
    kept: tuple[dom.Element, ...] = ()
    """What stays in the result though it was to be dropped."""
    removes: tuple[str, ...] = ()
    """Selectors of all removals, for those parts."""
    discarded_by: str | None = None

    def without_parts(self) -> Before:
        """For a page of which there is no result to put parts into."""
        return replace(self, parts=()) if self.parts else self


@dataclass(frozen=True, slots=True)
class After:
    """What rules said about the result and did to it."""

    matched: tuple[RuleMatch, ...] = ()
    """The rules for the raw page first, now with what became of the parts they put back."""
    removals: tuple[Removal, ...] = ()
    metadata: Overrides = field(default_factory=lambda: _NO_OVERRIDES)
    discarded_by: str | None = None


_UNTOUCHED: Final = Before()


@dataclass(slots=True)
class _Ledger:
    """What each rule did, as it does it."""

    phase: Literal["pre", "post"]
    matched: tuple[Matched, ...]
    names: Names
    """Those of the tree that is changed, or more."""
    effects: list[list[RuleEffect]] = field(init=False)
    removals: list[Removal] = field(default_factory=list)
    gone: list[dom.Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.effects = [[] for _ in self.matched]

    def told(self) -> tuple[RuleMatch, ...]:
        return tuple(
            RuleMatch(match.rule.id, self.phase, match.trigger, tuple(effects))
            for match, effects in zip(self.matched, self.effects, strict=True)
        )

    def deepened(self) -> bool:
        """Whether an action may have nested the tree deeper than it was."""
        return any(effect.what in DEEPENING and effect.count for effects in self.effects for effect in effects)

    def each(self) -> Iterable[tuple[Rule, list[RuleEffect]]]:
        return ((match.rule, effects) for match, effects in zip(self.matched, self.effects, strict=True))


def before(rules: Rulebook, url: str | None, document: dom.Document, body: dom.Element) -> Before:
    """Apply the rules for the raw page, the body changed in place. What stands in the head can set a rule off, too."""
    names = Names(document)
    matched = rules.match("pre", url, document, names) if rules.rules else ()
    if not matched:
        return _UNTOUCHED
    ledger = _Ledger("pre", matched, names)
    discarded_by = _discard(ledger)
    if discarded_by:
        return Before(ledger.told(), discarded_by=discarded_by)
    values = _metadata(ledger, document, url)
    parts = include.gather(body, _wanted(ledger))
    for rule, effects in ledger.each():
        _change(body, rule, effects, ledger)
    chosen = _scope(body, ledger)
    bounds = _bounds(ledger)
    return Before(
        matched=ledger.told(),
        metadata=values,
        parts=parts,
        removes=_removes(ledger),
        removals=tuple(ledger.removals),
        gone=tuple(ledger.gone),
        scope=chosen,
        bounds=bounds,
        rendering=_rendering(ledger),
    )


def after(rules: Rulebook, url: str | None, content: dom.Element, source: str, earlier: Before) -> After:
    """Put back what the rules want in the result and apply those that are for it, the result changed in place.

    `source` is the page as it came: what rules for the result say of the whole page is looked up there.
    """
    names = Names(content)
    matched = rules.match("post", url, content, names) if rules.rules else ()
    include.drop_copies(content, earlier.kept)
    if not matched and not earlier.parts:
        return After(earlier.matched)
    ledger = _Ledger("post", matched, names)
    discarded_by = _discard(ledger)
    if discarded_by:
        return After((*earlier.matched, *ledger.told()), discarded_by=discarded_by)
    values, parts = _looked_up(ledger, source, url)
    removes = (*earlier.removes, *_removes(ledger))
    told_before = _put_back(content, earlier.parts, removes)
    told_now = _put_back(content, parts, removes)
    if parts or earlier.parts:
        ledger.names = Names(content)
    for rule, effects in ledger.each():
        effects += told_now.get(rule.id, ())
        _change(content, rule, effects, ledger)
    if parts or earlier.parts or ledger.deepened():
        dom.bound_depth(content)
    matches = (*(_with_effects(match, told_before) for match in earlier.matched), *ledger.told())
    return After(matches, tuple(ledger.removals), overrides.merged(earlier.metadata, values))


def _looked_up(ledger: _Ledger, source: str, url: str | None) -> tuple[Overrides, tuple[Part, ...]]:
    """What rules for the result take from the whole page, which is parsed once more: the extractor has cut it up."""
    wanted = _wanted(ledger)
    if not wanted and not any(rule.metadata for rule, _ in ledger.each()):
        return _NO_OVERRIDES, ()
    document = dom.parse(source)
    body = dom.first(document, "body")
    return _metadata(ledger, document, url), include.gather(body, wanted) if body is not None else ()


def _metadata(ledger: _Ledger, document: dom.Document, url: str | None) -> Overrides:
    values: Overrides = _NO_OVERRIDES
    for rule, effects in ledger.each():
        if rule.metadata:
            found, told = overrides.read(document, rule, url)
            values = overrides.merged(values, found)
            effects += told
    return values


def _wanted(ledger: _Ledger) -> list[tuple[str, str]]:
    """What rules want in the result: the id of each with each of its selectors."""
    return [(rule.id, selector) for rule, _ in ledger.each() for selector in rule.include]


def _removes(ledger: _Ledger) -> tuple[str, ...]:
    return tuple(selector for rule, _ in ledger.each() for selector in rule.remove)


def keep_in_place(survey: Survey, content: Content, earlier: Before) -> tuple[Content, Before]:
    """Parts that stand in the content stay there; the others are left to be put back."""
    content, kept = in_place(survey, content, earlier.parts)
    told: dict[str, list[RuleEffect]] = {}
    for part, saved in ((one.part, one.saved) for one in kept):
        where = "where it stood" if saved else "already there"
        effect = RuleEffect("include", part.selector, 1, count_words([part.live]), where)
        told.setdefault(part.rule_id, []).append(effect)
    matched = tuple(_with_effects(match, told) for match in earlier.matched)
    there = {one.part.live for one in kept}
    rest = tuple(part for part in earlier.parts if part.live not in there)
    saved_parts = tuple(one.part.live for one in kept if one.saved)
    return content, replace(earlier, parts=rest, matched=matched, kept=saved_parts)


def _put_back(content: dom.Element, parts: tuple[Part, ...], removes: tuple[str, ...]) -> dict[str, list[RuleEffect]]:
    """A effect for every part, by rule."""
    told: dict[str, list[RuleEffect]] = {}
    for part, where in zip(parts, include.put_back(content, parts, removes) if parts else (), strict=True):
        effect = RuleEffect("include", part.selector, 1, count_words([part.node]), where)
        told.setdefault(part.rule_id, []).append(effect)
    return told


def _with_effects(match: RuleMatch, told: dict[str, list[RuleEffect]]) -> RuleMatch:
    return replace(match, effects=(*match.effects, *told[match.id])) if match.id in told else match


def _change(root: dom.Element, rule: Rule, effects: list[RuleEffect], ledger: _Ledger) -> None:
    """A rule's removals, then its actions in their order."""
    if rule.remove:
        removed = remove(root, rule.remove, f"rule {rule.id}", ledger.names)
        effects += removed.effects
        ledger.removals += removed.removals
        ledger.gone += removed.nodes
    for action in rule.actions:
        effects.append(act(root, action))
    if rule.actions:
        ledger.names = Names(root)  # they may have given names


def _discard(ledger: _Ledger) -> str | None:
    for rule, effects in ledger.each():
        if rule.discard:
            effects.append(RuleEffect("discard", "", 1, 0))
            return rule.id
    return None


def _scope(body: dom.Element, ledger: _Ledger) -> Scoped | None:
    """The scope of the first rule whose scope is there. Looked for last, when the page is as the rules want it."""
    chosen: Scoped | None = None
    for rule, effects in ledger.each():
        wanted = rule.selector_overrides
        if wanted is None:
            continue
        if chosen is not None:
            effects.append(RuleEffect("scope", wanted.article or wanted.wrapper or "", 0, 0, "another rule was first"))
            continue
        chosen, told = scope(body, wanted)
        effects += told
    return chosen


def _bounds(ledger: _Ledger) -> Thresholds:
    """Each bound by the first rule that sets it."""
    words: int | None = None
    links: float | None = None
    for rule, effects in ledger.each():
        if rule.quality is not None:
            words = rule.quality.min_words if words is None else words
            links = rule.quality.max_link_density if links is None else links
            effects.append(RuleEffect("quality", "", 0, 0, _said(rule.quality)))
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
    for rule, effects in ledger.each():
        if rule.rendering is not None:
            asked.append((rule.id, rule.rendering))
            effects.append(RuleEffect("rendering", rule.rendering.wait_for or "", 0, 0, rule.rendering.mode))
    return max(asked, key=lambda pair: _STRENGTH[pair[1].mode], default=None)
