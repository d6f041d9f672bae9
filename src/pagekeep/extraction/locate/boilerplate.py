"""What on the page is not content whatever the article may be: navigation, footers, share bars, dialogs, hidden parts.

Tags, roles and the words in class names accuse an element. What it holds may acquit it, because layouts call the very column
of the article `content-sidebar-wrap`, old sites put the whole page in one form, and the text of a closed accordion is hidden.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from pagekeep import dom
from pagekeep.extraction.locate.class_names import Sign
from pagekeep.extraction.locate.profiles import Profile
from pagekeep.extraction.locate.survey import TEXT, Survey

Dropped = dict[int, str]
"""Index of each dropped subtree's root, and why."""

TAGS: Final = {
    "nav": "navigation",
    "menu": "navigation",
    "footer": "footer",
    "aside": "aside",
    "form": "form",
    "fieldset": "form",
    "legend": "form",
    "button": "button",
    "label": "form",
    "dialog": "dialog",
    "header": "header",
    "noscript": "noscript",
}
_SIGNS: Final = {
    Sign.HIDDEN: "hidden",
    Sign.NAVIGATION: "navigation",
    Sign.FOOTER: "footer",
    Sign.HEADER: "header",
    Sign.COMMENTS: "comments",
    Sign.RELATED: "related",
    Sign.SIDEBAR: "sidebar",
    Sign.ADVERT: "advertisement",
    Sign.SHARE: "share",
    Sign.SIGNUP: "sign-up",
    Sign.COOKIES: "cookie notice",
    Sign.POPUP: "dialog",
    Sign.MEMBER: "member card",
    Sign.BYLINE: "byline",
    Sign.AUTHOR_BOX: "author box",
    Sign.CONTROL: "button",
    Sign.REVIEWS: "reviews",
    Sign.TOOLTIP: "tooltip",
    Sign.APPEAL: "call to action",
    Sign.OVERLAY: "overlay",
    Sign.SMALL_PRINT: "small print",
    Sign.CONCEALED: "hidden by its class",
    Sign.FILTERS: "filters",
    Sign.FORM: "form",
    Sign.BAR: "bar",
}
_ACCUSING: Final = int(sum(_SIGNS))
_REASONS: Final = tuple((int(sign), reason) for sign, reason in _SIGNS.items())

HIDDEN: Final = (
    '[hidden], [aria-hidden="true"], [style*="display:none"], [style*="display: none"], [style*="visibility:hidden"],'
    ' [style*="visibility: hidden"]'
)
_ROLES: Final = {
    "navigation": "navigation",
    "banner": "header",
    "contentinfo": "footer",
    "complementary": "aside",
    "dialog": "dialog",
    "alertdialog": "dialog",
    "search": "form",
    "menu": "navigation",
    "menubar": "navigation",
    "alert": "alert",
    "status": "alert",
    "button": "button",
}
# A wider net than `HIDDEN` and the roles, and few meshes: every mesh is tried on every element of the page.
_BY_ATTRIBUTE: Final = '[hidden], [aria-hidden="true"], [style*="none"], [style*="hidden"], [role]'

# The share of the page's prose from which on an accused element is taken for content after all.
_ACQUITTED_FROM: Final = {
    "navigation": 0.6,
    "footer": 0.9,
    "comments": 0.7,
    "header": 0.4,
    "aside": 0.4,
    "form": 0.4,
    "cookie notice": 0.95,
    "dialog": 0.9,
    "reviews": 0.9,
    "small print": 0.95,
    "filters": 0.6,
}
# When a thread of comments is the content, so is every comment in it; a hidden dialog in hidden content is none.
_CLEARED_THROUGHOUT: Final = frozenset({"comments", "reviews", "sidebar", "form"})
_AN_ARTICLE: Final = 1_000
"""Characters of prose beside the comments from which on they comment on something."""
_ACQUITTED_OTHERWISE: Final = 0.3
_FULL_OF_LINKS: Final = frozenset({"navigation", "header", "footer", "aside"})
_SHORTEST_TITLE: Final = 15
# What is never longer than a paragraph; what is was named so for another reason.
_SMALL: Final = frozenset({"call to action", "member card", "byline", "share", "tooltip", "bar"})
_A_PARAGRAPH: Final = 300
_LABEL: Final = 100
"""Characters up to which something named a button is one; longer ones are cards that can be clicked."""

