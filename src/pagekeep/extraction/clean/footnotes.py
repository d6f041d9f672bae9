"""Footnotes: collect the notes of a page at the end of its content, and link them."""

from __future__ import annotations

from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.state import (
    BLOCKS,
    HEADINGS,
    CleanState,
    Removals,
    ancestors,
    class_names,
    fill,
    first_elements,
    is_blank,
    is_only_child,
    is_tag,
    parent_it_begins,
    shown_before,
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
    if _NOTE_NAME.search(fragment) or any(above.tag == "sup" for above in ancestors(link, _MAX_RAISED_DEPTH)):
        return True
    if dom.first(link, "sup") is not None:
        return True
    if link.attr("data-type") == "noteref" or link.attr("role") == "doc-noteref":
        return True
    if "footnote" in (link.attr("class") or "") or body.attr("role") in ("doc-footnote", "doc-endnote"):
        return True
    return body.tag == "li" and is_tag(body.parent, "ol")


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
    if isinstance(parent, dom.Element) and parent.tag == "sup" and parent.attr("class") != "footnote-ref":
        dom.retag(parent, "span")  # it was around several marks: each reference is raised itself


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
        if body is None or any(above is body for above in ancestors(mark, _MAX_DEPTH)):
            continue
        before = mark.previous_sibling
        if not (isinstance(before, dom.Text) and before.data[-1:].isdigit()):  # an exponent follows a digit
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


_CLASS_PARTS: Final = ("idenote", "ide-note", "arginnote", "argin-note", "ootnote", "oot-note", "ndnote")
_SIDE_NOTES: Final = ",".join(f'[class*="{part}"]' for part in _CLASS_PARTS[:4])
_LATEXML: Final = "span.ltx_role_footnotemark,span.ltx_note.ltx_role_footnote"
_LINE_TAGS: Final = frozenset(
    ("span", "small", "i", "em", "cite", "mark", "d-footnote", "sup", "aside", "div", "section")
)
_MARK_TAGS: Final = frozenset(("sup", "a", "label", "input", "span", "button", "small"))
_MIN_WORDS: Final = 2
"""Words of a note; a single one is a mark or a label."""
_MAX_BOXES: Final = 6
"""Boxes around a note that hold only its mark."""
_MAX_LEVELS: Final = 40
_MAX_WORDS_AFTER_CUT: Final = 3
"""Words of the link behind the dots of a note that is cut short: "Continue reading"."""
_ADDRESS: Final = compile_lazily(r"(?:https?:|www\.)\S+")
_WORD: Final = compile_lazily(r"\w+")
_MARKS_IN_NOTE: Final = "sup.ltx_note_mark,.ltx_tag_note,.ltx_note_type,.sidenote-number,label,input,button"
_SIGNS: Final = "0123456789⊕+*†‡[]() \n\t\u00a0"


def note_selector(state: CleanState) -> str:
    """Return the selector of what may be a note in the line; empty if no class or tag in the content is one."""
    selector = state.index.class_selector(_CLASS_PARTS)
    return f"{selector},d-footnote".lstrip(",") if state.index.has_tag("d-footnote") else selector


def take_inline_notes(root: dom.Element, selector: str, notes: Notes) -> None:
    """Move notes that are written into the line to the end, and put references in their place."""
    candidates = [node for node in dom.select(root, selector) if node.tag in _LINE_TAGS and _is_note_text(node)]
    around = {above for node in candidates for above in ancestors(node, _MAX_LEVELS)}
    inner = [node for node in candidates if node not in around]
    targets: dict[str, dom.Element] | None = None
    for note in inner:
        place = _outer_place(note)
        if not _is_in_line(place):
            continue
        mark = _mark_before(place)
        link = mark if mark is None or mark.tag == "a" else dom.first(mark, 'a[href*="#"]')
        if link is not None:
            targets = {node.attr("id") or "": node for node in dom.select(root, "[id]")} if targets is None else targets
            target = targets.get((link.attr("href") or "").partition("#")[2])
            if target is not None and not _is_around(place, target) and normalise_note(target) == normalise_note(note):
                notes.removals.drop(place, "footnote shown twice")
                continue
        if mark is not None:
            notes.removals.drop(mark, "mark of a footnote")
        _move(note, place, notes)


def take_latexml_notes(root: dom.Element, notes: Notes) -> None:
    """Move the notes that LaTeXML writes into the line to the end."""
    for note in dom.select(root, _LATEXML):
        if "ltx_role_footnotemark" in (note.attr("class") or ""):
            for part in dom.select(note, ".ltx_note_outer"):  # a second mark repeats only the mark
                notes.removals.drop(part, "repeated mark of a footnote")
            continue
        inner = dom.first(note, ".ltx_note_content")
        _move(inner if inner is not None else note, note, notes)


def _move(note: dom.Element, place: dom.Element, notes: Notes) -> None:
    for mark in dom.select(note, _MARKS_IN_NOTE):
        notes.removals.drop(mark, "mark of a footnote")
    body = dom.element("li", None, *note.children)
    _drop_toggle(place)
    dom.replace(place, reference(notes.number(body)))


def _drop_toggle(note: dom.Element) -> None:
    """Remove the label and checkbox that show a side note on small screens."""
    for _ in range(2):
        before = dom.previous_element(note)
        if before is not None and before.tag in ("label", "input") and not dom.text_of(before).strip(_SIGNS):
            dom.drop(before)


def _is_note_text(node: dom.Element) -> bool:
    """Return whether the element holds the words of a note and not only a mark."""
    text = dom.text_of(node).strip()
    if len(_WORD.findall(text, 0, 200)) < _MIN_WORDS or MARK.fullmatch(text) or _ADDRESS.fullmatch(text):
        return False
    return len(first_elements(node, _MAX_NOTE_ELEMENTS)) < _MAX_NOTE_ELEMENTS


def _outer_place(note: dom.Element) -> dom.Element:
    """Return the outermost box around the note that holds nothing else but its mark."""
    place = note
    for box in ancestors(note, _MAX_BOXES):
        if box.tag not in ("span", "sup", "small", "a") or _text_beside(box, place).strip(_SIGNS):
            break
        place = box
    return place


def _text_beside(box: dom.Element, part: dom.Element) -> str:
    return "".join(dom.text_of(child) for child in box.children if child is not part)


def _is_in_line(place: dom.Element) -> bool:
    """Return whether the note interrupts a line, rather than being a block or beginning one."""
    node: dom.Element = place
    for _ in range(_MAX_BOXES):
        before = shown_before(node)
        while isinstance(before, dom.Element) and _is_mark(before):
            before = shown_before(before)
        if before is not None:
            return isinstance(before, dom.Text) or (isinstance(before, dom.Element) and before.tag not in BLOCKS)
        parent = node.parent
        if not isinstance(parent, dom.Element) or parent.tag in BLOCKS:
            return False
        node = parent
    return False


def _is_mark(node: dom.Element) -> bool:
    """Return whether the element shows only a number or sign."""
    text = dom.text_of(node).strip()
    return node.tag in _MARK_TAGS and (not _WORD.search(text) or MARK.fullmatch(text) is not None)


def _mark_before(place: dom.Element) -> dom.Element | None:
    """Return the raised number or link right before a note that is its mark."""
    before = shown_before(place)
    if not isinstance(before, dom.Element) or before.tag in ("label", "input") or not _is_mark(before):
        return None
    return before if before.tag != "span" or class_names(before) else None


def _is_around(node: dom.Node, outer: dom.Element) -> bool:
    return node is outer or any(above is outer for above in ancestors(node, _MAX_LEVELS))


def normalise_note(node: dom.Element) -> tuple[str, ...]:
    """Return the words of a note without its number, to compare two copies of it."""
    return _without_numbers(_WORD.findall(" ".join(dom.texts_of(node)).casefold()))


def _without_numbers(words: list[str]) -> tuple[str, ...]:
    while words and words[0].isdecimal():
        del words[0]
    while words and words[-1].isdecimal():
        del words[-1]
    return tuple(words)


def drop_lists(root: dom.Element, selector: str, notes: Notes) -> None:
    """Remove the list of notes at the end that repeats those in the line; a note that was cut short there becomes whole."""
    known = {normalise_note(body): body for body in notes.bodies}
    cut = {words: body for body in notes.bodies if (words := _words_before_cut(body))}
    for node in dom.select(root, f":is({selector}) :is(li,tr,dd,p)"):
        box, words = node.parent, normalise_note(node)
        whole = next((body for start, body in cut.items() if words[: len(start)] == start), None)
        if not isinstance(box, dom.Element) or (words not in known and whole is None):
            continue
        if whole is not None:
            drop_mark_box(node)
            fill(whole, *(part for child in list(node.children) for part in _open_cell(child)))
        notes.removals.drop(node, "footnote shown twice")
        _drop_announced_box(box, root, notes)


def _words_before_cut(body: dom.Element) -> tuple[str, ...]:
    """Return the words of a note before the dots where a plugin cut it short; none if it is whole or has too few words."""
    text = " ".join(dom.texts_of(body))
    start, dots, rest = text.rpartition("…")
    words = _without_numbers(_WORD.findall(start.casefold()))
    return words if dots and len(rest.split()) <= _MAX_WORDS_AFTER_CUT and len(words) >= _MIN_WORDS else ()


def _open_cell(node: dom.Node) -> list[dom.Node]:
    return list(node.children) if isinstance(node, dom.Element) and node.tag in ("td", "th") else [node]


def drop_margins(root: dom.Element, notes: Notes) -> None:
    """Remove the notes in the margin that repeat those at the end."""
    known = {normalise_note(body) for body in notes.bodies}
    for node in dom.select(root, _SIDE_NOTES):
        if node.parent is not None and normalise_note(node) in known and not _holds_note(node, notes):
            notes.removals.drop(node, "footnote shown twice")


def _holds_note(node: dom.Element, notes: Notes) -> bool:
    return any(notes.holds(part) for part in (node, *ancestors(node, _MAX_LEVELS), *first_elements(node, 20)))


def _drop_announced_box(box: dom.Element, root: dom.Element, notes: Notes) -> None:
    """Remove a box that held copies of notes when only its heading is left."""
    for _ in range(_MAX_BOXES):
        words = {line.strip() for line in dom.texts_of(box) if line.strip()}
        if box is root or not all(is_announcement(dom.element("p", None, line)) for line in words):
            return
        parent = box.parent
        notes.removals.drop(box, "heading of the footnotes")
        if not isinstance(parent, dom.Element):
            return
        box = parent


MARK: Final = compile_lazily(
    r"(?i)[\[(]?\s*(?:(?:note|nb|fn|lower-alpha)\s*)?(\d{1,4}(?:[:.-]\d{1,2})?|[a-z]{1,2}|[ivxlc]{1,6}|[*†‡§¶‖]{1,4})\s*[\])]?[.,:]?"
)
_LEADING: Final = compile_lazily(r"\s*(?:[\[(]?\d{1,4}[\])]|\d{1,4}[.):]|[\^↑*†‡])(?:\s+|$)|\s*[\]).:]\s*|\s+")
_MARK_BOXES: Final = frozenset(("sup", "strong", "b", "a", "span"))
_MAX_NOTE_MARK_DEPTH: Final = 6
"""Boxes between a note and the mark at its beginning."""


class Notes:
    """The notes found so far, in order of first reference."""

    def __init__(self, removals: Removals) -> None:
        self.removals = removals
        self.bodies: list[dom.Element] = []
        self._numbers: dict[dom.Element, int] = {}

    def number(self, body: dom.Element) -> int:
        """Return the number of this note, the next free one if it is new."""
        if body not in self._numbers:
            self.bodies.append(body)
            self._numbers[body] = len(self.bodies)
        return self._numbers[body]

    def holds(self, body: dom.Element) -> bool:
        """Return whether the note has a number."""
        return body in self._numbers


def reference(number: int) -> dom.Element:
    """Return the element that refers to the note with this number."""
    link = dom.element("a", {"href": f"#fn-{number}"}, str(number))
    return dom.element("sup", {"class": "footnote-ref"}, link)


def strip_leading_mark(body: dom.Element) -> None:
    """Remove `1.`, `[1]`, `^` or what is left of them from the beginning of a note."""
    for child in body.children:
        if not is_blank(child):
            break
        dom.drop(child)
    node: dom.Node = body
    for _ in range(_MAX_NOTE_MARK_DEPTH):
        visible = [child for child in node.children if not is_blank(child)]
        if not visible:
            return
        node = visible[0]
        if isinstance(node, dom.Text):
            _cut_leading(node)
            return
        if isinstance(node, dom.Element) and node.tag in _MARK_BOXES and _is_mark_box(node):
            after = node.next_sibling
            dom.drop(node)
            if isinstance(after, dom.Text):
                _cut_leading(after)
            return


def drop_mark_box(body: dom.Element) -> bool:
    """Remove the box or cell at the beginning of a note that has only its mark in brackets; return whether it had one."""
    first = next((child for child in body.children if not is_blank(child)), None)
    if not isinstance(first, dom.Element) or first.tag not in ("span", "td", "th", "div", "dt"):
        return False
    if not MARK.fullmatch(dom.text_of(first).strip(" \n\u00a0^↑")) or dom.next_element(first) is None:
        return False
    after = first.next_sibling
    dom.drop(first)
    if isinstance(after, dom.Text):
        dom.replace(after, after.data.lstrip())
    return True


def _is_mark_box(node: dom.Element) -> bool:
    """Return whether the element is only the note's own mark; letters in bold are words."""
    text = dom.text_of(node).strip()
    if MARK.fullmatch(text) is None or (node.tag == "a" and (node.attr("href") or "").startswith("http")):
        return False
    return node.tag == "sup" or text.strip("[](). ").isdecimal()


def _cut_leading(text: dom.Text) -> None:
    match = _LEADING.match(text.data)
    if match:
        dom.replace(text, text.data[match.end() :])


_SECTION_NAME: Final = compile_lazily(
    r"(?i)(?:foot|end)?notes?|references|citations|(?:notes and references|references and (?:foot)?notes)|"
    r"fu(?:ß|ss)noten?|anmerkungen?|notes? de bas de page|notas?(?: al pie| de rodapé| a pie de página)?|"
    r"note a piè di pagina|voetnoten|fotnoter|noter|viitteet|alaviitteet|przypisy|poznámky|lábjegyzetek|dipnotlar|"
    r"сноски|примечания|примітки|υποσημειώσεις|脚注|註釋|注释|註解|注|각주|주석|chú thích|הערות שוליים|الهوامش|الحواشي"
)
_PART_NAME: Final = compile_lazily(r"(?i)references|citations")
_MAX_ANNOUNCEMENT_CHARS: Final = 59
"""A heading of notes is short."""
_MAX_EMPTY_BOXES: Final = 6
"""Boxes around the notes that are removed when empty."""
_HEADING_OF_NOTES: Final = "heading of the footnotes"


def write_section(root: dom.Element, notes: Notes) -> None:
    """Move all notes into one list at the end, and remove the boxes and headings they leave empty."""
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
        _drop_empty_place(place, root, notes)
    for heading in announced:
        _drop_announcement(heading, notes)


def _move_note(number: int, body: dom.Element, items: dom.Element) -> None:
    term = dom.previous_element(body) if body.tag == "dd" else None
    if term is not None and term.tag == "dt" and MARK.fullmatch(dom.text_of(term).strip()):
        dom.drop(term)
    item = dom.element("li", {"id": f"fn-{number}"})
    dom.append(items, item)
    if body.tag == "p":
        dom.append(item, body)
        return
    for child in list(body.children):
        cells = isinstance(child, dom.Element) and child.tag in ("td", "th")
        dom.append(item, *(child.children if cells else (child,)))
    if body.parent is not None:
        dom.drop(body)


def _drop_announcement(heading: dom.Element, notes: Notes) -> None:
    """Remove the heading or rule above moved notes if nothing else follows it."""
    after = dom.next_element(heading)
    if after is None or after.tag in HEADINGS or after.attr("class") == "footnotes":
        before = dom.previous_element(heading)
        notes.removals.drop(heading, _HEADING_OF_NOTES)
        if before is not None and before.tag == "hr":
            dom.drop(before)


def _drop_empty_place(holder: dom.Element, root: dom.Element, notes: Notes) -> None:
    """Remove the box that held the notes, and their heading, if nothing else is left in it."""
    for _ in range(_MAX_EMPTY_BOXES):
        if holder is root or any(not is_blank(child) and not _goes_with_notes(child) for child in holder.children):
            break
        parent = holder.parent
        if not isinstance(parent, dom.Element):
            return
        before = dom.previous_element(holder)
        notes.removals.drop(holder, _HEADING_OF_NOTES)
        if before is not None and _goes_with_notes(before):
            _drop_announcement(before, notes)
        holder = parent


def _goes_with_notes(node: dom.Node) -> bool:
    """Return whether a heading means nothing without the notes; "References" names a part of the page."""
    is_part = isinstance(node, dom.Element) and node.tag in HEADINGS and _PART_NAME.search(dom.text_of(node))
    return is_announcement(node) and not is_part


def is_announcement(node: dom.Node) -> bool:
    """Return whether the node is a rule or a heading such as "Notes" that announces notes."""
    if not isinstance(node, dom.Element):
        return False
    if node.tag == "hr":
        return True
    if node.tag in HEADINGS or node.tag in ("p", "div", "strong", "b", "span"):
        text = dom.text_of(node)
        return (
            len(text) <= _MAX_ANNOUNCEMENT_CHARS
            and _SECTION_NAME.fullmatch(text.replace("[edit]", "").strip(" \n:")) is not None
        )
    return False
