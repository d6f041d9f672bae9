"""Page facts: what every strategy knows about the page, worked out once."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence
from typing import Final, Literal

from pagekeep import dom
from pagekeep.extraction.input.structured import Structured
from pagekeep.extraction.locate import boilerplate, profiles
from pagekeep.extraction.locate.exclusions import Exclusions, Reasons, exclusion_step
from pagekeep.extraction.locate.profiles import Profile
from pagekeep.extraction.locate.survey import Survey, find_blocks, measure_own_text, sum_blocks
from pagekeep.extraction.steps import Step, run_steps
from pagekeep.model import Metadata
from pagekeep.model.page import SiteKnowledge
from pagekeep.rules.rule import Thresholds
from pagekeep.text import count_words
from pagekeep.values import dataclass

SENTENCE_CHARS: Final = 40
"""Characters outside links from which on a block is taken for prose: entries of menus are shorter, sentences mostly longer.
Chosen on the corpus."""

ScopeKind = Literal["article", "wrapper"]
"""What a rule says the surveyed part is: the content itself, or an element around the content."""
THREAD_CLASS: Final = "thread"
"""The class of the element with the messages of a thread that a rule found."""

_NO_BOUNDS: Final = Thresholds()


class OutOfTime(Exception):
    """A strategy ran out of its time."""


def _take_any_time() -> None:
    """Set no limit."""


@dataclass(frozen=True, slots=True)
class PageFacts:
    """The page as strategies see it. Strategies decide on it; none of them changes the tree."""

    survey: Survey
    structured: Structured
    metadata: Metadata
    profile: Profile
    own: list[int]
    """Characters outside links in each block itself."""
    votes: list[int]
    """Characters with which each block votes on where the content is: its own, also those in links on pages of cards."""
    excluded: Exclusions
    """What is not content, whichever strategy wins."""
    dead: bytearray
    """One byte per node, set where the node is excluded."""
    sentences: list[int]
    """The indices of the blocks that are sentences, in document order."""
    scope: ScopeKind | None = None
    """Set when a rule chose the part of the page that was surveyed."""
    bounds: Thresholds = _NO_BOUNDS
    """The limits that a rule sets for a good result."""
    selectors: tuple[str, ...] = ()
    """The caller's own CSS selectors for the content."""
    site: SiteKnowledge | None = None
    """What the other pages of the site have in common."""
    check_time: Callable[[], None] = _take_any_time
    """Raises `OutOfTime` when the strategy's time is over; called between and inside the steps of its work."""


@dataclass(frozen=True, slots=True)
class Content:
    """What a strategy would keep: everything below `root` but the excluded subtrees, or an element it made itself."""

    root: int
    excluded: Exclusions
    made: dom.Element | None = None
    selector: str | None = None
    """The selector that found it."""
    doubts: tuple[tuple[int, str], ...] = ()
    """Elements that were nearly left out, each with the reason why it was kept."""


@dataclass(slots=True)
class ExclusionState:
    """What the steps of this phase work on."""

    survey: Survey
    profile: Profile
    sentences: Sequence[int]
    """Characters of sentences in each subtree."""
    text: Sequence[int]
    """Characters in each subtree that count as content on this kind of page."""
    has_teasers: bool
    """Whether lists of teasers were found beside an article."""
    excluded: Exclusions


def _find_boilerplate(state: ExclusionState) -> Reasons:
    """Remove navigation, footers, share bars, dialogs, hidden parts and other boilerplate of the site."""
    return boilerplate.find(state.survey, state.sentences, state.text, state.profile)


def _find_off_topic_sections(state: ExclusionState) -> Reasons:
    """Remove the sections of a product page that are about other products or are reviews."""
    return boilerplate.find_sections(state.survey, 0, state.excluded) if state.profile.is_product else {}


def _find_teaser_lists(state: ExclusionState) -> Reasons:
    """Remove lists of teasers for other articles beside an article."""
    return boilerplate.find_teaser_lists(state.survey) if state.has_teasers else {}


