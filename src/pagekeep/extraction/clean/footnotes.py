"""Footnotes: marks become numbered references in order of first use, notes one list at the end, back-links go.

What counts is the link, not the generator's class names: a short mark that leads forward, within the page, to a block
of text. Notes written into the line itself (LaTeXML, side notes) and marks without links are treated alike.
"""

from __future__ import annotations

import re
from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.vocabulary import HEADINGS, head_of, is_blank, is_tag, parent_it_heads, stands_alone

_MARK: Final = re.compile(
    r"(?i)[\[(]?\s*(?:(?:note|nb|fn|lower-alpha)\s*)?(\d{1,4}|[a-z]{1,2}|[ivxlc]{1,6}|[*†‡§¶‖]{1,4})\s*[\])]?[.,:]?"
)
_NOTE_NAME: Final = re.compile(
    r"(?i)(?:^|[^a-z])(?:fn|footnotes?|f?notes?|endnotes?|ftn|en|_?ftn|cite_note|cite-note|sdfootnote|easy-footnote-bottom|bib)"
    r"(?:[^a-z]|$|sym)|^user-content-fn|^fn"
)
_BACK: Final = re.compile(
    r"(?i)[\s\[\]()^↩︎↵⏎⤴↑⇧⬆️⮌<«‹\u200b]*(?:(?<=[↩︎↵⏎⤴↑⇧⬆️⮌])\s*\d{1,3})?|"
    r"back(?: to (?:text|content|top|article))?|return(?: to (?:text|article))?|jump up\W*"
)
_BACK_CLASSES: Final = (
    ".mw-cite-backlink,.footnote-backref,.footnote-back,.footnote-back-link,.easy-footnote-to-top,.data-footnote-backref,"
    "[data-footnote-backref],.reversefootnote,.footnote-return,.footnoteBackLink,[role=doc-backlink]"
)
_SECTION_NAME: Final = re.compile(
    r"(?i)(?:foot|end)?notes?|references|citations|(?:notes and references|references and (?:foot)?notes)"
)
_PART_NAME: Final = re.compile(r"(?i)references|citations")
_INLINE_NOTES: Final = (
    "span.ltx_role_footnotemark,span.ltx_note.ltx_role_footnote,span.sidenote,small.sidenote,aside.sidenote"
)
_NOTE_BLOCKS: Final = frozenset(("li", "p", "dd", "div", "aside", "td", "tr", "section", "blockquote"))
_BIGGEST: Final = 400
"""A block with more elements than this is a part of the page, not a note."""
_LOOSE_ID: Final = re.compile(r"(?i)(?:user-content-)?(?:fn|footnote|note|ft)[-_:.]?(\d{1,4})")


def settle_footnotes(root: dom.Element) -> None:
    """Bring all footnotes of the page into one form."""
    notes = _Notes()
    _take_inline_notes(root, notes)
    linked = dom.select(root, 'a[href*="#"]')
    if linked:
        _take_linked_notes(root, notes)
    if not notes.bodies:
        _take_loose_notes(root, notes)
    if notes.bodies:
        _write_section(root, notes)
    elif linked:
        for back in dom.select(root, _BACK_CLASSES):
            dom.drop(back)


class _Notes:
    """The notes found so far, in order of first reference."""

    def __init__(self) -> None:
        self.bodies: list[dom.Element] = []
        self._numbers: dict[dom.Element, int] = {}

    def number(self, body: dom.Element) -> int:
        """The number of this note, the next free one when it is new."""
        if body not in self._numbers:
            self.bodies.append(body)
            self._numbers[body] = len(self.bodies)
        return self._numbers[body]

    def holds(self, body: dom.Element) -> bool:
        return body in self._numbers


def _reference(number: int) -> dom.Element:
    link = dom.element("a", {"href": f"#fn-{number}"}, str(number))
    return dom.element("sup", {"class": "footnote-ref"}, link)


# -- marks that are links ---------------------------------------------------------------------------------------------


def _take_linked_notes(root: dom.Element, notes: _Notes) -> None:
    order: dict[str, int] = {}
    places: list[dom.Element] = []
    links: list[tuple[int, dom.Element, str]] = []
    for position, node in enumerate(dom.select(root, '[id],a[name],a[href*="#"]')):
        places.append(node)
        for name in (node.attr("id"), node.attr("name") if node.tag == "a" else None):
            if name:
                order.setdefault(name, position)
        fragment = _fragment(node) if node.tag == "a" else ""
        if fragment:
            links.append((position, node, fragment))
    found = _references(places, order, links)
    if not found:
        return
    backs = {id(node): node for position, node, fragment in links if order.get(fragment, position) < position}
    for link, body in found:
        number = notes.number(body)
        _replace_mark(link, _reference(number))
    _add_unreferenced(notes)
    for body in notes.bodies:
        _strip_note(body, backs)


