"""The blocks and runs of a document that a word processor wrote, and how they become HTML (docs/clean-html.md)."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from html import escape
from typing import Final, Literal, NamedTuple

from pagekeep.capture.documents.parsed import Declared, Dropped, EmptyFile, ParsedDocument, make_metadata

BlockKind = Literal["text", "heading", "item", "more", "code", "quote", "table", "caption", "rule", "html"]
MAX_LIST_LEVEL: Final = 8
_MAX_BOLD_HEADING_CHARS: Final = 90
_MIN_BOLD_HEADINGS: Final = 2
"""One bold line alone may be anything."""
_MARKS_IN_HEADINGS: Final = ("strong", "em")
"""What a heading is anyway, or only looks like."""


NO_MARKS: Final[frozenset[str]] = frozenset()


class Run(NamedTuple):
    """Text with the same marks and target."""

    text: str
    marks: frozenset[str] = NO_MARKS
    """HTML tags: `strong em s sub sup code`."""
    href: str | None = None
    html: str | None = None
    """Markup instead of text, such as a line break or a reference to a note."""


@dataclass(slots=True)
class Block:
    """A paragraph or what takes its place."""

    kind: BlockKind
    runs: list[Run] = field(default_factory=list)
    level: int = 0
    """Of a heading from 1, of an item from 0."""
    ordered: bool = False
    number: int = 1
    """Of an item in an ordered list."""
    series: str = ""
    """Which list an item is part of."""
    html: str = ""
    """Of a table, or of anything else that is finished."""

    @property
    def text(self) -> str:
        """Its text with single spaces; empty for finished markup."""
        return plain_text(self.runs)


class Notes:
    """Footnotes and endnotes, numbered by their first reference."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._bodies: list[str] = []

    def refer(self, key: str) -> Run | None:
        """Return a reference to a note that was added; `None` for an unknown one."""
        number = self._numbers.get(key)
        html = f'<sup class="footnote-ref"><a href="#fn-{number}">{number}</a></sup>'
        return Run("", html=html) if number else None

    def add(self, key: str, html: str) -> None:
        """Add a note with its content."""
        if html:
            self._numbers[key] = len(self._bodies) + 1
            self._bodies.append(_unwrap_paragraph(html))

    def write(self) -> str:
        """Return the list of notes, for the end of the document."""
        if not self._bodies:
            return ""
        entries = "".join(f'<li id="fn-{number}">{html}</li>' for number, html in enumerate(self._bodies, 1))
        return f'<section class="footnotes"><ol>{entries}</ol></section>'


@dataclass(slots=True)
class Cell:
    """A cell of a table."""

    html: str
    columns: int = 1
    rows: int = 1
    header: bool = False


def write_table(rows: list[list[Cell]], caption: str = "") -> str:
    """Return a table; one cell is a box around text, not a table."""
    cells = [cell for row in rows for cell in row]
    if not any(cell.html for cell in cells):
        return ""
    if len(cells) == 1:
        return cells[0].html if cells[0].html.startswith("<") else f"<p>{cells[0].html}</p>"
    lines = [f"<tr>{''.join(map(_write_table_cell, row))}</tr>" for row in rows if row]
    return f"<table>{f'<caption>{caption}</caption>' if caption else ''}{''.join(lines)}</table>"


def _write_table_cell(cell: Cell) -> str:
    tag = "th" if cell.header else "td"
    spans = (f' colspan="{cell.columns}"' if cell.columns > 1 else "") + (
        f' rowspan="{cell.rows}"' if cell.rows > 1 else ""
    )
    return f"<{tag}{spans}>{_unwrap_paragraph(cell.html)}</{tag}>"


def _unwrap_paragraph(html: str) -> str:
    """Return the content of a single paragraph; any other HTML as it is."""
    is_single = html.startswith("<p>") and html.endswith("</p>") and html.count("<p>") == 1
    return html[3:-4] if is_single else html


def write_cell(blocks: list[Block]) -> str:
    """Return the content of a cell; the lines of one without lists and other structures are separated by breaks."""
    if blocks and all(block.kind in ("text", "caption", "quote", "code") for block in blocks):
        return "<br>".join(write_runs(block.runs) for block in blocks if has_content(block.runs))
    return write_blocks(blocks)


def write_blocks(blocks: list[Block]) -> str:
    """Return the blocks as HTML; items become nested lists, and lines of code and of a quote belong together."""
    out: list[str] = []
    index = 0
    blocks = [block for block in blocks if block.html or block.kind in ("rule", "code") or has_content(block.runs)]
    while index < len(blocks):
        kind, end = blocks[index].kind, index + 1
        if kind in ("item", "more", "code", "quote"):
            together = ("item", "more") if kind in ("item", "more") else (kind,)
            while end < len(blocks) and blocks[end].kind in together:
                end += 1
        out.append(_write_group(kind, blocks[index:end]))
        index = end
    return "\n".join(filter(None, out))


