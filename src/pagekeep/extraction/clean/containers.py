"""Lists, tables, captions and headings: made from boxes and lines, with only the content that clean HTML allows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.state import (
    BLOCKS,
    DRAWING,
    HEADINGS,
    LISTS,
    CleanState,
    Removals,
    ancestors,
    fill,
    is_blank,
    is_line,
    is_tag,
    parent_it_begins,
)
from pagekeep.model import Removal

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
                caption += [dom.element("br")] if caption else []
                caption.extend(child.children)
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


_BULLETS: Final = "\u2022\u25cf\u25aa\u25e6\u2023\u25a0\u25ba\u2219\u2043"
_MIN_ITEMS: Final = 2
"""A single line with a bullet is more often a line with a sign before it."""
_CELLS: Final = frozenset(("td", "th"))
_MAX_CHECKBOX_DEPTH: Final = 6
"""Boxes between a checkbox and its list item: labels, spans and a paragraph."""

Line = list[dom.Node]


def mark_tasks(state: CleanState) -> list[Removal]:
    """Turn list items that begin with a checkbox into tasks."""
    removals = Removals(state.changes)
    if not state.index.has_tag("input"):
        return removals
    for box in dom.select(state.root, "li input[type=checkbox]"):
        item = _item_it_begins(box)
        if item is None:
            removals.drop(box, "form control")
            continue
        dom.set_attr(item, "class", "task")
        dom.set_attr(item, "data-done", "true" if box.attr("checked") is not None else "false")
        dom.drop(box)
    return removals


def _item_it_begins(box: dom.Element) -> dom.Element | None:
    """Return the list item that shows nothing before this checkbox."""
    node: dom.Element = box
    for _ in range(_MAX_CHECKBOX_DEPTH):
        parent = parent_it_begins(node)
        if parent is None or parent.tag == "li":
            return parent
        node = parent
    return None


def make_bullet_lists(state: CleanState) -> None:
    """Turn neighbouring lines that begin with a bullet into a list; remove bullets typed into list items."""
    text = dom.text_of(state.root)
    if text.isascii() or not any(bullet in text for bullet in _BULLETS):
        return
    for item in state.index.find("li"):
        if bullet := _bullet(item.children):
            _remove_bullet(bullet)
    lists: list[dom.Element] = []
    for paragraph in state.index.find("p"):
        if not (isinstance(paragraph.parent, dom.Element) and paragraph.parent.tag in _CELLS):
            lists += _split_into_lists(paragraph)
    for list_ in lists:
        _finish_list(list_)


def _split_into_lists(paragraph: dom.Element) -> list[dom.Element]:
    """Replace the paragraph by lists of its lines with bullets and paragraphs of the others; return the lists."""
    lines = _lines(paragraph)
    if not any(map(_bullet, lines)):
        return []
    blocks: list[dom.Element] = []
    for line in lines:
        tag = "ul" if _bullet(line) else "p"
        if not blocks or blocks[-1].tag != tag:
            blocks.append(dom.element(tag))
        elif tag == "p":
            dom.append(blocks[-1], dom.element("br"))
        dom.append(blocks[-1], *([dom.element("li", None, *line)] if tag == "ul" else line))
    dom.replace(paragraph, *blocks)
    return [block for block in blocks if block.tag == "ul"]


def _lines(paragraph: dom.Element) -> list[Line]:
    """Return the paragraph's nodes, split at its line breaks."""
    lines: list[Line] = [[]]
    for node in paragraph.children:
        if is_tag(node, "br"):
            lines.append([])
        else:
            lines[-1].append(node)
    return [line for line in lines if not all(map(is_blank, line))]


def _bullet(nodes: Sequence[dom.Node]) -> dom.Text | None:
    """Return the text node that begins the line if its first character is a bullet."""
    node = next((node for node in nodes if not is_blank(node)), None)
    while isinstance(node, dom.Element):
        node = next((child for child in node.children if not is_blank(child)), None)
    begins = isinstance(node, dom.Text) and node.data.lstrip()[:1] in _BULLETS
    return node if begins else None  # type: ignore[return-value]


def _remove_bullet(text: dom.Text) -> None:
    rest = text.data.lstrip()[1:].lstrip()
    dom.replace(text, rest) if rest else dom.drop(text)


def _finish_list(list_: dom.Element) -> None:
    """Join the lists right after this one to it; turn a list of one item back into a paragraph."""
    if list_.parent is None:
        return
    following = dom.next_element(list_)
    while following is not None and is_tag(following, "ul") and _bullet_of_first(following):
        dom.append(list_, *following.children)
        dom.drop(following)
        following = dom.next_element(list_)
    items = list(list_.children)
    if len(items) < _MIN_ITEMS:
        for item in items:
            dom.retag(item, "p")  # type: ignore[arg-type]
        dom.unwrap(list_)
        return
    for item in items:
        if isinstance(item, dom.Element) and (text := _bullet(item.children)):
            _remove_bullet(text)