def _fragment(link: dom.Element) -> str:
    """The place in a page that the link leads to. A page that was moved or saved names itself by its old address, so
    any address will do: what is looked for stands in this page under the same name and looks like a note."""
    return (link.attr("href") or "").strip().partition("#")[2]


def _references(
    places: list[dom.Element], order: dict[str, int], links: list[tuple[int, dom.Element, str]]
) -> list[tuple[dom.Element, dom.Element]]:
    """Links that are marks, each with the block of its note."""
    found: list[tuple[dom.Element, dom.Element]] = []
    targets: dict[dom.Element, str] = {}
    for position, link, fragment in links:
        target_position = order.get(fragment, -1)
        if target_position <= position or not _MARK.fullmatch(dom.text_of(link).strip()):
            continue
        target = places[target_position]
        body = _note_block(target)
        if body is None or not _is_note(link, body, fragment):
            continue
        if body not in targets and len(head_of(body, _BIGGEST)) == _BIGGEST:
            continue
        if targets.setdefault(body, fragment) != fragment:
            continue  # a box around several notes is no note
        found.append((link, body))
    return found


def _note_block(target: dom.Element) -> dom.Element | None:
    node: dom.Node | None = target
    for _ in range(6):
        if not isinstance(node, dom.Element):
            return None
        if node.tag in ("li", "dd", "tr"):
            return node
        if node.tag in _NOTE_BLOCKS:
            item = node.parent
            if isinstance(item, dom.Element) and item.tag in ("li", "dd") and dom.previous_element(node) is None:
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
    return body.tag == "li" and is_tag(body.parent, "ol")


def _is_raised(link: dom.Element) -> bool:
    node: dom.Node | None = link.parent
    for _ in range(3):
        if is_tag(node, "sup"):
            return True
        node = node.parent if node is not None else None
    return dom.first(link, "sup") is not None


def _replace_mark(link: dom.Element, reference: dom.Element) -> None:
    """Put the reference where the mark is, brackets and raising boxes included."""
    outer = link
    while isinstance(outer.parent, dom.Element) and outer.parent.tag in ("sup", "span", "small", "cite"):
        if not stands_alone(outer):
            break
        outer = outer.parent
    before, after = outer.previous_sibling, outer.next_sibling
    if isinstance(before, dom.Text) and isinstance(after, dom.Text):
        left, right = before.data.rstrip(), after.data.lstrip()
        if (left[-1:], right[:1]) in (("[", "]"), ("(", ")")):
            dom.replace(before, left[:-1])
            dom.replace(after, right[1:])
    parent = outer.parent
    dom.replace(outer, reference)
    if is_tag(parent, "sup"):
        _lower(parent)


def _lower(sup: dom.Node | None) -> None:
    """A raised box with several marks needs no raising any more."""
    if isinstance(sup, dom.Element) and sup.attr("class") != "footnote-ref":
        dom.retag(sup, "span")


def _add_unreferenced(notes: _Notes) -> None:
    """Items beside the notes in their lists are notes too, though nothing refers to them."""
    lists: list[dom.Element] = []
    for body in notes.bodies:
        parent = body.parent
        if body.tag == "li" and isinstance(parent, dom.Element) and (not lists or lists[-1] is not parent):
            lists.append(parent)
    for parent in dict.fromkeys(lists):
        for item in parent.children:
            if isinstance(item, dom.Element) and item.tag == "li" and not notes.holds(item):
                notes.number(item)


def _strip_note(body: dom.Element, backs: dict[int, dom.Element]) -> None:
    """Take the way back and the note's own mark out of it."""
    for back in dom.select(body, _BACK_CLASSES):
        dom.drop(back)
    for link in dom.select(body, "a"):
        text = dom.text_of(link).strip()
        if not text and dom.first(link, "img") is None:
            dom.drop(link)
        elif _leads_back(link, text, backs):
            _drop_with_shell(link, body)
    _strip_leading_mark(body)


def _leads_back(link: dom.Element, text: str, backs: dict[int, dom.Element]) -> bool:
    if _BACK.fullmatch(text):
        return id(link) in backs or (link.attr("href") or "").startswith("#")
    return id(link) in backs and _MARK.fullmatch(text) is not None


