"""Code that is not in a `pre` yet: lines drawn by editors, files shown as tables, programs in pieces."""

from __future__ import annotations

from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.code.text import code_text
from pagekeep.extraction.clean.state import Removals
from pagekeep.extraction.clean.vocabulary import (
    KEPT_INLINE,
    ancestors,
    class_names,
    first_elements,
    is_blank,
    is_only_child,
)

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
