"""Profiles: how each kind of page is extracted."""

from __future__ import annotations

from typing import Final

from pagekeep.extraction.locate.class_names import Sign
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
