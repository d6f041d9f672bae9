"""What is special about reading each kind of page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pagekeep.extraction.locate.class_names import Sign
from pagekeep.model import Kind


@dataclass(frozen=True, slots=True)
class Profile:
    """How the chain treats one kind of page."""

    ignored: int = int(Sign.REVIEWS | Sign.CONCEALED)
    """Signs that mean nothing on such a page: a forum's comments are its content."""
    all_text: bool = False
    """The content is any text, not only sentences: cards, short sections, specifications."""
    links_count: bool = False
    """Text in links weighs like any other when the container is sought: a card's title is its link."""
    share: float = 0.8
    """How much of the page's text the content's container must hold."""
    keeps_headers: bool = False
    """A `header` within a section holds that section's heading, not the article's title and byline."""
    drops_link_lists: bool = False
    """A block of links within the content leads elsewhere; on other kinds of page it may be the content."""
    drops_contents: bool = False
    """A block of links to places in the page is its table of contents, though other lists of links may be content."""
    fewest_links: int = 3
    """Links that make such a block; where little stands beside the content but the way to other pages, one will do."""
    says_once: bool = False
    """Any block that stands twice is shown once; sections and rows may say the same of several things."""
    is_product: bool = False
    """One thing is for sale; the page also shows others, and what buyers think."""
    is_thread: bool = False
    """Posts that answer each other, and quote each other to do so."""
    ignores_teasers: bool = False
    """Lists of teasers lead to other pages and have no say in where the content is."""
    has_lone_links: bool = False
    """A block that is nothing but a link leads elsewhere."""
    has_dateline: bool = False
    """The day and the reading time above the first paragraph are not part of the text."""
    has_opening: bool = False
    """Paragraphs between the headline and the container belong to the content."""
    max_link_density: float = 0.5


_ARTICLE: Final = Profile(
    share=0.75, drops_link_lists=True, has_lone_links=True, ignores_teasers=True, has_opening=True, has_dateline=True
)

# What a service calls its readers to do is part of what it says.
_OFFERING: Final = int(Sign.REVIEWS | Sign.APPEAL | Sign.CONCEALED)

PROFILES: Final[dict[Kind, Profile]] = {
    "article": _ARTICLE,
    "documentation": Profile(share=0.95, has_opening=True, drops_contents=True, max_link_density=0.9),
    "forum": Profile(
        ignored=int(Sign.COMMENTS | Sign.AUTHOR_BOX | Sign.REVIEWS),
        all_text=True,
        share=0.9,
        is_thread=True,
        says_once=True,
    ),
    "product": Profile(
        ignored=int(Sign.CONCEALED),
        all_text=True,
        keeps_headers=True,
        share=0.85,
        drops_link_lists=True,
        fewest_links=1,
        is_product=True,
        says_once=True,
    ),
    "collection": Profile(
        says_once=True, all_text=True, links_count=True, keeps_headers=True, share=0.9, max_link_density=0.9
    ),
    "listing": Profile(
        ignored=_OFFERING, all_text=True, links_count=True, keeps_headers=True, share=0.9, max_link_density=0.9
    ),
    "service": Profile(
        ignored=_OFFERING,
        all_text=True,
        keeps_headers=True,
        share=0.85,
        max_link_density=0.8,
    ),
}
