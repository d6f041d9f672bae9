"""Preformatted text: its lines as the screen shows them, and code that only editors, tables or styles draw as such."""

from __future__ import annotations

import re
from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.state import (
    BLOCKS,
    KEPT_INLINE,
    Removals,
    ancestors,
    class_names,
    first_elements,
    is_blank,
    is_only_child,
    is_tag,
)
from pagekeep.text import compile_lazily

EDITORS: Final = {
    ".CodeMirror-code": ".CodeMirror-line",
    ".cm-content": ".cm-line",
    ".view-lines": ".view-line",
    ".ace_text-layer": ".ace_line",
    ".react-code-lines": ".react-code-text",
}
"""Editors that draw each line as its own box: the element around the lines, and a line."""
_GUTTERS: Final = (
    ".cm-gutters,.CodeMirror-gutters,.CodeMirror-measure,.CodeMirror-gutter-wrapper,.ace_gutter,.margin-view-overlays"
)
_FIRST_LINES: Final = (
    'div[class*="code-line"]:first-child,:is([class*=code],[class*=geshi],[class*=highlight]) > ol > li:first-child'
)
_MAX_LINE_DEPTH: Final = 6
_MAX_EDITOR_DEPTH: Final = 30
"""Boxes around an editor that are searched for an outer one."""
_FRAGMENTS: Final = frozenset(("code", "pre"))


def join_editor_lines(root: dom.Element, removals: Removals) -> None:
    """Replace code editors by `pre` blocks with their lines."""
    for editor in dom.select(root, ",".join(EDITORS)):
        if _is_within_editor(editor):
            continue
        line = next(lines for box, lines in EDITORS.items() if dom.matches(editor, box))
        lines = [dom.text_of(part).strip("\n\u200b") for part in dom.select(editor, line)]
        text = "\n".join(lines) if lines else code_text(editor, removals)
        removals.note_rebuilt(editor)
        dom.replace(editor, dom.element("pre", dom.attributes(editor), text))
    for gutter in dom.select(root, _GUTTERS):
        removals.drop(gutter, "line numbers of an editor")
    for raw in dom.select(root, "pre.enlighter-raw"):
        for drawn in dom.select(raw.parent or root, ".enlighter"):  # the same code, drawn
            removals.note_rebuilt(drawn)
            dom.drop(drawn)
    for bar in dom.select(root, ".gist-meta"):
        removals.drop(bar, "bar of an embedded file")


def _is_within_editor(editor: dom.Element) -> bool:
    """Return whether an editor around this one has its lines already."""
    around = ancestors(editor, _MAX_EDITOR_DEPTH)
    return any(f".{name}" in EDITORS for above in around for name in class_names(above))


def join_file_tables(root: dom.Element, removals: Removals) -> None:
    """Replace a file shown as a table with one row per line, as on code hosts, by a `pre` block."""
    seen: list[dom.Element] = []
    for cell in dom.select(root, "td.blob-code"):
        table = cell.parent
        while isinstance(table, dom.Element) and table.tag != "table":
            table = table.parent
        if isinstance(table, dom.Element) and (not seen or seen[-1] is not table):
            seen.append(table)
    for table in seen:
        cells = dom.select(table, "td.blob-code")
        lines = [_marker(cell) + dom.text_of(cell).strip("\n") for cell in cells]
        for cell in cells:
            dom.drop(cell)
        removals.record_words([table], "line numbers of a file")
        dom.replace(table, dom.element("pre", dom.attributes(table), "\n".join(lines)))


def join_line_boxes(root: dom.Element, removals: Removals) -> None:
    """Replace a box, or a list, with one element per line of code by a `pre` block."""
    for first in dom.select(root, _FIRST_LINES):
        box = first.parent
        if not isinstance(box, dom.Element) or any(
            above.tag in _FRAGMENTS for above in ancestors(first, _MAX_LINE_DEPTH)
        ):
            continue
        lines = [child for child in box.children if not is_blank(child)]
        same = [line for line in lines if isinstance(line, dom.Element) and line.tag == first.tag]
        if len(lines) < 2 or len(same) != len(lines) or not all(map(_is_line, same)):
            continue
        text = "\n".join(code_text(line, removals).strip("\n\u200b") for line in same)
        removals.note_rebuilt(box)
        dom.replace(box, dom.element("pre", dom.attributes(box), text))


