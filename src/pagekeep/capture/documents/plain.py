"""Plain text: paragraphs with their lines joined where a program wrapped them; lists, code and headings where that is sure."""

from __future__ import annotations

import re
from textwrap import dedent
from typing import Final

from pagekeep.capture.documents import markdown
from pagekeep.capture.documents.parsed import Declared, EmptyFile, ParsedDocument, decode_text, make_metadata
from pagekeep.capture.documents.word_blocks import Block, Run, write_blocks
from pagekeep.model import Options
from pagekeep.text import number_of

MAX_CHARS: Final = 3_000_000
_ITEM: Final = re.compile(r"( *)([-*•+–]|\(?(\d{1,3})[.)]) +(?=\S)")
_UNDERLINE: Final = re.compile(r"([=~*#-])\1{2,}\s*$")
_RULE: Final = re.compile(r"\s*([-=*_~])(?:\s*\1){2,}\s*$")
_ADDRESS: Final = re.compile(r"https?://[^\s<>\"']{3,2000}")
_TRAILING: Final = ".,;:!?)]}'\"”’»"
_CODE_SIGNS: Final = re.compile(r"[{};=$\\]|\(\)|</|->|::|^\s*(?:#|//|\$ |>>> )")
_CODE_LINE: Final = re.compile(
    r"\s*(?:[\w.]+\(.*\)|.*[;{}]|(?:def|class|if|for|import|from|return|func|let|const|var|#include)\b.*)\s*$"
)
_ALIGNED: Final = re.compile(r"\S {3,}\S.* {3,}\S|^\s*[+|].*[+|]\s*$|[│┌└├─═║]")
_MARKDOWN: Final = re.compile(r"^(?:#{1,6} \S|```|~~~)|\]\(https?://|^\s*\|.*\|\s*$|^\[[^\]\n]+\]: ", re.M)
_HEADING: Final = re.compile(r"^#{1,6} \S", re.M)
_TITLE: Final = re.compile(r"\s*# [^\n]{1,200}\n[ \t]*\n")
_MIN_MARKDOWN_SIGNS: Final = 3
_MIN_WIDTH, _MAX_WIDTH = 50, 110
"""Columns at which programs wrap lines; in a text with longer lines a line is a paragraph."""
_SLACK: Final = 10
"""Columns that the next word may have had room for and was wrapped all the same."""
_MIN_CODE_SHARE: Final = 0.45
_MAX_HEADING_CHARS: Final = 70


def read(data: bytes, url: str | None, options: Options) -> ParsedDocument:
    """Return the document in a text file; one that is surely Markdown is read as such."""
    text, warnings = decode_text(data, options, MAX_CHARS)
    if _is_markdown(text):
        return markdown.read(data, url, options)
    blocks = make_blocks(text)
    html = write_blocks(blocks)
    if not html.strip():
        raise EmptyFile
    first = next((line.strip(" #=*_-\t") for line in text.split("\n")[:50] if any(map(str.isalnum, line))), "")
    metadata = make_metadata(Declared("text"), "", first)
    return ParsedDocument(html, metadata, f"plain text of {number_of(len(blocks), 'block')}", warnings=warnings)


def _is_markdown(text: str) -> bool:
    """Return whether a text is surely Markdown: it begins with a heading, or has one and more signs."""
    if _is_source_code(text.split("\n", 2_000)[:2_000]):
        return False
    signs = len(_MARKDOWN.findall(text, 0, 50_000))
    return _TITLE.match(text) is not None or (signs >= _MIN_MARKDOWN_SIGNS and _HEADING.search(text) is not None)


def make_blocks(text: str) -> list[Block]:
    """Return the blocks of a text."""
    lines = [line.rstrip().expandtabs(4) for line in text.replace("\f", "\n\n").split("\n")]
    if _is_source_code(lines):
        return [Block("code", [Run("\n".join(lines))])]
    lines = _drop_margin(lines)
    width = _find_width(lines)
    groups = _split(lines)
    blocks: list[Block] = []
    for index, group in enumerate(groups):
        blocks += _read_group(group, width, is_alone=len(groups) == 1, is_last=index == len(groups) - 1)
    if blocks and blocks[0].kind == "heading":
        blocks[0].level = 1
    return _join_code(blocks)


def _is_source_code(lines: list[str]) -> bool:
    shown = [line for line in lines[:2_000] if line.strip()]
    return len(shown) > 5 and sum(bool(_CODE_LINE.match(line)) for line in shown) > _MIN_CODE_SHARE * len(shown)


def _drop_margin(lines: list[str]) -> list[str]:
    """Return the lines without the margin that all of them have, as in old memos."""
    margins = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    margin = min(margins, default=0)
    return [line[margin:] for line in lines]


def _find_width(lines: list[str]) -> int:
    """Return the column at which the lines are wrapped; 0 if they are not."""
    lengths = sorted(len(line) for line in lines if line.strip())
    if len(lengths) < 3:
        return 0
    width = lengths[min(len(lengths) - 1, int(len(lengths) * 0.97))]
    return width if _MIN_WIDTH <= width <= _MAX_WIDTH else 0


