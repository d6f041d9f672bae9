"""Cut the winner's content out of the tree: the only place where the page itself is changed."""

from __future__ import annotations

from typing import Final

from pagekeep import dom
from pagekeep.extraction.locate import boilerplate
from pagekeep.extraction.locate.page_facts import Content
from pagekeep.extraction.locate.survey import Survey
from pagekeep.extraction.prune import stray_notes
from pagekeep.model import Removal

_REPORTED: Final = 200
"""Removals told of at most, those with the most text first."""

FOLDED: Final = f'{boilerplate.HIDDEN}, button, [role="button"]'

# Roots that are themselves part of what they hold; others only contain it and are opened.
_WHOLE: Final = frozenset("p li table ul ol dl blockquote pre figure h1 h2 h3 h4 h5 h6".split())


def cut(survey: Survey, content: Content) -> dom.Element:
    """The content as a detached `div`; the dropped parts are gone from the tree."""
    if content.made is not None:
        return content.made
    first, end = content.root, survey.end[content.root]
    notes = stray_notes.find(survey, content)
    for index in content.dropped:
        if first < index < end:
            dom.drop(survey.nodes[index])
    root = survey.nodes[content.root]
    holder = dom.element("div")
    dom.append(holder, *([root] if survey.tag[content.root] in _WHOLE else root.children), *notes)
    unfold(holder)
    return holder


def unfold(holder: dom.Element) -> None:
    """What was kept though hidden or a button is content: make it plain, so that no later step takes it for a leftover."""
    for node in dom.select(holder, FOLDED):
        if node.tag == "button":
            dom.retag(node, "span")
        for name in ("hidden", "aria-hidden", "style", "role"):
            dom.set_attr(node, name, None)


def removals(survey: Survey, content: Content) -> tuple[Removal, ...]:
    """What was dropped, most text first. Must be asked before the cut."""
    with_text = [index for index in content.dropped if survey.chars[index]]
    told = sorted(with_text, key=lambda index: (-survey.chars[index], index))[:_REPORTED]
    return tuple(
        Removal(_short_name(survey, index), content.dropped[index], len(dom.text_of(survey.nodes[index]).split()))
        for index in told
    )


def _short_name(survey: Survey, index: int) -> str:
    """The element as in CSS, with its id or first classes."""
    node = survey.nodes[index]
    if not isinstance(node, dom.Element):
        return "text"
    identifier = (node.attr("id") or "").split()
    if identifier:
        return f"{node.tag}#{identifier[0][:40]}"
    names = [name[:40] for name in (node.attr("class") or "").split()[:2]]
    return ".".join([node.tag, *names])