def _drop_with_shell(node: dom.Element, limit: dom.Element) -> None:
    """Drop a node and the inline boxes that held nothing else."""
    parent = node.parent
    while (
        isinstance(parent, dom.Element)
        and parent is not limit
        and parent.tag in ("sup", "span", "strong", "b", "small", "em", "i")
        and stands_alone(node)
    ):
        node, parent = parent, parent.parent
    dom.drop(node)


_LEADING: Final = re.compile(r"\s*(?:[\[(]?\d{1,4}[\])]|\d{1,4}[.):]|[\^↑*†‡])(?:\s+|$)|\s*[\]).:]\s*|\s+")


def _strip_leading_mark(body: dom.Element) -> None:
    """Take `1.`, `[1]`, `^` or what is left of them from the head of a note."""
    for child in body.children:
        if not is_blank(child):
            break
        dom.drop(child)
    node: dom.Node = body
    for _ in range(6):
        shown = [child for child in node.children if not is_blank(child)]
        if not shown:
            return
        node = shown[0]
        if isinstance(node, dom.Text):
            _cut_leading(node)
            return
        if isinstance(node, dom.Element) and node.tag in _MARK_BOXES and _is_mark_box(node):
            after = node.next_sibling
            dom.drop(node)
            if isinstance(after, dom.Text):
                _cut_leading(after)
            return


_MARK_BOXES: Final = frozenset(("sup", "strong", "b", "a", "span"))


def _is_mark_box(node: dom.Element) -> bool:
    """Whether the element is nothing but the note's own mark; in bold, letters are words."""
    text = dom.text_of(node).strip()
    if _MARK.fullmatch(text) is None or (node.tag == "a" and (node.attr("href") or "").startswith("http")):
        return False
    return node.tag == "sup" or text.strip("[](). ").isdecimal()


def _cut_leading(text: dom.Text) -> None:
    match = _LEADING.match(text.data)
    if match:
        dom.replace(text, text.data[match.end() :])


# -- notes in the line, and marks without links -----------------------------------------------------------------------


def _take_inline_notes(root: dom.Element, notes: _Notes) -> None:
    for note in dom.select(root, _INLINE_NOTES):
        if "ltx_role_footnotemark" in (note.attr("class") or ""):
            _repeat_mark(note)
            continue
        inner = dom.first(note, ".ltx_note_content")
        source = inner if inner is not None else note
        for mark in dom.select(source, "sup.ltx_note_mark,.ltx_tag_note,.ltx_note_type,.sidenote-number"):
            dom.drop(mark)
        body = dom.element("li", None, *source.children)
        _drop_toggle(note)
        dom.replace(note, _reference(notes.number(body)))


def _repeat_mark(note: dom.Element) -> None:
    """A second mark of a note holds only words about itself."""
    for part in dom.select(note, ".ltx_note_outer"):
        dom.drop(part)


def _drop_toggle(note: dom.Element) -> None:
    """A side note comes with a label and a checkbox that show it on small screens."""
    for _ in range(2):
        before = dom.previous_element(note)
        if before is not None and before.tag in ("label", "input") and not dom.text_of(before).strip("0123456789⊕ \n"):
            dom.drop(before)


def _take_loose_notes(root: dom.Element, notes: _Notes) -> None:
    """Marks that are bare raised numbers, with notes that begin with the same number or carry it in their id."""
    marks = [sup for sup in dom.select(root, "sup") if _number(sup)]
    if not marks:
        return
    bodies: dict[str, dom.Element] = {}
    references: list[dom.Element] = []
    for mark in marks:
        block = _block_it_heads(mark)
        if block is None:
            references.append(mark)
        else:
            bodies.setdefault(_number(mark), block)
    for item in dom.select(root, "li[id],p[id],div[id]"):
        match = _LOOSE_ID.fullmatch(item.attr("id") or "")
        if match:
            bodies.setdefault(match.group(1), item)
    for head in dom.select(root, "p > :is(strong,b):first-child"):
        block = _block_it_heads(head) if _number(head) else None
        if block is not None and _announcement_of(block) is not None:
            bodies.setdefault(_number(head), block)
    for mark in references:
        body = bodies.get(_number(mark))
        if body is not None and not _follows_digit(mark) and not _is_inside(mark, body):
            dom.replace(mark, _reference(notes.number(body)))
    _join_continuations(notes)
    for body in notes.bodies:
        _strip_leading_mark(body)