def _write_group(kind: BlockKind, group: list[Block]) -> str:
    if kind in ("item", "more"):
        return _write_list(group)
    if kind == "code":
        text = "\n".join(code_text(block.runs) for block in group).strip("\n").replace("\xa0", " ")
        return f"<pre><code>{escape(text, quote=False)}\n</code></pre>" if text.strip() else ""
    if kind == "quote":
        return f"<blockquote>{''.join(f'<p>{write_runs(block.runs)}</p>' for block in group)}</blockquote>"
    block = group[0]
    if kind == "heading":
        level = max(1, min(6, block.level))
        return f"<h{level}>{write_runs(block.runs, without=_MARKS_IN_HEADINGS)}</h{level}>"
    if kind == "rule":
        return "<hr>"
    if kind in ("table", "html"):
        return block.html
    return f"<p>{write_runs(block.runs)}</p>"


def _write_list(group: list[Block]) -> str:
    """Return nested lists for a run of items and the paragraphs that belong to them."""
    out: list[str] = []
    opened: list[tuple[str, str]] = []
    """Tag and series of the lists that are open."""
    for index, block in enumerate(group):
        inner = block.html or write_runs(block.runs)
        if block.kind == "more":
            out.append(inner if block.html else f"<p>{inner}</p>")
            continue
        depth = min(block.level, len(opened), MAX_LIST_LEVEL)
        while len(opened) > depth + 1:
            out.append(f"</li></{opened.pop()[0]}>")
        entry = ("ol" if block.ordered else "ul", block.series)
        if len(opened) == depth + 1:
            out.append("</li>")
            if opened[-1] != entry:
                out.append(f"</{opened.pop()[0]}>")
        if len(opened) == depth:
            start = f' start="{block.number}"' if block.ordered and block.number != 1 else ""
            out.append(f"<{entry[0]}{start}>")
            opened.append(entry)
        has_more = index + 1 < len(group) and group[index + 1].kind == "more"
        out.append(f"<li><p>{inner}</p>" if has_more else f"<li>{inner}")
    out += [f"</li></{tag}>" for tag, _ in reversed(opened)]
    return "".join(out)


def make_document(blocks: list[Block], notes: Notes, dropped: Dropped, declared: Declared, how: str) -> ParsedDocument:
    """Return the document that the blocks make; raise `EmptyFile` if they show nothing."""
    html = write_blocks(blocks)
    if not html.strip():
        raise EmptyFile(metadata=make_metadata(declared, "", ""))
    about = make_metadata(declared, _first_heading(blocks), _first_words(blocks))
    return ParsedDocument(f"{html}\n{notes.write()}", about, how, tuple(dropped.removals()), tuple(dropped.warnings()))


def _first_heading(blocks: list[Block]) -> str:
    """Return the text of the first heading of the highest level among the first ones."""
    headings = [block for block in blocks[:60] if block.kind == "heading" and block.text]
    top = min((block.level for block in headings), default=0)
    return next((block.text for block in headings if block.level == top), "")


def _first_words(blocks: list[Block], limit: int = 3_000) -> str:
    """Return the beginning of the text, a line for each block."""
    words, count = [], 0
    for block in blocks:
        text = block.text
        words.append(text)
        count += len(text)
        if count > limit:
            break
    return "\n".join(filter(None, words))


def is_all_code(runs: list[Run]) -> bool:
    """Return whether all that the runs show is in a monospaced font."""
    shown = [run for run in runs if run.html is None and run.text.strip()]
    return bool(shown) and all("code" in run.marks for run in shown) and not any(run.href for run in shown)


def place_captions(blocks: list[Block]) -> list[Block]:
    """Return the blocks with the captions of tables inside them (those before a table, else those after one); a caption that
    repeats the text of its picture is left out."""
    out: list[Block] = []
    for index, block in enumerate(blocks):
        following = blocks[index + 1] if index + 1 < len(blocks) else None
        table = None
        if block.kind == "caption" and following is not None and following.kind == "table":
            table = following
        elif block.kind == "caption" and out and out[-1].kind == "table":
            table = out[-1]
        if table is not None and table.html.startswith("<table>") and "<caption>" not in table.html[:20]:
            table.html = f"<table><caption>{write_runs(block.runs)}</caption>{table.html[7:]}"
        elif not (block.kind == "caption" and out and out[-1].html == write_figure(block.text)):
            out.append(block)
    return out


def write_figure(alternative: str) -> str:
    """Return what shows a picture that is not kept: the text for it."""
    return f"<figure><figcaption>{escape(alternative, quote=False)}</figcaption></figure>"


def raise_title(blocks: list[Block]) -> list[Block]:
    """Return the blocks with their headings one level lower, if the document has a title, whose level is 0."""
    if any(block.kind == "heading" and block.level == 0 for block in blocks):
        for block in blocks:
            block.level += block.kind == "heading"
    return blocks


