"""What blocks are besides text: headings, captions, tables of contents, footnotes and quotes."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from pagekeep.capture.documents.pdf.blocks import is_bold
from pagekeep.capture.documents.pdf.values import Block, Font, Line, OutlineEntry, Word

_MAX_HEADING_LINES: Final = 4
_MAX_CHARS: Final = 220
_LARGER: Final = 1.08
"""How much larger than the text a heading is at least."""
_MIN_HEADING_SIZE: Final = 0.85
"""Part of the text's size that a bold line in the middle of the column has at least: an abstract's heading."""
_NUMBERED: Final = re.compile(
    r"(?:\d{1,2}\.){0,4}\d{1,2}\.?\s+\S|[A-Z]\.\d|(?:Chapter|Kapitel|Chapitre|Capítulo|Глава|Part|Teil)\s+\w", re.I
)
_FIRST_BLOCKS: Final = 5
"""Blocks among which a title is looked for."""
_NUMBER: Final = re.compile(r"\d{1,2}(?:\.\d{1,2}){0,4}\.?\s")
_MAX_BYLINES: Final = 6
"""Lines behind a title that may be authors, places and dates."""
_MOSTLY: Final = 0.5
_LINE_GAP: Final = 1.6
"""Distance of baselines, in type sizes, below which two headings are lines of one."""
_SPACES: Final = re.compile(r"\W+")


def body_size(blocks: list[Block]) -> float:
    """Return the type size of most of the text."""
    sizes: Counter[float] = Counter()
    for block in blocks:
        if block.kind in ("text", "item", "quote"):
            for line in block.lines:
                sizes[line.size] += sum(len(word.text) for word in line.words)
    return max(sizes, key=lambda size: (sizes[size], -size)) if sizes else 10.0


def mark_headings(blocks: list[Block], body: float, outline: list[OutlineEntry]) -> None:
    """Turn the blocks that are headings into such, with levels by type size."""
    named = {_normal(entry.title) for entry in outline if entry.title}
    found = _drop_byline(blocks, [block for block in blocks if _is_heading(block, body, named)])
    styles = sorted({_style(block) for block in found}, reverse=True)
    levels = {style: min(6, number + 1) for number, style in enumerate(styles)}
    for block in found:
        block.kind, block.level, block.marker = "heading", levels[_style(block)], ""
    _level_numbered(found)
    if len(found) > 2 and found[0].level == 1 and found[1].level > found[2].level > 1:
        found[1].level = found[2].level  # an abstract has a smaller heading than the sections behind it


def _level_numbered(found: list[Block]) -> None:
    """Give headings with numbers of the same depth ("2.1") the level that most of them have."""
    depths: dict[int, list[Block]] = {}
    for block in found:
        number = _NUMBER.match(block.text)
        if number:
            depths.setdefault(number[0].rstrip(". ").count("."), []).append(block)
    for blocks in depths.values():
        levels = Counter(block.level for block in blocks)
        most = max(levels, key=lambda level: (levels[level], -level))
        for block in blocks:
            block.level = most


def find_tagged_title(blocks: list[Block], body: float) -> None:
    """Turn the title of a tagged document that its structure tree has as a paragraph into its first heading."""
    first = next((index for index, block in enumerate(blocks) if block.kind == "heading"), len(blocks))
    largest = max((block.size for block in blocks if block.kind == "heading"), default=body)
    for block in blocks[: min(first, _FIRST_BLOCKS)]:
        large = block.size > _LARGER * largest and len(block.lines) <= _MAX_HEADING_LINES
        if block.page == 0 and block.kind == "text" and large and len(block.text) <= _MAX_CHARS:
            if any(other.level == 1 for other in blocks if other.kind == "heading"):
                for other in blocks:
                    other.level += other.kind == "heading"
            block.kind, block.level = "heading", 1
            return


def _drop_byline(blocks: list[Block], found: list[Block]) -> list[Block]:
    """Return the headings without the lines between the title and the text that are authors and dates: not bold, as others."""
    if not found or found[0].page != 0:
        return found
    title, rest = found[0], found[1:]
    bold = sum(is_bold(block.lines[0]) for block in rest)
    start = next(index for index, block in enumerate(blocks) if block is title)
    dropped: set[int] = set()
    for block in blocks[start + 1 : start + 1 + _MAX_BYLINES]:
        style = _style(block)
        if block.page or style[1] or style >= _style(title) or (block.kind == "text" and len(block.lines) > 2):
            break
        alone = sum(_style(other) == style for other in rest) == sum(
            _style(other) == style
            for other in blocks[start + 1 : start + 1 + _MAX_BYLINES]
            if any(other is one for one in rest)
        )
        if alone or bold > _MOSTLY * len(rest):
            dropped.add(id(block))
    return [block for block in found if id(block) not in dropped]


def join_headings(blocks: list[Block]) -> list[Block]:
    """Return the blocks, with headings whose second line was taken for another one in one piece."""
    result: list[Block] = []
    for block in blocks:
        last = result[-1] if result else None
        if last and last.kind == block.kind == "heading" and last.page == block.page and _style(last) == _style(block):
            gap = block.lines[0].base - last.lines[-1].base
            if 0 < gap < _LINE_GAP * block.size and not _NUMBERED.match(block.text):
                last.lines += block.lines
                continue
        result.append(block)
    return result


def _style(block: Block) -> tuple[float, bool]:
    words = block.lines[0].words
    bold = sum(len(word.text) for word in words if word.font.bold)
    return round(block.size * 2) / 2, bold > _MOSTLY * sum(len(word.text) for word in words)


def _normal(text: str) -> str:
    return _SPACES.sub(" ", text).strip().casefold()


def _is_heading(block: Block, body: float, named: set[str]) -> bool:
    if block.kind not in ("text", "item") or len(block.lines) > _MAX_HEADING_LINES:
        return False
    if block.lines[0].bullet or (block.kind == "item" and not _NUMBERED.match(block.text)):
        return False
    text = block.text
    if len(text) > _MAX_CHARS or not any(map(str.isalpha, text)):
        return False
    if _normal(text) in named:
        return True
    bold = all(map(is_bold, block.lines))
    if (
        bold
        and block.centred
        and len(block.lines) == 1
        and block.size >= _MIN_HEADING_SIZE * body
        and not text.endswith(".")
    ):
        return True
    if block.kind == "item":
        return bold and block.size >= body
    if block.size >= _LARGER * body and not text.endswith((",", ";")):
        return not text.endswith(".") or len(block.lines) == 1 or block.size >= 1.25 * body
    return bold and block.size >= 0.95 * body and len(block.lines) <= 2 and not text.endswith((".", ",", ";", ":"))


_LABEL: Final = re.compile(
    r"(?:tab(?:le|elle|leau|la|ella|el|\.)?|fig(?:ure|ura|uur|\.)?|abb(?:ildung|\.)?|cuadro|gr[aá]fico|grafik|chart|listing|"
    r"таблица|табл\.|рисунок|рис\.)\s*\d{1,3}(?:[.-]\d{1,3})*\s?[.:–—]",
    re.I,
)
_MAX_CAPTION_LINES: Final = 6
_SMALL_CAPTION: Final = 0.95
"""Part of the text's size below which a block with a label is a caption wherever it is."""
_MAX_TEXT_CHARS: Final = 2_000


