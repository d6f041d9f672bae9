"""Blocks to HTML: the vocabulary of clean HTML (docs/clean-html.md)."""

from __future__ import annotations

import itertools
import re
from html import escape
from statistics import median
from typing import Final

from pagekeep.capture.documents.pdf.inline import Joiner
from pagekeep.capture.documents.pdf.layout.lists import strip_marker
from pagekeep.capture.documents.pdf.values import Block, Cell, Line

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
