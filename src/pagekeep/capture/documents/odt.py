"""ODT: our own reader of OpenDocument text, from paragraphs and their styles to blocks."""

from __future__ import annotations

import posixpath
import re
from dataclasses import field
from html import escape
from typing import Final
from xml.etree.ElementTree import Element

from pagekeep.capture.documents import zip_xml
from pagekeep.capture.documents.parsed import Declared, Dropped, EncryptedFile, ParsedDocument
from pagekeep.capture.documents.word_blocks import (
    Block,
    BlockKind,
    Cell,
    Notes,
    Run,
    has_content,
    is_all_code,
    is_monospaced,
    make_document,
    mark_bold_headings,
    place_captions,
    raise_title,
    write_blocks,
    write_cell,
    write_figure,
    write_table,
)
from pagekeep.capture.documents.zip_xml import Archive
from pagekeep.model import Options
from pagekeep.values import dataclass


def read(data: bytes, url: str | None, options: Options) -> ParsedDocument:
    """Return the document in an ODT file."""
    archive = Archive(data)
    _refuse_encrypted(archive)
    content, styles = zip_xml.parse_xml(archive.read("content.xml")), archive.parse_if_sound("styles.xml")
    body = Body(Styles([root for root in (styles, content) if root is not None]), archive)
    text = next(content.iter("office:text"), None)
    blocks = place_captions(body.read_document(text)) if text is not None else []
    declared = _read_declared(archive.parse_if_sound("meta.xml"))
    return make_document(blocks, body.notes, body.dropped, declared, "an ODT, read by its styles")


def _refuse_encrypted(archive: Archive) -> None:
    manifest = archive.parse_if_sound("META-INF/manifest.xml")
    if manifest is not None and next(manifest.iter("manifest:encryption-data"), None) is not None:
        raise EncryptedFile("it has a password")


def _read_declared(meta: Element | None) -> Declared:
    values: dict[str, list[str]] = {}
    for child in meta.iter() if meta is not None else ():
        if child.tag.startswith(("dc:", "meta:")):
            values.setdefault(child.tag, []).append(zip_xml.text_of(child))

    def first(*names: str) -> str:
        return next((value for name in names for value in values.get(name, ()) if value), "")

    return Declared(
        "odt",
        title=first("dc:title"),
        authors=tuple(first("meta:initial-creator", "dc:creator").split(";")),
        subject=first("dc:description", "dc:subject"),
        keywords=";".join(values.get("meta:keyword", [])[:20]),
        language=first("dc:language"),
        date=first("meta:creation-date", "dc:date"),
    )


_AROUND: Final = frozenset(
    "text:section text:index-body text:numbered-paragraph table:table-header-rows office:text text:list-header "
    "table:table-rows table:table-row-group draw:g".split()
)
_CONTENTS: Final = frozenset(
    "text:table-of-content text:illustration-index text:table-index text:alphabetical-index text:user-index".split()
)
_LEFT_OUT: Final = frozenset(
    "text:tracked-changes office:annotation office:annotation-end text:bookmark text:bookmark-start text:bookmark-end "
    "text:reference-mark text:soft-page-break text:sequence-decls text:note-citation office:forms text:variable-decls "
    "svg:title svg:desc text:change text:change-start text:change-end".split()
)
_MAX_REPEATED: Final = 200
_BREAK: Final = Run("", html="<br>")


