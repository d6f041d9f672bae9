"""Exclusions: the parts of a page that are left out, each with a reason and the step that found it."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import wraps
from typing import Final, NamedTuple, Protocol, TypeVar

from pagekeep.extraction.steps import Step


class Reason(StrEnum):
    """Why a part of the page is left out. The value is the text that `--explain` shows."""

    # Boilerplate, wherever it is on the page.
    ADVERTISEMENT = "advertisement"
    ALERT = "alert"
    ASIDE = "aside"
    AUTHOR_BOX = "author box"
    BAR = "bar"
    BUTTON = "button"
    BYLINE = "byline"
    CALL_TO_ACTION = "call to action"
    COMMENTS = "comments"
    COOKIE_NOTICE = "cookie notice"
    DIALOG = "dialog"
    FILTERS = "filters"
    FOOTER = "footer"
    FORM = "form"
    HEADER = "header"
    HIDDEN = "hidden"
    HIDDEN_BY_CLASS = "hidden by its class"
    MEMBER_CARD = "member card"
    NAVIGATION = "navigation"
    NOSCRIPT = "noscript"
    OVERLAY = "overlay"
    RELATED = "related"
    REVIEWS = "reviews"
    SHARE = "share"
    SIDEBAR = "sidebar"
    SIGN_UP = "sign-up"
    SMALL_PRINT = "small print"
    TOOLTIP = "tooltip"
    # Sections and lists about something else.
    OTHER_PRODUCTS = "other products"
    TEASERS = "teasers"
    # Parts around the content.
    BESIDE_CONTENT = "beside the content"
    OUTSIDE_CONTENT = "outside the content"
    REPLACED = "replaced by the text in the page's data"
    # Parts within the content.
    BACK_TO_TOP = "back-to-top link"
    DATELINE = "date line"
    HEADING_OF_CUT = "heading of a removed section"
    HEADING_TWICE = "repeated heading"
    LINK_IN_BOX = "link in a box"
    LINK_LIST = "link list"
    LOADING = "loading"
    NEIGHBOUR_LINKS = "links to neighbouring pages"
    QUOTED_FROM_ABOVE = "quoted from above"
    SAME_IN_EVERY_POST = "same in every post"
    SAME_ON_OTHER_PAGES = "same on other pages of the site"
    SHOWN_TWICE = "shown twice"
    TABLE_OF_CONTENTS = "table of contents"
    # Verdicts of the judge, by what spoke most against a block.
    AMONG_OTHERS_LIKE_IT = "judged by what is beside it"
    APART_FROM_TEXT = "apart from the text"
    BEFORE_OR_AFTER_TEXT = "before or after the text"
    MOSTLY_LINKS = "mostly links"
    NAMED_UNLIKE_TEXT = "named like parts around a text"
    NO_SENTENCE = "not written like the text"
    ONE_OF_MANY = "one of several alike"
    OTHER_SUBJECT = "about something else"
    WORDED_UNLIKE_TEXT = "worded like a notice or a teaser"


Reasons = dict[int, Reason]
"""Index of each subtree that one step leaves out, and why."""


class Exclusion(NamedTuple):
    """Why a subtree is left out, and which step decided it."""

    reason: Reason
    step: str


Exclusions = dict[int, Exclusion]
"""Index of the root of each excluded subtree."""

LOCATE_STEP: Final = "locate"
"""Step name for what is lost because it is outside the element that a strategy chose: the pipeline's step that runs them."""


def label(reasons: Reasons, step: str) -> Exclusions:
    """Return the findings of one step as exclusions under its name."""
    exclusions = {reason: Exclusion(reason, step) for reason in set(reasons.values())}
    return {index: exclusions[reason] for index, reason in reasons.items()}


class HasExclusions(Protocol):
    """A state that collects exclusions."""

    excluded: Exclusions


State = TypeVar("State", bound=HasExclusions)


def exclusion_step(name: str, find: Callable[[State], Reasons]) -> Step[State]:
    """Return a step that adds to the state's exclusions what `find` returns, under the step's name."""

    @wraps(find)
    def run(state: State) -> None:
        if found := find(state):
            state.excluded |= label(found, name)

    return Step(name, run)
