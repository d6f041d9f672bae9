"""Code blocks: whatever the highlighter, `<pre><code class="language-x">` with the lines of the code alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.code.editors import (
    EDITORS,
    join_editor_lines,
    join_file_tables,
    join_fragments,
    join_line_boxes,
    join_numbered_columns,
)
from pagekeep.extraction.clean.code.labels import take_inner_bar, take_label
from pagekeep.extraction.clean.code.language import language_of
from pagekeep.extraction.clean.code.styled import write_line_breaks, write_preformatted
from pagekeep.extraction.clean.code.text import NUMBERS, code_text
from pagekeep.extraction.clean.state import CleanState, Removals
from pagekeep.extraction.clean.vocabulary import (
    BLOCKS,
    KEPT_INLINE,
    ancestors,
    class_names,
    is_only_child,
    shown_after,
    shown_before,
)
from pagekeep.model import Removal

_BARE: Final = (
    ":is(div,figure,td):is([class*=highlight],[class*=code-block],[class*=codeblock],[class*=CodeBlock]) > code,"
    "code.block,code[class*='language-'],"
    ":is(div,section)[class*=code]:is([data-lang],[data-language])"
)
_CLASS_PARTS: Final = ("blob-code", "code-", "-code", *(box.removeprefix(".") for box in EDITORS))
_CODE_OR_TEXT: Final = "pre,code,p,table,textarea," + ",".join(EDITORS)
_NOT_CODE: Final = "img,h1,h2,h3,h4,h5,h6,iframe,video"
_MAX_DEPTH: Final = 12
"""Boxes around code that are searched for a block."""
_MAX_CELL_DEPTH: Final = 3
"""Boxes between a `pre` and its cell in a table of line numbers."""


def normalise_code_blocks(state: CleanState) -> list[Removal]:
    """Turn every code block into `pre` and `code` with its language, without line numbers and buttons."""
    removals, root = Removals(state.changes), state.root
    write_preformatted(root, removals)
    if not (state.index.has_tag("pre", "code") or state.index.has_class(*_CLASS_PARTS)):
        return removals
    join_editor_lines(root, removals)
    join_line_boxes(root, removals)
    if state.index.has_tag("table"):
        join_file_tables(root, removals)
        join_numbered_columns(root, removals)
    join_fragments(root, removals)
    for node in dom.select(root, f"pre,code:has(br),{_BARE}"):
        if node.tag == "pre":
            _normalise_pre(node, removals)
        elif node.tag != "code":
            _normalise_box(node, removals)
        elif not _is_in_pre(node) and dom.first(node, "pre") is None:
            _normalise_bare(node, removals)
    return removals


def _is_in_pre(node: dom.Element) -> bool:
    return any(above.tag == "pre" for above in ancestors(node, _MAX_DEPTH))


def _normalise_pre(pre: dom.Element, removals: Removals) -> None:
    if pre.parent is None or _is_in_pre(pre):
        return
    if dom.first(pre, "pre") is not None:
        dom.retag(pre, "div")
        return
    if dom.first(pre, _NOT_CODE) is not None or "wp-block-verse" in class_names(pre):
        _lay_out_as_text(pre)
        return
    table = _code_table(pre)
    if table is not None and _is_gutter_cell(pre):
        return
    place = table or pre
    language = language_of(pre)
    inner, label_language = take_inner_bar(pre, language, removals)
    label_language = label_language or take_label(place, language, removals)
    text = code_text(inner, removals)
    if table is not None:
        removals.note_rebuilt(pre)
        dom.drop(pre)
        removals.record_words([table], "line numbers of a code block")
    _write_block(place, text, language or label_language, removals)


def _normalise_bare(code: dom.Element, removals: Removals) -> None:
    """Make a `code` without `pre` a block if its class says so, or if it has several lines and its own place."""
    beside = Removals()
    text = code_text(code, beside)
    if ("\n" in text.strip() and _is_own_line(code)) or "block" in class_names(code):
        _write_block(code, _dedent(text), language_of(code), removals)
        removals += beside


def _normalise_box(box: dom.Element, removals: Removals) -> None:
    """Make a box a block if its class says code, it names a language, and it holds nothing but text."""
    if dom.first(box, _CODE_OR_TEXT) is None and box.parent is not None:
        _write_block(box, _dedent(code_text(box, removals)), language_of(box), removals)


def _dedent(text: str) -> str:
    """Remove the common indentation: outside `pre`, it is the indentation of the page's own source."""
    lines = text.strip("\n").split("\n")
    margins = [len(line) - len(line.lstrip(" \t")) for line in lines if line.strip()]
    margin = min(margins, default=0)
    return "\n".join([line[margin:] for line in lines]) if margin else text