class Body:
    """Reads the blocks of a document."""

    def __init__(self, styles: Styles, archive: Archive) -> None:
        self._styles, self._archive = styles, archive
        self.notes = Notes()
        self.dropped = Dropped("odt")
        self._notes_read = 0
        self._numbers: dict[tuple[str, int], int] = {}
        """The last number of each list and level, for lists that go on."""
        self._series: dict[str, int] = {}
        """How often a list of a style has begun."""

    def read_document(self, root: Element) -> list[Block]:
        """Return the blocks of the whole document; a title is above the other headings."""
        return mark_bold_headings(raise_title(self.read_blocks(root)))

    def read_blocks(self, parent: Element, depth: int = 0) -> list[Block]:
        """Return the blocks in an element."""
        blocks: list[Block] = []
        for child in parent:
            tag = child.tag
            if self.dropped.is_cut:
                break
            if tag in ("text:p", "text:h"):
                self._read_paragraph(child, blocks)
            elif tag == "text:list":
                self._read_list(child, 0, "", blocks)
            elif tag == "table:table":
                html = self._read_table(child)
                blocks += [Block("table", html=html)] if html else []
            elif tag in _CONTENTS:
                self.dropped.add(tag, "table of contents", zip_xml.text_of(child))
            elif tag in _AROUND:
                blocks += self.read_blocks(child, depth + 1)
            elif tag.startswith("draw:"):
                self._read_frame(child, blocks)
            elif tag == "text:tracked-changes":
                self.dropped.add(tag, "deleted by tracked changes", zip_xml.text_of(child))
        return blocks

    def _read_paragraph(self, element: Element, blocks: list[Block]) -> None:
        style = self._styles.get("paragraph", element.get("text:style-name"))
        if style.hidden:
            self.dropped.add("text:p", "hidden text", zip_xml.text_of(element))
            return
        after: list[Block] = []
        runs: list[Run] = []
        marks = frozenset({"code"}) if style.is_code else style.marks
        self._read_inline(element, marks, None, runs, after)
        if has_content(runs) or style.is_code:
            blocks.append(self._make_block(element, style, runs))
        elif style.is_rule and not after:
            blocks.append(Block("rule"))
        blocks += after

    def _make_block(self, element: Element, style: Style, runs: list[Run]) -> Block:
        if element.tag == "text:h" or style.is_title:
            level = element.get("text:outline-level") or ""
            chosen = int(level) if level.isdecimal() and len(level) < 3 else style.outline or 1
            return Block("heading", runs, 0 if style.is_title else max(1, chosen))
        only = [run.html for run in runs if run.html is not None or run.text.strip()]
        if len(only) == 1 and only[0] and only[0].startswith("<math"):
            shown = only[0].replace("<math", '<math display="block"', 1)
            return Block("html", html=f"<p>{shown}</p>")
        kind: BlockKind = "text"
        if style.is_code or is_all_code(runs):
            kind = "code"
        elif style.is_quote:
            kind = "quote"
        elif style.is_caption:
            kind = "caption"
        return Block(kind, runs)

    def _read_inline(
        self, parent: Element, marks: frozenset[str], href: str | None, runs: list[Run], after: list[Block]
    ) -> None:
        self._add(parent.text, marks, href, runs)
        for child in parent:
            self._read_piece(child, marks, href, runs, after)
            self._add(child.tail, marks, href, runs)

    def _add(self, text: str | None, marks: frozenset[str], href: str | None, runs: list[Run]) -> None:
        """Add text; spaces that count are elements, so that those in the source are one."""
        if not text:
            return
        words = " ".join(text.split())
        lead, trail = " " if text[0].isspace() else "", " " if text[-1].isspace() and words else ""
        if self.dropped.take(words):
            runs.append(Run(f"{lead}{words}{trail}", marks, href))

    def _read_piece(
        self, child: Element, marks: frozenset[str], href: str | None, runs: list[Run], after: list[Block]
    ) -> None:
        tag = child.tag
        if tag == "text:s":
            count = child.get("text:c") or "1"
            runs.append(
                Run(" " * (min(int(count), _MAX_REPEATED) if count.isdecimal() and len(count) < 9 else 1), marks, href)
            )
        elif tag == "text:tab":
            runs.append(Run("\t", marks, href))
        elif tag == "text:line-break":
            runs.append(_BREAK)
        elif tag == "text:span":
            style = self._styles.get("text", child.get("text:style-name"))
            if style.hidden:
                self.dropped.add(tag, "hidden text", zip_xml.text_of(child))
            else:
                self._read_inline(child, marks | style.marks, href, runs, after)
        elif tag == "text:a":
            target = child.get("xlink:href") or ""
            self._read_inline(child, marks, target if not target.startswith("#") else href, runs, after)
        elif tag == "text:note":
            runs += self._read_note(child)
        elif tag == "math:math":
            self._add_math(child, runs)
        elif tag.startswith("draw:"):
            self._read_frame(child, after, runs)
        elif tag == "text:hidden-text" or child.get("text:is-hidden") == "true":
            self.dropped.add(tag, "hidden text", zip_xml.text_of(child))
        elif tag not in _LEFT_OUT:
            self._read_inline(child, marks, href, runs, after)
        elif tag == "office:annotation":
            self.dropped.add(tag, "comment", zip_xml.text_of(child))

    def _read_note(self, note: Element) -> list[Run]:
        body = note.find("text:note-body")
        if body is None:
            return []
        self._notes_read += 1
        key = str(self._notes_read)
        self.notes.add(key, write_blocks(self.read_blocks(body)))
        found = self.notes.refer(key)
        return [found] if found else []

    def _read_list(self, element: Element, level: int, style_name: str, blocks: list[Block]) -> None:
        name = element.get("text:style-name") or style_name
        about = self._styles.level(name, level + 1)
        going_on = element.get("text:continue-numbering") == "true" or element.get("text:continue-list") is not None
        number = self._numbers.get((name, level), 0) + 1 if going_on else about.start
        if not going_on:
            self._series[name] = self._series.get(name, 0) + 1
        series = f"{name}:{self._series.get(name, 0)}"
        for item in element:
            if item.tag not in ("text:list-item", "text:list-header"):
                continue
            start = item.get("text:start-value") or ""
            number = int(start) if start.isdecimal() and len(start) < 7 else number
            kind: BlockKind = "more" if about.blank and blocks and blocks[-1].kind in ("item", "more") else "item"
            if self._read_item(item, level, name, Block(kind, [], level, about.ordered, number, series), blocks):
                self._numbers[name, level] = number
                number += 1

    def _read_item(self, item: Element, level: int, name: str, first: Block, blocks: list[Block]) -> bool:
        """Add the blocks of an item; return whether it has a mark."""
        is_marked = False
        for child in item:
            if self.dropped.is_cut:
                break
            if child.tag == "text:list":
                self._read_list(child, level + 1, name, blocks)
                continue
            for block in self.read_blocks(_wrap(child)):
                if block.kind in ("heading", "code") and not is_marked:
                    blocks.append(block)
                elif not is_marked and item.tag == "text:list-item" and not block.html:
                    first.runs, is_marked = block.runs, True
                    blocks.append(first)
                elif block.kind in ("text", "caption", "quote"):
                    blocks.append(Block("more", block.runs))
                else:
                    blocks.append(Block("more", html=write_blocks([block])))
        return is_marked

    def _read_table(self, table: Element) -> str:
        rows: list[list[Cell]] = []
        for row, is_head in _rows(table, False):
            cells: list[Cell] = []
            for cell in row:
                if cell.tag != "table:table-cell":
                    continue
                repeated = _count(cell, "table:number-columns-repeated") if len(cell) else 1
                made = Cell(
                    write_cell(self.read_blocks(cell)),
                    _count(cell, "table:number-columns-spanned"),
                    _count(cell, "table:number-rows-spanned"),
                    is_head,
                )
                cells += [made] * repeated
            rows.append(cells)
        return write_table(rows)

    def _read_frame(self, frame: Element, blocks: list[Block], runs: list[Run] | None = None) -> None:
        """Read a frame: the text in a box, a formula, or the text of a picture."""
        if frame.tag == "draw:g":
            for child in frame:
                self._read_frame(child, blocks, runs)
            return
        formula = self._find_formula(frame)
        if formula is not None and runs is not None:
            self._add_math(formula, runs)
            return
        boxes = [*frame.iter("draw:text-box")] if frame.tag != "draw:text-box" else [frame]
        before = len(blocks)
        for box in boxes[:1]:
            blocks += self.read_blocks(box)
        if frame.tag != "draw:frame" and not boxes:
            blocks += self.read_blocks(frame)
        if len(blocks) > before:
            return
        alternative = next(
            (text for tag in ("svg:desc", "svg:title") for one in frame.iter(tag) if (text := zip_xml.text_of(one))), ""
        )
        if alternative and self.dropped.take(alternative):
            blocks.append(Block("html", html=write_figure(alternative[:2_000])))
        elif next(frame.iter("draw:image"), None) is not None:
            self.dropped.add("draw:image", "picture without a text")
            blocks.append(Block("html"))  # what follows is not the caption of a table before

    def _find_formula(self, frame: Element) -> Element | None:
        """Return the formula in a frame, in the text or in a file beside it."""
        inside = next(frame.iter("math:math"), None)
        if inside is not None:
            return inside
        for one in frame.iter("draw:object"):
            name = posixpath.join(posixpath.normpath(one.get("xlink:href", "")).lstrip("./"), "content.xml")
            root = self._archive.parse_if_sound(name)
            if root is not None and root.tag == "math:math":
                return root
        return None

    def _add_math(self, formula: Element, runs: list[Run]) -> None:
        html = write_math(formula)
        if self.dropped.take(html):
            runs.append(Run("", html=html))