STEPS: Final[list[Step[ExclusionState]]] = [
    exclusion_step("boilerplate", _find_boilerplate),
    exclusion_step("off-topic-sections", _find_off_topic_sections),
    exclusion_step("teaser-lists", _find_teaser_lists),
]
"""What is removed before a strategy looks for the content, in this order."""


def collect(
    survey: Survey,
    structured: Structured,
    metadata: Metadata,
    profile: Profile,
    scope: ScopeKind | None = None,
    bounds: Thresholds = _NO_BOUNDS,
    *,
    skip: Collection[str] = (),
    selectors: tuple[str, ...] = (),
    site: SiteKnowledge | None = None,
) -> PageFacts:
    """Measure the page's blocks and find its boilerplate, without the steps in `skip`."""
    own = measure_own_text(survey)
    if profile.is_thread:
        profile = profiles.adjust_profile(survey, profile)
    votes = boilerplate.remove_teaser_votes(survey, own, SENTENCE_CHARS) if profile.ignores_teasers else own
    has_teasers = votes is not own
    sentences = sum_blocks(survey, votes, SENTENCE_CHARS)
    text = sentences
    if profile.links_count:  # on a page of cards only the dialogs have sentences
        votes = measure_own_text(survey, links=True)
        text = sum_blocks(survey, votes, 1)
    state = ExclusionState(survey, profile, sentences, text, has_teasers, {})
    run_steps(STEPS, state, skip=skip)
    dead = boilerplate.mark(survey, state.excluded)
    long = find_blocks(own, SENTENCE_CHARS)
    return PageFacts(
        survey, structured, metadata, profile, own, votes, state.excluded, dead, long, scope, bounds, selectors, site
    )


def find_kept(survey: Survey, content: Content) -> list[tuple[int, int]]:
    """Return what the content keeps as ranges of nodes, each with the index of its first and that after its last one."""
    return _find_between(survey, content.root, _find_outermost(survey, content))


def _find_between(survey: Survey, root: int, outermost: Sequence[int]) -> list[tuple[int, int]]:
    """Return the ranges of nodes between the excluded subtrees."""
    ranges: list[tuple[int, int]] = []
    first = root
    for index in outermost:
        if index > first:
            ranges.append((first, index))
        first = survey.end[index]
    end = survey.end[root]
    return [*ranges, (first, end)] if first < end else ranges


def _find_outermost(survey: Survey, content: Content) -> list[int]:
    """Return the excluded subtrees of the content that are not within another one, in document order."""
    first, end = content.root, survey.end[content.root]
    return list(survey.iterate_outermost([index for index in content.excluded if first <= index < end]))


@dataclass(frozen=True, slots=True)
class Measure:
    """How much a strategy would keep."""

    words: int
    chars: int
    linked: int
    """Characters in links."""
    paragraphs: int

    @property
    def link_density(self) -> float:
        """Return the share of the text that is in links."""
        return self.linked / self.chars if self.chars else 0.0


def measure(facts: PageFacts, content: Content) -> Measure:
    """Count what would be kept, without changing the tree."""
    if content.made is not None:
        text = dom.text_of(content.made)
        return Measure(count_words(text), len(text), 0, len(content.made.children))
    survey, sentences, outermost = facts.survey, facts.sentences, _find_outermost(facts.survey, content)
    total = survey.chars[content.root] - sum([survey.chars[index] for index in outermost])
    in_links = survey.linked[content.root] - sum([survey.linked[index] for index in outermost])
    texts: list[str] = []
    paragraphs = 0
    for first, end in _find_between(survey, content.root, outermost):
        facts.check_time()
        texts += survey.texts_in(first, end)
        paragraphs += bisect_left(sentences, end) - bisect_left(sentences, first)
    text = " ".join(texts)
    return Measure(len(text.split()) if text.isascii() else count_words(text), total, in_links, paragraphs)
