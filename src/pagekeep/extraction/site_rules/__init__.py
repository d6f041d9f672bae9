"""Apply the matching rules to a page: before extraction to the raw tree, after it to the extracted tree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from types import MappingProxyType
from typing import Final, Literal

from pagekeep import dom
from pagekeep.extraction.locate.page_facts import Content
from pagekeep.extraction.locate.survey import Survey
from pagekeep.extraction.site_rules import guard, overrides, select
from pagekeep.extraction.site_rules.actions import ADDING_NO_NAMES, DEEPENING, run_action
from pagekeep.extraction.site_rules.guard import Revert, Taken, is_destructive, warn_of_reverts
from pagekeep.extraction.site_rules.overrides import Overrides, apply_overrides, find_page_links
from pagekeep.extraction.site_rules.scope import FoundScope, find_scope
from pagekeep.extraction.site_rules.select import Part, RemovedElements, count_words, find_in_place, remove_elements
from pagekeep.model import Removal, RuleEffect, RuleMatch
from pagekeep.model.page import Continuation, PageLink
from pagekeep.rules.rule import Rendering, Rule, Scope, Thresholds
from pagekeep.rules.rulebook import Matched, Names, Rulebook
from pagekeep.values import dataclass

__all__ = [
    "After",
    "Before",
    "Names",
    "Revert",
    "apply_after",
    "apply_before",
    "apply_overrides",
    "find_suspects",
    "is_destructive",
    "keep_in_place",
    "warn_of_reverts",
]


_NO_BOUNDS: Final = Thresholds()
_NO_OVERRIDES: Final[Overrides] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Before:
    """What rules did to the raw page and state about it."""

    matched: tuple[RuleMatch, ...] = ()
    removals: tuple[Removal, ...] = ()
    removed: tuple[dom.Element, ...] = ()
    """The removed elements: their text still identifies a wall."""
    taken: tuple[Taken, ...] = ()
    """What each selector took out of the page."""
    scope: FoundScope | None = None
    scope_rule: Rule | None = None
    """The rule that chose the scope."""
    bounds: Thresholds = _NO_BOUNDS
    rendering: tuple[str, Rendering] | None = None
    """The rule that decides about the browser, and its settings."""
    metadata: Overrides = field(default_factory=lambda: _NO_OVERRIDES)
    parts: tuple[Part, ...] = ()
    """The parts to put into the result."""
    kept: tuple[dom.Element, ...] = ()
    """Elements that stay in the result although they were to be dropped."""
    removes: tuple[str, ...] = ()
    """Selectors of all removals, which also apply to those parts."""
    continuation: Continuation | None = None
    """The links to the rest of the article that rules name."""
    discarded_by: str | None = None

    def without_parts(self) -> Before:
        """Return a copy without parts, for a page without a result to put them into."""
        return replace(self, parts=()) if self.parts else self


@dataclass(frozen=True, slots=True)
class After:
    """What rules did to the result and state about it."""

    matched: tuple[RuleMatch, ...] = ()
    """The rules for the raw page first, now with the effects of the parts they put back."""
    removals: tuple[Removal, ...] = ()
    metadata: Overrides = field(default_factory=lambda: _NO_OVERRIDES)
    removed: tuple[dom.Element, ...] = ()
    """The removed elements, for the loss check."""
    taken: tuple[Taken, ...] = ()
    """What each selector took out of the result."""
    discarded_by: str | None = None


_UNTOUCHED: Final = Before()


@dataclass(slots=True)
class _EffectLog:
    """Records the effects of each rule while the rules run."""

    phase: Literal["pre", "post"]
    matched: tuple[Matched, ...]
    names: Names
    """The names in the tree that is changed; may include others."""
    effects: list[list[RuleEffect]] = field(init=False)
    removals: list[Removal] = field(default_factory=list)
    removed: list[dom.Element] = field(default_factory=list)
    taken: list[Taken] = field(default_factory=list)
    reverts: Sequence[Revert] = ()
    """Parts of rules that are not applied to this page."""

    def __post_init__(self) -> None:
        self.effects = [guard.report_effects(match.rule, self.reverts) for match in self.matched]
        self.matched = guard.revert(self.matched, self.reverts) if self.reverts else self.matched

    def matches(self) -> tuple[RuleMatch, ...]:
        return tuple(
            RuleMatch(match.rule.id, self.phase, match.trigger, tuple(effects))
            for match, effects in zip(self.matched, self.effects, strict=True)
        )

    def may_be_deeper(self) -> bool:
        """Return whether an action may have made the tree deeper."""
        return any(effect.what in DEEPENING and effect.count for effects in self.effects for effect in effects)

    def rules(self) -> Iterable[tuple[Rule, list[RuleEffect]]]:
        return ((match.rule, effects) for match, effects in zip(self.matched, self.effects, strict=True))


def apply_before(
    rules: Rulebook,
    url: str | None,
    document: dom.Document,
    body: dom.Element,
    reverts: Sequence[Revert] = (),
    names: Names | None = None,
    platform: Sequence[str] = (),
) -> Before:
    """Apply the rules for the raw page and change the body in place; the head can trigger a rule too.

    `reverts` are parts of rules that are not to be applied; `names` are those of the document, where they are known already;
    `platform` are the ids of rules that apply because other pages of the site match them.
    """
    names = names or Names(document)
    matched = rules.match("pre", url, document, names, platform) if rules.rules else ()
    if not matched:
        return _UNTOUCHED
    log = _EffectLog("pre", matched, names, reverts=reverts)
    discarded_by = _discard(log)
    if discarded_by:
        return Before(log.matches(), discarded_by=discarded_by)
    values = _metadata(log, document, url)
    continuation = _continuation(log, document, url)
    parts = select.collect_parts(body, _includes(log))
    for rule, effects in log.rules():
        _change(body, rule, effects, log)
    chosen, scope_rule = _scope(body, log, url)
    bounds = _bounds(log)
    return Before(
        matched=log.matches(),
        metadata=overrides.merge(values, _read_opening(chosen, scope_rule)),
        parts=parts,
        removes=_removes(log),
        removals=tuple(log.removals),
        removed=(*log.removed, *(chosen.thread.citations if chosen and chosen.thread else ())),
        taken=tuple(log.taken),
        scope=chosen,
        scope_rule=scope_rule,
        bounds=bounds,
        rendering=_rendering(log),
        continuation=continuation,
    )


def apply_after(
    rules: Rulebook,
    url: str | None,
    content: dom.Element,
    source: str,
    earlier: Before,
    reverts: Sequence[Revert] = (),
) -> After:
    """Put back the parts that rules include, and apply the rules for the result; the content is changed in place.

    `source` is the original page, where rules for the result look up metadata and parts.
    """
    names = Names(content)
    matched = rules.match("post", url, content, names) if rules.rules else ()
    select.drop_copies(content, earlier.kept)
    if not matched and not earlier.parts:
        return After(earlier.matched)
    log = _EffectLog("post", matched, names, reverts=reverts)
    discarded_by = _discard(log)
    if discarded_by:
        return After((*earlier.matched, *log.matches()), discarded_by=discarded_by)
    values, parts = _look_up(log, source, url)
    removes = (*earlier.removes, *_removes(log))
    earlier_effects = _put_back(content, earlier.parts, removes)
    new_effects = _put_back(content, parts, removes)
    if parts or earlier.parts:
        log.names = Names(content)
    for rule, effects in log.rules():
        effects += new_effects.get(rule.id, ())
        _change(content, rule, effects, log)
    if parts or earlier.parts or log.may_be_deeper():
        dom.bound_depth(content)
    matches = (*(_with_effects(match, earlier_effects) for match in earlier.matched), *log.matches())
    return After(
        matched=matches,
        removals=tuple(log.removals),
        metadata=overrides.merge(earlier.metadata, values),
        removed=tuple(log.removed),
        taken=tuple(log.taken),
    )


def find_suspects(before: Before, after: After, page: Survey | None, result: dom.Element | None) -> tuple[Revert, ...]:
    """Return the parts of rules that took more prose than the result has."""
    if before.discarded_by or after.discarded_by:
        return ()
    scope: Taken | None = None
    if before.scope and before.scope_rule:
        own = before.scope_rule.selector_overrides or Scope()
        selector = (own.article if before.scope.kind == "article" else own.wrapper) or ""
        if before.scope.thread:
            selector = before.scope.thread.thread.message
        parts = before.scope.parts
        scope = Taken(before.scope_rule, "scope", selector, len(parts), 0, parts)
    return guard.find_suspects((*before.taken, *after.taken), scope, page, result)


def _look_up(log: _EffectLog, source: str, url: str | None) -> tuple[Overrides, tuple[Part, ...]]:
    """Read what rules for the result take from the whole page, which is parsed again: pruning has changed the tree."""
    includes = _includes(log)
    if not includes and not any(rule.metadata for rule, _ in log.rules()):
        return _NO_OVERRIDES, ()
    document = dom.parse(source)
    body = dom.first(document, "body")
    return _metadata(log, document, url), select.collect_parts(body, includes) if body is not None else ()


def _metadata(log: _EffectLog, document: dom.Document, url: str | None) -> Overrides:
    values: Overrides = _NO_OVERRIDES
    for rule, effects in log.rules():
        if rule.metadata:
            read, new_effects = overrides.read(document, rule, url)
            values = overrides.merge(values, read)
            effects += new_effects
    return values


def _continuation(log: _EffectLog, document: dom.Document, url: str | None) -> Continuation | None:
    """Return the links to the rest of the article: the next page of the first rule that finds one, all single pages."""
    following: PageLink | None = None
    single: tuple[PageLink, ...] = ()
    for rule, effects in log.rules():
        if rule.next_page or rule.single_page:
            found, whole, new_effects = find_page_links(document, rule, url)
            following, single = following or found, (*single, *whole)
            effects += new_effects
    return Continuation(following, single) if following or single else None


def _includes(log: _EffectLog) -> list[tuple[str, str]]:
    """Return the selectors of all parts that rules include, each with the id of its rule."""
    return [(rule.id, selector) for rule, _ in log.rules() for selector in rule.include]


def _removes(log: _EffectLog) -> tuple[str, ...]:
    return tuple(selector for rule, _ in log.rules() for selector in rule.remove)


def keep_in_place(survey: Survey, content: Content, earlier: Before) -> tuple[Content, Before]:
    """Keep the parts that are inside the content where they are; the others remain to be put back."""
    content, kept = find_in_place(survey, content, earlier.parts)
    effects: dict[str, list[RuleEffect]] = {}
    for part, saved in ((one.part, one.saved) for one in kept):
        where = "where it stood" if saved else "already there"
        effect = RuleEffect("include", part.selector, 1, count_words([part.live]), where)
        effects.setdefault(part.rule_id, []).append(effect)
    matched = tuple(_with_effects(match, effects) for match in earlier.matched)
    in_place = {one.part.live for one in kept}
    rest = tuple(part for part in earlier.parts if part.live not in in_place)
    saved_parts = tuple(one.part.live for one in kept if one.saved)
    return content, replace(earlier, parts=rest, matched=matched, kept=saved_parts)


def _put_back(content: dom.Element, parts: tuple[Part, ...], removes: tuple[str, ...]) -> dict[str, list[RuleEffect]]:
    """Put the parts back, and return their effects by rule id."""
    effects: dict[str, list[RuleEffect]] = {}
    for part, where in zip(parts, select.put_back(content, parts, removes) if parts else (), strict=True):
        effect = RuleEffect("include", part.selector, 1, count_words([part.node]), where)
        effects.setdefault(part.rule_id, []).append(effect)
    return effects


def _with_effects(match: RuleMatch, effects: dict[str, list[RuleEffect]]) -> RuleMatch:
    return replace(match, effects=(*match.effects, *effects[match.id])) if match.id in effects else match


def _change(root: dom.Element, rule: Rule, effects: list[RuleEffect], log: _EffectLog) -> None:
    """Apply a rule's removals, then its actions in order."""
    if rule.remove:
        removed = remove_elements(root, rule.remove, f"rule {rule.id}", log.names)
        effects += removed.effects
        log.removals += removed.removals
        log.removed += removed.nodes
        log.taken += _list_taken(rule, removed)
    for action in rule.actions:
        if not log.names.may_match(action.selector):
            effects.append(RuleEffect(action.op, action.selector, 0, 0))
            continue
        effect = run_action(root, action, is_result=log.phase == "post")
        effects.append(effect)
        if effect.count and action.op not in ADDING_NO_NAMES:
            log.names = Names(root)
        if action.op == "replace_with_text" and "{text" not in (action.template or ""):
            log.taken.append(Taken(rule, "replace_with_text", action.selector, effect.count, effect.words))