def _is_own_line(node: dom.Element) -> bool:
    """Return whether nothing else is in the line, looking through inline boxes without a meaning."""
    for _ in range(_MAX_DEPTH):
        if not (_ends_line(node, shown_before) and _ends_line(node, shown_after)):
            return False
        parent = node.parent
        if not isinstance(parent, dom.Element) or parent.tag in KEPT_INLINE:
            return False
        if parent.tag in BLOCKS:
            return True
        node = parent
    return False


def _ends_line(node: dom.Node, step: Callable[[dom.Node], dom.Node | None]) -> bool:
    beside = step(node)
    return beside is None or (isinstance(beside, dom.Element) and (beside.tag == "br" or beside.tag in BLOCKS))


def _write_block(place: dom.Element, text: str, language: str, removals: Removals) -> None:
    removals.note_rebuilt(place)
    text = text.replace("\xa0", " ").replace("\r\n", "\n").strip("\n").rstrip()
    if not text:
        dom.replace(place, " ")
        return
    code = dom.element("code", {"class": f"language-{language}"} if language else None, text)
    dom.replace(place, dom.element("pre", None, code))


def _lay_out_as_text(pre: dom.Element) -> None:
    """Turn a `pre` around images or headings into text that keeps its line breaks."""
    write_line_breaks(pre)
    dom.retag(pre, "div")


def _code_table(pre: dom.Element) -> dom.Element | None:
    """Return the table with one row that holds this `pre` and its line numbers, if it is in one."""
    cell = pre.parent
    for _ in range(_MAX_CELL_DEPTH):
        if not isinstance(cell, dom.Element) or cell.tag in ("td", "th"):
            break
        cell = cell.parent
    row = cell.parent if isinstance(cell, dom.Element) else None
    if not isinstance(row, dom.Element) or row.tag != "tr":
        return None
    body = row.parent
    table = body.parent if isinstance(body, dom.Element) and body.tag != "table" else body
    if not isinstance(table, dom.Element) or table.tag != "table" or not is_only_child(row):
        return None
    blocks = dom.tagged(table, ("pre",), limit=3)
    if len(blocks) == 3 or (len(blocks) == 2 and not any(map(_is_gutter_cell, blocks))):
        return None  # the table is replaced by one numbered block; others in it would be lost
    if any(name in ("highlighttable", "lntable", "rouge-table") for name in class_names(table)):
        return table
    gutter = dom.first(row, "td,th")
    numbered = gutter is not None and NUMBERS.fullmatch(dom.text_of(gutter)) is not None
    return table if numbered and gutter is not cell else (table if numbered and _has_code_beside(pre) else None)


def _is_gutter_cell(pre: dom.Element) -> bool:
    text = dom.text_of(pre)
    return NUMBERS.fullmatch(text) is not None and _has_code_beside(pre)


def _has_code_beside(pre: dom.Element) -> bool:
    cell: dom.Node | None = pre
    while isinstance(cell, dom.Element) and cell.tag not in ("td", "th"):
        cell = cell.parent
    return cell is not None and dom.next_element(cell) is not None
