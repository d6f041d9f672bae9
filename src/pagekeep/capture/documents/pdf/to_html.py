"""Blocks to HTML: the vocabulary of clean HTML (docs/clean-html.md), with lines joined and hyphens undone."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from html import escape
from statistics import median
from typing import Final, NamedTuple

from pagekeep.capture.documents.pdf.blocks import strip_marker
from pagekeep.capture.documents.pdf.values import Block, Cell, Line, Word

_REFERENCE: Final = re.compile(r"<sup>[(\[]?(\d{1,3}|[*†‡§])[)\]]?</sup>")
_BLANK_LINE: Final = 1.7
"""Distance of baselines, in usual distances, from which a blank line is between two lines of code."""
_MAX_COLUMNS: Final = 400
"""Columns that a line of code may be indented by."""


def write_html(blocks: list[Block], joiner: Joiner) -> str:
    """Return the blocks as HTML, with footnotes at the end."""
    out: list[str] = []
    notes = [block for block in blocks if block.kind == "note"]
    body = [block for block in blocks if block.kind != "note"]
    index = 0
    while index < len(body):
        block = body[index]
        if block.kind == "item":
            end = index
            while end < len(body) and body[end].kind == "item":
                end += 1
            out.append(_write_list(body[index:end], joiner))
            index = end
            continue
        out.append(_write_block(block, joiner))
        index += 1
    return _add_notes("\n".join(filter(None, out)), notes, joiner)


def _write_block(block: Block, joiner: Joiner) -> str:
    if block.kind == "heading":
        level = max(1, min(6, block.level))
        return f'<h{level} data-page="{block.page + 1}">{joiner.html(block.lines, plain=True)}</h{level}>'
    if block.kind == "code":
        return f"<pre><code>{escape(write_code(block.lines), quote=False)}</code></pre>"
    if block.kind == "table":
        return _write_table(block.rows, joiner)
    if block.kind == "caption":
        return f"<p><em>{joiner.html(block.lines, plain=True)}</em></p>"
    inner = f"<p>{joiner.html(block.lines)}</p>"
    return f"<blockquote>{inner}</blockquote>" if block.kind == "quote" else inner


def _write_list(items: list[Block], joiner: Joiner) -> str:
    """Return nested lists for a run of items; a list is ordered if its first item has a number."""
    out: list[str] = []
    open_lists: list[str] = []
    for item in items:
        ordered = any(map(str.isalnum, item.marker))
        strip_marker(item)
        depth = min(item.level, len(open_lists))
        while len(open_lists) > depth + 1:
            out.append(f"</li></{open_lists.pop()}>")
        tag = "ol" if ordered else "ul"
        if len(open_lists) == depth + 1:
            out.append("</li>")
            if open_lists[-1] != tag:
                out.append(f"</{open_lists.pop()}>")
        if len(open_lists) == depth:
            start = re.sub(r"\D", "", item.marker)
            out.append(f'<ol start="{int(start)}">' if ordered and start and int(start) != 1 else f"<{tag}>")
            open_lists.append(tag)
        out.append(f"<li>{joiner.html(item.lines)}")
    while open_lists:
        out.append(f"</li></{open_lists.pop()}>")
    return "".join(out)


def _write_table(rows: list[list[Cell]], joiner: Joiner) -> str:
    out = ["<table>"]
    for row in rows:
        cells = "".join(_write_cell(cell, joiner) for cell in row)
        out.append(f"<tr>{cells}</tr>")
    out.append("</table>")
    return "".join(out)


def _write_cell(cell: Cell, joiner: Joiner) -> str:
    tag = "th" if cell.header else "td"
    span = f' colspan="{cell.span}"' if cell.span > 1 else ""
    return f"<{tag}{span}>{joiner.html(cell.lines, plain=cell.header)}</{tag}>"


def write_code(lines: list[Line]) -> str:
    """Return lines of code with the indents and gaps that their places show."""
    widths = [(word.x1 - word.x0) / len(word.text) for line in lines for word in line.words if word.font.mono]
    width = max(1.0, median(widths)) if widths else 6.0
    gaps = [b.base - a.base for a, b in itertools.pairwise(lines) if b.base > a.base]
    usual = min(gaps, default=0.0)
    left = min(line.x0 for line in lines)
    out: list[str] = []
    before: Line | None = None
    for line in lines:
        if before and usual and line.base - before.base > _BLANK_LINE * usual:
            out += [""] * min(3, round((line.base - before.base) / usual) - 1)
        text = ""
        for word in line.words:
            column = max(0, min(_MAX_COLUMNS, round((word.x0 - left) / width)))
            missing = column - len(text)
            text += " " * (missing if missing > 0 else 0 if word.glued or not text else 1) + word.text.replace(
                "\u2010", "-"
            )
        out.append(text)
        before = line
    return "\n".join(out) + "\n"


def _add_notes(html: str, notes: list[Block], joiner: Joiner) -> str:
    """Return the HTML with footnotes behind it, numbered through, and references to them."""
    if not notes:
        return html
    waiting = [(number, note) for number, note in enumerate(notes, 1)]

    def link(match: re.Match[str]) -> str:
        for index, (number, note) in enumerate(waiting):
            if note.marker == match[1]:
                del waiting[index]
                return f'<sup class="footnote-ref"><a href="#fn-{number}">{number}</a></sup>'
        return match[0]

    html = _REFERENCE.sub(link, html)
    entries = "".join(f'<li id="fn-{number}">{joiner.html(note.lines)}</li>' for number, note in enumerate(notes, 1))
    return f'{html}\n<section class="footnotes"><ol>{entries}</ol></section>'


_HYPHENS: Final = ("\u2010", "-")
_WORD: Final = re.compile(r"[^\W\d_]+(?:[-\u2010][^\W\d_]+)*")
_MIN_SHARE: Final = 0.012
"""Share of lines that end in a hyphen from which the document is hyphenated: then a hyphen at the end is not the word's."""