def mark_captions(blocks: list[Block], body: float) -> None:
    """Turn the blocks that are captions into such."""
    for index, block in enumerate(blocks):
        if block.kind != "text" or len(block.lines) > _MAX_CAPTION_LINES or not _LABEL.match(block.text):
            continue
        beside = blocks[max(0, index - 1) : index] + blocks[index + 1 : index + 2]
        italic = all(word.font.italic for word in block.words)
        apart = block.centred or italic or block.size < _SMALL_CAPTION * body
        if apart or any(one.kind == "table" and one.page == block.page for one in beside):
            block.kind = "caption"


def describe_picture(text: str, page: int) -> Block | None:
    """Return the text that a tagged PDF has for a picture as a caption; `None` without one."""
    words = text[:_MAX_TEXT_CHARS].split()
    if not words:
        return None
    font = Font("", False, False, False)
    line = Line([Word(word, 0.0, 0.0, 0.0, 0.0, 0.0, 10.0, font) for word in words])
    return Block("caption", [line.measure()], page)


_DOTS: Final = re.compile(r"[.…·_]+")
_MIN_DOTS: Final = 3
_PAGE: Final = re.compile(r"\d{1,4}|[ivxlc]{1,6}", re.I)
_MIN_ENTRIES: Final = 4
"""Lines with dots from which a page has a table of contents."""
_FAR: Final = 2.0
"""Gap in front of a page number, in type sizes."""


