"""DOCX: our own reader of Office Open XML, from paragraphs and their styles to blocks."""

from __future__ import annotations

import posixpath
import re
from typing import Final
from xml.etree.ElementTree import Element

from pagekeep.capture.documents import zip_xml
from pagekeep.capture.documents.docx.inline import Field, Inline, formula_block
from pagekeep.capture.documents.docx.styles import Numbering, Place, Style, Styles, read_number, read_outline
from pagekeep.capture.documents.parsed import Declared, Dropped, ParsedDocument
from pagekeep.capture.documents.word_blocks import (
    Block,
    Cell,
    Notes,
    Run,
    has_content,
    is_all_code,
    make_document,
    mark_bold_headings,
    place_captions,
    plain_text,
    raise_title,
    write_blocks,
    write_cell,
    write_table,
)
from pagekeep.capture.documents.zip_xml import Archive
from pagekeep.model import Options

_MAIN: Final = "word/document.xml"


def read(data: bytes, url: str | None, options: Options) -> ParsedDocument:
    """Return the document in a DOCX file."""
    package = Package(Archive(data))
    body = package.read_body()
    blocks = body.read_document(package.main)
    return make_document(blocks, body.notes, body.dropped, package.read_declared(), "a DOCX, read by its styles")


class Package:
    """The parts of the file, found by the relationships between them."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        targets = self._relations("")
        self.main_name = next((target for kind, target, _ in targets.values() if kind == "officeDocument"), _MAIN)
        self.main = zip_xml.parse_xml(archive.read(self.main_name if self.main_name in archive else _MAIN))
        self.targets = self._relations(self.main_name)

    def _relations(self, name: str) -> dict[str, tuple[str, str, bool]]:
        """Return id to kind, target and whether that is outside the file, of a part."""
        folder, base = posixpath.split(name)
        data = self._archive.read_if_there(posixpath.join(folder, "_rels", f"{base}.rels"))
        found: dict[str, tuple[str, str, bool]] = {}
        for one in zip_xml.parse_xml(data) if data else ():
            target, outside = one.get("Target", ""), one.get("TargetMode") == "External"
            if not outside:
                target = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
            found[one.get("Id", "")] = (one.get("Type", "").rpartition("/")[2], target, outside)
        return found

    def part(self, kind: str) -> Element | None:
        """Return the part of a kind that the document refers to; `None` if there is none, or it is damaged."""
        name = next((target for one, target, outside in self.targets.values() if one == kind and not outside), None)
        return self._archive.parse_if_sound(name) if name else None

    def links(self, name: str) -> dict[str, str]:
        """Return id to address, of what a part links to outside the file."""
        return {key: target for key, (_, target, outside) in self._relations(name).items() if outside}

    def read_body(self) -> Body:
        """Return the reader of the text, with styles, numbering and notes."""
        styles = Styles(self.part("styles"))
        body = Body(styles, Numbering(self.part("numbering")), self.links(self.main_name))
        for kind in ("footnotes", "endnotes"):
            notes = self.part(kind)
            name = next((target for one, target, _ in self.targets.values() if one == kind), "")
            if notes is not None:
                body.note_parts[kind.removesuffix("s")] = (notes, self.links(name))
        return body

    def read_declared(self) -> Declared:
        """Return what the file says about itself."""
        core = self._archive.parse_if_sound("docProps/core.xml")
        values = {child.tag: zip_xml.text_of(child) for child in core} if core is not None else {}
        return Declared(
            "docx",
            title=values.get("dc:title", ""),
            authors=tuple(values.get("dc:creator", "").split(";")),
            subject=values.get("dc:description", "") or values.get("dc:subject", ""),
            keywords=values.get("cp:keywords", ""),
            language=values.get("dc:language", ""),
            date=values.get("dcterms:created", ""),
        )


_AROUND: Final = frozenset("w:ins w:moveTo w:sdt w:sdtContent w:customXml w:body w:smartTag".split())
_LIST_STYLE: Final = re.compile(r"list (bullet|number)(?: (\d))?$")
_CONTINUES_ITEM: Final = re.compile(r"list (?:paragraph|continue)|compact$")
_PLAIN_TABLES: Final = frozenset({"", "normal table", "table grid", "table normal"})
_MAX_COLUMNS: Final = 200
_OFF: Final = frozenset({"0", "false", "off"})


class Body:
    """Reads the blocks of a document."""

    def __init__(self, styles: Styles, numbering: Numbering, links: dict[str, str]) -> None:
        self.styles, self._numbering, self._links = styles, numbering, links
        self.notes = Notes()
        self.dropped = Dropped("docx")
        self.fields: list[Field] = []
        """Fields that are open; they may go over several paragraphs."""
        self.note_parts: dict[str, tuple[Element, dict[str, str]]] = {}
        """Kind to the part with the notes, and its links."""
        self._read_notes: dict[str, bool] = {}
        self._pending: list[Run] = []
        """Runs of a paragraph whose end was deleted."""

    def read_document(self, root: Element) -> list[Block]:
        """Return the blocks of the whole document; a title is above the other headings."""
        body = root.find("w:body")
        blocks = self.read_blocks(body if body is not None else root, self._links)
        if self._pending:
            blocks.append(Block("text", self._pending))
        return place_captions(mark_bold_headings(raise_title(blocks)))

    def read_blocks(self, parent: Element, links: dict[str, str]) -> list[Block]:
        """Return the blocks in an element."""
        blocks: list[Block] = []
        for child in parent:
            if self.dropped.is_cut:
                break
            if child.tag == "w:p":
                self._read_paragraph(child, links, blocks)
            elif child.tag == "w:tbl":
                html = self._read_table(child, links)
                blocks += [Block("table", html=html)] if html else []
            elif child.tag == "mc:AlternateContent":
                options = list(child)
                blocks += self.read_blocks(options[0], links) if options else []
            elif child.tag in _AROUND:
                if child.tag == "w:sdt" and _is_contents(child):
                    self.dropped.add(
                        "w:sdt", "table of contents", " ".join(text.text or "" for text in child.iter("w:t"))
                    )
                else:
                    blocks += self.read_blocks(child, links)
        return blocks

    def _read_paragraph(self, element: Element, links: dict[str, str], blocks: list[Block]) -> None:
        properties = element.find("w:pPr")
        key = properties.find("w:pStyle") if properties is not None else None
        style = self.styles.get(key.get("w:val") if key is not None else self.styles.default_paragraph)
        in_contents = style.is_contents or any(one.is_contents for one in self.fields)
        inline = Inline(self, links, frozenset({"code"} if style.is_code else ()))
        inline.read(element)
        runs, self._pending = [*self._pending, *inline.runs], []
        if in_contents or (style.name != "toc heading" and any(one.is_contents for one in self.fields)):
            self.dropped.add("w:p", "table of contents", plain_text(runs))
            return
        if _has_deleted_end(properties) and not inline.after:
            self._pending = runs
            return
        block = self._make_block(properties, style, runs, blocks[-1] if blocks else None)
        if inline.has_formula_block and (html := formula_block(runs)):
            block = Block("html", html=html)
        if has_content(runs) or block.kind == "code":
            blocks.append(block)
        if inline.has_rule or (not has_content(runs) and _has_border(properties)):
            blocks.append(Block("rule"))
        blocks += inline.after

    def _make_block(self, properties: Element | None, style: Style, runs: list[Run], before: Block | None) -> Block:
        outline = read_outline(properties) if properties is not None else None
        outline = style.outline if outline is None else outline
        place, level = self._place(properties, style) if has_content(runs) else (None, 0)
        if outline or style.is_title:
            if place and place.ordered and place.label:
                runs = [Run(f"{place.label} "), *runs]
            return Block("heading", runs, outline or 0)
        if style.is_code or (has_content(runs) and not place and is_all_code(runs)):
            return Block("code", runs)
        in_list = before is not None and before.kind in ("item", "more")
        if place and place.blank:
            return Block("more" if in_list else "text", runs)
        by_name = _LIST_STYLE.match(style.name)
        level = (
            max(level, int(by_name[2] or 1) - 1) if by_name else level
        )  # "List Bullet 2" is a list only indented more
        if place:
            return Block("item", runs, level, place.ordered, place.number, place.series)
        if by_name:
            return Block("item", runs, level, by_name[1] == "number", series=by_name[1])
        if in_list and _CONTINUES_ITEM.match(style.name):
            return Block("more", runs)
        if style.is_quote:
            return Block("quote", runs)
        return Block("caption" if style.is_caption else "text", runs)

    def _place(self, properties: Element | None, style: Style) -> tuple[Place | None, int]:
        """Return the place of a paragraph in its list, and the level there."""
        direct = read_number(properties) if properties is not None else None
        key, level = direct or ("", 0)
        if style.number and not key:
            key, level = style.number[0], level if direct else style.number[1]
        return (self._numbering.place(key, level), level) if key else (None, 0)

    def read_note(self, kind: str, key: str) -> Run | None:
        """Return the reference to a note, which is read when it is first referred to."""
        name = f"{kind}:{key}"
        if name not in self._read_notes and kind in self.note_parts:
            self._read_notes[name] = True
            root, links = self.note_parts[kind]
            note = next((one for one in root if one.get("w:id") == key and one.get("w:type") in (None, "normal")), None)
            if note is not None:
                fields, self.fields = self.fields, []
                pending, self._pending = self._pending, []
                html = write_blocks(self.read_blocks(note, links))
                self.fields, self._pending = fields, pending
                self.notes.add(name, html)
        return self.notes.refer(name)

    def _read_table(self, table: Element, links: dict[str, str]) -> str:
        """Return a table; cells that are merged downwards become one."""
        rows: list[list[Cell]] = []
        above: dict[int, Cell] = {}
        """Column to the cell that may go on below."""
        elements = [row for row in _descend(table, "w:tr") if not _is_deleted_row(row)]
        for index, element in enumerate(elements):
            row: list[Cell] = []
            properties = element.find("w:trPr")
            is_head = properties is not None and _is_set(properties.find("w:tblHeader"))
            is_head = is_head or (index == 0 and len(elements) > 1 and self._has_head(table))
            column = _number_in(properties, "w:gridBefore", 0)
            for cell in _descend(element, "w:tc"):
                about = cell.find("w:tcPr")
                span = _number_in(about, "w:gridSpan", 1)
                merge = about.find("w:vMerge") if about is not None else None
                going_on = merge is not None and merge.get("w:val", "continue") != "restart"
                if going_on and column in above:
                    above[column].rows += 1
                else:
                    made = Cell(write_cell(self.read_blocks(cell, links)), span, 1, is_head)
                    row.append(made)
                    above.pop(column, None)
                    if merge is not None:
                        above[column] = made
                column += span
            rows.append(row)
        return write_table(rows)

    def _has_head(self, table: Element) -> bool:
        """Return whether the style of a table sets its first row apart."""
        properties = table.find("w:tblPr")
        look = properties.find("w:tblLook") if properties is not None else None
        style = properties.find("w:tblStyle") if properties is not None else None
        if look is None or style is None or self.styles.get(style.get("w:val")).name in _PLAIN_TABLES:
            return False
        value = look.get("w:val", "0")
        by_bits = value and all(char in "0123456789abcdefABCDEF" for char in value) and int(value, 16) & 0x20
        return bool(look.get("w:firstRow") in ("1", "true") or (look.get("w:firstRow") is None and by_bits))


def _descend(parent: Element, tag: str) -> list[Element]:
    """Return the children of a tag, also those in content controls and tracked changes."""
    found: list[Element] = []
    for child in parent:
        if child.tag == tag:
            found.append(child)
        elif child.tag in _AROUND:
            found += _descend(child, tag)
    return found


def _number_in(properties: Element | None, name: str, default: int) -> int:
    found = properties.find(name) if properties is not None else None
    value = found.get("w:val", "") if found is not None else ""
    return max(default, min(int(value), _MAX_COLUMNS)) if value.isdecimal() and len(value) < 6 else default


def _is_set(element: Element | None) -> bool:
    return element is not None and element.get("w:val", "1").lower() not in _OFF


def _is_deleted_row(row: Element) -> bool:
    properties = row.find("w:trPr")
    return properties is not None and properties.find("w:del") is not None


def _has_deleted_end(properties: Element | None) -> bool:
    run = properties.find("w:rPr") if properties is not None else None
    return run is not None and run.find("w:del") is not None


def _has_border(properties: Element | None) -> bool:
    border = properties.find("w:pBdr") if properties is not None else None
    return border is not None and (border.find("w:bottom") is not None or border.find("w:top") is not None)


def _is_contents(control: Element) -> bool:
    gallery = next(control.iter("w:docPartGallery"), None)
    return gallery is not None and "contents" in gallery.get("w:val", "").lower()