def _list_taken(rule: Rule, removed: RemovedElements) -> list[Taken]:
    """Return what each selector of the rule removed."""
    nodes: dict[str, list[dom.Element]] = {}
    for node, selector in zip(removed.nodes, removed.owners, strict=True):
        nodes.setdefault(selector, []).append(node)
    words = {effect.selector: effect.words for effect in removed.effects}
    return [
        Taken(rule, "remove", selector, len(found), words[selector], tuple(found)) for selector, found in nodes.items()
    ]


def _discard(log: _EffectLog) -> str | None:
    for rule, effects in log.rules():
        if rule.discard:
            effects.append(RuleEffect("discard", "", 1, 0))
            return rule.id
    return None


def _scope(body: dom.Element, log: _EffectLog, url: str | None) -> tuple[FoundScope | None, Rule | None]:
    """Return the scope of the first rule whose scope matches, and the rule, after all rules have changed the page."""
    chosen: FoundScope | None = None
    chosen_by: Rule | None = None
    for rule, effects in log.rules():
        if rule.selector_overrides is None and rule.thread is None:
            continue
        if chosen is not None:
            own = rule.selector_overrides or Scope()
            selector = rule.thread.message if rule.thread else own.article or own.wrapper or ""
            effects.append(RuleEffect("scope", selector, 0, 0, "another rule was first"))
            continue
        chosen, new_effects = find_scope(body, rule, url)
        effects += new_effects
        chosen_by = rule if chosen else None
    return chosen, chosen_by


