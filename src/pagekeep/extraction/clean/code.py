"""Code blocks: whatever the highlighter, `<pre><code class="language-x">` with the program's own lines alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.census import Census
from pagekeep.extraction.clean.code_language import language_of, spoken_language
from pagekeep.extraction.clean.vocabulary import (
    BLOCKS,
    KEPT_INLINE,
    class_names,
    head_of,
    is_blank,
    is_tag,
    shown_after,
    shown_before,
    stands_alone,
)

_EDITORS: Final = {
    ".CodeMirror-code": ".CodeMirror-line",
    ".cm-content": ".cm-line",
    ".view-lines": ".view-line",
    ".ace_text-layer": ".ace_line",
    ".react-code-lines": ".react-code-text",
}
"""Editors that draw each line as a box of its own: the element around the lines, and a line."""
_EDITOR_GUTTERS: Final = ".cm-gutters,.CodeMirror-gutters,.ace_gutter,.margin-view-overlays"
_BARE: Final = (
    ":is(div,figure,td):is([class*=highlight],[class*=code-block],[class*=codeblock],[class*=CodeBlock]) > code,"
    "code.block,"
    ":is(div,section)[class*=code]:is([data-lang],[data-language])"
)
_TAGS: Final = frozenset(("pre", "code"))
_NAMES: Final = ("blob-code", "code-", *(box.removeprefix(".") for box in _EDITORS))
_CODE_OR_TEXT: Final = "pre,code,p,table,textarea," + ",".join(_EDITORS)
_NOT_CODE: Final = "img,h1,h2,h3,h4,h5,h6,iframe,video"
_SPECIAL: Final = (
    ",".join(sorted(BLOCKS))
    + ",br,button,style,script,svg,textarea,[class*=line],[class*=Line],[class*=ln],[class*=gutter],[data-line],"
    "[style*=user-select],[class*=copy],[aria-hidden=true]"
)
_LINE_SPANS: Final = "span.line,span[data-line],span.code-line,span.view-line,span.ec-line,code.line,code[data-line]"
_LINE_BLOCKS: Final = BLOCKS - {"td", "th", "thead", "tbody", "tfoot"}
_NO_TEXT: Final = frozenset(("button", "style", "script", "svg", "textarea", "noscript", "template", "select"))
_GUTTER: Final = re.compile(
    r"(?i)(?:^|[\s_-])(?:lnt?|linenos?|linenumbers?|line-?numbers?|lines?-?num|lineno|gutter|blob-num|hljs-ln-(?:numbers|n))"
    r"(?:$|[\s_-])"
)
_SPACE_LINE: Final = re.compile(r"^ $", re.M)
_NUMBERS: Final = re.compile(r"[\d\s|.:]*")
_BAR: Final = re.compile(r"(?i)(?:^|[\s_-])(?:copy|clipboard|toolbar|header|titlebar|caption-bar)(?:$|[\s_-])")


def settle_code(root: dom.Element, census: Census) -> None:
    """Turn every code block into its one form."""
    if not census.shows(_TAGS, *_NAMES):
        return
    _join_editor_lines(root)
    _join_file_tables(root)
    _join_fragments(root)
    for node in dom.select(root, f"pre,code:has(br),{_BARE}"):
        if node.tag == "pre":
            _settle_pre(node)
        elif node.tag != "code":
            _settle_box(node)
        elif not _is_within_code(node) and dom.first(node, "pre") is None:
            _settle_bare(node)


def _is_within_code(node: dom.Element) -> bool:
    above = node.parent
    for _ in range(12):
        if not isinstance(above, dom.Element):
            return False
        if above.tag == "pre":
            return True
        above = above.parent
    return False


def _settle_pre(pre: dom.Element) -> None:
    if _is_detached(pre) or _is_within_code(pre):
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
    spoken = _take_label(place, language)
    _write_block(place, _code_text(pre), language or spoken)


def _settle_bare(code: dom.Element) -> None:
    """A `code` without `pre` is a block when it says so, or has several lines and stands alone."""
    text = _code_text(code)
    if ("\n" in text.strip() and _is_own_line(code)) or "block" in class_names(code):
        _write_block(code, _dedent(text), language_of(code))


def _settle_box(box: dom.Element) -> None:
    """A box that is named for code and names a language, without anything of code in it, holds the program itself."""
    if dom.first(box, _CODE_OR_TEXT) is None and box.parent is not None:
        _write_block(box, _dedent(_code_text(box)), language_of(box))


def _dedent(text: str) -> str:
    """The lines moved left as far as all of them go: outside `pre`, the page's own indentation stands before them."""
    lines = text.strip("\n").split("\n")
    margins = [len(line) - len(line.lstrip(" \t")) for line in lines if line.strip()]
    margin = min(margins, default=0)
    return "\n".join([line[margin:] for line in lines]) if margin else text


def _is_own_line(node: dom.Element) -> bool:
    """Whether nothing else stands in the line, looking through inline boxes that say nothing."""
    for _ in range(12):
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