def _split(lines: list[str]) -> list[list[str]]:
    groups: list[list[str]] = [[]]
    for line in lines:
        if line.strip():
            groups[-1].append(line)
        elif groups[-1]:
            groups.append([])
    return [group for group in groups if group]


def _read_group(group: list[str], width: int, *, is_alone: bool, is_last: bool) -> list[Block]:
    """Return the blocks of lines between two blank lines."""
    if (
        len(group) > 1
        and _UNDERLINE.match(group[1].strip())
        and abs(len(group[1].strip()) - len(group[0].strip())) < 10
    ):
        level = 1 if group[1].strip()[0] in "=#*" else 2
        heading = Block("heading", [Run(group[0].strip())], level)
        rest = group[2:]
        return [heading, *(_read_group(rest, width, is_alone=False, is_last=is_last) if rest else [])]
    if len(group) == 1 and _RULE.match(group[0]):
        return [Block("rule")]
    if len(group) == 1 and not is_alone and not is_last and _is_heading(group[0].strip()):
        return [Block("heading", [Run(group[0].strip())], 2)]
    if all(line.lstrip().startswith(">") for line in group):
        inner = [line.lstrip()[1:].removeprefix(" ") for line in group]
        return [Block("quote", runs) for runs in map(_write, _join_lines(inner, width)) if runs]
    if _ITEM.match(group[0]) and (items := _read_items(group, width)):
        return items
    if _is_code(group):
        return [Block("code", [Run(dedent("\n".join(group)))])]
    return [Block("text", _write_lines(_join_lines(group, width), Run("", html="<br>")))]


def _is_heading(line: str) -> bool:
    letters = [char for char in line if char.isalpha()]
    is_capital = len(letters) > 3 and line == line.upper() and line != line.lower()
    return is_capital and len(line) <= _MAX_HEADING_CHARS and not line.endswith((".", ",", ":", ";"))


def _is_code(group: list[str]) -> bool:
    """Return whether lines are code or a drawing: indented with signs of code, or aligned by spaces."""
    if len(group) > 1 and sum(bool(_ALIGNED.search(line)) for line in group) > len(group) // 2:
        return True
    indented = all(line.startswith("    ") for line in group)
    return indented and sum(bool(_CODE_SIGNS.search(line)) for line in group) * 2 >= len(group)


def _read_items(group: list[str], width: int) -> list[Block]:
    """Return the items of a list; none if its lines do not look like one."""
    items: list[tuple[int, str | None, list[str]]] = []
    for line in group:
        match = _ITEM.match(line)
        if match:
            items.append((len(match[1]), match[3], [line[match.end() :]]))
        elif items and (line.startswith(" ") or (width and len(items[-1][2][-1]) > width // 2)):
            items[-1][2].append(line.strip())
        else:
            return []
    indents = sorted({indent for indent, _, _ in items})
    blocks: list[Block] = []
    for indent, number, lines in items:
        runs = _write_lines(_join_lines(lines, width or _MAX_WIDTH), Run(" "))
        value = int(number) if number else 1
        blocks.append(Block("item", runs, min(indents.index(indent), 8), number is not None, value, "text"))
    return blocks


def _join_lines(lines: list[str], width: int) -> list[str]:
    """Return the lines, joined where the next word had no room at the end of the line."""
    out: list[str] = []
    previous = 0
    for line in lines:
        words = line.strip()
        first = words.partition(" ")[0]
        if out and width and previous + 1 + len(first) > width - _SLACK:
            # A hyphen stays: whether the word has one cannot be known.
            out[-1] = f"{out[-1]}{'' if out[-1].endswith('-') and words[:1].islower() else ' '}{words}"
        else:
            out.append(words)
        previous = len(line)
    return [line for line in out if line]


def _write_lines(lines: list[str], between: Run) -> list[Run]:
    return [run for index, line in enumerate(lines) for run in (*([between] if index else []), *_write(line))]


def _write(text: str) -> list[Run]:
    """Return text as runs, with its addresses as links."""
    runs: list[Run] = []
    place = 0
    for match in _ADDRESS.finditer(text):
        address = match[0].rstrip(_TRAILING)
        if ")" in match[0] and "(" in address:
            address = match[0].rstrip(_TRAILING.replace(")", ""))
        runs += [Run(text[place : match.start()]), Run(address, href=address)]
        place = match.start() + len(address)
    return [run for run in (*runs, Run(text[place:])) if run.text]


def _join_code(blocks: list[Block]) -> list[Block]:
    """Return the blocks with a blank line between parts of code that follow each other."""
    out: list[Block] = []
    for block in blocks:
        if block.kind == "code" and out and out[-1].kind == "code":
            out.append(Block("code", [Run("")]))
        out.append(block)
    return out
