"""PDF: words from pypdfium2, then a layout pass as a list of steps; tagged pages by their structure tree."""

from __future__ import annotations

import re
from dataclasses import field
from html import unescape
from types import MappingProxyType
from typing import Final

from pagekeep.capture.documents.parsed import POINTLESS_AUTHORS, ParsedDocument, is_confirmed
from pagekeep.capture.documents.pdf import roles
from pagekeep.capture.documents.pdf.blocks import (
    Leading,
    dissolve_rows,
    join_parted,
    make_blocks,
    mark_bullets,
    settle_items,
)
from pagekeep.capture.documents.pdf.lines import make_lines, order_lines, remove_running_heads
from pagekeep.capture.documents.pdf.roles import shorten_contents
from pagekeep.capture.documents.pdf.tables import find_ruled_tables, join_aligned_rows
from pagekeep.capture.documents.pdf.tagged import is_covered, read_tagged
from pagekeep.capture.documents.pdf.to_html import Joiner, write_html
from pagekeep.capture.documents.pdf.values import ARTIFACT, Block, Line, PdfFile, PdfPage
from pagekeep.extraction.steps import Step, Stopwatch, run_steps
from pagekeep.model import Caught, CaughtKind, Metadata, Options, PageWarning, Removal
from pagekeep.text import number_of
from pagekeep.values import dataclass

_ATTACHED: Final = "The file is kept."


@dataclass(slots=True)
class Layout:
    """The state of the layout pass."""

    file: PdfFile
    url: str | None
    tagged: dict[int, list[Block]] = field(default_factory=dict)
    """Page number to the blocks of its structure tree."""
    tables: dict[int, list[Block]] = field(default_factory=dict)
    lines: dict[int, list[Line]] = field(default_factory=dict)
    blocks: list[Block] = field(default_factory=list)
    html: str = ""

    def untagged(self) -> list[PdfPage]:
        """Return the pages that are read by their layout."""
        return [page for page in self.file.pages if page.index not in self.tagged]


def _read_structure(layout: Layout) -> None:
    """Read the pages that a structure tree covers by it."""
    for page in layout.file.pages:
        if is_covered(page):
            layout.tagged[page.index], rest = read_tagged(page)
            layout.lines[page.index] = make_lines(rest)


def _find_tables(layout: Layout) -> None:
    """Find tables by their drawn lines; their words are no longer text."""
    for page in layout.untagged():
        found = find_ruled_tables(page)
        taken = {word for _, words in found for word in words}
        layout.tables[page.index] = [table for table, _ in found]
        page.words = [word for word in page.words if id(word) not in taken]


def _make_lines(layout: Layout) -> None:
    """Join words to lines."""
    for page in layout.untagged():
        layout.lines[page.index] = make_lines([word for word in page.words if word.mcid != ARTIFACT])


def _remove_running_heads(layout: Layout) -> list[Removal]:
    """Remove running heads and page numbers."""
    return remove_running_heads([(page, layout.lines[page.index]) for page in layout.file.pages])


def _order(layout: Layout) -> None:
    """Put the lines of columns into reading order; tables of contents lose their dots and page numbers first."""
    for page in layout.untagged():
        shorten_contents(layout.lines[page.index])
        layout.lines[page.index] = order_lines(layout.lines[page.index])


def _make_blocks(layout: Layout) -> None:
    """Join lines to paragraphs, items, code and tables."""
    leading = Leading([layout.lines[page.index] for page in layout.untagged()])
    for page in layout.file.pages:
        if page.index in layout.tagged:
            rest = [Block("text", [line], page.index) for line in layout.lines[page.index]]
            layout.blocks += [*layout.tagged[page.index], *rest]
            continue
        lines = layout.lines[page.index]
        mark_bullets(page, lines)
        items = join_aligned_rows(lines, page.index)
        layout.blocks += make_blocks(_place(items, layout.tables[page.index]), page, leading)


def _place(items: list[Line | Block], tables: list[Block]) -> list[Line | Block]:
    """Put each table behind the last line above it in its column, else before the first line below it there."""
    for table in tables:
        top, x0, x1 = table.lines[0].top, min(w.x0 for w in table.words), max(w.x1 for w in table.words)
        above, below, beside = -1, -1, -1
        for index, item in enumerate(items):
            line = item if isinstance(item, Line) else item.lines[0]
            if line.x0 < x1 and line.x1 > x0:
                if line.bottom <= top + 2:
                    above = index
                elif below < 0:
                    below = index
            elif line.x1 <= x0:
                beside = index
        # A table that is alone in its column comes behind the column to the left.
        items.insert(above + 1 if above >= 0 else below if below >= 0 else beside + 1, table)
    return items


