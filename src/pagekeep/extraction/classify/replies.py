"""Measure how much of a page is posts: by their names, or the same box again and again with an author, a date and a text."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Final

from pagekeep import dom
from pagekeep.extraction.locate.class_names import Sign
from pagekeep.extraction.locate.survey import Survey
from pagekeep.text import compile_lazily

_BOXES: Final = frozenset({"div", "li", "article", "section", "tr", "table", "dl"})
_HEADINGS: Final = ("h1", "h2", "h3", "h4")
_DATED: Final = int(Sign.BYLINE)
_POST: Final = int(Sign.POST)
_COMMENTS: Final = int(Sign.COMMENTS)
"""Comments may be below an article, or below the only post that counts."""
_MAX_DATES: Final = 400
"""Dates of a page that are looked at."""
_MAX_LEVELS: Final = 8
"""Boxes around a date that may be its post."""
_MIN_POSTS: Final = 3
"""Posts that make a thread: with fewer an author box is one."""
_MIN_SIGNED_SHARE: Final = 0.7
"""Share of the posts that must name an author."""
_MAX_TITLED_SHARE: Final = 0.3
"""Share of the posts that may have a linked heading; teasers of a list have one."""
_MIN_TEXT_CHARS: Final = 40
"""Characters of text outside links that a post has on average."""
_PROFILE: Final = compile_lazily(
    r"/(?:u|user|users|member|members|profile|profiles|people|author|authors|memberlist\.php)\b|/@"
)
_PERSON: Final = compile_lazily(
    r"(?:^|[-_\s])(?:author|user|username|member|nick|nickname|poster|handle|commenter)s?(?:$|[-_\s])"
)


def measure_replies(survey: Survey) -> tuple[int, float]:
    """Return how many posts the page has by name or by build, and the share of its text outside links that is in them."""
    total = survey.chars[0] - survey.linked[0]
    posts = _outermost(survey, survey.find_signs(_POST)) or _find_dated(survey)
    return len(posts), _count_text(survey, posts) / total if total else 0.0


def _find_dated(survey: Survey) -> list[int]:
    """Find the boxes with author, date and text that have the most text."""
    signed = [index for index in survey.find_signs(_DATED) if survey.chars[index]]
    dates = sorted({*signed, *survey.places.get("time", ())})[:_MAX_DATES]
    if len(dates) < _MIN_POSTS:
        return []
    groups: dict[tuple[str, str], set[int]] = {}
    for date in dates:
        above = date
        for _ in range(_MAX_LEVELS):
            above = survey.parent[above]
            if not above:
                break
            is_box = survey.tag[above] in _BOXES and not survey.flags[above] & _COMMENTS
            names = survey.nodes[above].attr("class") if is_box else None
            if names:
                groups.setdefault((survey.tag[above], names), set()).add(above)
    threads = [posts for boxes in groups.values() if _is_thread(survey, posts := _outermost(survey, boxes))]
    return max(threads, key=lambda posts: _count_text(survey, posts), default=[])


def _outermost(survey: Survey, boxes: Iterable[int]) -> list[int]:
    """Return the boxes that are not within another one: replies may be within the post they answer."""
    result: list[int] = []
    for index in sorted(boxes):
        if not result or index >= survey.end[result[-1]]:
            result.append(index)
    return result


def _is_thread(survey: Survey, posts: Sequence[int]) -> bool:
    if len(posts) < _MIN_POSTS or _count_text(survey, posts) < _MIN_TEXT_CHARS * len(posts):
        return False
    titled = [index for index in survey.find_tags(*_HEADINGS) if survey.linked[index] and posts[0] < index]
    with_title = sum(bisect_left(titled, survey.end[post]) > bisect_left(titled, post) for post in posts)
    if with_title > _MAX_TITLED_SHARE * len(posts):
        return False
    return sum(_is_signed(survey, post) for post in posts) >= _MIN_SIGNED_SHARE * len(posts)


def _is_signed(survey: Survey, post: int) -> bool:
    """Return whether a post links to a profile, or names its author by a class."""
    for index in range(post + 1, survey.end[post]):
        node = survey.nodes[index]
        if not isinstance(node, dom.Element):
            continue
        if survey.tag[index] == "a" and _PROFILE.search(node.attr("href") or ""):
            return True
        if (names := node.attr("class")) and survey.chars[index] and _PERSON.search(names.lower()):
            return True
    return False


def _count_text(survey: Survey, posts: Sequence[int]) -> int:
    return sum(survey.chars[post] - survey.linked[post] for post in posts)
