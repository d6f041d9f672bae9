"""The text of a code block as the screen shows it, without line numbers, buttons and bars."""

from __future__ import annotations

import re
from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.state import Removals
from pagekeep.extraction.clean.vocabulary import BLOCKS, class_names, first_elements, is_blank, is_tag
from pagekeep.text import compile_lazily

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