def shorten_contents(lines: list[Line]) -> None:
    """Cut dots and page numbers from the lines of a table of contents, and mark them as items of a list."""
    dotted = [index for index, line in enumerate(lines) if _first_dot(line)]
    if len(dotted) < _MIN_ENTRIES:
        return
    first, last = dotted[0], dotted[-1]
    while first > 0 and _far_number(lines[first - 1]):
        first -= 1
    while last + 1 < len(lines) and _far_number(lines[last + 1]):
        last += 1
    for index in range(first, last + 1):
        line = lines[index]
        end = _first_dot(line) or _far_number(line)
        if end:
            line.words = line.words[:end]
            line.measure()
            line.bullet = True


def _first_dot(line: Line) -> int:
    """Return where the dots of a line begin; 0 when it has none."""
    for index, word in enumerate(line.words[1:], 1):
        if not _DOTS.fullmatch(word.text):
            continue
        dots = 0
        for other in line.words[index:]:
            if not _DOTS.fullmatch(other.text):
                break
            dots += len(other.text)
        if dots >= _MIN_DOTS:
            return index
    return 0


def _far_number(line: Line) -> int:
    """Return where the page number of a line without dots is; 0 when it has none."""
    last = len(line.words) - 1
    if last < 1 or not _PAGE.fullmatch(line.words[last].text):
        return 0
    return last if line.words[last].x0 - line.words[last - 1].x1 > _FAR * line.size else 0


_SMALL_NOTE: Final = 0.94
"""Part of the text's size below which a block may be a footnote."""
MARK: Final = re.compile(r"\(?(\d{1,3}|[*†‡§])[.)]?")


def mark_notes(blocks: list[Block], body: float) -> None:
    """Turn footnotes into notes, with their number as marker."""
    refs: dict[int, set[str]] = {}
    for block in blocks:
        for word in block.words:
            if word.raised:
                refs.setdefault(block.page, set()).add(word.text.strip("()[],."))
    for block in blocks:
        if block.kind not in ("text", "item") or not block.size < _SMALL_NOTE * body:
            continue
        first = block.lines[0].words[0]
        match = MARK.fullmatch(first.text)
        if match and match[1] in refs.get(block.page, ()) and len(block.words) > 2:
            block.kind, block.marker = "note", match[1]
            block.lines[0].words = block.lines[0].words[1:] or block.lines[0].words
            block.lines[0].measure()


_MIN_INSET: Final = 1.0
"""Distance from both edges in type sizes: LaTeX uses 2.5, Word 3, browsers 2.5."""
_MIN_QUOTE_SIZE: Final = 0.97
"""Part of the text's size: an abstract is inset too, but smaller."""


def mark_quotes(blocks: list[Block], body: float) -> None:
    """Turn inset paragraphs into quotes."""
    for block in blocks:
        is_inset = (
            block.kind == "text"
            and block.inset >= _MIN_INSET
            and not block.centred
            and block.size >= _MIN_QUOTE_SIZE * body
        )
        if is_inset:
            block.kind = "quote"