def _find_roles(layout: Layout) -> None:
    """Find footnotes, headings, captions, quotes and lists on the pages without structure."""
    body = roles.body_size(layout.blocks)
    free = [block for block in layout.blocks if block.page not in layout.tagged]
    roles.find_tagged_title([block for block in layout.blocks if block.page in layout.tagged], body)
    roles.mark_notes(free, body)
    roles.mark_headings(free, body, layout.file.outline)
    roles.mark_captions(free, body)
    roles.mark_quotes(free, body)
    settle_items(free)


def _join_parted(layout: Layout) -> None:
    """Join what the ends of lines, columns and pages part."""
    layout.blocks = dissolve_rows(join_parted(roles.join_headings(layout.blocks)))


def _write(layout: Layout) -> None:
    """Write the blocks as HTML."""
    lines = [line for block in layout.blocks for line in block.lines]
    layout.html = write_html(layout.blocks, Joiner(lines, layout.url))


STEPS: Final[list[Step[Layout]]] = [
    Step("pdf-structure-tree", _read_structure),
    Step("pdf-ruled-tables", _find_tables, required=True),
    Step("pdf-lines", _make_lines, required=True),
    Step("pdf-running-heads", _remove_running_heads),
    Step("pdf-reading-order", _order),
    Step("pdf-blocks", _make_blocks, required=True),
    Step("pdf-roles", _find_roles),
    Step("pdf-page-joins", _join_parted),
    Step("pdf-html", _write, required=True),
]
"""What happens to the words of a PDF, in this order."""


def read(data: bytes, url: str | None, options: Options) -> ParsedDocument:
    """Return the document in a PDF; a file that cannot be read, or has no text, says why."""
    from pagekeep.capture.documents.pdf.pdfium import DamagedPdf, EncryptedPdf, read_file

    try:
        file = read_file(data)
    except EncryptedPdf:
        hint = f"Save it without a password, then try again. {_ATTACHED}"
        return _refuse("encrypted_file", "The PDF is protected by a password", hint)
    except DamagedPdf:
        return _refuse("damaged_file", "The PDF is damaged: it cannot be opened", f"Get the file again. {_ATTACHED}")
    if not any(page.words for page in file.pages):
        return _refuse_empty(file)
    stopwatch = Stopwatch(options.timer) if options.timer else None
    layout = Layout(file, url if url and url.startswith(("http://", "https://")) else None)
    removals = run_steps(STEPS, layout, skip=options.skip_steps, record=stopwatch.record if stopwatch else None)
    return ParsedDocument(
        layout.html,
        read_metadata(file, layout.blocks),
        _describe(layout),
        tuple(removals),
        tuple(_warnings(file)),
        page_count=file.page_count,
        seconds=dict(stopwatch.seconds) if stopwatch else {},
    )


def _refuse(kind: CaughtKind, reason: str, suggestion: str, metadata: Metadata | None = None) -> ParsedDocument:
    return ParsedDocument("", metadata or Metadata(), reason, caught=Caught(kind, reason, suggestion))


def _refuse_empty(file: PdfFile) -> ParsedDocument:
    about = read_metadata(file, [])
    if any(page.images for page in file.pages):
        pages = number_of(file.page_count, "page")
        hint = f"Recognise its text first, for example with OCRmyPDF. {_ATTACHED}"
        return _refuse("scanned_file", f"The PDF is a scan without text ({pages} of pictures)", hint, about)
    return _refuse("empty_file", "The PDF has no text", _ATTACHED, about)


def _describe(layout: Layout) -> str:
    pages, tagged = number_of(layout.file.page_count, "page"), len(layout.tagged)
    by_tree = "by its structure tree" if tagged == len(layout.file.pages) else f"{tagged} of them by a structure tree"
    return f"a PDF of {pages}, read {by_tree if tagged else 'by its layout'}"


def _warnings(file: PdfFile) -> list[PageWarning]:
    read_pages = len(file.pages)
    warnings = []
    if read_pages < file.page_count:
        text = f"only the first {read_pages:,} of {file.page_count:,} pages were read"
        warnings.append(PageWarning("truncated", text))
    cut = [page.index + 1 for page in file.pages if page.cut]
    if cut:
        warnings.append(
            PageWarning("truncated", f"parts of {number_of(len(cut), 'page')} could not be read: {cut[:10]}")
        )
    return warnings