_SUSPENDED: Final = frozenset("und oder bis bzw sowie and or en of och og".split())
"""Words behind a hyphen that belongs to the word before it: "high- and low water"."""


class Style(NamedTuple):
    """The marks of a word."""

    link: str
    bold: bool
    italic: bool
    mono: bool
    raised: bool


class Joiner:
    """Joins lines to text; it knows the document's words, so that it can undo hyphens."""

    def __init__(self, lines: list[Line], url: str | None) -> None:
        self._url = url
        texts = [line.text for line in lines]
        self._known: Counter[str] = Counter()
        for text in texts:
            self._known.update(match.casefold().replace("\u2010", "-") for match in _WORD.findall(text)[:-1])
        ends = sum(text.endswith(_HYPHENS) for text in texts)
        self._is_hyphenated = ends >= 3 and ends > _MIN_SHARE * len(texts)

    def html(self, lines: list[Line], *, plain: bool = False) -> str:
        """Return the lines as inline HTML; `plain` without bold and italic, for headings and table heads."""
        parts: list[tuple[Style, str]] = []
        for number, line in enumerate(lines):
            for index, word in enumerate(line.words):
                space = "" if word.glued and index else " "
                if not index and number:
                    space = self._between(parts, word)
                parts.append((self._style(word, plain), (space if parts else "") + word.text))
        return _write([(style, text.replace("\u2010", "-")) for style, text in parts])

    def _between(self, parts: list[tuple[Style, str]], word: Word) -> str:
        """Return what comes between two lines, and undo a hyphen at the end of the first."""
        style, text = parts[-1]
        if text.endswith(_HYPHENS) and len(text.strip()) > 1:
            if word.text.rstrip(".,") in _SUSPENDED and text[-2].isalpha():
                parts[-1] = (style, f"{text[:-1]}-")
                return " "
            parts[-1] = (style, text[:-1] + ("-" if self._keeps_hyphen(text, word.text) else ""))
            return ""
        return "" if _is_wide(text[-1:]) and _is_wide(word.text[:1]) else " "

    def _keeps_hyphen(self, text: str, following: str) -> bool:
        head, tail = _WORD.findall(text[:-1])[-1:], _WORD.match(following)
        if not head or not tail:
            return True
        joined, parted = (head[0] + tail[0]).casefold(), f"{head[0]}-{tail[0]}".casefold()
        if self._known[joined] != self._known[parted]:
            return self._known[parted] > self._known[joined]
        return not self._is_hyphenated or not following[:1].islower()

    def _style(self, word: Word, plain: bool) -> Style:
        font = word.font
        return Style(self._link(word.link), font.bold and not plain, font.italic and not plain, font.mono, word.raised)

    def _link(self, link: str) -> str:
        if not link.startswith("#"):
            return link
        return f"{self._url.partition('#')[0]}{link}" if self._url else ""


def _is_wide(char: str) -> bool:
    return "\u2e80" <= char <= "\u9fff" or "\uf900" <= char <= "\ufaff" or "\uff00" <= char <= "\uffef"


def _write(parts: list[tuple[Style, str]]) -> str:
    """Return the parts with each mark opened and closed once for neighbours that share it."""
    out: list[str] = []
    index = 0
    while index < len(parts):
        link, end = parts[index][0].link, index + 1
        while end < len(parts) and parts[end][0].link == link:
            end += 1
        out.append(_wrap(parts[index:end], link))
        index = end
    return "".join(out)


_MARKS: Final = (("mono", "<code>", "</code>"), ("bold", "<strong>", "</strong>"), ("italic", "<em>", "</em>"))


def _wrap(parts: list[tuple[Style, str]], link: str) -> str:
    if not link:
        return _write_marks(parts, 0)
    style, first = parts[0]
    inner = _write_marks([(style, first.removeprefix(" ")), *parts[1:]], 0)
    return f'{" " if first.startswith(" ") else ""}<a href="{escape(link)}">{inner}</a>'


def _write_marks(parts: list[tuple[Style, str]], depth: int) -> str:
    if depth == len(_MARKS):
        return "".join(_raise(style, text) for style, text in parts)
    field, opening, closing = _MARKS[depth]
    out: list[str] = []
    index = 0
    while index < len(parts):
        marked = getattr(parts[index][0], field)
        end = index + 1
        while end < len(parts) and getattr(parts[end][0], field) == marked:
            end += 1
        inner = _write_marks(parts[index:end], depth + 1)
        if marked:
            space = " " if inner.startswith(" ") else ""
            inner = f"{space}{opening}{inner[len(space) :]}{closing}"
        out.append(inner)
        index = end
    return "".join(out)


def _raise(style: Style, text: str) -> str:
    if not style.raised:
        return escape(text, quote=False)
    stripped = text.lstrip(" ")
    return f"{' ' * (len(text) - len(stripped))}<sup>{escape(stripped, quote=False)}</sup>"