def _number(mark: dom.Element) -> str:
    """The number a raised or bold mark shows, alone or in brackets; empty when it shows something else."""
    text = dom.text_of(mark).strip(" \n[]()")
    return text if text.isdecimal() and len(text) < 4 else ""


_REACH: Final = 60
"""How far above a note the rule or heading may stand that announces it, in blocks."""
_CONTINUED: Final = frozenset(("p", "ul", "ol", "blockquote", "pre", "div"))
_LONGEST: Final = 6


def _announcement_of(note: dom.Element) -> dom.Element | None:
    """The rule or heading that says that only notes follow."""
    before = dom.previous_element(note)
    for _ in range(_REACH):
        if before is None or before.tag in HEADINGS or before.tag == "hr":
            break
        before = dom.previous_element(before)
    return before if before is not None and _is_announcement(before) else None


def _join_continuations(notes: _Notes) -> None:
    """Give announced notes the blocks that follow them, up to the next note."""
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
        if len(blocks) > _LONGEST:
            return []
        after = dom.next_element(after)
    return blocks


def _block_it_heads(mark: dom.Element) -> dom.Element | None:
    """The paragraph or item that begins with this mark."""
    node: dom.Element = mark
    for _ in range(4):
        parent = parent_it_heads(node)
        if parent is None:
            return None
        if parent.tag in ("p", "li", "dd"):
            return parent
        if parent.tag not in ("span", "strong", "b", "em", "i", "small", "div"):
            return None
        node = parent
    return None


def _follows_digit(mark: dom.Element) -> bool:
    before = mark.previous_sibling
    return isinstance(before, dom.Text) and before.data[-1:].isdigit()


def _is_inside(node: dom.Node, outer: dom.Element) -> bool:
    above = node.parent
    for _ in range(12):
        if above is None or above is outer:
            return above is outer
        above = above.parent
    return False


# -- the list at the end ----------------------------------------------------------------------------------------------


def _write_section(root: dom.Element, notes: _Notes) -> None:
    items = dom.element("ol")
    dom.append(root, dom.element("section", {"class": "footnotes"}, items))
    announced: list[dom.Element] = []
    holders: dict[dom.Element, None] = {}
    for number, body in enumerate(notes.bodies, 1):
        holder, before = body.parent, dom.previous_element(body)
        if before is not None and _goes_with_notes(before):
            announced.append(before)
        _move_note(number, body, items)
        if isinstance(holder, dom.Element):
            holders[holder] = None
    for place in holders:
        _drop_empty_place(place, root)
    for heading in announced:
        _drop_announcement(heading)


def _move_note(number: int, body: dom.Element, items: dom.Element) -> None:
    item = dom.element("li", {"id": f"fn-{number}"})
    dom.append(items, item)
    if body.tag == "p":
        dom.append(item, body)
        return
    dom.append(item, *body.children)
    if body.parent is not None:
        dom.drop(body)


def _drop_announcement(heading: dom.Element) -> None:
    """Drop the heading or rule above notes that have left, when nothing else stands under it."""
    after = dom.next_element(heading)
    if after is None or after.tag in HEADINGS or after.attr("class") == "footnotes":
        before = dom.previous_element(heading)
        dom.drop(heading)
        if before is not None and before.tag == "hr":
            dom.drop(before)


def _drop_empty_place(holder: dom.Element, root: dom.Element) -> None:
    """Drop the box the notes stood in, and the heading that announced them, when the last one has left."""
    for _ in range(6):
        if holder is root or any(not is_blank(child) and not _goes_with_notes(child) for child in holder.children):
            break
        parent = holder.parent
        if not isinstance(parent, dom.Element):
            return
        before = dom.previous_element(holder)
        dom.drop(holder)
        if before is not None and _goes_with_notes(before):
            _drop_announcement(before)
        holder = parent


def _goes_with_notes(node: dom.Node) -> bool:
    """Whether an announcement says nothing once the notes have left. "References" names a part of the page, and heads
    the notes where they are shown at its end."""
    is_part = isinstance(node, dom.Element) and node.tag in HEADINGS and _PART_NAME.search(dom.text_of(node))
    return _is_announcement(node) and not is_part


def _is_announcement(node: dom.Node) -> bool:
    if not isinstance(node, dom.Element):
        return False
    if node.tag == "hr":
        return True
    if node.tag in HEADINGS or node.tag in ("p", "div", "strong", "b", "span"):
        text = dom.text_of(node)
        return len(text) < 60 and _SECTION_NAME.fullmatch(text.replace("[edit]", "").strip(" \n:")) is not None
    return False
