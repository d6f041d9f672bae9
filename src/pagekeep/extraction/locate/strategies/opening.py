"""The opening of an article: what is between its headline and the container of its paragraphs.

Layouts put the standfirst into the `header`, or into a box above the container. Several paragraphs there are a first part of
the article; of one or two, only these are taken, without the bylines, buttons and captions beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pagekeep import dom
from pagekeep.extraction.locate.boilerplate import SUSPICIOUS_SIGNS
from pagekeep.extraction.locate.class_names import Sign
from pagekeep.extraction.locate.exclusions import LOCATE_STEP, Exclusions, Reason, Reasons, label
from pagekeep.extraction.locate.page_facts import Content, PageFacts
from pagekeep.extraction.locate.survey import Survey
from pagekeep.extraction.metadata.dates import remove_date
from pagekeep.text import compile_lazily

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


def include(facts: PageFacts, root: int, mass: Sequence[int]) -> Content:
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