def _bullet_of_first(list_: dom.Element) -> bool:
    """Return whether the list was made by this step and still has its bullets."""
    first = next((child for child in list_.children if isinstance(child, dom.Element)), None)
    return first is not None and _bullet(first.children) is not None


_BLOCK_HEAVY: Final = "h1,h2,h3,h4,pre,blockquote,figure,hr,article,section"
_PARTS: Final = frozenset(("thead", "tbody", "tfoot"))
_MAX_LINE_OF_CODE_CHARS: Final = 200
"""A longer line of code would make its table unreadable; it stays a block."""
_MAX_CELL_CHARS: Final = 400
"""Cells with more characters than this, on average, are columns of the page and not data."""
_MIN_PARAGRAPH_CHARS: Final = 120
"""Characters beside a picture that are a paragraph and not its label."""
_MAX_LAYOUT_CELLS: Final = 30
"""A table with headings, code or quotes in it and fewer cells lays out the page."""
_MAX_COLUMN_CELLS: Final = 12
"""Only a table with fewer cells may be columns of long text."""


def unwrap_layout_tables(state: CleanState) -> list[Removal]:
    """Unwrap tables that only lay out the page, innermost first."""
    removals = Removals(state.changes)
    if state.index.has_tag("table") and state.index.has_tag("pre", "code"):
        _inline_short_code(state.root, removals)
    for table in reversed(state.index.find("table")):
        rows = _rows(table)
        if _is_layout(table, rows):
            _unwrap_table(table, rows)
            removals.record(table, "text outside the cells of a layout table")
    return removals


def normalise_tables(state: CleanState) -> None:
    """Mark a bold first row as the table's head and keep the alignment of cells."""
    for table in state.index.find("table"):
        rows = _rows(table)
        if _has_bold_head(rows):
            for cell in rows[0]:
                dom.retag(cell, "th")
        _align(rows)


def _has_bold_head(rows: list[list[dom.Element]]) -> bool:
    """Return whether only the first row is all bold, which is how word processors write column names."""
    return (
        len(rows) > 2
        and len(rows[0]) > 1
        and all(map(_is_bold, rows[0]))
        and not all(map(_is_bold, rows[1]))
        and not any(cell.tag == "th" for row in rows for cell in row)
    )


def _is_bold(cell: dom.Element) -> bool:
    bold = dom.first(cell, "b,strong")
    return bold is not None and dom.text_of(bold).strip() == dom.text_of(cell).strip() != ""


def _inline_short_code(root: dom.Element, removals: Removals) -> None:
    """Turn a code block of one line in a cell into inline code, which fits into a table."""
    for block in dom.select(root, "td pre,th pre"):
        text = dom.text_of(block)
        if "\n" not in text and len(text) < _MAX_LINE_OF_CODE_CHARS:
            removals.note_rebuilt(block)
            dom.replace(block, dom.element("code", None, text))


def _rows(table: dom.Element) -> list[list[dom.Element]]:
    """Return the table's own cells, row by row."""
    rows: list[list[dom.Element]] = []
    for child in table.children:
        if not isinstance(child, dom.Element):
            continue
        for row in child.children if child.tag in _PARTS else (child,):
            if isinstance(row, dom.Element) and row.tag == "tr":
                rows.append([cell for cell in row.children if is_tag(cell, "td") or is_tag(cell, "th")])  # type: ignore[misc]
    return rows


def _is_layout(table: dom.Element, rows: list[list[dom.Element]]) -> bool:
    if table.attr("role") in ("presentation", "none"):
        return True
    if table.attr("role") in ("table", "grid", "treegrid"):
        return False
    widest = max(map(len, rows), default=0)
    headed = any(cell.tag == "th" for row in rows for cell in row) or _has_caption(table)
    if widest <= 1:
        return not (headed and len(rows) > 2)
    if headed:
        return False
    if all(
        sum(bool(dom.text_of(cell).strip()) or dom.first(cell, "img") is not None for cell in row) <= 1 for row in rows
    ):
        return True
    if dom.first(table, "table") is not None or _is_picture_beside_text(rows):
        return True
    cells = [cell for row in rows for cell in row]
    if dom.first(table, _BLOCK_HEAVY) is not None and len(cells) < _MAX_LAYOUT_CELLS:
        return True
    return len(cells) < _MAX_COLUMN_CELLS and sum(len(dom.text_of(cell)) for cell in cells) > _MAX_CELL_CHARS * len(
        cells
    )