def _is_detached(pre: dom.Element) -> bool:
    """Whether an earlier block took this one with it."""
    return pre.parent is None


def _write_block(place: dom.Element, text: str, language: str) -> None:
    text = text.replace("\xa0", " ").replace("\r\n", "\n").strip("\n").rstrip()
    if not text:
        dom.replace(place, " ")
        return
    code = dom.element("code", {"class": f"language-{language}"} if language else None, text)
    dom.replace(place, dom.element("pre", None, code))


def _lay_out_as_text(pre: dom.Element) -> None:
    """A `pre` around pictures or headings is text whose line breaks count."""
    for node in [node for node in dom.nodes(pre) if isinstance(node, dom.Text) and "\n" in node.data]:
        parts: list[dom.Node | str] = []
        for number, line in enumerate(node.data.split("\n")):
            if number:
                parts.append(dom.element("br"))
            if line:
                parts.append(line)
        dom.replace(node, *parts)
    dom.retag(pre, "div")


# -- tables and editors -----------------------------------------------------------------------------------------------


def _code_table(pre: dom.Element) -> dom.Element | None:
    """The one-row table that sets line numbers beside the code, when the `pre` stands in one."""
    cell = pre.parent
    for _ in range(3):
        if not isinstance(cell, dom.Element) or cell.tag in ("td", "th"):
            break
        cell = cell.parent
    row = cell.parent if isinstance(cell, dom.Element) else None
    if not isinstance(row, dom.Element) or row.tag != "tr":
        return None
    body = row.parent
    table = body.parent if isinstance(body, dom.Element) and body.tag != "table" else body
    if not isinstance(table, dom.Element) or table.tag != "table" or not stands_alone(row):
        return None
    blocks = dom.tagged(row, ("pre",), most=3)
    if len(blocks) == 3 or (len(blocks) == 2 and not any(map(_is_gutter_cell, blocks))):
        return None  # the table goes for the one block that is numbered; others would go with it
    if any(name in ("highlighttable", "lntable", "rouge-table") for name in class_names(table)):
        return table
    gutter = dom.first(row, "td,th")
    numbered = gutter is not None and _NUMBERS.fullmatch(dom.text_of(gutter)) is not None
    return table if numbered and gutter is not cell else (table if numbered and _has_code_beside(pre) else None)


def _is_gutter_cell(pre: dom.Element) -> bool:
    text = dom.text_of(pre)
    return _NUMBERS.fullmatch(text) is not None and _has_code_beside(pre)


def _has_code_beside(pre: dom.Element) -> bool:
    cell: dom.Node | None = pre
    while isinstance(cell, dom.Element) and cell.tag not in ("td", "th"):
        cell = cell.parent
    return cell is not None and dom.next_element(cell) is not None


def _join_editor_lines(root: dom.Element) -> None:
    for editor in dom.select(root, ",".join(_EDITORS)):
        if _is_within_editor(editor):
            continue
        line = next(lines for box, lines in _EDITORS.items() if dom.matches(editor, box))
        text = "\n".join(dom.text_of(part).strip("\n\u200b") for part in dom.select(editor, line))
        dom.replace(editor, dom.element("pre", dom.attributes(editor), text))
    for gutter in dom.select(root, _EDITOR_GUTTERS):
        dom.drop(gutter)


def _is_within_editor(editor: dom.Element) -> bool:
    """Whether an editor around this one has taken its lines already."""
    above = editor.parent
    for _ in range(30):
        if isinstance(above, dom.Element) and any(f".{name}" in _EDITORS for name in class_names(above)):
            return True
        above = above.parent if above is not None else None
    return False


def _join_file_tables(root: dom.Element) -> None:
    """A file shown as a table, one row a line, as code hosts do."""
    seen: list[dom.Element] = []
    for cell in dom.select(root, "td.blob-code"):
        table = cell.parent
        while isinstance(table, dom.Element) and table.tag != "table":
            table = table.parent
        if isinstance(table, dom.Element) and (not seen or seen[-1] is not table):
            seen.append(table)
    for table in seen:
        lines = [_marker(cell) + dom.text_of(cell).strip("\n") for cell in dom.select(table, "td.blob-code")]
        dom.replace(table, dom.element("pre", dom.attributes(table), "\n".join(lines)))


def _marker(cell: dom.Element) -> str:
    """The sign of an added or removed line, which the page only draws."""
    for node in (cell, *head_of(cell, 1)):
        marker = node.attr("data-code-marker")
        if marker in ("+", "-", " "):
            return marker
    return ""


_FRAGMENTS: Final = frozenset(("code", "pre"))


def _join_fragments(root: dom.Element) -> None:
    """A box of nothing but pieces of one program, as literate tools write it, is one block."""
    for first in dom.select(root, "code.block:first-child"):
        box = first.parent
        if not isinstance(box, dom.Element) or box.tag in KEPT_INLINE or box.tag == "pre":
            continue
        pieces = [child for child in box.children if not is_blank(child)]
        if len(pieces) > 1 and all(isinstance(piece, dom.Element) and piece.tag in _FRAGMENTS for piece in pieces):
            text = "\n".join([_code_text(piece).removesuffix("\n") for piece in pieces])  # type: ignore[arg-type]
            dom.replace(first, dom.element("pre", dom.attributes(first), text))
            for piece in pieces[1:]:
                dom.drop(piece)


