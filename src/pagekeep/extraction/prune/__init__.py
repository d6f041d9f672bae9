"""Prune: remove what is not part of the text within the content that a strategy found."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from pagekeep import dom
from pagekeep.extraction.input import urls
from pagekeep.extraction.locate.exclusions import Exclusions, Reasons, exclusion_step
from pagekeep.extraction.locate.page_facts import THREAD_CLASS, Content, PageFacts
from pagekeep.extraction.prune import edges, judge, repeats, strays
from pagekeep.extraction.steps import Step, run_steps
from pagekeep.values import dataclass

_LINK_BLOCKS: Final = "link-blocks"


@dataclass(slots=True)
class PruneState:
    """What the steps of this phase work on."""

    facts: PageFacts
    root: int
    """Index of the content's container."""
    excluded: Exclusions
    """What is left out so far; every step adds to it."""
    doubts: tuple[tuple[int, str], ...] = ()
    """Elements that were nearly left out, each with the reason why it was kept."""


def _find_stray_lines(state: PruneState) -> Reasons:
    """Remove lines about the page as a tool: "Back to top", "Loading...", "Advertisement", links to neighbouring pages."""
    return strays.find_stray_lines(state.facts.survey, state.root, state.excluded)


def _find_link_blocks(state: PruneState) -> Reasons:
    """Remove blocks of links to other pages from articles and products, and tables of contents from those and manuals."""
    facts, profile = state.facts, state.facts.profile
    if profile.drops_link_lists:
        host = urls.domain(facts.metadata.canonical)
        return strays.find_link_blocks(facts.survey, state.root, state.excluded, profile.min_links, host)
    if profile.drops_contents:
        return strays.find_link_blocks(facts.survey, state.root, state.excluded, min_links=None)
    return {}


def _find_lone_headings(state: PruneState) -> Reasons:
    """Remove headings whose section was a block of links."""
    if not state.facts.profile.drops_link_lists:
        return {}
    removed = [index for index, exclusion in state.excluded.items() if exclusion.step == _LINK_BLOCKS]
    return strays.find_lone_headings(state.facts.survey, state.root, state.excluded, removed)


def _find_lone_links(state: PruneState) -> Reasons:
    """Remove boxes that are only a link, and rows of paragraphs that are one link each, from articles."""
    if not state.facts.profile.drops_lone_links:
        return {}
    return strays.find_lone_links(state.facts.survey, state.root, state.excluded)


def _find_datelines(state: PruneState) -> Reasons:
    """Remove lines above an article's first paragraph that are only a date or a reading time."""
    facts = state.facts
    if not facts.profile.drops_dateline or facts.scope == "article":  # a rule that chose the article wants it there
        return {}
    return edges.find_datelines(facts.survey, state.root, state.excluded, facts.own, facts.metadata.author)


def _find_edges(state: PruneState) -> Reasons:
    """Remove paths above an article's headline, and sections below it about other articles, the author or a newsletter."""
    facts = state.facts
    if not facts.profile.is_judged or facts.scope:
        return {}
    return edges.find(facts.survey, state.root, state.excluded, facts.own)


def _judge_blocks(state: PruneState) -> Reasons:
    """Remove teasers, pitches and notes from among the paragraphs of an article, judging each block by a trained forest."""
    if not state.facts.profile.is_judged:
        return {}
    verdict = judge.judge(state.facts, state.root, state.excluded)
    state.doubts = verdict.doubts
    return verdict.dropped


def _find_quotations(state: PruneState) -> Reasons:
    """Remove quotations of earlier posts from a thread."""
    if not state.facts.profile.is_thread:
        return {}
    return repeats.find_quotations(state.facts.survey, state.root, state.excluded)


def _is_written_thread(state: PruneState) -> bool:
    """Return whether a rule found the messages of a thread: then all of them are content, copies too."""
    scope = state.facts.survey.nodes[0]
    return state.facts.scope == "article" and isinstance(scope, dom.Element) and scope.attr("class") == THREAD_CLASS


def _find_refrains(state: PruneState) -> Reasons:
    """Remove short blocks that are the same in most posts of a thread: "Reply", "Report", the thread's title."""
    if not state.facts.profile.is_thread or _is_written_thread(state):
        return {}
    return repeats.find_refrains(state.facts.survey, state.root, state.excluded)


def _find_repeated_headings(state: PruneState) -> Reasons:
    """Remove the lower of two neighbouring headings with the same words."""
    if state.facts.profile.links_count:  # cards may have the same name
        return {}
    return strays.find_repeated_headings(state.facts.survey, state.root, state.excluded)


def _find_copies(state: PruneState) -> Reasons:
    """Remove later copies of a block: layouts for phones, repeated teasers."""
    if _is_written_thread(state):
        return {}
    profile = state.facts.profile
    is_prose = not profile.all_text
    return repeats.find_copies(
        state.facts.survey, state.root, state.excluded, any_block=profile.drops_any_copy, is_prose=is_prose
    )


def _find_site_repeats(state: PruneState) -> Reasons:
    """Remove text that many pages of the same site show, where the caller passes what is known about the site."""
    site = state.facts.site
    return repeats.find_site_repeats(state.facts.survey, state.root, state.excluded, site) if site else {}


STEPS: Final[list[Step[PruneState]]] = [
    exclusion_step("stray-lines", _find_stray_lines),
    exclusion_step(_LINK_BLOCKS, _find_link_blocks),
    exclusion_step("lone-headings", _find_lone_headings),
    exclusion_step("lone-links", _find_lone_links),
    exclusion_step("datelines", _find_datelines),
    exclusion_step("judge", _judge_blocks),
    exclusion_step("edges", _find_edges),
    exclusion_step("quotations", _find_quotations),
    exclusion_step("refrains", _find_refrains),
    exclusion_step("repeated-headings", _find_repeated_headings),
    exclusion_step("copies", _find_copies),
    exclusion_step("site-repeats", _find_site_repeats),
]
"""In the order they run: each step skips what earlier ones removed. Each step decides by the profile of the
page's kind whether it applies."""


def prune(facts: PageFacts, content: Content, *, skip: Collection[str] = ()) -> Content:
    """Return the content with more left out, by every step but those in `skip`."""
    state = PruneState(facts, content.root, dict(content.excluded))

    def check_time(step: str) -> None:
        if step != STEPS[-1].name:  # a result that is complete is kept, however long it took
            facts.check_time()

    run_steps(STEPS, state, skip=skip, record=check_time)
    return replace(content, excluded=state.excluded, doubts=state.doubts)
