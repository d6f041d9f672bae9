"""Blocks of a page from its structure tree, where that covers the page."""

from __future__ import annotations

from typing import Final

from pagekeep.capture.documents.pdf.blocks import find_marker, is_mono, nest_items
from pagekeep.capture.documents.pdf.lines import make_lines
from pagekeep.capture.documents.pdf.roles import MARK, describe_picture
from pagekeep.capture.documents.pdf.values import ARTIFACT, Block, BlockKind, Cell, Line, Node, PdfPage, Word

_MIN_COVERED: Final = 0.95
"""Part of a page's characters that the tree must name, so that the page is read by it."""
_HEADINGS: Final = {"Title": 1, "H": 2, **{f"H{level}": level for level in range(1, 7)}}
_NOTES: Final = frozenset({"Note", "FENote"})
_PARAGRAPHS: Final = frozenset({"P", "BibEntry", "TOCI", "DT", "DD", "Formula"})
_GROUPS: Final = frozenset(
    "Document DocumentFragment Part Art Sect Div Aside TOC Index BlockQuote Figure Form THead TBody TFoot".split()
)
_NEXT_LINE: Final = 1.6
"""Distance of baselines, in type sizes, up to which two paragraphs of code are two lines of one."""


def is_covered(page: PdfPage) -> bool:
    """Return whether the structure tree has nearly all words of a page."""
    if page.tree is None:
        return False
    known, named, total = _contents(page.tree), 0, 0
    for word in page.words:
        if word.mcid != ARTIFACT:
            total += len(word.text)
            named += len(word.text) if word.mcid in known else 0
    return total > 0 and named >= _MIN_COVERED * total


def _contents(node: Node) -> set[int]:
    found: set[int] = set()
    stack = [node]
    while stack:
        for child in stack.pop().children:
            if isinstance(child, int):
                found.add(child)
            else:
                stack.append(child)
    return found


def read_tagged(page: PdfPage) -> tuple[list[Block], list[Word]]:
    """Return the blocks of a page, as its structure tree names them, and the words that it does not name."""
    assert page.tree is not None
    reader = _Reader(page)
    reader.walk(page.tree, 0)
    reader.flush()
    nest_items(reader.blocks)
    return reader.blocks, reader.rest()