# -- the text ---------------------------------------------------------------------------------------------------------


def _code_text(block: dom.Element) -> str:
    """The program as it stands on the screen, without line numbers, buttons and bars."""
    if dom.first(block, _SPECIAL) is None:
        return dom.text_of(block)
    spans_are_lines = _spans_are_lines(block)
    out: list[str] = []
    # Each entry is a node to write or, with a mark, the end of a line that began when `out` had that many parts.
    pending: list[tuple[dom.Node, int]] = [(child, -1) for child in reversed(block.children)]
    while pending:
        node, began = pending.pop()
        if began >= 0:
            _end_line(out, began, node)
        elif isinstance(node, dom.Text):
            if node.data:
                out.append(node.data)
        elif isinstance(node, dom.Element) and not _is_beside_code(node):
            if node.tag == "br":
                out.append("\n")
                continue
            if node.tag in ("td", "th") and out and not out[-1][-1:].isspace():
                out.append(" ")
            if node.tag in _LINE_BLOCKS or (spans_are_lines and dom.matches(node, _LINE_SPANS)):
                if out and not out[-1].endswith("\n"):
                    out.append("\n")
                pending.append((node, len(out)))
            pending.extend((child, -1) for child in reversed(node.children))
    # Where every line is an element, an empty one holds a space so that it has a height.
    return _SPACE_LINE.sub("", "".join(out)) if dom.first(block, "[data-line]") is not None else "".join(out)


def _end_line(out: list[str], began: int, line: dom.Node) -> None:
    if len(out) > began:
        if not out[-1].endswith("\n"):
            out.append("\n")
    elif _is_one_of_many(line):
        out.append("\n")


def _is_one_of_many(line: dom.Node) -> bool:
    """Whether an empty box is an empty line, that is, stands among others of its kind."""
    if not isinstance(line, dom.Element):
        return False
    for other in (dom.previous_element(line), dom.next_element(line)):
        if other is not None and other.tag == line.tag and other.attr("class") == line.attr("class"):
            return True
    return False


def _spans_are_lines(block: dom.Element) -> bool:
    """Whether line elements stand for line breaks, because the text has none between them."""
    lines = dom.select(block, _LINE_SPANS)
    if len(lines) < 2:
        return False
    after = lines[0].next_sibling
    if isinstance(after, dom.Text):
        return "\n" not in after.data
    return not is_tag(after, "br") and not dom.text_of(lines[0]).endswith("\n")


def _is_beside_code(node: dom.Element) -> bool:
    """Whether the element is a number, button or bar that stands in the block but not in the program."""
    if node.tag in _NO_TEXT:
        return True
    names = node.attr("class") or ""
    if names:
        if _GUTTER.search(names) and _NUMBERS.fullmatch(dom.text_of(node)):
            return True
        if node.tag in ("div", "header", "a") and _BAR.search(names) and "\n" not in dom.text_of(node).strip():
            return True
    style = node.attr("style") or ""
    unselectable = (
        "user-select" in style or node.attr("aria-hidden") == "true" or node.attr("data-line-number") is not None
    )
    return unselectable and _NUMBERS.fullmatch(dom.text_of(node)) is not None


def _take_label(block: dom.Element, language: str) -> str:
    """Drop the bar above a block that says its language; the language it says."""
    node: dom.Node = block
    for _ in range(4):
        before = _right_before(node)
        if isinstance(before, dom.Text):
            return ""
        if before is not None:
            label = _label(before)
            spoken = spoken_language(label)
            if spoken and (not language or language in (spoken, label.lower()) or spoken_language(language) == spoken):
                dom.drop(before)
                return spoken
            return ""
        parent = node.parent
        if not isinstance(parent, dom.Element) or parent.tag not in ("div", "figure", "code", "section"):
            return ""
        node = parent
    return ""


def _right_before(node: dom.Node) -> dom.Element | dom.Text | None:
    """The element before the node, or the text that parts them; blank text parts nothing, but a long run of it does."""
    before = node.previous_sibling
    for _ in range(8):
        if isinstance(before, dom.Element) or (isinstance(before, dom.Text) and not is_blank(before)):
            return before
        if before is None:
            return None
        before = before.previous_sibling
    return None


_BARS: Final = frozenset("div span header p figcaption b strong em i".split())


def _label(bar: dom.Element) -> str:
    if bar.tag not in _BARS or (bar.tag == "p" and any(node.tag not in _BARS for node in dom.elements(bar))):
        return ""  # a link or a key in a paragraph is text of the page
    text = dom.text_of(bar)
    if len(text) > 200:
        return ""
    for button in dom.select(bar, "button,[role=button]"):
        text = text.replace(dom.text_of(button), "", 1)
    return text.strip()