def write_math(element: Element) -> str:
    """Return a formula as MathML without prefixes, which the clean-up turns into TeX."""
    name = element.tag.partition(":")[2]
    kept = ("encoding", "display", "accent", "fence", "open", "close", "mathvariant", "columnalign")
    attributes = "".join(f' {key}="{escape(element.get(key, ""))}"' for key in kept if element.get(key))
    inner = "".join(write_math(child) + escape((child.tail or "").strip(), quote=False) for child in element)
    return f"<{name}{attributes}>{escape((element.text or '').strip(), quote=False)}{inner}</{name}>"


def _wrap(element: Element) -> Element:
    holder = Element("text:section")
    holder.append(element)
    return holder


def _rows(table: Element, is_head: bool) -> list[tuple[Element, bool]]:
    rows: list[tuple[Element, bool]] = []
    for child in table:
        if child.tag == "table:table-row":
            rows.append((child, is_head))
        elif child.tag in ("table:table-header-rows", "table:table-rows", "table:table-row-group"):
            rows += _rows(child, is_head or child.tag == "table:table-header-rows")
    return rows


def _count(cell: Element, name: str) -> int:
    value = cell.get(name) or ""
    return max(1, min(int(value), _MAX_REPEATED)) if value.isdecimal() and len(value) < 9 else 1


