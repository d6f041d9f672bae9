"""Lists, tables, captions and headings: only the content that clean HTML allows in each."""

from __future__ import annotations

from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.state import CleanState
from pagekeep.extraction.clean.vocabulary import BLOCKS, DRAWING, LISTS, fill, is_blank, is_line, is_tag

_CONTAINERS: Final = tuple(
    "li dd td th address blockquote details ul ol dl figure tr thead tbody tfoot table colgroup".split()
)
_HOLDERS: Final = frozenset(("li", "dd", "td", "th", "address", "blockquote", "details"))
_LINES: Final = tuple("h1 h2 h3 h4 h5 h6 dt summary caption figcaption".split())
_BLOCKS: Final = ",".join(sorted(BLOCKS))
_ROWS: Final = frozenset(("tr", "thead", "tbody", "tfoot", "table"))


def normalise_containers(state: CleanState) -> None:
    """Give lists, cells, captions and headings the content that clean HTML allows in them; drop empty ones."""
    for node in state.index.find(*_LINES):  # outermost first: a line inside another one becomes part of it
        if node.parent is not None:
            _normalise_line(node)
    for node in reversed(state.index.find(*_CONTAINERS)):
        tag = node.tag
        if tag in _HOLDERS:
            _normalise_holder(node, tag)
        elif tag in LISTS:
            _normalise_list(node)
        elif tag == "dl":
            _normalise_definitions(node)
        elif tag == "figure":
            _normalise_figure(node)
        elif tag in _ROWS:
            _normalise_rows(node)
        elif tag == "colgroup":
            dom.drop(node)


def _normalise_holder(node: dom.Element, tag: str) -> None:
    """Unwrap a single paragraph, and an item's line above its nested lists."""
    if is_line(node.children):
        return
    visible = [child for child in node.children if not is_blank(child)]
    if not visible:
        if tag not in ("td", "th"):
            dom.drop(node)
        return
    first, rest = visible[0], visible[1:]
    if isinstance(first, dom.Element) and first.tag == "p":
        tight = tag == "li" and all(isinstance(child, dom.Element) and child.tag in LISTS for child in rest)
        if tag not in ("blockquote", "details") and (not rest or tight):
            dom.unwrap(first)


def _normalise_line(node: dom.Element) -> None:
    """Unwrap the blocks in a line and put spaces between them."""
    if is_line(node.children):
        return
    if any(isinstance(child, dom.Element) and child.tag in BLOCKS for child in node.children):
        for block in dom.select(node, _BLOCKS):
            if block.previous_sibling is not None:
                dom.add_before(block, " ")
            if block.next_sibling is not None:
                dom.add_after(block, " ")
            dom.unwrap(block)
    if all(is_blank(child) or is_tag(child, "br") for child in node.children):
        dom.drop(node)


def _normalise_list(node: dom.Element) -> None:
    """Wrap everything else than items in items; a list between two items belongs to the first."""
    last: dom.Element | None = None
    for child in node.children:
        if is_blank(child) or is_tag(child, "br"):
            dom.drop(child)
        elif isinstance(child, dom.Element) and child.tag == "li":
            last = child
        elif isinstance(child, dom.Element) and child.tag in LISTS:
            if last is None:
                dom.unwrap(child)
            else:
                dom.append(last, child)
        else:
            last = dom.wrap(child, dom.element("li"))
            if is_tag(child, "p") or is_tag(child, "dd"):
                dom.unwrap(child)  # type: ignore[arg-type]
            elif is_tag(child, "dt"):
                dom.wrap(child, dom.element("dl"))
    if not node.children:
        dom.drop(node)


def _normalise_definitions(node: dom.Element) -> None:
    """Keep terms and definitions; definitions without a term are how old pages indent, so they become plain blocks."""
    if not any(is_tag(child, "dt") for child in node.children):
        _unwrap_indented(node)
        return
    for child in node.children:
        if is_blank(child):
            dom.drop(child)
        elif not (isinstance(child, dom.Element) and child.tag in ("dt", "dd")):
            dom.wrap(child, dom.element("dd"))
            if is_tag(child, "p"):
                dom.unwrap(child)  # type: ignore[arg-type]
    if not node.children:
        dom.drop(node)


def _unwrap_indented(node: dom.Element) -> None:
    for child in node.children:
        if is_tag(child, "dd"):
            holds_blocks = any(isinstance(part, dom.Element) and part.tag in BLOCKS for part in child.children)
            if holds_blocks:
                dom.unwrap(child)  # type: ignore[arg-type]
            else:
                dom.retag(child, "p")  # type: ignore[arg-type]
    dom.unwrap(node)


def _normalise_rows(node: dom.Element) -> None:
    for child in node.children:
        if is_blank(child):
            dom.drop(child)
    if not node.children:
        dom.drop(node)


def _normalise_figure(node: dom.Element) -> None:
    """Put the images first, then one caption with all the text."""
    images: list[dom.Node] = []
    caption: list[dom.Node] = []
    for child in node.children:
        if is_blank(child):
            continue
        if isinstance(child, dom.Element) and child.tag in ("p", "figcaption"):
            if dom.text_of(child).strip():
                _add_line(caption, child)
                images.extend(_take_images(child))
            else:
                images.extend(part for part in child.children if not is_blank(part))
        else:
            images.append(child)
    caption = [part for part in caption if not is_tag(part, "img")]
    if not images and node.attr(DRAWING) is None:
        dom.replace(node, *([dom.element("p", None, *caption)] if caption else []))
        return
    fill(node, *images, *([dom.element("figcaption", None, *caption)] if caption else []))


def _add_line(caption: list[dom.Node], line: dom.Element) -> None:
    if caption:
        caption.append(dom.element("br"))
    caption.extend(line.children)


def _take_images(line: dom.Element) -> list[dom.Node]:
    """Detach the images in a line of text, with the links around them, and return them."""
    images: list[dom.Node] = []
    for image in dom.select(line, "img"):
        parent = image.parent
        linked = isinstance(parent, dom.Element) and parent.tag == "a" and not dom.text_of(parent).strip()
        outer: dom.Node = parent if linked and parent is not None else image
        dom.drop(outer)
        images.append(outer)
    return images


def drop_edge_rules(state: CleanState) -> None:
    """Remove horizontal rules at the start, at the end, and right after the title."""
    if not state.index.has_tag("hr"):
        return
    visible = [child for child in state.root.children if not is_blank(child)]
    while visible and is_tag(visible[-1], "hr"):
        dom.drop(visible.pop())
    has_title = bool(visible) and is_tag(visible[0], "h1")
    for child in visible[has_title:]:
        if not is_tag(child, "hr"):
            break
        dom.drop(child)