def mark_bold_headings(blocks: list[Block]) -> list[Block]:
    """Return the blocks with short bold paragraphs before text as headings, if the document has no headings by style."""
    if any(block.kind == "heading" for block in blocks):
        return blocks
    found = [
        block
        for block, following in itertools.pairwise(blocks)
        if _is_bold_line(block) and not _is_bold_line(following) and following.kind not in ("rule", "caption")
    ]
    for block in found if len(found) >= _MIN_BOLD_HEADINGS else ():
        block.kind, block.level = "heading", 2
    return blocks


def _is_bold_line(block: Block) -> bool:
    shown = [run for run in block.runs if run.html is None and run.text.strip()]
    is_bold = bool(shown) and all("strong" in run.marks and not run.href for run in shown)
    text = block.text if is_bold and block.kind == "text" else ""
    return (
        1 < len(text) <= _MAX_BOLD_HEADING_CHARS
        and not text.endswith((".", ",", ";", ":", "!"))
        and text[0] not in "(-*•"
    )


def plain_text(runs: Iterable[Run]) -> str:
    """Return the text of the runs with single spaces."""
    return " ".join("".join(run.text if run.html is None else " " for run in runs).split())


_CONTROLS: Final = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 127, 0xFEFF, 0xAD))
"""Characters that show nothing, soft hyphens among them."""


def code_text(runs: Iterable[Run]) -> str:
    """Return the text of the runs as it is, with line breaks."""
    return "".join("\n" if run.html == "<br>" else run.text for run in runs).translate(_CONTROLS)


def has_content(runs: Iterable[Run]) -> bool:
    """Return whether the runs show anything."""
    return any(run.html not in (None, "<br>") or run.text.strip() for run in runs)


def write_runs(runs: list[Run], *, without: Iterable[str] = ()) -> str:
    """Return the runs as HTML; marks that touch become one, spaces at their ends are outside. `without` names marks to drop."""
    pieces = _split_spaces(_trim(runs), frozenset(without))
    out: list[str] = []
    opened: list[str] = []
    for index, piece in enumerate(pieces):
        wanted = _wanted(piece)
        while opened and not set(opened) <= wanted:
            out.append(f"</{opened.pop().partition(' ')[0]}>")
        for tag in sorted(wanted - set(opened), key=lambda tag: (-_extent(pieces, index, tag), tag)):
            out.append(f"<{tag}>")
            opened.append(tag)
        out.append(piece.html if piece.html is not None else escape(piece.text.translate(_CONTROLS), quote=False))
    out += [f"</{tag.partition(' ')[0]}>" for tag in reversed(opened)]
    return "".join(out)


def _wanted(piece: Run) -> set[str]:
    tags = set(piece.marks)
    if piece.href:
        tags.add(f'a href="{escape(piece.href)}"')
    return tags


def _extent(pieces: list[Run], start: int, tag: str) -> int:
    """Return over how many pieces a tag goes on, up to a limit: the longest is opened first."""
    end = start
    while end < len(pieces) and end < start + 50 and tag in _wanted(pieces[end]):
        end += 1
    return end - start


def _trim(runs: list[Run]) -> list[Run]:
    """Return the runs without line breaks and spaces at both ends."""
    start, end = 0, len(runs)
    while start < end and _is_blank(runs[start]):
        start += 1
    while end > start and _is_blank(runs[end - 1]):
        end -= 1
    return runs[start:end]


def _is_blank(run: Run) -> bool:
    return run.html == "<br>" or (run.html is None and not run.text.strip())


def _split_spaces(runs: list[Run], without: frozenset[str]) -> list[Run]:
    """Return the runs with the spaces at their ends as separate ones, which have the marks that both sides share."""
    pieces: list[Run] = []
    for run in runs:
        marks = run.marks - without
        if run.html is not None:
            pieces.append(run._replace(marks=marks if run.html != "<br>" else NO_MARKS))
            continue
        core = run.text.strip()
        if not core:
            pieces.append(Run(run.text))
            continue
        start = run.text.index(core[0])
        end = start + len(core)
        parts = (Run(run.text[:start]), Run(core, marks, run.href), Run(run.text[end:]))
        pieces += [part for part in parts if part.text]
    return _share_marks(pieces)


def _share_marks(pieces: list[Run]) -> list[Run]:
    shown = [piece for piece in pieces if piece.html is not None or piece.text.strip()]
    out, place = [], 0
    for piece in pieces:
        if place < len(shown) and piece is shown[place]:
            place += 1
        elif 0 < place < len(shown) and not piece.text.strip():
            before, after = shown[place - 1], shown[place]
            href = before.href if before.href == after.href else None
            piece = piece._replace(marks=before.marks & after.marks, href=href)
        out.append(piece)
    return out


_MONOSPACED: Final = re.compile(
    r"courier|consolas|menlo|monaco|lucida console|lucida sans typewriter|inconsolata|cascadia|andale mono|fixedsys|terminal\b"
    r"|\bmono\b|monospace|fira code|source code|sf mono|jetbrains|typewriter|hack$|ocr[- ]?[ab]\b|letter gothic",
    re.I,
)


def is_monospaced(name: str) -> bool:
    """Return whether a font of this name is monospaced."""
    return _MONOSPACED.search(name[:200]) is not None
