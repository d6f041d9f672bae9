"""Footnotes whose marks are links.

What counts is the link, not the generator's class names: a short mark that leads forward, within the page, to a block
of text.
"""

from __future__ import annotations

from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.footnotes.notes import MARK, Notes, drop_mark_box, reference, strip_leading_mark
from pagekeep.extraction.clean.vocabulary import HEADINGS, ancestors, first_elements, is_only_child, is_tag
from pagekeep.text import compile_lazily

_NOTE_NAME: Final = compile_lazily(
    r"(?i)(?:^|[^a-z])(?:fn|footnotes?|f?notes?|endnotes?|ftn|en|_?ftn|cite_note|cite-note|sdfootnote|easy-footnote-bottom|bib)"
    r"(?:[^a-z]|$|sym)|^user-content-fn|^fn"
)
_SCROLLED_TO: Final = compile_lazily(r"\('#?([\w.:-]{1,80})'\)")
_BACK: Final = compile_lazily(
    r"(?i)[\s\[\]()^↩︎↵⏎⤴↑⇧⬆️⮌<«‹\u200b]*(?:(?<=[↩︎↵⏎⤴↑⇧⬆️⮌])\s*\d{1,3})?|"
    r"back(?: to (?:text|content|top|article))?|return(?: to (?:text|article))?|jump up\W*"
)
BACK_LINKS: Final = (
    ".mw-cite-backlink,.footnote-backref,.footnote-back,.footnote-back-link,.easy-footnote-to-top,.data-footnote-backref,"
    "[data-footnote-backref],.reversefootnote,.footnote-return,.footnoteBackLink,[role=doc-backlink]"
)
_NOTE_BLOCKS: Final = frozenset(("li", "p", "dd", "div", "aside", "td", "tr", "section", "blockquote"))
BACK_LINK: Final = "back-link of a footnote"
_MAX_NOTE_ELEMENTS: Final = 400
"""A block with more elements is a part of the page, not a note."""
_MAX_BLOCK_DEPTH: Final = 6
"""Boxes between the place a mark links to and the block of its note."""
_MAX_RAISED_DEPTH: Final = 3
"""Boxes between a mark and the `sup` around it."""


def take_linked_notes(root: dom.Element, notes: Notes) -> None:
    """Number the notes that links lead to, and put references in place of the links."""
    order: dict[str, int] = {}
    places: list[dom.Element] = []
    links: list[tuple[int, dom.Element, str]] = []
    for position, node in enumerate(dom.select(root, '[id],a[name],a[href*="#"],a[onclick]')):
        places.append(node)
        for name in (node.attr("id"), node.attr("name") if node.tag == "a" else None):
            if name:
                order.setdefault(name, position)
        fragment = _fragment(node) if node.tag == "a" else ""
        if fragment:
            links.append((position, node, fragment))
    references = _references(places, order, links)
    if not references:
        return
    backs = {id(node): node for position, node, fragment in links if order.get(fragment, position) < position}
    for link, body in references:
        _replace_mark(link, reference(notes.number(body)))
    _add_unreferenced(notes)
    for body in notes.bodies:
        _strip_note(body, backs, notes)


def _fragment(link: dom.Element) -> str:
    """Return the place in a page that the link leads to.

    The page's address is not compared: a page that was moved or saved names itself by its old one. On some platforms a
    script is called with the name of the place.
    """
    target = (link.attr("href") or "").strip()
    if target.startswith("javascript:") and (script := link.attr("onclick")):
        name = _SCROLLED_TO.search(script)
        return name.group(1) if name else ""
    return target.partition("#")[2]


def _references(
    places: list[dom.Element], order: dict[str, int], links: list[tuple[int, dom.Element, str]]
) -> list[tuple[dom.Element, dom.Element]]:
    """Return the links that are marks, each with the block of its note."""
    references: list[tuple[dom.Element, dom.Element]] = []
    targets: dict[dom.Element, str] = {}
    for position, link, fragment in links:
        target_position = order.get(fragment, -1)
        if target_position <= position or not MARK.fullmatch(dom.text_of(link).strip()):
            continue
        target = places[target_position]
        body = _note_block(target)
        if body is None or not _is_note(link, body, fragment):
            continue
        if body not in targets and len(first_elements(body, _MAX_NOTE_ELEMENTS)) == _MAX_NOTE_ELEMENTS:
            continue
        if targets.setdefault(body, fragment) != fragment:
            continue  # a box around several notes is not a note
        references.append((link, body))
    return references