def _read_opening(scope: FoundScope | None, rule: Rule | None) -> Overrides:
    """Return author and date of the message that a thread begins with."""
    opening = scope.thread.opening() if scope and scope.thread else None
    if opening is None or rule is None:
        return _NO_OVERRIDES
    return overrides.make(rule, author=opening.author.partition(" @")[0], published=opening.date)


def _bounds(log: _EffectLog) -> Thresholds:
    """Return each threshold of the first rule that sets it."""
    words: int | None = None
    links: float | None = None
    for rule, effects in log.rules():
        if rule.quality is not None:
            words = rule.quality.min_words if words is None else words
            links = rule.quality.max_link_density if links is None else links
            effects.append(RuleEffect("quality", "", 0, 0, _describe(rule.quality)))
    return Thresholds(words, links)


def _describe(bounds: Thresholds) -> str:
    parts = []
    if bounds.min_words is not None:
        parts.append(f"at least {bounds.min_words} words")
    if bounds.max_link_density is not None:
        parts.append(f"at most {bounds.max_link_density:.0%} in links")
    return ", ".join(parts)


_PRECEDENCE: Final = {"force": 2, "never": 1, "auto": 0}


def _rendering(log: _EffectLog) -> tuple[str, Rendering] | None:
    """Return the settings that take precedence: `force` before `never` before `auto`, then the first rule."""
    settings: list[tuple[str, Rendering]] = []
    for rule, effects in log.rules():
        if rule.rendering is not None:
            settings.append((rule.id, rule.rendering))
            effects.append(RuleEffect("rendering", rule.rendering.wait_for or "", 0, 0, rule.rendering.mode))
    return max(settings, key=lambda pair: _PRECEDENCE[pair[1].mode], default=None)
