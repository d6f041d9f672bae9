"""The strategy `readability`: the innermost element with most of the prose, with its opening and its recipe.

As in Arc90's and Mozilla's Readability, paragraphs vote for the elements around them; but votes are summed over whole subtrees
on flat arrays and the winner is the innermost element that keeps its share, so no tree is walked twice.

Layouts put the standfirst of an article into the `header`, or into a box above the container. Several paragraphs there are a
first part of the article; of one or two, only these are taken, without the bylines, buttons and captions beside them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from pagekeep import dom
from pagekeep.extraction.input.structured import Structured, types
from pagekeep.extraction.locate import profiles
from pagekeep.extraction.locate.boilerplate import SUSPICIOUS_SIGNS
from pagekeep.extraction.locate.exclusions import LOCATE_STEP, Exclusions, Reason, Reasons, label
from pagekeep.extraction.locate.page_facts import Content, Measure, PageFacts
from pagekeep.extraction.locate.survey import PHRASING, TEXT, Sign, Survey, find_innermost, sum_blocks
from pagekeep.extraction.metadata.dates import remove_date
from pagekeep.text import compile_lazily, number_of

MIN_WORDS: Final = 100
"""Words of an article; a shorter result must be all that the page has."""
MIN_SHORT_PAGE_WORDS: Final = 20
"""Words of a short page."""
MIN_CHOSEN_WORDS: Final = 1
"""Words of an article that a rule chose: any length is right."""
_SHORT_PAGE_CHARS: Final = 600
"""With fewer characters in paragraphs a page is short: then its lines vote too, and nearly all of them must be kept."""
_MAX_SHORT_PAGE_CHARS: Final = 2 * _SHORT_PAGE_CHARS
"""Characters in lines from which on a page with few paragraphs is not short but made of lines."""
_LINE_CHARS: Final = 15
"""Characters from which on a block is a line of text; the words of a menu are shorter."""
_SHORT_PAGE_SHARE: Final = 0.95
"""Share of a short page's lines that its container must have."""
_COMPLETE_SHARE: Final = 0.4
"""Share of all text that a short page must have kept to be complete. Chosen on the corpus."""
_COMPLETE_PROSE_SHARE: Final = 0.8
"""Share of the paragraphs outside boilerplate that a short page of prose must have kept to be complete."""
_MIN_LEARNED_CHARS: Final = 700
"""Characters that the learned element must have if the page has prose beside it: an article, so that it is not refused as
too short, and not the frame around a list."""

# The container of the content is never one of these, but an element around them.
_PARTS: Final = frozenset("p li td th tr tbody thead ul ol blockquote table dl dd dt pre figure h1 h2 h3".split())


def locate(facts: PageFacts) -> Content | None:
    """Return the container of the page's prose, or `None` when the page has no prose."""
    if facts.scope == "article":
        return Content(0, facts.excluded)
    survey = facts.survey
    mass, share = _weigh(facts)
    facts.check_time()
    if not mass[0]:
        return None
    root = (
        profiles.find_thread_container(facts.survey, facts.dead, mass, facts.own) if facts.profile.is_thread else None
    ) or find_innermost(survey, mass, share)
    while root and (survey.tag[root] in PHRASING or survey.tag[root] in _PARTS):
        root = survey.parent[root]
    root = _find_learned(facts, mass, root) or root
    root = widen_recipe(facts, root)
    facts.check_time()
    if not facts.profile.has_opening:
        return Content(root, facts.excluded)
    return include_opening(facts, root, mass)


def judge(facts: PageFacts, measured: Measure) -> str | None:
    """Return why the result is not good enough, or `None` when it is."""
    max_link_density, min_words = _limits(facts)
    if measured.link_density > max_link_density:
        return f"{measured.link_density:.0%} of its text is in links, over {max_link_density:.0%}"
    if measured.words >= min_words:
        return None
    if facts.bounds.min_words is None and _is_short_but_complete(facts, measured):
        return None
    return f"{number_of(measured.words, 'word')}, under {min_words}, and the page has more"


def _weigh(facts: PageFacts) -> tuple[list[int], float]:
    """Return the characters that vote in each subtree, and the share of them that the container must have."""
    min_chars = 1 if facts.profile.all_text else PARAGRAPH_CHARS
    mass = sum_blocks(facts.survey, facts.votes, min_chars, facts.dead)
    if min_chars == PARAGRAPH_CHARS and 0 < mass[0] < _SHORT_PAGE_CHARS:
        lines = sum_blocks(facts.survey, facts.votes, _LINE_CHARS, facts.dead)
        if lines[0] < _MAX_SHORT_PAGE_CHARS:
            return lines, _SHORT_PAGE_SHARE
    return mass, facts.profile.share