class _Reader:
    """Walks a structure tree; words wait until their block is complete."""

    def __init__(self, page: PdfPage) -> None:
        self._page = page
        self._words: dict[int, list[Word]] = {}
        for word in page.words:
            self._words.setdefault(word.mcid, []).append(word)
        self._words.pop(ARTIFACT, None)
        self._pending: list[Word] = []
        self.blocks: list[Block] = []

    def walk(self, node: Node, quotes: int) -> None:
        """Read an element that may have blocks in it."""
        for child in node.children:
            if isinstance(child, int):
                self._pending += self._words.pop(child, [])
            elif child.tag in _HEADINGS:
                self.flush()
                self._add("heading", self._take(child), level=_HEADINGS[child.tag])
            elif child.tag in _PARAGRAPHS:
                self.flush()
                self._read_paragraph(child, quotes)
            elif child.tag == "L":
                self.flush()
                self._read_list(child, 0)
            elif child.tag == "Table":
                self.flush()
                self._read_table(child)
            elif child.tag in _NOTES:
                self.flush()
                self._read_note(child)
            elif child.tag == "Caption":
                self.flush()
                self._add("caption", self._take(child))
            elif child.tag == "Code":
                self._read_code(child)
            elif child.tag in _GROUPS:
                self.flush(quotes)
                described = describe_picture(child.alt, self._page.index) if child.alt else None
                self.blocks += [described] if described else []
                self.walk(child, quotes + (child.tag == "BlockQuote"))
                self.flush(quotes + (child.tag == "BlockQuote"))
            else:
                self.walk(child, quotes)

    def flush(self, quotes: int = 0) -> None:
        """End the paragraph of the words that wait."""
        words, self._pending = self._pending, []
        self._add("quote" if quotes else "text", words)

    def rest(self) -> list[Word]:
        """Return the words that the tree does not name."""
        return [word for mcid in sorted(self._words) for word in self._words[mcid]]

    def _add(self, kind: BlockKind, words: list[Word], *, level: int = 0, marker: str = "") -> None:
        if words:
            self.blocks.append(Block(kind, make_lines(words), self._page.index, level, marker))

    def _take(self, node: Node) -> list[Word]:
        """Return all words of an element."""
        words: list[Word] = []
        for child in node.children:
            words += self._words.pop(child, []) if isinstance(child, int) else self._take(child)
        return words

    def _read_paragraph(self, node: Node, quotes: int) -> None:
        if any(isinstance(child, Node) and child.tag in ("L", "Table", "P") for child in node.children):
            self.walk(node, quotes)
            self.flush(quotes)
        else:
            words = self._take(node)
            if words and all(word.font.mono for word in words):
                self._add_code(make_lines(words))
            else:
                self._add("quote" if quotes else "text", words)

    def _add_code(self, lines: list[Line]) -> None:
        """Add lines of code, to the code right above if every line is a paragraph."""
        last = self.blocks[-1] if self.blocks else None
        if last and last.kind == "code" and 0 < lines[0].base - last.lines[-1].base < _NEXT_LINE * lines[0].size:
            last.lines += lines
        else:
            self.blocks.append(Block("code", lines, self._page.index))

    def _read_note(self, node: Node) -> None:
        """Add a footnote; its number is its first word."""
        words = self._take(node)
        mark = MARK.fullmatch(words[0].text) if len(words) > 1 else None
        self._add("note" if mark else "text", words[1:] if mark else words, marker=mark[1] if mark else "")

    def _read_code(self, node: Node) -> None:
        words = self._take(node)
        lines = make_lines(words) if words and not self._pending else []
        if lines and all(map(is_mono, lines)):
            self._add_code(lines)
        else:
            self._pending += words

    def _read_list(self, node: Node, depth: int) -> None:
        for child in node.children:
            if isinstance(child, int):
                self._pending += self._words.pop(child, [])
            elif child.tag == "L":
                self._read_list(child, depth + 1)
            elif child.tag == "LI":
                self._read_item(child, depth)
            else:
                self._read_list(child, depth)

    def _read_item(self, node: Node, depth: int) -> None:
        words: list[Word] = []
        label: list[Word] = []
        has_label = False
        nested: list[Node] = []
        stack: list[Node | int] = list(reversed(node.children))
        while stack:
            child = stack.pop()
            if isinstance(child, int):
                words += self._words.pop(child, [])
            elif child.tag == "Lbl":
                has_label = True
                label += self._take(child)
            elif child.tag in ("L", "Table"):
                nested.append(child)
            else:
                stack.extend(reversed(child.children))
        marker = "".join(word.text for word in label) if label else "•" if has_label else ""
        if not has_label and len(words) > 1:
            marker = find_marker(Line(words))
            words = words[1:] if marker else words
        self._add("item", words, level=depth, marker=marker if any(map(str.isalnum, marker)) else marker and "•")
        for child in nested:
            if child.tag == "L":
                self._read_list(child, depth + 1)
            else:
                self._read_table(child)

    def _read_table(self, node: Node) -> None:
        rows: list[list[Cell]] = []
        self._read_rows(node, rows)
        self.flush()
        rows = [row for row in rows if any(cell.lines for cell in row)]
        if rows:
            lines = [line for row in rows for cell in row for line in cell.lines]
            self.blocks.append(Block("table", lines, self._page.index, rows=rows))

    def _read_rows(self, node: Node, rows: list[list[Cell]]) -> None:
        for child in node.children:
            if isinstance(child, int):
                self._pending += self._words.pop(child, [])
            elif child.tag == "TR":
                rows.append(
                    [
                        Cell(make_lines(self._take(cell)), cell.tag == "TH", cell.spans[0])
                        for cell in child.children
                        if isinstance(cell, Node) and cell.tag in ("TD", "TH")
                    ]
                )
            elif child.tag == "Caption":
                self._add("caption", self._take(child))
            else:
                self._read_rows(child, rows)