def _note_block(target: dom.Element) -> dom.Element | None:
    node: dom.Node | None = target
    for _ in range(_MAX_BLOCK_DEPTH):
        if not isinstance(node, dom.Element) or not isinstance(node.parent, dom.Element):  # the content is not a note
            return None
        if node.tag in ("li", "dd", "tr"):
            return node
        if node.tag == "dt":
            after = dom.next_element(node)
            return after if is_tag(after, "dd") else None
        if node.tag == "table":
            return dom.first(node, "tr") if "footnote" in (node.attr("class") or "") else None
        if node.tag in _NOTE_BLOCKS:
            item = node.parent
            if item.tag in ("li", "dd") and dom.previous_element(node) is None:
                return item
            return node
        if node.tag in HEADINGS:
            return None
        node = node.parent
    return None


def _is_note(link: dom.Element, body: dom.Element, fragment: str) -> bool:
    if _NOTE_NAME.search(fragment) or _is_raised(link):
        return True
    if link.attr("data-type") == "noteref" or link.attr("role") == "doc-noteref":
        return True
    if "footnote" in (link.attr("class") or "") or body.attr("role") in ("doc-footnote", "doc-endnote"):
        return True
    return body.tag == "li" and is_tag(body.parent, "ol")


def _is_raised(link: dom.Element) -> bool:
    is_inside = any(above.tag == "sup" for above in ancestors(link, _MAX_RAISED_DEPTH))
    return is_inside or dom.first(link, "sup") is not None


def _replace_mark(link: dom.Element, new: dom.Element) -> None:
    """Replace the mark, with its brackets and the boxes around it, by the reference."""
    outer = link
    while isinstance(outer.parent, dom.Element) and outer.parent.tag in ("sup", "span", "small", "cite"):
        if not is_only_child(outer):
            break
        outer = outer.parent
    before, after = outer.previous_sibling, outer.next_sibling
    if isinstance(before, dom.Text) and isinstance(after, dom.Text):
        left, right = before.data.rstrip(), after.data.lstrip()
        if (left[-1:], right[:1]) in (("[", "]"), ("(", ")")):
            dom.replace(before, left[:-1])
            dom.replace(after, right[1:])
    parent = outer.parent
    dom.replace(outer, new)
    if is_tag(parent, "sup"):
        _lower(parent)


def _lower(sup: dom.Node | None) -> None:
    """Turn a `sup` around several marks into a plain box: each reference is raised itself."""
    if isinstance(sup, dom.Element) and sup.attr("class") != "footnote-ref":
        dom.retag(sup, "span")


def _add_unreferenced(notes: Notes) -> None:
    """Number the other items in the lists of notes, though nothing refers to them."""
    lists: list[dom.Element] = []
    for body in notes.bodies:
        parent = body.parent
        if body.tag == "li" and isinstance(parent, dom.Element) and (not lists or lists[-1] is not parent):
            lists.append(parent)
    for parent in dict.fromkeys(lists):
        for item in parent.children:
            if isinstance(item, dom.Element) and item.tag == "li" and not notes.holds(item):
                notes.number(item)


def _strip_note(body: dom.Element, backs: dict[int, dom.Element], notes: Notes) -> None:
    """Remove back-links and the note's own mark from the note."""
    has_box = drop_mark_box(body)
    for back in dom.select(body, BACK_LINKS):
        notes.removals.drop(back, BACK_LINK)
    for link in dom.select(body, "a"):
        text = dom.text_of(link).strip()
        if not text and dom.first(link, "img") is None:
            dom.drop(link)
        elif _leads_back(link, text, backs):
            _drop_with_boxes(link, body, notes)
    if not has_box:
        strip_leading_mark(body)


def _leads_back(link: dom.Element, text: str, backs: dict[int, dom.Element]) -> bool:
    if _BACK.fullmatch(text):
        return id(link) in backs or (link.attr("href") or "").startswith("#")
    return id(link) in backs and MARK.fullmatch(text) is not None


def _drop_with_boxes(node: dom.Element, limit: dom.Element, notes: Notes) -> None:
    """Remove a back-link and the inline boxes that hold nothing else."""
    parent = node.parent
    while (
        isinstance(parent, dom.Element)
        and parent is not limit
        and parent.tag in ("sup", "span", "strong", "b", "small", "em", "i")
        and is_only_child(node)
    ):
        node, parent = parent, parent.parent
    notes.removals.drop(node, BACK_LINK)