def _find_learned(facts: PageFacts, mass: Sequence[int], root: int) -> int | None:
    """Return the element that has the content on other pages of the site, if this page confirms it.

    There must be one, around or within the element with most of the prose, and it must have its own text.
    """
    if facts.site is None or facts.site.selector is None or facts.scope is not None:
        return None
    survey = facts.survey
    found = list(survey.find_nodes(dom.select(survey.nodes[0], facts.site.selector)).values())
    if len(found) != 1 or facts.dead[found[0]]:
        return None
    learned = found[0]
    outer, inner = (learned, root) if learned <= root else (root, learned)
    is_nested = inner < survey.end[outer]
    return learned if is_nested and (outer == learned or mass[learned] >= _MIN_LEARNED_CHARS) else None


def _limits(facts: PageFacts) -> tuple[float, int]:
    """Return the highest link density and the fewest words: a rule's, none for an article that a rule chose, or the general."""
    is_chosen, bounds = facts.scope == "article", facts.bounds
    links, words = (1.0, MIN_CHOSEN_WORDS) if is_chosen else (facts.profile.max_link_density, MIN_WORDS)
    return (
        links if bounds.max_link_density is None else bounds.max_link_density,
        words if bounds.min_words is None else bounds.min_words,
    )


def _is_short_but_complete(facts: PageFacts, measured: Measure) -> bool:
    """Return whether hardly any prose of a short page was left out; around a short thread there is always much.

    On pages of prose only paragraphs count, and none of the boilerplate: a note of fifty words is complete under any menu.
    """
    if measured.words < MIN_SHORT_PAGE_WORDS or not measured.paragraphs:
        return False
    own, kept = facts.own, measured.chars - measured.linked
    if not facts.profile.all_text:
        prose_chars = sum_blocks(facts.survey, own, PARAGRAPH_CHARS, facts.dead)[0]
        if prose_chars > 0 and kept >= _COMPLETE_PROSE_SHARE * prose_chars:
            return True
    left_out = facts.dead if facts.profile.is_thread else None
    return kept >= _COMPLETE_SHARE * sum_blocks(facts.survey, own, 1, left_out)[0]


PARAGRAPH_CHARS: Final = 80
"""Characters outside links from which on a block counts as a paragraph of an article. Chosen on the corpus."""

# Over some hundred articles, several paragraphs between the headline and the container were part of the article, and what came
# after the container was hardly ever content. On the 10 labelled pages concerned the rule raised the F1 of articles by 0.0005
# to 0.0007.
_MIN_OPENING_CHARS: Final = 300
"""Characters in paragraphs from which on the blocks before the container are a part of the article."""
_MIN_OPENING_PARAGRAPHS: Final = 2
"""Paragraphs of such a part; fewer are a standfirst."""
_OPENING_PROSE_SHARE: Final = 0.6
"""Share of a block's text that is in paragraphs; bylines, buttons and cards have less."""

_MIN_LEAD_CHARS: Final = 50
"""Characters outside links of the shortest standfirst."""
_MIN_LEAD_WORDS: Final = 8
"""Words of the shortest standfirst, for scripts with spaces."""
_MAX_BYLINE_CHARS: Final = 120
"""Characters of a line with a date in it up to which it says who wrote the article and when."""
_MIN_OPEN_LEAD_CHARS: Final = 80
"""Characters of the shortest standfirst that does not end like a sentence."""
_MAX_LEADS: Final = 3
"""Paragraphs of a standfirst; more are teasers of other articles."""
_MAX_LEAD_LINK_SHARE: Final = 0.3
"""Share of text in links up to which a paragraph is a standfirst."""
_MAX_SCAN_NODES: Final = 600
"""Nodes between the headline and the first paragraph: a bound on work; farther away it is another headline."""
_NOT_LEADS: Final = frozenset(
    "a figure figcaption li ul ol dl dd dt aside nav menu form table footer button label blockquote address pre noscript"
    " details dialog time".split()
)
"""Elements that a standfirst is not in."""
_SUBTITLES: Final = frozenset({"h2", "h3", "h4"})
_MAX_GAP_NODES: Final = 2
"""Nodes between a headline and its neighbour: white space, and one node after it."""
_SUSPICIOUS: Final = SUSPICIOUS_SIGNS & ~int(Sign.HEADER)
_SENTENCE_END: Final = compile_lazily(
    r"[.!?:\u2026\u3002\uff01\uff1f\u061f\u0964\u0589\u1362][\"'\u00bb\u201c\u201d\u2019)\]]*\s*$"
)


def include_opening(facts: PageFacts, root: int, mass: Sequence[int]) -> Content:
    """Return the content with its opening; `mass` has the characters of paragraphs in each subtree."""
    survey = facts.survey
    wide, beside = _include_part(survey, root, mass, facts.votes)
    if wide != root:
        return Content(wide, facts.excluded | beside)
    leads = _find_leads(facts, root)
    if not leads:
        return Content(root, facts.excluded)
    wide = root
    while wide > leads[0] or survey.end[wide] <= leads[-1]:
        wide = survey.parent[wide]
    return Content(wide, _exclude_others(survey, wide, root, leads, facts.excluded))


