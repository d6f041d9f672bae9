"""Footnotes: numbered references in order of first use, and one list of notes at the end.

Where the marks are links, what counts is the link, not the generator's class names: a short mark that leads forward, within
the page, to a block of text.
"""

from __future__ import annotations

from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.footnotes.inline import (
    drop_lists,
    drop_margins,
    note_selector,
    take_inline_notes,
    take_latexml_notes,
)
from pagekeep.extraction.clean.footnotes.notes import (
    MARK,
    Notes,
    drop_mark_box,
    is_announcement,
    reference,
    strip_leading_mark,
    write_section,
)
from pagekeep.extraction.clean.state import (
    HEADINGS,
    CleanState,
    Removals,
    ancestors,
    first_elements,
    is_only_child,
    is_tag,
    parent_it_begins,
)
from pagekeep.model import Removal
from pagekeep.text import compile_lazily


def collect_footnotes(state: CleanState) -> list[Removal]:
    """Number footnotes in order of first use, move them to one list at the end, and remove back-links."""
    removals, root = Removals(state.changes), state.root
    notes = Notes(removals)
    if state.index.has_class("ltx_"):
        take_latexml_notes(root, notes)
    if selector := note_selector(state):
        take_inline_notes(root, selector, notes)
        if notes.bodies:
            drop_lists(root, selector, notes)
    has_links = dom.first(root, 'a[href*="#"]') is not None
    if has_links:
        take_linked_notes(root, notes)
        if selector and notes.bodies:
            drop_margins(root, notes)
    if not notes.bodies:
        take_unlinked_notes(state, notes)
    if notes.bodies:
        write_section(root, notes)
    elif has_links:
        for back in dom.select(root, BACK_LINKS):
            removals.drop(back, BACK_LINK)
    return removals


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


_NOTE_ID: Final = compile_lazily(r"(?i)(?:user-content-)?(?:fn|footnote|note|ft)[-_:.]?(\d{1,4})")
_MAX_BLOCKS_BEFORE: Final = 60
"""Blocks between a note and the rule or heading above it that announces notes."""
_CONTINUED: Final = frozenset(("p", "ul", "ol", "blockquote", "pre", "div"))
_MAX_CONTINUED_BLOCKS: Final = 6
"""Blocks that continue a note; more are text of the page."""
_MAX_MARK_DIGITS: Final = 3
"""A raised number with more digits is not a mark."""
_MAX_MARK_DEPTH: Final = 4
"""Boxes between a mark and the paragraph it begins."""
_MAX_DEPTH: Final = 12
"""Boxes between a mark and the note it may be inside of."""


def take_unlinked_notes(state: CleanState, notes: Notes) -> None:
    """Join marks that are raised numbers with notes that begin with the number or have it in their id."""
    marks = [sup for sup in state.index.find("sup") if _number(sup)]
    if not marks:
        return
    bodies: dict[str, dom.Element] = {}
    references: list[dom.Element] = []
    for mark in marks:
        block = _block_it_begins(mark)
        if block is None:
            references.append(mark)
        else:
            bodies.setdefault(_number(mark), block)
    for item in dom.select(state.root, "li[id],p[id],div[id]"):
        match = _NOTE_ID.fullmatch(item.attr("id") or "")
        if match:
            bodies.setdefault(match.group(1), item)
    for head in dom.select(state.root, "p > :is(strong,b):first-child"):
        block = _block_it_begins(head) if _number(head) else None
        if block is not None and _announcement_of(block) is not None:
            bodies.setdefault(_number(head), block)
    for mark in references:
        body = bodies.get(_number(mark))
        if body is not None and not _follows_digit(mark) and not _is_inside(mark, body):
            dom.replace(mark, reference(notes.number(body)))
    _join_continuations(notes)
    for body in notes.bodies:
        strip_leading_mark(body)


def _number(mark: dom.Element) -> str:
    """Return the number that a raised or bold mark shows, alone or in brackets; empty if it shows something else."""
    text = dom.text_of(mark).strip(" \n[]()")
    return text if text.isdecimal() and len(text) <= _MAX_MARK_DIGITS else ""


def _announcement_of(note: dom.Element) -> dom.Element | None:
    """Return the rule or heading above the note after which only notes follow."""
    before = dom.previous_element(note)
    for _ in range(_MAX_BLOCKS_BEFORE):
        if before is None or before.tag in HEADINGS or before.tag == "hr":
            break
        before = dom.previous_element(before)
    return before if before is not None and is_announcement(before) else None


def _join_continuations(notes: Notes) -> None:
    """Add the blocks that follow a note, up to the next one, to announced notes."""
    heads = set(notes.bodies)
    for body in notes.bodies:
        if body.tag != "p" or _announcement_of(body) is None:
            continue
        following = _following(body, heads)
        if following:
            inner = dom.element("p", None, *body.children)
            dom.append(body, inner, *following)
            dom.retag(body, "div")


def _following(body: dom.Element, heads: set[dom.Element]) -> list[dom.Element]:
    blocks: list[dom.Element] = []
    after = dom.next_element(body)
    while after is not None and after.tag in _CONTINUED and after not in heads:
        blocks.append(after)
        if len(blocks) > _MAX_CONTINUED_BLOCKS:
            return []
        after = dom.next_element(after)
    return blocks


def _block_it_begins(mark: dom.Element) -> dom.Element | None:
    """Return the paragraph or item that begins with this mark."""
    node: dom.Element = mark
    for _ in range(_MAX_MARK_DEPTH):
        parent = parent_it_begins(node)
        if parent is None:
            return None
        if parent.tag in ("p", "li", "dd", "aside"):
            return parent
        if parent.tag not in ("span", "strong", "b", "em", "i", "small", "div"):
            return None
        node = parent
    return None


def _follows_digit(mark: dom.Element) -> bool:
    before = mark.previous_sibling
    return isinstance(before, dom.Text) and before.data[-1:].isdigit()


def _is_inside(node: dom.Node, outer: dom.Element) -> bool:
    return any(above is outer for above in ancestors(node, _MAX_DEPTH))
