"""Profiles: how each kind of page is extracted, and how a thread is built."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from pagekeep.extraction.locate.survey import Sign, Survey
from pagekeep.model import Kind
from pagekeep.values import dataclass


@dataclass(frozen=True, slots=True)
class Profile:
    """How one kind of page is extracted."""

    ignored: int = int(Sign.REVIEWS | Sign.CONCEALED)
    """Signs that mean nothing on such a page: a forum's comments are its content."""
    all_text: bool = False
    """The content is any text, not only sentences: cards, short sections, specifications."""
    links_count: bool = False
    """Text in links counts like any other when the container is chosen: the title of a card is its link."""
    share: float = 0.8
    """Share of the page's text that the content's container must have."""
    keeps_headers: bool = False
    """A `header` within a section has that section's heading, not the article's title and byline."""
    drops_link_lists: bool = False
    """A block of links within the content leads elsewhere; on other kinds of page it may be the content."""
    drops_contents: bool = False
    """A block of links to places in the page is its table of contents, though other lists of links may be content."""
    min_links: int = 3
    """Links that make such a block: one on product pages, where nearly all of them lead away (20 pages, F1 +0.023)."""
    drops_any_copy: bool = False
    """Any block that is there twice is a copy; elsewhere, sections and rows may have the same text for several things
    (17 pages, F1 of forums, products and collections +0.007)."""
    is_product: bool = False
    """The page sells one thing; it also shows others, and reviews."""
    is_thread: bool = False
    """The page has posts that answer and quote each other."""
    ignores_teasers: bool = False
    """Lists of teasers lead to other pages and have no vote on where the content is."""
    drops_lone_links: bool = False
    """A block that is nothing but a link leads elsewhere."""
    drops_dateline: bool = False
    """The date and the reading time above the first paragraph are not part of the text."""
    is_judged: bool = False
    """Each block is judged: what stands among the paragraphs without a name that gives it away is left out."""
    has_opening: bool = False
    """Paragraphs between the headline and the container are part of the content."""
    max_link_density: float = 0.5
    """Share of text in links up to which a result is good enough: nine tenths for manuals, whose indexes are links."""


_ARTICLE: Final = Profile(
    share=0.75,
    drops_link_lists=True,
    drops_lone_links=True,
    ignores_teasers=True,
    has_opening=True,
    drops_dateline=True,
    is_judged=True,
)

# The calls to action of a service are part of its text.
_OFFER: Final = int(Sign.REVIEWS | Sign.APPEAL | Sign.CONCEALED)

PROFILES: Final[dict[Kind, Profile]] = {
    "article": _ARTICLE,
    "documentation": Profile(share=0.95, has_opening=True, drops_contents=True, max_link_density=0.9),
    "forum": Profile(
        ignored=int(Sign.COMMENTS | Sign.AUTHOR_BOX | Sign.REVIEWS),
        all_text=True,
        share=0.9,
        is_thread=True,
        drops_any_copy=True,
    ),
    "product": Profile(
        ignored=int(Sign.CONCEALED),
        all_text=True,
        keeps_headers=True,
        share=0.85,
        drops_link_lists=True,
        min_links=1,
        is_product=True,
        drops_any_copy=True,
    ),
    "collection": Profile(
        drops_any_copy=True, all_text=True, links_count=True, keeps_headers=True, share=0.9, max_link_density=0.9
    ),
    "listing": Profile(
        ignored=_OFFER, all_text=True, links_count=True, keeps_headers=True, share=0.9, max_link_density=0.9
    ),
    "service": Profile(
        ignored=_OFFER,
        all_text=True,
        keeps_headers=True,
        share=0.85,
        max_link_density=0.8,
    ),
}
"""The shares and densities of each kind were chosen on the pages of that kind in the corpus."""

_POST: Final = int(Sign.POST)
_COMMENTS: Final = int(Sign.COMMENTS)
_POST_TAGS: Final = frozenset({"div", "li", "article", "section", "table", "tr", "td"})
_MIN_POSTS: Final = 2
"""Posts that make a thread: a question and one answer."""
_MIN_SHARE: Final = 0.5
"""Share of the page's text that the posts must have to be the content. Chosen on 7 forum pages whose
container was too wide or too narrow (F1 of forums +0.011)."""
_PARAGRAPH_CHARS: Final = 80
"""Characters of the first paragraph of a post, as for articles (`opening.PARAGRAPH_CHARS`)."""


def adjust_profile(survey: Survey, profile: Profile) -> Profile:
    """Return the profile of a thread, in which comments are boilerplate when the posts are outside them.

    Measured on 6 forum pages with remarks below answers: F1 of forums +0.016.
    """
    return replace(profile, ignored=profile.ignored & ~_COMMENTS) if _has_remarks(survey) else profile


def _has_remarks(survey: Survey) -> bool:
    """Return whether there are posts beside the comments and none within: a question and answers, with remarks below."""
    ends = survey.end
    outside = comments_end = 0
    for index in survey.find_signs(_POST | _COMMENTS):
        flags = survey.flags[index]
        if flags & _COMMENTS:
            comments_end = max(comments_end, ends[index])
        if flags & _POST:
            if index < comments_end:
                return False
            outside += 1
    return bool(comments_end) and outside >= _MIN_POSTS


def find_thread_container(survey: Survey, dead: bytearray, mass: Sequence[int], own: Sequence[int]) -> int | None:
    """Find the innermost element around all posts; `None` when the page has no posts with enough of its text."""
    posts = [index for index in _find_posts(survey) if mass[index] and not dead[index]]
    if len(posts) < _MIN_POSTS:
        return None
    first = posts[0]
    if survey.flags[first] & _COMMENTS:
        first = _find_opening(survey, dead, own, first)
    root = survey.parent[first]
    while survey.end[root] <= posts[-1]:
        root = survey.parent[root]
    return root if mass[root] >= _MIN_SHARE * mass[0] else None


def _find_opening(survey: Survey, dead: bytearray, own: Sequence[int], first: int) -> int:
    """Find the first paragraph below the title: where answers are named comments, the question is not."""
    title = first
    while title and survey.tag[title] != "h1":
        title -= 1
    between = range(survey.end[title], first) if title else ()
    return next((index for index in between if own[index] >= _PARAGRAPH_CHARS and not dead[index]), first)


def _find_posts(survey: Survey) -> list[int]:
    """Find the elements that are posts by name or by number, in document order."""
    return sorted({*survey.find_signs(_POST), *_find_numbered(survey)})


def _find_numbered(survey: Survey) -> list[int]:
    """Find the group of elements numbered in the same way (`post-17`, `post-18`) that has the most text."""
    groups: dict[str, list[int]] = {}
    for index in survey.find_tags(*_POST_TAGS):
        if name := survey.nodes[index].attr("id"):  # type: ignore[attr-defined]
            prefix = name.rstrip("0123456789")
            if len(prefix) < len(name):
                groups.setdefault(prefix, []).append(index)
    threads = [group for group in groups.values() if len(group) >= _MIN_POSTS]
    return max(threads, key=lambda group: sum(survey.chars[index] for index in group), default=[])