def _is_line(line: dom.Element) -> bool:
    """Return whether the element is a line of code: by its class, or because a `code` is all that it has."""
    if any("line" in name for name in class_names(line)) and line.tag == "div":
        return True
    shown = [child for child in line.children if not is_blank(child)]
    return (
        len(shown) == 1
        and isinstance(shown[0], dom.Element)
        and (shown[0].tag == "code" or "de1" in class_names(shown[0]))
    )


def join_numbered_columns(root: dom.Element, removals: Removals) -> None:
    """Replace a table with a column of line numbers and one of lines, which are boxes and not a `pre`."""
    for cell in dom.select(root, "td.code,td[class*=-code]"):
        row = cell.parent
        gutter = dom.previous_element(cell)
        if not isinstance(row, dom.Element) or gutter is None or not is_only_child(row) or dom.first(cell, "pre"):
            continue
        numbers = dom.text_of(gutter).split()
        table = next((above for above in ancestors(row, 2) if above.tag == "table"), None)
        if table is None or not numbers or not all(number.isdecimal() for number in numbers):
            continue
        text = code_text(cell, removals)
        dom.drop(cell)
        removals.record_words([table], "line numbers of a code block")
        dom.replace(table, dom.element("pre", dom.attributes(table), text))


def _marker(cell: dom.Element) -> str:
    """Return the sign of an added or removed line, which only the style shows."""
    for node in (cell, *first_elements(cell, 1)):
        marker = node.attr("data-code-marker")
        if marker in ("+", "-", " "):
            return marker
    return ""


def join_fragments(root: dom.Element, removals: Removals) -> None:
    """Join the pieces of one program in a box, as tools for literate programming write it."""
    for first in dom.select(root, "code.block:first-child"):
        box = first.parent
        if not isinstance(box, dom.Element) or box.tag in KEPT_INLINE or box.tag == "pre":
            continue
        pieces = [child for child in box.children if not is_blank(child)]
        if len(pieces) > 1 and all(isinstance(piece, dom.Element) and piece.tag in _FRAGMENTS for piece in pieces):
            text = "\n".join([code_text(piece, removals).removesuffix("\n") for piece in pieces])  # type: ignore[arg-type]
            dom.replace(first, dom.element("pre", dom.attributes(first), text))
            removals.note_rebuilt(first)
            for piece in pieces[1:]:
                removals.note_rebuilt(piece)
                dom.drop(piece)


_STYLED: Final = '[style*="white-space"]'
_PRE: Final = compile_lazily(r"white-space\s*:\s*pre(?![\w-])", re.I)
_WRAPPED: Final = compile_lazily(r"white-space\s*:\s*(?:pre-wrap|pre-line|break-spaces)", re.I)
_MONOSPACE: Final = compile_lazily(r"(?i)monospace|courier|menlo|monaco|consolas|mono\b")
_BOXES: Final = frozenset(("div", "section", "p", "td", "figure"))
_NOT_CODE: Final = "img,h1,h2,h3,h4,h5,h6,iframe,video,table,ul,ol,pre"
_MAX_DEPTH: Final = 12
"""Boxes around an element that are searched for a `pre`."""


def write_preformatted(root: dom.Element, removals: Removals) -> None:
    """Turn boxes with `white-space: pre` into `pre`, and line breaks in those with `pre-wrap` into `br`."""
    for node in dom.select(root, _STYLED):
        if node.tag not in _BOXES or node.parent is None or _is_in_code(node):
            continue
        style = node.attr("style") or ""
        if _PRE.search(style) and dom.first(node, _NOT_CODE) is None:
            _write_code(node, style, removals)
        elif _WRAPPED.search(style):
            write_line_breaks(node, inner=True)


def _is_in_code(node: dom.Element) -> bool:
    return any(above.tag in ("pre", "code") for above in ancestors(node, _MAX_DEPTH))