def _find_leads(facts: PageFacts, root: int) -> list[int]:
    """Find the standfirst, where it is outside the root or in an excluded header."""
    survey, own = facts.survey, facts.own
    first = next(
        (
            index
            for index in range(root, survey.end[root])
            if own[index] >= PARAGRAPH_CHARS and not facts.dead[index] and survey.tag[index] not in _NOT_LEADS
        ),
        0,
    )
    headline = _find_headline(facts, first)
    if not headline:
        return []
    leads: list[int] = []
    index = survey.end[headline]
    while index < first:
        tag = survey.tag[index]
        is_excluded = index in facts.excluded and facts.excluded[index].reason is not Reason.HEADER
        if tag in _NOT_LEADS or is_excluded or survey.flags[index] & _SUSPICIOUS:
            index = survey.end[index]
        elif (own[index] >= _MIN_LEAD_CHARS and _is_lead(survey, index, headline)) or _is_subtitle(
            survey, index, headline
        ):
            leads.append(index)
            index = survey.end[index]
        else:
            index += 1
    is_kept = [root < lead < survey.end[root] and not facts.dead[lead] for lead in leads]
    return [] if len(leads) > _MAX_LEADS or all(is_kept) else leads


def _find_headline(facts: PageFacts, first: int) -> int:
    """Find the headline before the first paragraph, if possible one that is not in a menu or a share bar."""
    survey = facts.survey
    headlines = [index for index in range(first - 1, max(0, first - _MAX_SCAN_NODES), -1) if survey.tag[index] == "h1"]
    return next((index for index in headlines if not facts.dead[index]), headlines[0] if headlines else 0)


def _is_lead(survey: Survey, index: int, headline: int) -> bool:
    """Return whether a block is a sentence without many links in it or, as on a card, beside it."""
    box = survey.parent[index]
    for part in (index,) if box < headline else (index, box):
        if survey.linked[part] > _MAX_LEAD_LINK_SHARE * survey.chars[part]:
            return False
    text = dom.text_of(survey.nodes[index])
    if len(text.split()) < _MIN_LEAD_WORDS and text.isascii():
        return False
    if len(text) < _MAX_BYLINE_CHARS and remove_date(text) != text:
        return False
    return bool(_SENTENCE_END.search(text)) or survey.chars[index] >= _MIN_OPEN_LEAD_CHARS


def _is_subtitle(survey: Survey, index: int, headline: int) -> bool:
    """Return whether a heading right after the headline is a sentence: then it says what the page is about."""
    return (
        survey.tag[index] in _SUBTITLES
        and survey.end[headline] <= index < survey.end[headline] + _MAX_GAP_NODES
        and survey.parent[index] == survey.parent[headline]
        and bool(_SENTENCE_END.search(dom.text_of(survey.nodes[index])))
    )


def _exclude_others(survey: Survey, wide: int, root: int, leads: Sequence[int], excluded: Exclusions) -> Exclusions:
    """Return the exclusions for a container of which only the root and the standfirst are kept."""
    end = survey.end[root]
    opened = {above for lead in leads for above in survey.ancestors(lead) if above in excluded}
    result = {index: why for index, why in excluded.items() if index not in opened}
    if wide != root:
        outside = [lead for lead in leads if not root < lead < end]
        result = label(_find_others(survey, wide, {root, *outside}), LOCATE_STEP) | result
    for header in opened:
        if root < header < end:
            result = label(_find_others(survey, header, set(leads)), LOCATE_STEP) | result
    return result


def _find_others(survey: Survey, top: int, kept: set[int]) -> Reasons:
    """Find what is in an element beside the kept parts of it."""
    around = {above for index in kept for above in survey.ancestors(index)}
    reasons: Reasons = {}
    index, end = top + 1, survey.end[top]
    while index < end:
        if index not in around and index not in kept:
            reasons[index] = Reason.BESIDE_CONTENT
        index = index + 1 if index in around else survey.end[index]
    return reasons


def _include_part(survey: Survey, root: int, mass: Sequence[int], own: Sequence[int]) -> tuple[int, Exclusions]:
    """Return the container with the part of the article before `root`, and what to leave out of it.

    Returns the root itself when there is none.
    """
    headline = next((index for index in range(root - 1, 0, -1) if survey.tag[index] == "h1"), 0)
    blocks = _find_blocks_between(survey, headline, root, mass) if headline else []
    chars = sum(mass[block] for block in blocks)
    paragraphs = sum(own[index] >= PARAGRAPH_CHARS for block in blocks for index in range(block, survey.end[block]))
    if chars < _MIN_OPENING_CHARS or paragraphs < _MIN_OPENING_PARAGRAPHS:
        return root, {}
    wide = survey.parent[root]
    while wide >= blocks[0]:
        wide = survey.parent[wide]
    return wide, label(_find_beside(survey, root, wide, blocks[0]), LOCATE_STEP)


