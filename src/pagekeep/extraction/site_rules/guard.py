"""Find what rules took of a page's prose, and decide when to take it back.

A rule that matches a page it was not written for, or whose site has changed, can remove the article itself. Comparing the
prose a rule took with the prose of the result costs next to nothing. Only where a rule took more than it left is the page
extracted again without it, and the rule stays reverted when the result then has far more prose.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, Literal

from pagekeep import dom
from pagekeep.extraction.locate.page_facts import SENTENCE_CHARS
from pagekeep.extraction.locate.survey import (
    OPAQUE,
    PHRASING,
    Sign,
    Survey,
    count_chars,
    find_id_signs,
    find_signs,
    measure_own_text,
    sum_blocks,
)
from pagekeep.model import PageWarning, RuleEffect
from pagekeep.rules.rule import Rule
from pagekeep.rules.rulebook import Matched
from pagekeep.values import dataclass

MIN_TAKEN_CHARS: Final = 600
"""Prose in characters, about 100 words: a rule that takes less cannot have taken an article."""
MIN_TIMES_MORE: Final = 2.0
"""How much more prose the result must have without a rule for the rule to be reverted."""
MIN_SHARE: Final = 0.2
"""Share of what rules took from which on a selector is among the causes."""

_CHARS_PER_WORD: Final = 6
_MAX_CHARS_PER_WORD: Final = 20
"""More than words of prose have on average in any language: a bound, to skip the measurement on most pages."""

_BOILERPLATE: Final = (
    Sign.NAVIGATION | Sign.FOOTER | Sign.SIDEBAR | Sign.ADVERT | Sign.SHARE | Sign.COMMENTS | Sign.RELATED | Sign.SIGNUP
    | Sign.POPUP | Sign.COOKIES | Sign.REVIEWS
)  # fmt: skip

What = Literal["remove", "replace_with_text", "scope"]


@dataclass(frozen=True, slots=True)
class Taken:
    """What one selector of a rule took out of the page."""

    rule: Rule
    what: What
    selector: str
    count: int
    words: int
    """All words in those elements, those in links and menus too."""
    nodes: tuple[dom.Element, ...] = ()
    """The elements; empty for `replace_with_text`, which keeps none."""

    def measure_prose(self, *, also_named: bool) -> int:
        """Return the characters of prose in the elements; with `also_named`, also in those named after boilerplate."""
        if not self.nodes:
            return self.words * _CHARS_PER_WORD
        return sum(measure_prose(node) for node in self.nodes if also_named or not _is_named_boilerplate(node))


@dataclass(frozen=True, slots=True)
class Revert:
    """A part of a rule that is not applied to the page, because it takes most of the prose; the whole rule for a scope."""

    rule_id: str
    what: What
    selector: str
    count: int
    words: int


def find_suspects(
    taken: Sequence[Taken], scope: Taken | None, page: Survey | None, result: dom.Element | None
) -> tuple[Revert, ...]:
    """Return the parts of rules that took more prose than the result has; `result` is `None` when nothing was found.

    `page` is the survey of the whole page before the scope was chosen. Elements named after boilerplate (comments, cookies)
    are suspected only when nothing is left. So is what users' own rules remove; their scope is always obeyed.
    """
    suspects = [_describe(one) for one in _find_removals(taken, result)]
    if scope and page and _is_shipped(scope.rule) and _leaves_little(scope, page):
        suspects.append(_describe(scope))
    return tuple(suspects)


def is_destructive(result: dom.Element | None, without: dom.Element | None) -> bool:
    """Return whether the result without the suspects has so much more prose that they must have taken the content."""
    if without is None:
        return False
    left, more = measure_prose(result), measure_prose(without)
    return more >= MIN_TIMES_MORE * left and more - left >= MIN_TAKEN_CHARS


def revert(matched: Iterable[Matched], reverts: Sequence[Revert]) -> tuple[Matched, ...]:
    """Return the matched rules without the reverted parts."""
    return tuple(replace(match, rule=_revert_rule(match.rule, reverts)) for match in matched)


def report_effects(rule: Rule, reverts: Iterable[Revert]) -> list[RuleEffect]:
    """Return the effects that say which parts of the rule were reverted."""
    note = "not applied, it would take most of the text"
    return [
        RuleEffect("revert", f"{one.what} {one.selector}", one.count, one.words, note)
        for one in reverts
        if one.rule_id == rule.id
    ]


def warn_of_reverts(reverts: Sequence[Revert]) -> PageWarning:
    """Return the warning that parts of rules were reverted."""
    parts = ", ".join(f"`{one.selector}` of {one.rule_id}" for one in reverts)
    return PageWarning("rule_reverted", f"not applied, because most of the text would be lost: {parts}")


def _find_removals(taken: Sequence[Taken], result: dom.Element | None) -> list[Taken]:
    if not taken or sum(one.words for one in taken) * _MAX_CHARS_PER_WORD < MIN_TAKEN_CHARS:
        return []
    suspected = [one for one in taken if _is_shipped(one.rule) or result is None]
    prose = [one.measure_prose(also_named=result is None) for one in suspected]
    total = sum(prose)
    if total < MIN_TAKEN_CHARS or total < measure_prose(result):
        return []
    return [one for one, chars in zip(suspected, prose, strict=True) if chars >= MIN_SHARE * total]


def _leaves_little(scope: Taken, page: Survey) -> bool:
    """Return whether there is more prose outside the scope than in it."""
    if page.chars[0] - page.linked[0] < MIN_TAKEN_CHARS:
        return False
    totals = _measure(page)
    chosen = set(scope.nodes)
    inside = sum(totals[index] for index, node in enumerate(page.nodes) if node in chosen)
    return totals[0] - inside >= max(MIN_TAKEN_CHARS, inside)


def measure_prose(root: dom.Element | None) -> int:
    """Return the characters of prose in an element, as `_measure` counts them, without a survey of it."""
    if root is None:
        return 0
    own, prose = _sum_prose(root.children, 1)
    return prose + own if own >= SENTENCE_CHARS else prose


def _sum_prose(children: Sequence[dom.Node], depth: int) -> tuple[int, int]:
    """Return the characters outside links that belong to the block around the nodes, and the prose of the blocks in them."""
    own = prose = 0
    for child in children:
        if isinstance(child, dom.Text):
            own += count_chars(child.data)
        elif isinstance(child, dom.Element):
            tag = child.tag
            if tag == "a" or tag in OPAQUE or depth > dom.MAX_DEPTH + 1:
                continue
            inner_own, inner_prose = _sum_prose(child.children, depth + 1)
            prose += inner_prose
            if tag in PHRASING:
                own += inner_own
            elif inner_own >= SENTENCE_CHARS:
                prose += inner_own
    return own, prose


def _measure(page: Survey) -> list[int]:
    """Return the characters of prose in each subtree: those outside links in blocks as long as a sentence."""
    return sum_blocks(page, measure_own_text(page), SENTENCE_CHARS)


def _is_named_boilerplate(node: dom.Element) -> bool:
    """Return whether its names are those of boilerplate: then a rule that removes it is right, however long it is."""
    signs = find_signs(node.attr("class") or "") | find_id_signs(node.attr("id") or "")
    return bool(signs & _BOILERPLATE) and not signs & Sign.CONTENT


def _is_shipped(rule: Rule) -> bool:
    return rule.source is not None and rule.source.shipped


def _describe(one: Taken) -> Revert:
    return Revert(one.rule.id, one.what, one.selector, one.count, one.words)


def _revert_rule(rule: Rule, reverts: Sequence[Revert]) -> Rule:
    own = {(one.what, one.selector) for one in reverts if one.rule_id == rule.id}
    if not own:
        return rule
    if any(what == "scope" for what, _ in own):  # the page is not what the rule is about
        return Rule(rule.id, rule.phase, rule.trigger, source=rule.source)
    return replace(
        rule,
        remove=tuple(selector for selector in rule.remove if ("remove", selector) not in own),
        actions=tuple(action for action in rule.actions if (action.op, action.selector) not in own),
    )