_MAX_PARENTS: Final = 20
_ESCAPED: Final = re.compile(r"_([0-9a-f]{2})_")
_CODE: Final = re.compile(r"preformatted|source (?:code|text)|code|listing|teletype", re.I)
_QUOTE: Final = re.compile(r"quotation|block ?(?:quote|text)|quote", re.I)
_CAPTION: Final = re.compile(r"(?:.* )?caption|illustration|drawing|figure ?caption|table ?caption", re.I)


@dataclass(frozen=True, slots=True)
class Style:
    """A style with what it inherits."""

    names: tuple[str, ...] = ()
    """Its own and its parents', as people read them."""
    marks: frozenset[str] = frozenset()
    outline: int = 0
    list_style: str = ""
    hidden: bool = False
    is_rule: bool = False

    def is_named(self, pattern: re.Pattern[str]) -> bool:
        """Return whether one of its names matches."""
        return any(pattern.match(name) for name in self.names)

    @property
    def is_code(self) -> bool:
        return "code" in self.marks or self.is_named(_CODE)

    @property
    def is_quote(self) -> bool:
        return self.is_named(_QUOTE)

    @property
    def is_caption(self) -> bool:
        return self.is_named(_CAPTION)

    @property
    def is_title(self) -> bool:
        return "Title" in self.names


@dataclass(frozen=True, slots=True)
class ListLevel:
    """A level of a list."""

    ordered: bool = False
    start: int = 1
    blank: bool = False
    """Whether it shows no mark: further paragraphs of the item before it."""


@dataclass(slots=True)
class _Found:
    marks: dict[str, bool] = field(default_factory=dict)
    outline: int = 0
    list_style: str = ""
    hidden: bool = False
    is_rule: bool = False