def _find_blocks_between(survey: Survey, headline: int, root: int, mass: Sequence[int]) -> list[int]:
    """Find the blocks of prose after the headline and before the root."""
    blocks: list[int] = []
    index = survey.end[headline]
    while index < root:
        if survey.end[index] > root:  # around the root
            index += 1
        else:
            if mass[index] > _OPENING_PROSE_SHARE * survey.chars[index]:
                blocks.append(index)
            index = survey.end[index]
    return blocks


def _find_beside(survey: Survey, root: int, wide: int, first: int) -> Reasons:
    """Find what is in the wide container before the opening and after the root."""
    reasons: Reasons = {}
    index, end = wide + 1, survey.end[wide]
    while index < end:
        if survey.end[index] <= first or index >= survey.end[root]:
            reasons[index] = Reason.BESIDE_CONTENT
        is_around = index < first < survey.end[index] or index < root < survey.end[index]
        index = index + 1 if is_around else survey.end[index]
    return reasons


_MAX_PARTS: Final = 100
"""Ingredients and steps of a recipe that are looked for."""
_MIN_FOUND: Final = 3
"""Ingredients and steps that must be found on the page."""
_PART_CHARS: Final = 40
"""Characters by which an ingredient or a step is recognised."""
_MIN_PART_CHARS: Final = 3
"""Characters of the shortest ingredient that is recognised."""
_MAX_GROWTH: Final = 2.5
"""How many times the text of root and recipe the element around both may have; with more it is the page's layout."""
_PROPERTIES: Final = "[itemprop~=recipeIngredient], [itemprop~=ingredients], [itemprop~=recipeInstructions]"
_NOT_WORD: Final = compile_lazily(r"[\W_]+")


def widen_recipe(facts: PageFacts, root: int) -> int:
    """Return the element around the root and the recipe's ingredients and steps; the root itself on pages without a recipe."""
    if "Recipe" not in types(facts.structured):
        return root
    survey = facts.survey
    parts = [index for index in _find_parts(facts) if not facts.dead[index]]
    outside = [index for index in parts if not root <= index < survey.end[root]]
    if len(parts) < _MIN_FOUND or not outside:
        return root
    wide = root
    while wide > min(outside) or survey.end[wide] <= max(outside):
        wide = survey.parent[wide]
    lists = {survey.parent[index] for index in outside}
    own = survey.chars[root] + sum(survey.chars[index] for index in survey.iterate_outermost(lists))
    return wide if _measure_kept(facts, wide) <= _MAX_GROWTH * own else root


def _measure_kept(facts: PageFacts, root: int) -> int:
    """Count the characters in an element that are not excluded."""
    survey = facts.survey
    inside = range(root, survey.end[root])
    return sum(survey.chars[index] for index in inside if survey.tag[index] == TEXT and not facts.dead[index])


def _find_parts(facts: PageFacts) -> list[int]:
    """Find the elements of the ingredients and steps, by microdata or by the words that JSON-LD has."""
    survey = facts.survey
    marked = dom.select(survey.nodes[0], _PROPERTIES)[:_MAX_PARTS]
    if marked:
        return sorted(index for index in survey.find_nodes(marked).values() if survey.chars[index])
    wanted = {key for text in _iterate_texts(facts.structured) if len(key := _make_key(text)) >= _MIN_PART_CHARS}
    if not wanted:
        return []
    longest = max(map(len, wanted))
    found: dict[str, int] = {}
    for index in survey.find_tags("li", "p", "tr", "div", "dd"):
        if 0 < survey.chars[index] <= 20 * longest:
            key = _make_key(dom.text_of(survey.nodes[index]))
            if key in wanted:
                found[key] = index  # the innermost element, the last one of the page
    return sorted(found.values())


def _make_key(text: str) -> str:
    return _NOT_WORD.sub("", text.lower())[:_PART_CHARS]


def _iterate_texts(structured: Structured) -> Iterator[str]:
    """Yield the ingredients and steps that JSON-LD has."""
    for item in structured.json_ld:
        pending: list[Any] = [item.get("recipeIngredient"), item.get("recipeInstructions")]
        for _ in range(_MAX_PARTS):
            if not pending:
                break
            value = pending.pop(0)
            if isinstance(value, str):
                yield value
            elif isinstance(value, list):
                pending.extend(value)
            elif isinstance(value, dict):
                pending += [value.get("text"), value.get("itemListElement")]
