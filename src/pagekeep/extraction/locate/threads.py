"""How a thread is built: where its posts are, what every one of them says, and whether comments are posts or remarks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from pagekeep import dom
from pagekeep.extraction.locate.boilerplate import Dropped
from pagekeep.extraction.locate.class_names import Sign
from pagekeep.extraction.locate.profiles import Profile
from pagekeep.extraction.locate.prose import PHRASING
from pagekeep.extraction.locate.survey import TEXT, Survey

_A_THREAD: Final = 2
"""Posts that make a thread."""
_POST_TAGS: Final = frozenset({"div", "li", "article", "section", "table", "tr", "td"})
_MOST: Final = 0.5
"""Share of the page's text that the posts must hold to be believed."""
_A_PARAGRAPH: Final = 80
_A_LABEL: Final = 100
"""Characters up to which a block that comes with every post is a button, a title said again, a rank."""
_A_REFRAIN: Final = 3
_NEARLY_ALL: Final = 0.6
_IN_A_SENTENCE: Final = PHRASING | {TEXT}
_IN_A_TABLE: Final = frozenset({"td", "th", "tr", "pre"})  # a column may well say "yes" all the way down


def settle(survey: Survey, profile: Profile) -> Profile:
    """The profile of a thread, in which comments are boilerplate when the posts stand outside them."""
    return replace(profile, ignored=profile.ignored & ~int(Sign.COMMENTS)) if _is_remarked_on(survey) else profile


def _is_remarked_on(survey: Survey) -> bool:
    """A question and its answers, each with remarks below: posts beside the comments, none within."""
    post, comments, ends = int(Sign.POST), int(Sign.COMMENTS), survey.end
    either = post | comments
    outside = within = 0
    for index, flags in enumerate(survey.flags):
        if not flags & either:
            continue
        if flags & comments:
            within = max(within, ends[index])
        if flags & post:
            if index < within:
                return False
            outside += 1
    return bool(within) and outside >= _A_THREAD


def container(survey: Survey, dead: bytearray, mass: Sequence[int], own: Sequence[int]) -> int | None:
    """The innermost element around all posts, or `None` when the page shows no posts that hold its text."""
    posts = [index for index in _posts(survey) if mass[index] and not dead[index]]
    if len(posts) < _A_THREAD:
        return None
    first = posts[0]
    if survey.flags[first] & int(Sign.COMMENTS):
        first = _opening(survey, dead, own, first)
    root = survey.parent[first]
    while survey.end[root] <= posts[-1]:
        root = survey.parent[root]
    return root if mass[root] >= _MOST * mass[0] else None


def _opening(survey: Survey, dead: bytearray, own: Sequence[int], first: int) -> int:
    """The first paragraph below the title: where answers are named comments, what they comment on is not."""
    title = first
    while title and survey.tag[title] != "h1":
        title -= 1
    between = range(survey.end[title], first) if title else ()
    return next((index for index in between if own[index] >= _A_PARAGRAPH and not dead[index]), first)


def _posts(survey: Survey) -> list[int]:
    """Elements that are posts by name or by number, in document order."""
    named = [index for index, flags in enumerate(survey.flags) if flags & int(Sign.POST)]
    return sorted({*named, *_numbered(survey)})


def _numbered(survey: Survey) -> list[int]:
    """The largest group of elements numbered in the same way, by their text: `post-17`, `post-18`."""
    groups: dict[str, list[int]] = {}
    for index, tag in enumerate(survey.tag):
        if tag in _POST_TAGS and (name := survey.nodes[index].attr("id")):  # type: ignore[attr-defined]
            prefix = name.rstrip("0123456789")
            if len(prefix) < len(name):
                groups.setdefault(prefix, []).append(index)
    several = [group for group in groups.values() if len(group) >= _A_THREAD]
    return max(several, key=lambda group: sum(survey.chars[index] for index in group), default=[])


def refrains(survey: Survey, root: int, dropped: Dropped) -> Dropped:
    """Short blocks that say the same in most posts: "Reply", "Report", the thread's title over every answer."""
    found: Dropped = {}
    for alike in _alike(survey, root, dropped):
        if len(alike) < _A_REFRAIN:
            continue
        texts = [" ".join(dom.text_of(survey.nodes[index]).split()) for index in alike]
        refrain, times = Counter(texts).most_common(1)[0]
        if times >= _NEARLY_ALL * len(alike):
            found |= {index: "same in every post" for index, text in zip(alike, texts, strict=True) if text == refrain}
    return found


def _alike(survey: Survey, root: int, dropped: Dropped) -> Iterator[list[int]]:
    """Short blocks in groups of the same make: tag and class, their own and their parent's."""
    tags, ends, chars, parents, nodes = survey.tag, survey.end, survey.chars, survey.parent, survey.nodes
    groups: dict[tuple[str, str | None, str | None], list[int]] = {}
    index, end = root + 1, ends[root]
    while index < end:
        tag = tags[index]
        if index in dropped:
            index = ends[index]
        elif tag in _IN_A_SENTENCE or tag in _IN_A_TABLE or not 0 < chars[index] <= _A_LABEL:
            index += 1
        else:
            make = (tag, nodes[index].attr("class"), nodes[parents[index]].attr("class"))  # type: ignore[attr-defined]
            groups.setdefault(make, []).append(index)
            index = ends[index]
    yield from groups.values()