def _is_picture_beside_text(rows: list[list[dom.Element]]) -> bool:
    """Return whether a table of one row sets a picture beside paragraphs."""
    if len(rows) != 1 or len(rows[0]) != 2:
        return False
    texts = [dom.text_of(cell).strip() for cell in rows[0]]
    pictures = [not text and dom.first(cell, "img") is not None for text, cell in zip(texts, rows[0], strict=True)]
    return any(pictures) and len(max(texts, key=len)) > _MIN_PARAGRAPH_CHARS


def _has_caption(table: dom.Element) -> bool:
    return any(is_tag(child, "caption") or is_tag(child, "thead") for child in table.children)


def _unwrap_table(table: dom.Element, rows: list[list[dom.Element]]) -> None:
    """Turn every cell into a box, in reading order."""
    boxes: list[dom.Node] = []
    for child in table.children:
        if isinstance(child, dom.Element) and child.tag == "caption":
            boxes.append(dom.element("p", None, *child.children))
    for row in rows:
        for cell in row:
            dom.retag(cell, "div")
            boxes.append(cell)
    dom.replace(table, *boxes)


def _align(rows: list[list[dom.Element]]) -> None:
    for row in rows:
        for cell in row:
            style = cell.attr("style")
            if style and "text-align" in style and cell.attr("align") is None:
                value = style.partition("text-align")[2].lstrip(" :").partition(";")[0].strip().lower()
                if value in ("left", "right", "center"):
                    dom.set_attr(cell, "align", value)


_ROLES: Final = "[role=heading],[role=list],[role=table],[role=grid]"
_CELL_ROLES: Final = "[role=cell],[role=gridcell],[role=columnheader],[role=rowheader]"
_NO_HEADINGS: Final = HEADINGS | {"li", "td", "th", "a", "button", "summary", "dt"}
"""Where a heading by role is the title of a card or a cell."""
_CARDS: Final = frozenset(("listitem", "link", "button", "option", "gridcell"))
_HEADING_LEVELS: Final = frozenset("123456")
_BOXES: Final = frozenset(("div", "span", "p", "section"))
_CARD_PARTS: Final = "h1,h2,h3,h4,h5,h6,p,img,picture,svg,blockquote,ul,ol,table,figure,pre,iframe,video,div div"
_MIN_GRID_ROWS: Final = 2
"""Rows and columns of a table made of boxes; a single row is a bar."""
_MAX_GRID_CELLS: Final = 5_000
_MAX_HEADING_CHARS: Final = 300
"""A longer heading is a paragraph."""
_MAX_LEVELS: Final = 12


def write_roles(state: CleanState) -> None:
    """Turn boxes that are a heading, a list or a table only by their role into one."""
    for node in dom.select(state.root, _ROLES):
        if node.parent is None or node.tag not in _BOXES:
            continue
        role = node.attr("role")
        if role == "heading":
            _write_heading(node)
        elif role == "list":
            _write_list(node)
        else:
            _write_table(node)


def _write_heading(node: dom.Element) -> None:
    """Make a heading of a box that states its level, unless it is the title of a card."""
    text, level = dom.text_of(node).strip(), node.attr("aria-level") or ""
    if level not in _HEADING_LEVELS or not text or len(text) > _MAX_HEADING_CHARS:
        return
    is_title = any(above.tag in _NO_HEADINGS or above.attr("role") in _CARDS for above in ancestors(node, _MAX_LEVELS))
    if not is_title and dom.first(node, "a,p,ul,ol,table,h1,h2,h3,h4,h5,h6") is None:
        dom.retag(node, f"h{level}")


def _write_list(node: dom.Element) -> None:
    """Make a list of boxes whose children are all items of one line; items with blocks in them are cards."""
    items = [child for child in node.children if not is_blank(child)]
    if dom.first(node, _CARD_PARTS) is not None:
        return
    if items and all(isinstance(item, dom.Element) and item.attr("role") == "listitem" for item in items):
        for item in items:
            dom.retag(item, "li")  # type: ignore[arg-type]
        dom.retag(node, "ul")


def _write_table(grid: dom.Element) -> None:
    """Make a table of boxes if all their text is in cells."""
    rows = dom.select(grid, "[role=row]")
    cells = [dom.select(row, _CELL_ROLES) for row in rows]
    if len(rows) < _MIN_GRID_ROWS or max(map(len, cells)) < _MIN_GRID_ROWS or sum(map(len, cells)) > _MAX_GRID_CELLS:
        return
    if dom.first(grid, "table,[role=table],[role=grid]") is not None:
        return
    inside = sum(len(" ".join(dom.texts_of(cell)).split()) for row in cells for cell in row)
    if inside == len(" ".join(dom.texts_of(grid)).split()):
        made = [dom.element("tr", None, *map(_make_cell, row)) for row in cells]
        dom.replace(grid, dom.element("table", None, *made))


def _make_cell(cell: dom.Element) -> dom.Element:
    tag = "th" if (cell.attr("role") or "").endswith("header") else "td"
    return dom.element(tag, None, *cell.children)