def _write_code(node: dom.Element, style: str, removals: Removals) -> None:
    text = code_text(node, removals)
    lines = text.strip("\n").split("\n")
    if len(lines) > 1 and (_MONOSPACE.search(style) or _MONOSPACE.search(dom.html_of(node)[:2000])):
        removals.note_rebuilt(node)
        dom.replace(node, dom.element("pre", {"class": node.attr("class") or ""}, text.strip("\n")))
    else:
        write_line_breaks(node, inner=True)


def write_line_breaks(node: dom.Element, *, inner: bool = False) -> None:
    """Put line breaks where the text of the element has them; `inner` ignores those around a text, which indent the source."""
    for text in [text for text in dom.nodes(node) if isinstance(text, dom.Text) and "\n" in text.data]:
        data = text.data.strip() if inner else text.data
        if inner and "\n" not in data:
            continue
        parts: list[dom.Node | str] = []
        for number, line in enumerate(data.split("\n")):
            if number:
                parts.append(dom.element("br"))
            if line:
                parts.append(line)
        dom.replace(text, *parts)


_NOT_PLAIN: Final = (
    ",".join(sorted(BLOCKS))
    + ",br,button,style,script,svg,textarea,[class*=line],[class*=Line],[class*=ln],[class*=gutter],[data-line],"
    "[style*=user-select],[class*=select],[class*=copy],[aria-hidden=true],pre > code + code"
)
"""Elements that may change the text; a block without them is its text as it is."""
_LINE_SPANS: Final = "span.line,span[data-line],span.code-line,span.view-line,span.ec-line,code.line,code[data-line]"
_ALWAYS_LINES: Final = frozenset(("gatsby-highlight-code-line", "highlight-line"))
"""Classes of spans that are lines although the others are not."""
_UNSELECTABLE: Final = frozenset(("select-none", "unselectable", "noselect", "user-select-none", "no-select"))
_LINE_BLOCKS: Final = BLOCKS - {"td", "th", "thead", "tbody", "tfoot"}
_NO_TEXT: Final = frozenset(("button", "style", "script", "svg", "textarea", "noscript", "template", "select"))
_CODE_OF_PAGE: Final = frozenset(("style", "script"))
_GUTTER: Final = compile_lazily(
    r"(?i)(?:^|[\s_-])(?:lnt?|linenos?|linenumbers?|line-?numbers?|lines?-?num|linenr|lineno|lineindex|line-?index|gutter|blob-num|hljs-ln-(?:numbers|n))"
    r"(?:$|[\s_-])"
)
_SPACE_LINE: Final = compile_lazily(r"^ $", re.M)
_MIN_ROWS: Final = 2
_MAX_DIGITS: Final = 5
_MAX_ROW_DEPTH: Final = 5
"""Boxes between a block and the rows in it."""
NUMBERS: Final = compile_lazily(r"[\d\s|.:]*")
"""A column or cell of line numbers."""
_BAR: Final = compile_lazily(r"(?i)(?:^|[\s_-])(?:copy|clipboard|toolbar|header|titlebar|caption-bar)(?:$|[\s_-])")


def code_text(block: dom.Element, removals: Removals) -> str:
    """Return the code without line numbers, buttons and bars, which are recorded as removed."""
    if dom.first(block, _NOT_PLAIN) is None:
        return dom.text_of(block)
    spans_are_lines = _spans_are_lines(block)
    pieces = _pieces(block)
    numbers = _row_numbers(block)
    out: list[str] = []
    beside: list[dom.Element] = []
    # Each entry is a node to write (-1) or the end of a line that began when `out` had that many parts.
    pending: list[tuple[dom.Node, int]] = [(child, -1) for child in reversed(block.children)]
    while pending:
        node, began = pending.pop()
        if began >= 0:
            _end_line(out, began, node)
        elif isinstance(node, dom.Text):
            if node.data:
                out.append(node.data)
        elif isinstance(node, dom.Element) and (node in numbers or _is_beside_code(node)):
            beside.append(node)
        elif isinstance(node, dom.Element):
            if node.tag == "br":
                out.append("\n")
                continue
            if node.tag in ("td", "th") and out and not out[-1][-1:].isspace():
                out.append(" ")
            if (
                node.tag in _LINE_BLOCKS
                or (spans_are_lines and dom.matches(node, _LINE_SPANS))
                or node in pieces
                or not _ALWAYS_LINES.isdisjoint(class_names(node))
            ):
                if out and not out[-1].endswith("\n"):
                    out.append("\n")
                pending.append((node, len(out)))
            pending.extend((child, -1) for child in reversed(node.children))
    removals.record_words(
        [node for node in beside if node.tag not in _CODE_OF_PAGE], "line number, button or bar of a code block"
    )
    # Where every line is an element, an empty one holds a space so that it has a height.
    return _SPACE_LINE.sub("", "".join(out)) if dom.first(block, "[data-line]") is not None else "".join(out)


