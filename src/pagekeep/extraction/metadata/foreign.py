"""Recognise the parts of a page that are about other pages or other people."""

from __future__ import annotations

from typing import Final

from pagekeep import dom
from pagekeep.extraction.input.structured import short_text
from pagekeep.text import compile_lazily

_MAX_CLIMB: Final = 40
"""Ancestors looked at."""
_NAME_CHARS: Final = 300
"""Characters of an element's class and id that are searched."""
_FOREIGN_TAGS: Final = frozenset(("nav", "form"))
_FOREIGN: Final = compile_lazily(
    r"(?:\A|[\s_-])(comments?|commentlist|related|sidebar|footer|recommend(?:ed|ations?)?|popular|teasers?|promo|latest|trending"
    r"|carousel|slider|newsletter(?:-(?:signup|form|box|cta|subscribe|widget))?(?=\Z|\s)|nav|navbar|disqus|respond|cards?|suggested|upnext|testimonials?)(?=\Z|[\s_-])"
)
"""Whole words in the class or id of a part about other pages or other people."""
_LINE_CHARS: Final = 40
"""Characters of a teaser of another page; less is only a line: a date, a kicker, an author's name."""


def is_foreign(
    element: dom.Element,
    own: frozenset[dom.Node] = frozenset(),
    blocks: frozenset[dom.Node] = frozenset(),
    *,
    with_footer: bool = True,
) -> bool:
    """Return whether the element is in a part about something else: comments, related pages, navigation.

    A part that also contains the page's heading (`own`) is about the page, whatever its name, and so is the footer of one
    of the small `blocks` around the heading.
    """
    node: dom.Node | None = element
    is_separate = False
    for _ in range(_MAX_CLIMB):
        if not isinstance(node, dom.Element) or node in own or node.tag in ("body", "article", "main"):
            break
        names = f"{node.attr('class') or ''} {node.attr('id') or ''}"[:_NAME_CHARS].lower()
        if node is not element and (node.tag in _FOREIGN_TAGS or _is_card(node)):
            return True
        if (found := _FOREIGN.search(names)) and not _is_harmless(node, found[1], blocks, with_footer):
            return True
        is_separate = is_separate or (with_footer and node.tag in ("aside", "footer"))
        node = node.parent
    # An article may have its own byline and date in an aside or footer; outside an article, these list other pages.
    return is_separate and not _in_article(node)


def _is_card(node: dom.Element) -> bool:
    """Return whether the part is a link with more than a line of text: a teaser of another page."""
    return node.tag == "a" and len(short_text(node, _LINE_CHARS)) >= _LINE_CHARS


def _is_harmless(node: dom.Element, name: str, blocks: frozenset[dom.Node], with_footer: bool) -> bool:
    """Return whether a name does not make a part another page's: a teaser has more than a line."""
    is_beside = node.parent in blocks
    if name == "footer":
        return is_beside or not with_footer
    is_line = len(short_text(node, _LINE_CHARS)) < _LINE_CHARS or (is_beside and "meta" in (node.attr("class") or ""))
    return name.startswith(("teaser", "card")) and is_line


def _in_article(node: dom.Node | None) -> bool:
    for _ in range(_MAX_CLIMB):
        if not isinstance(node, dom.Element) or node.tag in ("body", "main"):
            return False
        if node.tag == "article":
            return True
        node = node.parent
    return False
