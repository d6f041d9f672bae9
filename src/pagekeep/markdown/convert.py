"""Convert clean HTML to Markdown, where a table says which function writes which block, and to plain text."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from pagekeep import dom
from pagekeep.markdown.blocks import (
    Handler,
    Writer,
    bold_block,
    bullet_list,
    caption,
    code_block,
    definition_list,
    division,
    enter_card,
    exact_text,
    figure,
    heading,
    join,
    numbered_list,
    quote,
    rule,
    section,
    table,
)
from pagekeep.markdown.inline.elements import ACTIONS, complete_notes
from pagekeep.markdown.inline.escape import clean_lines
from pagekeep.markdown.inline.run import BLOCKS, SKIPPED, Inline
from pagekeep.model.clean_tree import CleanElement, CleanNode, CleanTree, has_any, read_tree

HANDLERS: Final[dict[str, Handler]] = {
    "a": enter_card,
    "blockquote": quote,
    "caption": caption,
    "div": division,
    "dl": definition_list,
    "figcaption": caption,
    "figure": figure,
    "hr": rule,
    "ol": numbered_list,
    "section": section,
    "table": table,
    **dict.fromkeys(("dt", "summary", "th"), bold_block),
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), heading),
    **dict.fromkeys(("listing", "pre", "xmp"), code_block),
    **dict.fromkeys(("dir", "menu", "ul"), bullet_list),
}
"""Functions by tag, for the blocks that are more than their content."""


def to_markdown(content: CleanTree | dom.Element) -> str:
    """Return clean HTML as CommonMark with GFM tables, ending in one newline; empty for an empty tree."""
    tree = content if isinstance(content, CleanTree) else read_tree(content)
    writer = Writer(HANDLERS, Inline(ACTIONS, complete_notes(tree), _find_cards(tree), _find_bracketed(tree)))
    text = join(writer.blocks([tree.root]))
    whole = "\n\n".join([part for part in (text, *writer.footnotes.values()) if part])
    return whole + "\n" if whole else ""


def _find_cards(tree: CleanTree) -> frozenset[CleanElement]:
    """Return the links that contain blocks and have a target."""
    return frozenset(
        link
        for link in tree.tagged.get("a", ())
        if (len(link.children) > 1 or (link.children and isinstance(link.children[0], CleanElement)))
        and has_any(link, BLOCKS)
        and not (link.attr("href") or "#").startswith("#")
    )


def _find_bracketed(tree: CleanTree) -> frozenset[CleanElement]:
    """Return the ruby texts that come after an element for the parentheses."""
    if "rp" not in tree.tagged:
        return frozenset()
    bracketed: set[CleanElement] = set()
    pending = [tree.root]
    while pending:
        inner = [child for child in pending.pop().children if isinstance(child, CleanElement)]
        bracketed.update(node for before, node in pairwise(inner) if before.tag == "rp" and node.tag == "rt")
        pending += inner
    return frozenset(bracketed)


_NONE, _CELL, _LINE, _BLANK, _END_OF_CELL, _END_OF_TIGHT = range(6)
_GAPS: Final = ("", "\t", "\n", "\n\n")
_LINES: Final = frozenset(("br", "dd", "dt", "li", "tr"))
_CELLS: Final = frozenset(("td", "th"))
_TIGHT: Final = frozenset(("dir", "dl", "menu", "ol", "table", "ul"))
"""Blocks in these elements are written one per line."""
_NOT_LINES: Final = _CELLS | _TIGHT | {"blockquote"}
_TEXTLESS: Final = SKIPPED | {"img"}
_TEXTLESS_WITHOUT_CAPTIONS: Final = _TEXTLESS | {"figcaption"}
_OWN_HEADING: Final = "comments"
"""The class of a heading that is not on the page."""
_SEPARATE: Final = BLOCKS | _TEXTLESS | {"br"}


def to_text(content: CleanTree | dom.Element, *, captions: bool = False) -> str:
    """Return the running text: blocks separated by blank lines, list items and rows one per line, cells separated by tabs.

    Captions of figures and the heading that we write above comments are not part of it, unless asked for.
    """
    tree = content if isinstance(content, CleanTree) else read_tree(content)
    return _Plain(_TEXTLESS if captions else _TEXTLESS_WITHOUT_CAPTIONS).write(tree.root)


class _Plain:
    """Collects the text of a tree with the gaps between its blocks."""

    def __init__(self, textless: frozenset[str]) -> None:
        self._textless = textless
        self._skips_headings = "figcaption" in textless
        self._out: list[str] = []
        self._raw: list[str] = []
        self._gap = _NONE
        self._tight = 0
        self._cells = 0

    def write(self, root: CleanElement) -> str:
        stack: list[CleanNode | int] = [root]
        while stack:
            item = stack.pop()
            if isinstance(item, str):
                self._raw.append(item)
            elif isinstance(item, CleanElement):
                self._begin(item, stack)
            else:
                self._end(item)
        self._flush(_NONE)
        return clean_lines("".join(self._out))

    def _begin(self, node: CleanElement, stack: list[CleanNode | int]) -> None:
        tag = node.tag
        if tag not in _SEPARATE:
            if tag != "sup" or "footnote-ref" not in node.attr("class"):
                stack.extend(node.children[::-1])
            return
        if tag in self._textless or (tag == "h2" and self._skips_headings and node.attr("class") == _OWN_HEADING):
            return
        if tag == "pre":
            self._write(exact_text(node).strip("\n"), _LINE if self._tight else _BLANK)
            return
        children = node.children
        only = children[0] if len(children) == 1 else None
        if isinstance(only, str) and tag not in _NOT_LINES and not self._cells:
            self._write_line(only, _LINE if self._tight or tag in _LINES else _BLANK)
            return
        stack.append(self._begin_block(tag))
        if tag == "blockquote" and (title := node.attr("data-title")):
            self._raw.append(title)
            self._flush(_LINE)
        stack.extend(children[::-1])

    def _write_line(self, text: str, gap: int) -> None:
        """Write a block of one text, between such gaps."""
        self._flush(gap)
        if words := _words(text):
            if self._out:
                self._out.append(_GAPS[self._gap])
            self._out.append(words)
            self._gap = gap

    def _begin_block(self, tag: str) -> int:
        """Separate the block from the text before it; return how it will end."""
        if tag in _CELLS:
            self._flush(_CELL)
            self._cells += 1
            return _END_OF_CELL
        if tag in _TIGHT:
            self._flush(_LINE if self._tight else _BLANK)
            self._tight += 1
            return _END_OF_TIGHT
        gap = _LINE if self._tight or tag in _LINES else _BLANK
        self._flush(gap)
        return gap

    def _end(self, sign: int) -> None:
        if sign == _END_OF_CELL:
            self._cells -= 1
            self._flush(_CELL)
        elif sign == _END_OF_TIGHT:
            self._tight -= 1
            self._flush(_LINE if self._tight else _BLANK)
        else:
            self._flush(sign)

    def _flush(self, gap: int) -> None:
        """Write the words collected so far, and require at least this gap before the next. A cell is one line."""
        raw = self._raw
        if self._cells:
            raw.append(" ")
            return
        if raw:
            self._write(_words("".join(raw)), _NONE)
            raw.clear()
        if gap > self._gap:
            self._gap = gap

    def _write(self, text: str, gap: int) -> None:
        if gap:
            self._flush(gap)
        if text:
            if self._out:
                self._out.append(_GAPS[self._gap])
            self._out.append(text)
            self._gap = gap


def _words(text: str) -> str:
    """Return the text with single spaces, and none at its ends."""
    return text.strip(" ") if text.isprintable() and "  " not in text else " ".join(text.split())