def _end_line(out: list[str], began: int, line: dom.Node) -> None:
    if len(out) > began:
        if not out[-1].endswith("\n"):
            out.append("\n")
    elif _is_one_of_many(line):
        out.append("\n")


def _is_one_of_many(line: dom.Node) -> bool:
    """Return whether an empty box is an empty line, because it is among others of its kind."""
    if not isinstance(line, dom.Element):
        return False
    for other in (dom.previous_element(line), dom.next_element(line)):
        if other is not None and other.tag == line.tag and other.attr("class") == line.attr("class"):
            return True
    return False


def _spans_are_lines(block: dom.Element) -> bool:
    """Return whether line elements replace line breaks, because the text has none between them."""
    lines = dom.select(block, _LINE_SPANS)
    if len(lines) < 2:
        return False
    line = lines[0]
    while line.next_sibling is None and isinstance(line.parent, dom.Element) and line.parent is not block:
        line = line.parent  # a box of the line and its number
    after = line.next_sibling
    if isinstance(after, dom.Text):
        return "\n" not in after.data
    return not is_tag(after, "br") and not dom.text_of(lines[0]).endswith("\n")


def _pieces(block: dom.Element) -> list[dom.Element]:
    """Return the `code` elements of a block that has one for each line, without line breaks between them."""
    shown = [child for child in block.children if not is_blank(child)]
    is_split = len(shown) > 1 and not any(isinstance(child, dom.Text) for child in block.children)
    return [child for child in shown if isinstance(child, dom.Element) and child.tag == "code"] if is_split else []


def _row_numbers(block: dom.Element) -> set[dom.Element]:
    """Return the first elements of rows that only count them: 1, 2, 3."""
    rows = [child for child in block.children if isinstance(child, dom.Element)]
    for _ in range(_MAX_ROW_DEPTH):
        if len(rows) != 1:
            break
        rows = [child for child in rows[0].children if isinstance(child, dom.Element)]
    numbers = [first_elements(row, 1)[:1] for row in rows if row.tag != "br"]
    counted = [dom.text_of(number[0]).strip() if number else "" for number in numbers]
    if len(counted) < _MIN_ROWS or not counted[0].isdecimal() or len(counted[0]) > _MAX_DIGITS:
        return set()
    start = int(counted[0])
    is_count = all(text == str(start + place) for place, text in enumerate(counted))
    return {number[0] for number in numbers if number} if is_count else set()


def _is_beside_code(node: dom.Element) -> bool:
    """Return whether the element is a number, button or bar in the block but not in the code."""
    if node.tag in _NO_TEXT:
        return True
    names = node.attr("class") or ""
    if names:
        if _GUTTER.search(names) and NUMBERS.fullmatch(dom.text_of(node)):
            return True
        if node.tag in ("div", "header", "a") and _BAR.search(names) and "\n" not in dom.text_of(node).strip():
            return True
    style = node.attr("style") or ""
    unselectable = (
        "user-select" in style
        or not _UNSELECTABLE.isdisjoint(names.split())
        or node.attr("aria-hidden") == "true"
        or node.attr("data-line-number") is not None
    )
    return unselectable and NUMBERS.fullmatch(dom.text_of(node)) is not None
