"""Where an article goes on: links to its next page, or to all of it on one page."""

from __future__ import annotations

from pagekeep.values import dataclass


@dataclass(frozen=True, slots=True)
class PageLink:
    """A link to another page of the same article."""

    url: str
    reason: str
    """Why it is one, in plain words."""
    number: int | None = None
    """The number of that page; `None` when the address does not tell, or it has all of the article."""
    by_rule: bool = False
    """Whether a rule found it: then it need not look like the address of a page with a number."""


@dataclass(frozen=True, slots=True)
class Continuation:
    """The links of a page to the rest of its article. The capture follows them."""

    next: PageLink | None = None
    single: tuple[PageLink, ...] = ()
    """Pages that may have all of the article, the best first."""


@dataclass(frozen=True, slots=True)
class JoinedPage:
    """One of the pages that an article was joined from."""

    url: str
    words: int
    """That it added."""
    note: str
    """How it was found, and what was left out of it."""