_POINTLESS_TITLE: Final = re.compile(
    r"(?:microsoft (?:word|powerpoint|excel)|untitled|unbenannt|sans titre|document\d*|slide \d+|powerpoint|"
    r"layout \d+|title)\b|.*\.(?:docx?|pptx?|xlsx?|tex|dvi|indd|html?|odt|pdf|qxd|rtf|pages)$|\S*[_/\\]\S*$",
    re.I,
)
_XMP_FIELD: Final = r"<{0}(?:\s[^>]*)?>\s*(?:<rdf:(?:Alt|Seq|Bag)>)?(.{{0,4000}}?)(?:</rdf:(?:Alt|Seq|Bag)>)?\s*</{0}>"
_ENTRY: Final = re.compile(r"<rdf:li[^>]*>([^<]*)</rdf:li>")
_DATE: Final = re.compile(r"(?:D:)?(\d{4})-?(\d{2})?-?(\d{2})?")
_FIRST_BLOCKS: Final = 40


def read_metadata(file: PdfFile, blocks: list[Block]) -> Metadata:
    """Return the metadata of a PDF; a title or author that the first page contradicts is left out."""
    first = [block for block in blocks[:_FIRST_BLOCKS] if block.page == 0] or blocks[:3]
    text = " ".join(block.text for block in first)
    origins: dict[str, str] = {}
    title = _choose_title(file, first, text, origins)
    author = _choose_author(file, text, origins)
    published = _choose_date(file, text, origins)
    language = re.match(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})?", file.language)
    keywords = [word.strip() for word in re.split(r"[,;]", file.info.get("Keywords", "")[:1_000])]
    subject = _tidy(file.info.get("Subject", ""))
    if language:
        origins["language"] = "pdf"
    return Metadata(
        title=title,
        author=author,
        published=published,
        description=subject if len(subject.split()) > 3 else None,
        language=language[0].lower() if language else None,
        keywords=tuple(dict.fromkeys(filter(None, keywords)))[:20],
        origins=MappingProxyType(origins),
    )


def _tidy(text: str) -> str:
    return " ".join("".join(char if char.isprintable() else " " for char in unescape(text)).split())[:500]


def _xmp(file: PdfFile, name: str) -> list[str]:
    source = file.xmp.decode("utf-8", "replace")
    match = re.search(_XMP_FIELD.format(re.escape(name)), source, re.S)
    if not match:
        return []
    entries = _ENTRY.findall(match[1]) or ([match[1]] if "<" not in match[1] else [])
    return [entry for entry in map(_tidy, entries) if entry]


def _choose_title(file: PdfFile, first: list[Block], text: str, origins: dict[str, str]) -> str | None:
    candidates = [("xmp", title) for title in _xmp(file, "dc:title")[:1]] + [("pdf", _tidy(file.info.get("Title", "")))]
    usable = [(origin, title) for origin, title in candidates if title and not _POINTLESS_TITLE.match(title)]
    headings = [block for block in first if block.kind == "heading"]
    top = min((block.level for block in headings), default=0)
    heading = next((_tidy(block.text) for block in headings if block.level == top), "")
    for origin, title in usable:
        if is_confirmed(title, text) or not heading:
            origins["title"] = origin
            return title
    if heading:
        origins["title"] = "heading"
        return heading.replace("\u2010", "-")
    line = next((_tidy(block.text) for block in first if block.kind == "text"), "")
    if line:
        origins["title"] = "first line"
    return line[:200] or None


def _choose_author(file: PdfFile, text: str, origins: dict[str, str]) -> str | None:
    names = _xmp(file, "dc:creator")
    origin = "xmp" if names else "pdf"
    names = names or [_tidy(name) for name in re.split(r"[;&]|\band\b", file.info.get("Author", "")[:500])]
    known = text.casefold()
    kept = [
        name
        for name in names
        if name and name.casefold() not in POINTLESS_AUTHORS and (" " in name or name.casefold() in known)
    ]
    if not kept:
        return None
    origins["author"] = origin
    return ", ".join(dict.fromkeys(kept[:20]))


def _choose_date(file: PdfFile, text: str, origins: dict[str, str]) -> str | None:
    """Return the date of the file if the first page names its year: else it is when the file was printed."""
    for origin, value in (("xmp", next(iter(_xmp(file, "dc:date")), "")), ("pdf", file.info.get("CreationDate", ""))):
        match = _DATE.match(value)
        if match and match[1] in text and match[2] and match[3]:
            origins["published"] = origin
            return f"{match[1]}-{match[2]}-{match[3]}"
    return None
