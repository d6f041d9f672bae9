"""What no reader sees or can use on paper: scripts, controls, drawings, hidden parts, invisible characters."""

from __future__ import annotations

import re
from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.census import Census
from pagekeep.extraction.clean.vocabulary import BLOCKS, VOID, head_of, shown_after, shown_before

_SCRIPTS: Final = 'script:not([type^="math/"]):not([src*="gist.github.com"]),style,template,link,meta'
_NEVER: Final = tuple(
    (
        "script style template noscript link meta svg canvas input select textarea datalist object applet embed "
        "iframe frame frameset video audio map area progress meter param track source title math"
    ).split()
)
_UNSHOWN: Final = "[role=listbox],[role=tooltip],[hidden]:not([hidden=until-found]):not([role=tabpanel])"
_UNREAD: Final = (
    ".material-icons,.material-icons-outlined,.material-symbols-outlined,.material-symbols-rounded,"
    ".sr-only,.visually-hidden,.screen-reader-text"
)
_PARTS_OF_UNREAD: Final = ("material-", "sr-only", "visually-hidden", "screen-reader-text")
_MAYBE: Final = "button,[aria-hidden=true],[style*=display],[style*=visibility]"
_UNSEEN: Final = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)\b", re.I)
_ICON: Final = 20
"""More elements than this are no icon."""
_WORD: Final = re.compile(r"\w")
_INVISIBLE: Final = re.compile("[\u00ad\u200b\u2060\ufeff]+")


def drop_scripts(root: dom.Element) -> None:
    """Drop scripts and styles that hold nothing a later step needs."""
    for node in dom.select(root, _SCRIPTS):
        dom.drop(node)


def drop_leftovers(root: dom.Element, census: Census) -> None:
    """Drop what is never text of the page, what is hidden, and icons that only decorate."""
    unread = dom.select(root, _UNREAD) if census.shows(frozenset(), *_PARTS_OF_UNREAD) else []
    for node in (*dom.tagged(root, _NEVER), *unread, *dom.select(root, _UNSHOWN)):
        dom.drop(node)
    for node in dom.select(root, _MAYBE):
        if node.tag == "button":
            _settle_button(node)
        elif _is_unseen(node):
            dom.drop(node)


def _settle_button(button: dom.Element) -> None:
    """A button between the words of a sentence is one of them; any other is a control."""
    if _is_word(shown_before(button)) and _is_word(shown_after(button)):
        dom.unwrap(button)
    else:
        dom.drop(button)


def _is_word(node: dom.Node | None) -> bool:
    """Whether a button's neighbour is text in the same line."""
    if isinstance(node, dom.Element):
        return node.tag not in BLOCKS and node.tag not in VOID
    return isinstance(node, dom.Text)


def _is_unseen(node: dom.Element) -> bool:
    if _UNSEEN.search(node.attr("style") or ""):
        return True
    if node.attr("aria-hidden") != "true" or node.tag == "img":
        return False
    inside = head_of(node, _ICON)
    if len(inside) == _ICON or any(part.tag in ("img", "pre", "table") for part in inside):
        return False
    return not _WORD.search(dom.text_of(node))


def drop_invisible_characters(root: dom.Element) -> None:
    """Take soft hyphens, zero-width spaces and byte order marks out of the text. Joiners stay: emoji need them."""
    text = dom.text_of(root)
    if text.isascii() or not any(character in text for character in "\u00ad\u200b\u2060\ufeff"):
        return
    for node in [node for node in dom.nodes(root) if isinstance(node, dom.Text) and _INVISIBLE.search(node.data)]:
        dom.replace(node, _INVISIBLE.sub("", node.data))