class Styles:
    """The styles of a document, common and automatic."""

    def __init__(self, roots: list[Element]) -> None:
        self._elements: dict[tuple[str, str], Element] = {}
        self._known: dict[tuple[str, str], Style] = {}
        self.lists: dict[str, dict[int, ListLevel]] = {}
        self._mono = {
            face.get("style:name", "")
            for root in roots
            for face in root.iter("style:font-face")
            if face.get("style:font-pitch") == "fixed" or is_monospaced(face.get("style:name", ""))
        }
        for root in roots:
            for style in root.iter("style:style"):
                self._elements[style.get("style:family", ""), style.get("style:name", "")] = style
            for style in root.iter("text:list-style"):
                self.lists[style.get("style:name", "")] = _read_levels(style)

    def get(self, family: str, name: str | None) -> Style:
        """Return a style of a family; one without properties for an unknown name."""
        key = (family, name or "")
        if key not in self._known:
            self._known[key] = self._make(*key)
        return self._known[key]

    def level(self, name: str, level: int) -> ListLevel:
        """Return a level of a list, from 1; where a style leaves it out, the next one above."""
        levels = self.lists.get(name, {})
        return next((levels[one] for one in range(level, 0, -1) if one in levels), ListLevel())

    def _make(self, family: str, name: str) -> Style:
        names: list[str] = []
        found = _Found()
        while (family, name) in self._elements and len(names) < _MAX_PARENTS:
            element = self._elements[family, name]
            names.append(_ESCAPED.sub(lambda match: chr(int(match[1], 16)), element.get("style:display-name") or name))
            self._collect(element, found, is_own=bool(re.fullmatch(r"[A-Z]{1,3}\d+", names[-1])))
            parent = element.get("style:parent-style-name", "")
            if parent == name:
                break
            name = parent
        if name and not names:
            names.append(_ESCAPED.sub(lambda match: chr(int(match[1], 16)), name))
        marks = {mark for mark, is_on in found.marks.items() if is_on}
        if family == "text" and any(_CODE.match(one) for one in names):
            marks.add("code")
        return Style(tuple(names), frozenset(marks), found.outline, found.list_style, found.hidden, found.is_rule)

    def _collect(self, element: Element, found: _Found, *, is_own: bool) -> None:
        """Add what one style sets and no style below it has set."""
        level = element.get("style:default-outline-level") or ""
        found.outline = found.outline or (int(level) if level.isdecimal() and len(level) < 3 else 0)
        found.list_style = found.list_style or element.get("style:list-style-name") or ""
        paragraph = element.find("style:paragraph-properties")
        if paragraph is not None and paragraph.get("fo:border-bottom", "none") != "none":
            found.is_rule = True
        text = element.find("style:text-properties")
        if text is None:
            return
        found.hidden = found.hidden or text.get("text:display") == "none"
        if not is_own and element.get("style:family") == "paragraph":
            return  # the look of a heading is not emphasis
        marks = found.marks
        weight, slant = text.get("fo:font-weight"), text.get("fo:font-style")
        if weight:
            marks.setdefault("strong", weight == "bold" or (weight.isdecimal() and int(weight) >= 600))
        if slant:
            marks.setdefault("em", slant in ("italic", "oblique"))
        if through := text.get("style:text-line-through-style") or text.get("style:text-line-through-type"):
            marks.setdefault("s", through != "none")
        if place := (text.get("style:text-position") or "").split():
            marks.setdefault("sup", place[0] == "super" or (place[0].rstrip("%").isdecimal() and place[0] != "0%"))
            marks.setdefault("sub", place[0] == "sub" or place[0].startswith("-"))
        if font := text.get("style:font-name") or text.get("fo:font-family"):
            marks.setdefault("code", font in self._mono or is_monospaced(font))


def _read_levels(style: Element) -> dict[int, ListLevel]:
    levels: dict[int, ListLevel] = {}
    for one in style:
        level = one.get("text:level") or ""
        if one.tag.startswith("text:list-level-style-") and level.isdecimal() and len(level) < 3:
            start = one.get("text:start-value") or ""
            ordered = one.tag.endswith("number") and bool(one.get("style:num-format"))
            bullet = one.get("text:bullet-char")
            number = int(start) if start.isdecimal() and len(start) < 7 else 1
            levels[int(level)] = ListLevel(ordered, number, bullet is not None and not bullet.strip())
    return levels
