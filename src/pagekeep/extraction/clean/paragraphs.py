"""Paragraphs: every line of text in a block, no boxes, nothing empty.

First from the innermost element to the outermost, so that each element is looked at when its content is finished: lines
between blocks become paragraphs, and inline elements around blocks become boxes. Then the boxes are unwrapped, outermost
first, so that each node moves once however deep the nest. No text is lost, and separate words stay separate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.state import (
    BLOCKS,
    DRAWING,
    FORMATTING,
    HEADINGS,
    HOLDERS,
    KEPT_INLINE,
    LISTS,
    OWN_CLASSES,
    VOID,
    WRAPPERS,
    CleanState,
    fill,
    first_elements,
    is_blank,
    is_tag,
)

_BOXES: Final = tuple(sorted(WRAPPERS | {"span"}))
_GONE_WHEN_EMPTY: Final = HOLDERS - {"td", "th"} | {"dt", "summary", "figcaption", "caption", "pre"}
_LISTS_OF_ITEMS: Final = LISTS | {"dl"}
_ITEMS: Final = frozenset(("li", "dt", "dd"))
_WRAPPING_LINES: Final = _LISTS_OF_ITEMS | {"blockquote", "figure"}
"""Elements in which even a single line needs a paragraph or an item around it."""
_NOT_IN_FIGURE: Final = frozenset(("figure", "table", "pre", "blockquote", "ul", "ol", "dl"))
_NOT_IN_HEADING: Final = BLOCKS - WRAPPERS - {"p"}
_MAX_FIGURE_ELEMENTS: Final = 80
"""A `figure` with more elements is a part of the page, not a figure."""
_MAX_HEADING_ELEMENTS: Final = 200
"""Elements of a heading that are searched for blocks; bounds the cost where a whole page is inside a heading."""
_MAX_SPAN_CHILDREN: Final = 500
"""An inline box with more children and line breaks is not unwrapped: moving them at each level of a nest is quadratic."""
_MAX_LINK_ELEMENTS: Final = 60
"""Elements of a linked box that are searched for the line that carries the link."""


def shape_paragraphs(state: CleanState) -> None:
    """Put every line of text into a block and unwrap the boxes around blocks."""
    root = state.root
    for node in reversed(list(dom.elements(root))):
        tag = node.tag
        shape = _SHAPES.get(tag, _shape_inline)
        if shape is None:
            continue
        children = node.children
        if len(children) != 1 or tag in _WRAPPING_LINES or not _is_text(children[0]):
            shape(node, tag, children)
        elif tag in WRAPPERS and node.attr("class") not in OWN_CLASSES:
            dom.retag(node, "p")
    _gather_all_lines(root, root.children)
    _unwrap_boxes(root)


def _unwrap_boxes(root: dom.Element) -> None:
    has_language = dom.first(root, "[lang],[dir]") is not None
    for box in dom.tagged(root, _BOXES):
        if box.attr("class") in OWN_CLASSES:
            continue
        if has_language:
            if box.tag == "span" and (box.attr("lang") or box.attr("dir")):
                continue
            if box.attr("dir") == "rtl":
                _pass_on_direction(box)
        dom.unwrap(box)


def _pass_on_direction(box: dom.Element) -> None:
    """Move the text direction of a box to its blocks."""
    for child in box.children:
        if isinstance(child, dom.Element) and child.tag not in ("pre", "hr") and child.attr("dir") is None:
            dom.set_attr(child, "dir", "rtl")


def _shape_inline(node: dom.Element, tag: str, children: Sequence[dom.Node]) -> None:
    """Turn an inline element around blocks into a box, and drop an empty one."""
    blocks, breaks, visible = _look(children)
    if blocks:
        _box_inline(node, tag, children)
    elif breaks and (not visible or (tag not in KEPT_INLINE and len(children) < _MAX_SPAN_CHILDREN)):
        dom.unwrap(node)  # its line breaks may separate paragraphs of the box around it
    elif not visible:
        _drop_apart(node)


def _is_text(node: dom.Node) -> bool:
    """Return whether the node is a text with words; as an only child it is the most common content, and finished already."""
    if not isinstance(node, dom.Text):
        return False
    data = node.data
    return bool(data) and not data.isspace()


def _drop_apart(node: dom.Element) -> None:
    """Drop an empty element; leave a space where it held white space or was a block."""
    if node.tag in BLOCKS or dom.text_of(node):
        dom.replace(node, " ")
    else:
        dom.drop(node)


def _box_inline(node: dom.Element, tag: str, children: Sequence[dom.Node]) -> None:
    """Turn an inline element around blocks into a box; move a link to one line in it, emphasis to its only block."""
    attributes = dom.attributes(node)
    _gather_lines(node, children)
    place: dom.Element | None = None
    if tag == "a" and attributes.get("href"):
        place = _place_for_link(node)
    elif tag in FORMATTING and len(node.children) == 1:
        place = node.children[0] if is_tag(node.children[0], "p") else None  # type: ignore[assignment]
    if is_tag(place, "img"):
        dom.wrap(place, dom.element(tag, attributes))  # type: ignore[arg-type]
    elif place is not None:
        line = list(place.children)
        fill(place, dom.element(tag, attributes, *line))
    dom.retag(node, "div")
    for name in attributes:
        if name not in ("lang", "dir"):
            dom.set_attr(node, name, None)


def _place_for_link(node: dom.Element) -> dom.Element | None:
    """Return the heading in a linked box, else its first image, else its first line."""
    inside = first_elements(node, _MAX_LINK_ELEMENTS)
    if any(element.tag == "a" for element in inside):
        return None
    for tags in (HEADINGS, ("img",), ("p",)):
        for element in inside:
            if element.tag in tags and not (tags is HEADINGS and not dom.text_of(element).strip()):
                return element
    return None


def _shape_box(node: dom.Element, tag: str, children: Sequence[dom.Node]) -> None:
    """Turn a box with one line of text into a paragraph, and wrap the lines between blocks in one."""
    if node.attr("class") in OWN_CLASSES:
        return
    blocks, breaks, visible = _look(children)
    if blocks and _is_part_of_list(node, children):
        return
    if not visible:
        _drop_apart(node)
    elif not blocks and not breaks:
        if tag != "p":
            dom.retag(node, "p")
    elif _gather_lines(node, children):
        if tag != "div":
            dom.retag(node, "div")
    elif tag != "p":
        dom.retag(node, "p")


def _is_part_of_list(node: dom.Element, children: Sequence[dom.Node]) -> bool:
    """Return whether the box is between a list and its items: it must not be filled with paragraphs."""
    parent = node.parent
    if not isinstance(parent, dom.Element) or parent.tag not in _LISTS_OF_ITEMS:
        return False
    return any(isinstance(child, dom.Element) and child.tag in ("li", "dt", "dd") for child in children)


def _shape_holder(node: dom.Element, tag: str, children: Sequence[dom.Node]) -> None:
    blocks, breaks, visible = _look(children)
    if not visible:
        if tag in ("td", "th"):
            fill(node)
        else:
            _drop_apart(node)
    elif tag == "blockquote":
        _gather_all_lines(node, children)
    elif breaks or (blocks and not (tag == "li" and _is_line_then_lists(children))):
        _gather_lines(node, children)


def _drop_when_empty(node: dom.Element, _tag: str, children: Sequence[dom.Node]) -> None:
    if all(is_blank(child) or is_tag(child, "br") for child in children):
        _drop_apart(node)


def _shape_heading(node: dom.Element, _tag: str, children: Sequence[dom.Node]) -> None:
    """Turn a heading around lists, tables or other headings into a box."""
    blocks, _, visible = _look(children)
    if not visible:
        _drop_apart(node)
    elif blocks and any(part.tag in _NOT_IN_HEADING for part in first_elements(node, _MAX_HEADING_ELEMENTS)):
        dom.retag(node, "div")
        _gather_all_lines(node, children)


def _shape_list(node: dom.Element, _tag: str, children: Sequence[dom.Node]) -> None:
    _gather_all_lines(node, children)


def _look(children: Sequence[dom.Node]) -> tuple[bool, bool, bool]:
    """Return whether there are blocks, line breaks, and anything visible."""
    blocks = breaks = visible = False
    for child in children:
        if isinstance(child, dom.Element):
            tag = child.tag
            if tag == "br":
                breaks = True
                continue
            visible = True
            blocks = blocks or tag in BLOCKS
        elif not visible and _is_text(child):
            visible = True
    return blocks, breaks, visible


def _is_line_then_lists(children: Sequence[dom.Node]) -> bool:
    """Return whether a list item has one line of text with lists below it."""
    below = False
    for child in children:
        if isinstance(child, dom.Element) and child.tag in BLOCKS:
            if child.tag not in LISTS:
                return False
            below = True
        elif below and not is_blank(child):
            return False
    return True


def _shape_figure(node: dom.Element, _tag: str, children: Sequence[dom.Node]) -> None:
    """Keep a figure of images and a caption; turn any other into a box, and its caption into a line.

    A drawing has no image in clean HTML: its figure has the caption alone.
    """
    if node.attr(DRAWING) is not None:
        return
    inside = first_elements(node, _MAX_FIGURE_ELEMENTS)
    tags = {element.tag for element in inside}
    if "img" in tags and len(inside) < _MAX_FIGURE_ELEMENTS and not tags & _NOT_IN_FIGURE:
        _gather_lines(node, children)
        return
    for child in children:
        if isinstance(child, dom.Element) and child.tag == "figcaption":
            dom.retag(child, "p")
            _shape_box(child, "p", child.children)
    dom.retag(node, "div")
    _shape_box(node, "div", node.children)


def _gather_lines(node: dom.Element, children: Sequence[dom.Node]) -> bool:
    """Wrap every run of inline content between blocks, or between two line breaks, in a paragraph.

    Return `False` if the whole node was one such run: then its content stays in place, without breaks at the ends.
    """
    lines: list[list[dom.Node]] = []
    run: list[dom.Node] = []
    breaks, blocks = 0, False
    for child in children:
        tag = child.tag if isinstance(child, dom.Element) else ""
        if tag in BLOCKS:
            blocks = True
            if run:
                _end_run(run, lines)
                run = []
            breaks = 0
            if tag in _ITEMS:
                _wrap_orphan(child, tag, node.tag)
        elif not run:
            if tag == "br" or not (tag or _is_text(child)):
                dom.drop(child)
            else:
                run.append(child)
        else:
            if tag == "br":
                breaks += 1
            elif breaks and (tag or _is_text(child)):
                if breaks > 1:
                    _end_run(run, lines)
                    run = []
                breaks = 0
            run.append(child)
    if run:
        _end_run(run, lines)
    if len(lines) == 1 and not blocks:
        return False
    for line in lines:
        paragraph = dom.element("p")
        dom.add_before(line[0], paragraph)
        dom.append(paragraph, *line)
    return True


def _gather_all_lines(node: dom.Element, children: Sequence[dom.Node]) -> None:
    """Like `_gather_lines`, but wrap a single run in a paragraph too."""
    if not _gather_lines(node, children) and node.children:
        line = dom.element("p")
        dom.prepend(node, line)
        dom.append(line, *node.children[1:])


def _end_run(run: list[dom.Node], lines: list[list[dom.Node]]) -> None:
    """Add the run to the lines if it holds anything; drop white space and line breaks at its end."""
    while run and (is_blank(run[-1]) or is_tag(run[-1], "br")):
        dom.drop(run.pop())
    if run:
        lines.append(run)


def _wrap_orphan(item: dom.Node, tag: str, parent_tag: str) -> None:
    """Put an item that is outside of a list into one."""
    if parent_tag in LISTS if tag == "li" else parent_tag == "dl":
        return
    list_tag = "ul" if tag == "li" else "dl"
    before = item.previous_sibling
    if isinstance(before, dom.Element) and before.tag == list_tag and before.attr("class") == "orphans":
        dom.append(before, item)
    else:
        dom.wrap(item, dom.element(list_tag, {"class": "orphans"}))


_Shape = Callable[[dom.Element, str, Sequence[dom.Node]], None]
_SHAPES: Final[dict[str, _Shape | None]] = {
    **dict.fromkeys(BLOCKS | VOID),
    **dict.fromkeys(_GONE_WHEN_EMPTY, _drop_when_empty),
    **dict.fromkeys(_LISTS_OF_ITEMS, _shape_list),
    **dict.fromkeys(HEADINGS, _shape_heading),
    **dict.fromkeys(HOLDERS, _shape_holder),
    **dict.fromkeys(WRAPPERS | {"p"}, _shape_box),
    "figure": _shape_figure,
}
"""What is done with an element by its tag; all others are inline elements."""