_MENU: Final = 0.3
"""Share of links from which on what unfolds is a menu."""
_TO_OPENER: Final = 5
_BOXES_OF_A_TITLE: Final = 3
_UNFOLDED: Final = frozenset({"div", "section", "p", "ul", "ol", "dl", "dd"})
_AN_OPTION: Final = 60
_NEAR: Final = 400
_NEARLY_ALL: Final = 0.9
_LEAST_OF_A_MAIN: Final = 0.1
"""Share of the page's text; a `main` with less is that of a dialog."""

_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
# Their names are made of their own words, or say where a quotation is from.
_NAMED_FOR_THEIR_TEXT: Final = _HEADINGS | {"blockquote"}
_QUOTES: Final = frozenset({"blockquote"})
_WORDS: Final = frozenset({"a", "abbr"})
_HIDING: Final = int(Sign.HIDDEN | Sign.CONCEALED)
# As docutils and Asciidoctor call them, which make ids of headings.
_SECTIONS: Final = frozenset({"section", "sect1", "sect2", "sect3", "sect4", "sect5"})
_TO_HEADING: Final = 6
"""Nodes within which a section has its heading."""
_WORD: Final = re.compile(r"[a-z0-9]+")
_WHOLE_PAGE: Final = 1_000
"""Characters from which on a `noscript` is the page for browsers without scripts, as forums write it."""
_CONTENT_TAGS: Final = frozenset({"main", "article", "section", "li"})
_NEVER: Final = frozenset({"body", "main", "article", "html"})
# Highlighters use names such as `comment` and `button` for the parts of code.
_EXEMPT: Final = frozenset({"pre", "code"})
_SUSPECTED: Final = frozenset(TAGS) | _EXEMPT


def find(found: Survey, prose: Sequence[int], text: Sequence[int], profile: Profile) -> Dropped:
    """The outermost subtrees that are not content, given the sentences in each subtree and the text that speaks for it."""
    court = _Court(found, prose, text, profile, _by_attribute(found.nodes[0]), _around_main(found))
    tags, ends, flags, nodes = found.tag, found.end, found.flags, found.nodes
    by_attribute, suspected, accusing = court.by_attribute, _SUSPECTED, _ACCUSING
    dropped: Dropped = {}
    index, count = 1, len(tags)
    while index < count:
        tag = tags[index]
        if tag in suspected or flags[index] & accusing or id(nodes[index]) in by_attribute:
            reason = court.verdict(index)
            if reason:
                dropped[index] = reason
            index = ends[index] if reason or tag in _EXEMPT else index + 1
        else:
            index += 1
    return dropped


def _by_attribute(root: dom.Node) -> dict[int, str]:
    """Nodes (by identity) that their attributes accuse."""
    accused: dict[int, str] = {}
    for node in dom.select(root, _BY_ATTRIBUTE):
        reason = _ROLES.get(node.attr("role") or "") or ("hidden" if dom.matches(node, HIDDEN) else None)
        if reason:
            accused[id(node)] = reason
    return accused


def _around_main(found: Survey) -> frozenset[int]:
    """What holds the `main` of the page: a `content-sidebar-wrap` is no sidebar."""
    if "main" not in found.tag:
        return frozenset()
    index = found.tag.index("main")
    big_enough = found.chars[index] > _LEAST_OF_A_MAIN * found.chars[0]
    return frozenset(found.ancestors(index)) if big_enough else frozenset()


@dataclass(frozen=True, slots=True)
class _Court:
    """Accusation and acquittal of one element."""

    found: Survey
    prose: Sequence[int]
    text: Sequence[int]
    profile: Profile
    by_attribute: dict[int, str]
    around_main: frozenset[int]
    cleared: dict[str, int] = field(default_factory=dict)
    """Reason to the index up to which it no longer accuses."""

    def verdict(self, index: int) -> str | None:
        """Why the element is not content, or `None`."""
        reason = self._accusation(index)
        return None if index in self.around_main else reason

    def _accusation(self, index: int) -> str | None:
        tag = self.found.tag[index]
        if tag in _NEVER or tag in _EXEMPT:
            return None
        reason = TAGS.get(tag)
        if reason:
            return None if self._tag_is_harmless(index, reason) or self._holds_prose(index, reason) else reason
        signs = self.found.flags[index] & _ACCUSING & ~self.profile.ignored
        if signs and (
            tag in _NAMED_FOR_THEIR_TEXT or self._is_part_of_text(index) or self._has_its_headings_name(index)
        ):
            signs = 0
        reason = next((reason for sign, reason in _REASONS if signs & sign), None) if signs else None
        if reason and not self._name_is_harmless(index, reason) and not self._holds_prose(index, reason):
            return reason
        reason = self.by_attribute.get(id(self.found.nodes[index]))
        if reason and not self._attribute_is_harmless(index, reason) and not self._holds_prose(index, reason):
            return reason
        return None

    def _is_part_of_text(self, index: int) -> bool:
        """The link of a heading to itself (`a.header`), a word that is explained elsewhere (`a.glossary-tooltip`)."""
        tag, flags = self.found.tag[index], self.found.flags[index]
        if tag not in _WORDS or flags & _HIDING:
            return False
        parent = self.found.tag[self.found.parent[index]]
        return (parent in _HEADINGS and bool(flags & int(Sign.HEADER))) or bool(flags & int(Sign.TOOLTIP))

    def _has_its_headings_name(self, index: int) -> bool:
        """A section of a manual, whose id is made of the words of its heading: `#sharing-a-lamp` is no share bar."""
        node = self.found.nodes[index]
        name = node.attr("id") if isinstance(node, dom.Element) else None
        if (
            not name
            or not isinstance(node, dom.Element)
            or not _SECTIONS.intersection((node.attr("class") or "").split())
        ):
            return False
        for inner in range(index + 1, min(self.found.end[index], index + _TO_HEADING)):
            if self.found.tag[inner] in _HEADINGS:
                words = _WORD.findall(dom.text_of(self.found.nodes[inner])[:200].lower())
                return len(words) > 1 and _WORD.findall(name.lower())[: len(words)] == words[: len(_WORD.findall(name))]
        return False

    def _holds_prose(self, index: int, reason: str) -> bool:
        if index < self.cleared.get(reason, 0):
            return True  # part of something bigger that was accused of the same and acquitted
        if reason == "noscript" and self.found.chars[index] < _WHOLE_PAGE:
            return False  # "please enable JavaScript", at some length
        share = self._share(index, reason)
        if reason == "comments" and self.prose[0] - self.prose[index] > _AN_ARTICLE:
            return False  # more words than the article has, and comments on it all the same
        if share < _ACQUITTED_FROM.get(reason, _ACQUITTED_OTHERWISE):
            return False
        if self.found.tag[index] == "footer" and self.found.chars[index] < _NEARLY_ALL * self.found.chars[0]:
            return False  # the longest blocks of the page may be the list of towns that are served
        if reason in _CLEARED_THROUGHOUT:
            self.cleared[reason] = self.found.end[index]
        return True

    def _share(self, index: int, reason: str) -> float:
        """How much of the page it holds: of its text, and of its sentences where menus would pass for text."""
        share = self.text[index] / (self.text[0] or 1)
        return min(share, self.prose[index] / (self.prose[0] or 1)) if reason in _FULL_OF_LINKS else share

    def _tag_is_harmless(self, index: int, reason: str) -> bool:
        if reason == "header":
            return self.profile.keeps_headers and self._is_inside(index, _CONTENT_TAGS)
        if reason == "aside":
            return bool(self.found.flags[index] & int(Sign.QUOTE))
        if reason == "button":
            return self._is_fold_title(index)
        if reason == "footer":
            return self._is_inside(index, _QUOTES)
        if reason == "noscript":
            return not self.found.chars[index]  # an image for browsers without scripts, maybe the only one
        return False

    def _is_shown_later(self, index: int) -> bool:
        """Hidden until a reader opens it: a panel, or text (no menu) right behind what opens and closes it."""
        node = self.found.nodes[index]
        if not isinstance(node, dom.Element):
            return False
        if node.attr("role") == "tabpanel":
            return True
        opener = dom.previous_element(node)
        is_text = self.found.linked[index] < _MENU * self.found.chars[index]
        return is_text and opener is not None and any(map(_opens, (opener, *islice(dom.elements(opener), _TO_OPENER))))

    def _is_fold_title(self, index: int) -> bool:
        """The title of an accordion: a button because it opens, a heading because it says what is in there."""
        node = self.found.nodes[index]
        if self.found.tag[self.found.parent[index]] in _HEADINGS or any(
            self.found.tag[inner] in _HEADINGS for inner in range(index, self.found.end[index])
        ):
            return True
        if not isinstance(node, dom.Element) or self.found.chars[index] < _SHORTEST_TITLE:
            return False
        controls, expanded = bool(node.attr("aria-controls")), bool(node.attr("aria-expanded"))
        return (controls and expanded) or ((controls or expanded) and _heads_a_block(node))

    def _is_inside(self, index: int, tags: frozenset[str]) -> bool:
        return any(self.found.tag[above] in tags for above in self.found.ancestors(index))

    def _name_is_harmless(self, index: int, reason: str) -> bool:
        chars, linked = self.found.chars[index], self.found.linked[index]
        if reason == "button":
            return chars > _LABEL or self._holds_code(index)
        if reason == "navigation":
            return linked < 0.3 * chars and (chars > _A_PARAGRAPH or self._holds_code(index))
        if reason == "hidden by its class":  # until a reader opens it
            return bool(self.found.flags[index] & int(Sign.FOLDED)) or self._is_shown_later(index)
        if reason == "related":  # a paragraph that leads nowhere is related to its heading
            return self.found.tag[index] == "p" and not linked
        if reason in _SMALL:
            return chars - linked > _A_PARAGRAPH
        return reason == "filters" and self._says_something(index)

    def _holds_code(self, index: int) -> bool:
        """Highlighters put the code they draw in a `code-toolbar`, and behind a `dropdown` of languages."""
        return "pre" in self.found.tag[index : min(self.found.end[index], index + _NEAR)]

    def _says_something(self, index: int) -> bool:
        """Some text in it is longer than an option to choose; looked for near the beginning."""
        found = self.found
        first = range(index, min(found.end[index], index + _NEAR))
        return any(found.tag[inner] == TEXT and found.chars[inner] > _AN_OPTION for inner in first)

    def _attribute_is_harmless(self, index: int, reason: str) -> bool:
        if reason == "button":
            return self.found.chars[index] > _LABEL or self._is_fold_title(index)
        if reason == "alert":  # a callout within the content, a notice of the site outside
            return self._is_inside(index, _CONTENT_TAGS) or not _CONTENT_TAGS.intersection(self.found.tag)
        if reason == "hidden":
            return bool(self.found.flags[index] & int(Sign.FOLDED)) or self._is_shown_later(index)
        return False


def _heads_a_block(node: dom.Element) -> bool:
    """Whether the element stands alone right before a block: one of several in a row is a tab."""
    above: dom.Node | None = node
    for _ in range(_BOXES_OF_A_TITLE):
        if not isinstance(above, dom.Element) or dom.previous_element(above) is not None:
            return False
        after = dom.next_element(above)
        if after is not None:
            return after.tag in _UNFOLDED
        above = above.parent
    return False


def _opens(node: dom.Element) -> bool:
    """Whether the element says that it unfolds another."""
    return node.tag == "summary" or node.attr("aria-expanded") is not None or node.attr("aria-controls") is not None


def mark(found: Survey, dropped: Dropped) -> bytearray:
    """One byte a node, set where the node is dropped."""
    dead = bytearray(len(found.nodes))
    for index in dropped:
        end = found.end[index]
        dead[index:end] = b"\1" * (end - index)
    return dead
